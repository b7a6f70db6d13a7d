//! The first id of a table that a consumer has not read, for a view that shows the tables of all
//! roles, whoever reads it.
//!
//! Who plans a query evaluates what is constant in the expressions of indexes, statistics, policies
//! and partition keys, so he runs functions of the table's owner. And a name can be another table
//! by the time the query is planned. So there is no query here: the table is opened by its OID, and
//! its index on the column is read, which calls PostgreSQL's functions for uuid only.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::ptr::null_mut;

use pgrx::pg_sys::{
    self, AclMode, AclResult, CheckEnableRlsResult, Datum, FmgrInfo, FormData_pg_class, LOCKMODE,
    ObjectType, Oid, Relation, ScanKeyData, TupleDesc,
};

use crate::datum::Uuid;
use crate::error::{self, Error};
use crate::fmgr::{Argument, Fcinfo};
use crate::list::list_cells;
use crate::ordered::guard;

const LOCK: LOCKMODE = pg_sys::AccessShareLock as LOCKMODE;
const KEEP: LOCKMODE = pg_sys::NoLock as LOCKMODE;

/// The first id of the column, by its attribute number, that is not less than the position; none if
/// there is no such id, column or table. The column is `ulid` or `uuid`, or a domain over one.
///
/// As in a query, the caller needs USAGE on the schema and SELECT on the column, and no policy may
/// hide rows from him. As there, temporary children of other sessions are left out. A foreign one
/// is an error.
///
/// # Errors
/// 42804, 42P10 of a virtual generated column, or 42501.
pub(crate) fn first_id(
    relation: Oid,
    column: i32,
    position: Uuid,
    fcinfo: Fcinfo,
) -> Result<Option<Uuid>, Error> {
    let column = i16::try_from(column).unwrap_or(0);
    // SAFETY: the relations are locked and open while they are used. The names are in
    // CurrentMemoryContext. An ERROR closes the relations.
    unsafe {
        let open = pg_sys::try_relation_open(relation, LOCK);
        if open.is_null() {
            return Ok(None);
        }
        let class = &*(*open).rd_rel;
        let key = pg_sys::get_attname(relation, column, true);
        let typid = pg_sys::get_atttype(relation, column);
        if key.is_null() || typid == Oid::INVALID {
            pg_sys::relation_close(open, LOCK);
            return Ok(None);
        }
        let bytes = |name| CStr::from_ptr(name).to_bytes();
        let table = bytes(class.relname.data.as_ptr());
        let base = pg_sys::getBaseType(typid);
        let error =
            if base != pg_sys::UUIDOID && base != guard::ulid_type((*fcinfo.as_ptr()).flinfo) {
                let type_name = bytes(pg_sys::format_type_be(typid));
                Some(error::guarded_column_type(bytes(key), table, type_name))
            } else if pg_sys::get_attgenerated(relation, column) == guard::VIRTUAL_GENERATED {
                Some(error::generated_column(bytes(key), table))
            } else {
                None
            };
        if let Some(error) = error {
            pg_sys::relation_close(open, LOCK);
            return Err(error);
        }
        if !may_read(relation, class, column) {
            refuse(class);
        }
        let mut first: Option<Uuid> = None;
        for cell in list_cells(pg_sys::find_all_inheritors(relation, LOCK, null_mut())) {
            let table = pg_sys::relation_open(cell.oid_value, LOCK);
            let class = &*(*table).rd_rel;
            match class.relkind as u8 {
                pg_sys::RELKIND_PARTITIONED_TABLE => {}
                pg_sys::RELKIND_RELATION
                    if class.relpersistence as u8 == pg_sys::RELPERSISTENCE_TEMP
                        && !(*table).rd_islocaltemp => {}
                pg_sys::RELKIND_RELATION => {
                    let column = pg_sys::get_attnum(cell.oid_value, key);
                    let found = first_of_table(table, column, position);
                    first = [first, found].into_iter().flatten().min_by_key(|id| id.0);
                }
                _ => refuse(class),
            }
            pg_sys::relation_close(table, KEEP);
        }
        pg_sys::relation_close(open, KEEP);
        Ok(first)
    }
}

/// Whether a query of the current user could read the column, and sees all rows.
///
/// # Safety
/// The relation is open.
unsafe fn may_read(relation: Oid, class: &FormData_pg_class, column: i16) -> bool {
    let is_ok = |result| result == AclResult::ACLCHECK_OK;
    // SAFETY: these functions look up the catalogs.
    unsafe {
        let user = pg_sys::GetUserId();
        #[cfg(feature = "pg15")]
        let usage = pg_sys::pg_namespace_aclcheck(class.relnamespace, user, pg_sys::ACL_USAGE);
        #[cfg(not(feature = "pg15"))]
        let usage = pg_sys::object_aclcheck(
            pg_sys::NamespaceRelationId,
            class.relnamespace,
            user,
            pg_sys::ACL_USAGE.into(),
        );
        let select = pg_sys::ACL_SELECT as AclMode; // the constants are narrower since 16
        is_ok(usage)
            && (is_ok(pg_sys::pg_class_aclcheck(relation, user, select))
                || is_ok(pg_sys::pg_attribute_aclcheck(
                    relation, column, user, select,
                )))
            && pg_sys::check_enable_rls(relation, Oid::INVALID, true)
                != CheckEnableRlsResult::RLS_ENABLED as i32
    }
}

/// Raises 42501 in PostgreSQL's words.
///
/// # Safety
/// The relation is open.
unsafe fn refuse(class: &FormData_pg_class) {
    // SAFETY: the name of a relation ends with a zero.
    unsafe {
        let name = class.relname.data.as_ptr();
        pg_sys::aclcheck_error(AclResult::ACLCHECK_NO_PRIV, ObjectType::OBJECT_TABLE, name);
    }
}

/// The first id of one table that is not less than the position, as the active snapshot sees it: by
/// a btree index whose first column this is, or else by reading all rows.
///
/// # Safety
/// The relation is open and locked, and the column is of 16 bytes.
unsafe fn first_of_table(table: Relation, column: i16, position: Uuid) -> Option<Uuid> {
    let bytes = position.0.to_be_bytes();
    // SAFETY: the scan has ended before the key, the snapshot and the relations are released. A row
    // is valid until the next one. An ERROR releases them all.
    unsafe {
        let mut key = ScanKeyData::default();
        pg_sys::ScanKeyEntryInitialize(
            &mut key,
            0,
            column,
            pg_sys::BTGreaterEqualStrategyNumber as u16,
            Oid::INVALID,
            Oid::INVALID,
            pg_sys::F_UUID_GE.into(),
            Datum::from(bytes.as_ptr()),
        );
        let id_of = |row, descriptor: TupleDesc| {
            let mut is_null = false;
            let datum = pg_sys::SPI_getbinval(row, descriptor, column.into(), &mut is_null);
            Uuid::from_datum(datum)
        };
        let descriptor = (*table).rd_att;
        let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetActiveSnapshot());
        let mut first = None;
        if let Some((index, direction)) = index_on(table, column) {
            let scan = pg_sys::systable_beginscan_ordered(table, index, snapshot, 1, &mut key);
            let row = pg_sys::systable_getnext_ordered(scan, direction);
            if !row.is_null() {
                first = Some(id_of(row, descriptor));
            }
            pg_sys::systable_endscan_ordered(scan);
            pg_sys::index_close(index, KEEP);
        } else {
            let scan =
                pg_sys::systable_beginscan(table, Oid::INVALID, false, snapshot, 1, &mut key);
            loop {
                let row = pg_sys::systable_getnext(scan);
                if row.is_null() {
                    break;
                }
                let found = Some(id_of(row, descriptor));
                first = [first, found].into_iter().flatten().min_by_key(|id| id.0);
            }
            pg_sys::systable_endscan(scan);
        }
        pg_sys::UnregisterSnapshot(snapshot);
        first
    }
}

/// An index of the table that every snapshot can use and that has all rows in the order of this
/// column, and the direction in which ids increase.
///
/// # Safety
/// The relation is open and locked.
unsafe fn index_on(table: Relation, column: i16) -> Option<(Relation, i32)> {
    use pg_sys::ScanDirection::{BackwardScanDirection, ForwardScanDirection};

    // SAFETY: the list is of OIDs. An index is open while it is looked at, and has a key column.
    unsafe {
        for cell in list_cells(pg_sys::RelationGetIndexList(table)) {
            let index = pg_sys::index_open(cell.oid_value, LOCK);
            let (form, tuple) = (&*(*index).rd_index, (*index).rd_indextuple);
            let predicate = pg_sys::Anum_pg_index_indpred as i32;
            if form.indisvalid
                && !form.indcheckxmin
                && *form.indkey.values.as_ptr() == column
                && (*(*index).rd_rel).relam == pg_sys::BTREE_AM_OID
                && pg_sys::heap_attisnull(tuple, predicate, null_mut())
                && is_order_of_uuid(*(*index).rd_opfamily, *(*index).rd_opcintype)
            {
                let is_descending = *(*index).rd_indoption & pg_sys::INDOPTION_DESC as i16 != 0;
                return Some((
                    index,
                    match is_descending {
                        true => BackwardScanDirection,
                        false => ForwardScanDirection,
                    },
                ));
            }
            pg_sys::index_close(index, KEEP);
        }
        None
    }
}

/// Whether the operator >= of a family of btree is PostgreSQL's function for uuid, also under the
/// name that it has for ulid.
///
/// # Safety
/// The family is one of btree.
unsafe fn is_order_of_uuid(family: Oid, typid: Oid) -> bool {
    // SAFETY: these functions look up the catalogs.
    unsafe {
        let strategy = pg_sys::BTGreaterEqualStrategyNumber as i16;
        let operator = pg_sys::get_opfamily_member(family, typid, typid, strategy);
        let address_of = |function: Oid| {
            let mut info = FmgrInfo::default();
            pg_sys::fmgr_info(function, &mut info);
            info.fn_addr.map(|address| address as usize)
        };
        operator != Oid::INVALID
            && address_of(pg_sys::get_opcode(operator)) == address_of(pg_sys::F_UUID_GE.into())
    }
}
