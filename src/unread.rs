//! The first id of a table that a consumer has not read, for views that show the tables of all
//! roles, whoever reads them.
//!
//! Who plans a query evaluates what is constant in the expressions of indexes, statistics and
//! partition keys, so functions of the table's owner are called. As in ANALYZE and CREATE INDEX,
//! they run with the rights of the owner of the table, in a security-restricted operation. If that
//! of a partition has not these rights, the table is not read: functions of his would gain them.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

use pgrx::Spi;
use pgrx::pg_sys::{self, AclResult, CheckEnableRlsResult, LOCKMODE, ObjectType, Oid};

use crate::datum::Uuid;
use crate::error::{self, Error};
use crate::fmgr::Fcinfo;
use crate::list::list_cells;
use crate::ordered::guard;

/// The first id of the column, by its attribute number, that is not less than the position; none if
/// there is no such id, column or table. The caller needs SELECT on the column, and no policy may
/// hide rows from him. It is `ulid` or `uuid`, or a domain over one: the casts of another type
/// could be functions of its owner.
///
/// # Errors
/// 42804 or 42501, this also if a partition is foreign, or of a role without the rights of the
/// owner.
///
/// An ERROR restores the user and the settings when its subtransaction is rolled back.
pub(crate) fn first_id(
    relation: Oid,
    column: i32,
    position: Uuid,
    fcinfo: Fcinfo,
) -> Result<Option<Uuid>, Error> {
    let column = i16::try_from(column).unwrap_or(0);
    // SAFETY: the relation is locked, and its names live as long as it is open. What the other
    // functions return is in CurrentMemoryContext.
    let (owner, query) = unsafe {
        let open = pg_sys::try_relation_open(relation, pg_sys::AccessShareLock as LOCKMODE);
        if open.is_null() {
            return Ok(None);
        }
        let class = &*(*open).rd_rel;
        let name = class.relname.data.as_ptr();
        let user = pg_sys::GetUserId();
        if (pg_sys::pg_class_aclcheck(relation, user, pg_sys::ACL_SELECT.into())
            != AclResult::ACLCHECK_OK
            && pg_sys::pg_attribute_aclcheck(relation, column, user, pg_sys::ACL_SELECT.into())
                != AclResult::ACLCHECK_OK)
            || pg_sys::check_enable_rls(relation, Oid::INVALID, true)
                == CheckEnableRlsResult::RLS_ENABLED as i32
            || !is_plain_tree(relation, class.relowner)
        {
            pg_sys::aclcheck_error(AclResult::ACLCHECK_NO_PRIV, ObjectType::OBJECT_TABLE, name);
        }
        let schema = pg_sys::get_namespace_name(class.relnamespace);
        let key = pg_sys::get_attname(relation, column, true);
        let typid = pg_sys::get_atttype(relation, column);
        if key.is_null() || typid == Oid::INVALID {
            pg_sys::relation_close(open, pg_sys::NoLock as LOCKMODE);
            return Ok(None);
        }
        let base = pg_sys::getBaseType(typid);
        if base != pg_sys::UUIDOID && base != guard::ulid_type((*fcinfo.as_ptr()).flinfo) {
            let error = error::guarded_column_type(
                bytes(key),
                bytes(name),
                bytes(pg_sys::format_type_be(typid)),
            );
            pg_sys::relation_close(open, pg_sys::NoLock as LOCKMODE);
            return Err(error);
        }
        let key = bytes(pg_sys::quote_identifier(key));
        let table = bytes(pg_sys::quote_qualified_identifier(schema, name));
        let cast = bytes(pg_sys::format_type_be_qualified(base));
        // in the encoding of the database
        let query = [
            b"SELECT (SELECT ".as_slice(),
            key,
            b"::pg_catalog.uuid FROM ",
            table,
            b" WHERE ",
            key,
            b" OPERATOR(pg_catalog.>=) $1::",
            cast,
            b" ORDER BY ",
            key,
            b" LIMIT 1)\0",
        ]
        .concat();
        let owner = class.relowner;
        pg_sys::relation_close(open, pg_sys::NoLock as LOCKMODE);
        (owner, query)
    };
    let (mut user, mut context) = (Oid::INVALID, 0);
    // SAFETY: each value that is changed is restored below, or by the end of the subtransaction.
    let level = unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        let restricted = pg_sys::SECURITY_RESTRICTED_OPERATION | pg_sys::SECURITY_NOFORCE_RLS;
        pg_sys::SetUserIdAndSecContext(owner, context | restricted as i32);
        let level = pg_sys::NewGUCNestLevel();
        // as RestrictSearchPath() of PostgreSQL 17
        pg_sys::set_config_option(
            c"search_path".as_ptr(),
            c"pg_catalog, pg_temp".as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
        level
    };
    let position = pgrx::Uuid::from_bytes(position.0.to_be_bytes());
    let found = Spi::connect(|client| {
        let query = CStr::from_bytes_until_nul(&query).unwrap_or_default();
        client
            .select(query, Some(1), &[position.into()])?
            .first()
            .get_one::<pgrx::Uuid>()
    })
    .unwrap_or_else(|error| pgrx::error!("could not read the table of a consumer: {error}"));
    // SAFETY: the level and the user are those of above.
    unsafe {
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
    }
    Ok(found.map(|id| Uuid(u128::from_be_bytes(*id.as_bytes()))))
}

/// Whether a table, those below it and those that it is a partition of are tables whose owners have
/// the rights of this one.
///
/// # Safety
/// The table is locked.
unsafe fn is_plain_tree(relation: Oid, owner: Oid) -> bool {
    let lock = pg_sys::AccessShareLock as LOCKMODE;
    // SAFETY: the lists are of OIDs. The relations below are locked, and those above exist as long
    // as this one is a partition, which needs a stronger lock on it to change.
    unsafe {
        let below = pg_sys::find_all_inheritors(relation, lock, null_mut());
        let above = if pg_sys::get_rel_relispartition(relation) {
            pg_sys::get_partition_ancestors(relation)
        } else {
            null_mut()
        };
        list_cells(below)
            .iter()
            .chain(list_cells(above))
            .all(|cell| {
                let open = pg_sys::relation_open(cell.oid_value, lock);
                let class = &*(*open).rd_rel;
                let is_plain = pg_sys::has_privs_of_role(class.relowner, owner)
                    && [pg_sys::RELKIND_RELATION, pg_sys::RELKIND_PARTITIONED_TABLE]
                        .contains(&(class.relkind as u8));
                pg_sys::relation_close(open, lock);
                is_plain
            })
    }
}

/// The bytes of a C string.
///
/// # Safety
/// It ends with a zero, and lives as long as the bytes.
unsafe fn bytes<'a>(name: *const c_char) -> &'a [u8] {
    // SAFETY: the caller passes such a string.
    unsafe { CStr::from_ptr(name) }.to_bytes()
}
