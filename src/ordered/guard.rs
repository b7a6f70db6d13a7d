//! The trigger that refuses ids which a consumer may have passed, or does not come to for long.
//!
//! The horizon is at most the bound of each open entry, and a consumer does not read past the
//! horizon. So an id that is not less than the bound is ahead of every consumer until the
//! transaction ends, whichever generator it is from. A transaction without an entry does not hold
//! the horizon, so a consumer may have passed any id. After a reset, the bound is not known.
//!
//! While entries are not tracked, there is no horizon. No consumer has passed the time of the id
//! clock at which the transaction began to generate ids, so that takes the place of the bound.
//!
//! A consumer reads an id when the id clock has passed it. The id clock follows the clock of the
//! server. So an id may be ahead of the later one of both by a second, as clocks of programs are.
//!
//! An UPDATE that moves a row to another partition fires the triggers for INSERT there. So it is
//! refused, like a new row with that id.
//!
//! It is an AFTER trigger, since a BEFORE trigger that fires later could still replace the id.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::ptr::without_provenance_mut;

use pg_ulid::Ulid;
use pgrx::pg_sys::{
    self, Datum, FmgrInfo, FunctionCallInfo, HeapTuple, NodeTag, Oid, SysCacheIdentifier,
    TriggerData,
};
use ulid_horizon::UNKNOWN;

use super::{SECOND, horizon, now, shmem, to_timestamptz};
use crate::error::{self, Error, Misuse, Refused};
use crate::fmgr::{Argument, Fcinfo, Returned};

/// `ATTRIBUTE_GENERATED_VIRTUAL` of PostgreSQL 18; before, there are no such columns.
pub(crate) const VIRTUAL_GENERATED: c_char = b'v'.cast_signed();

/// What a trigger returns: an AFTER trigger a null pointer, which PostgreSQL ignores.
#[derive(Clone, Copy)]
pub(crate) struct NoRow;

impl Returned for NoRow {
    const SQL: &'static str = "trigger";

    unsafe fn return_from(self, _: FunctionCallInfo) -> Datum {
        Datum::null()
    }
}

/// An error if a consumer may have passed the id of the new row, or does not come to it for long.
/// The argument of the trigger is the name of the column.
pub(crate) fn check_row(fcinfo: Fcinfo) -> Result<NoRow, Error> {
    // SAFETY: PostgreSQL makes the call. A context is a node; of this type, it is a TriggerData.
    let (trigger, flinfo) = unsafe {
        let (context, flinfo) = ((*fcinfo.as_ptr()).context, (*fcinfo.as_ptr()).flinfo);
        if context.is_null() || (*context).type_ != NodeTag::T_TriggerData {
            return Err(error::misused_guard(Misuse::Call));
        }
        (&*context.cast::<TriggerData>(), flinfo)
    };
    let event = trigger.tg_event;
    if event & pg_sys::TRIGGER_EVENT_TIMINGMASK != pg_sys::TRIGGER_EVENT_AFTER
        || event & pg_sys::TRIGGER_EVENT_ROW == 0
    {
        return Err(error::misused_guard(Misuse::Timing));
    }
    let (row, old) = match event & pg_sys::TRIGGER_EVENT_OPMASK {
        pg_sys::TRIGGER_EVENT_INSERT => (trigger.tg_trigtuple, None),
        pg_sys::TRIGGER_EVENT_UPDATE => (trigger.tg_newtuple, Some(trigger.tg_trigtuple)),
        _ => {
            return Err(error::misused_guard(Misuse::Event));
        }
    };
    // SAFETY: `flinfo` and the trigger are those of the present call. Only `checked_column` sets
    // `fn_extra`, to the attribute number. It is null before the first call.
    let column = unsafe {
        match (*flinfo).fn_extra.addr() {
            0 => checked_column(trigger, flinfo)?,
            column => column as c_int,
        }
    };
    // SAFETY: the event has these rows of the relation. The column is of ulid or uuid.
    let id_of = |row| unsafe { id_in_row(row, trigger, column) };
    let id = id_of(row);
    if old.is_some_and(|old| id_of(old) == id) {
        return Ok(NoRow);
    }
    let Some(id) = id else {
        // SAFETY: `checked_column` has found one argument, and the relation is open.
        unsafe {
            let name = CStr::from_ptr(*(*trigger.tg_trigger).tgargs).to_bytes();
            return Err(error::null_id(name, relation_name(trigger)));
        }
    };
    let Some(why) = reason_to_refuse(id)? else {
        return Ok(NoRow);
    };
    // SAFETY: the relation is open, and has the column.
    unsafe {
        let descriptor = (*trigger.tg_relation).rd_att;
        let typid = pg_sys::getBaseType(pg_sys::SPI_gettypeid(descriptor, column));
        let (is_uuid, relation) = (typid == pg_sys::UUIDOID, relation_name(trigger));
        Err(error::refused_id(id, is_uuid, relation, why))
    }
}

/// Why the current transaction may not use a new id; none if it may. See the top of this file.
fn reason_to_refuse(id: Ulid) -> Result<Option<Refused>, Error> {
    let bound = match horizon::bound_of_transaction() {
        None => return Ok(Some(Refused::NoOrderedId)),
        Some(UNKNOWN) => return Ok(Some(Refused::Reset)),
        Some(bound) => bound,
    };
    if id < Ulid::lower_bound(bound) {
        return Ok(Some(Refused::BeforeBound(to_timestamptz(bound))));
    }
    // The system clock is read only for an id that is ahead of the id clock.
    let id_clock = shmem::id_clock().time();
    if id.unix_ms() > id_clock.unix_ms() {
        let latest = id_clock.max(now()?).saturating_add(SECOND);
        if id.unix_ms() > latest.unix_ms() {
            return Ok(Some(Refused::TooFarAhead(to_timestamptz(latest))));
        }
    }
    Ok(None)
}

/// The id of a row; `None` if it is null.
///
/// # Safety
/// The row is one of the relation of the trigger, and the column has 16 bytes.
unsafe fn id_in_row(row: HeapTuple, trigger: &TriggerData, column: c_int) -> Option<Ulid> {
    let mut is_null = false;
    // SAFETY: the caller passes a row of this relation, and a column of 16 bytes.
    unsafe {
        let descriptor = (*trigger.tg_relation).rd_att;
        let datum = pg_sys::SPI_getbinval(row, descriptor, column, &mut is_null);
        (!is_null).then(|| Ulid::from_datum(datum))
    }
}

/// The attribute number of the column that the trigger names. An error unless the one argument
/// names a column of ulid or uuid, or of a domain over one, that is stored.
///
/// It is stored in `fn_extra` itself. ResultRelInfo has an FmgrInfo for each trigger of the
/// relation: so this runs once for a statement and a relation, and partitions may have other
/// numbers.
///
/// # Safety
/// This is the function of the present call.
#[cold]
unsafe fn checked_column(trigger: &TriggerData, flinfo: *mut FmgrInfo) -> Result<c_int, Error> {
    // SAFETY: tgargs has tgnargs C strings. The relation is locked.
    unsafe {
        let definition = &*trigger.tg_trigger;
        if definition.tgnargs != 1 {
            return Err(error::misused_guard(Misuse::Arguments));
        }
        let name: *const c_char = *definition.tgargs;
        let descriptor = (*trigger.tg_relation).rd_att;
        let column = pg_sys::SPI_fnumber(descriptor, name);
        let name = CStr::from_ptr(name).to_bytes();
        // Negative if there is no such column, or it is a system column.
        if column <= 0 {
            return Err(error::undefined_column(name, relation_name(trigger)));
        }
        // The row has no value of a virtual generated column.
        if pg_sys::get_attgenerated((*trigger.tg_relation).rd_id, column as i16)
            == VIRTUAL_GENERATED
        {
            return Err(error::generated_column(name, relation_name(trigger)));
        }
        let typid = pg_sys::SPI_gettypeid(descriptor, column);
        let base = pg_sys::getBaseType(typid);
        if base != pg_sys::UUIDOID && base != ulid_type(flinfo) {
            let type_name = CStr::from_ptr(pg_sys::format_type_be(typid)).to_bytes();
            return Err(error::guarded_column_type(
                name,
                relation_name(trigger),
                type_name,
            ));
        }
        (*flinfo).fn_extra = without_provenance_mut(column as usize);
        Ok(column)
    }
}

/// The OID of the type ulid in the schema of the function, which is that of its extension.
///
/// # Safety
/// This is the function of the present call.
pub(crate) unsafe fn ulid_type(flinfo: *const FmgrInfo) -> Oid {
    let cache = SysCacheIdentifier::TYPENAMENSP as c_int;
    // SAFETY: the keys are those of the syscache TYPENAMENSP.
    unsafe {
        let schema = Datum::from(pg_sys::get_func_namespace((*flinfo).fn_oid));
        let (name, none) = (Datum::from(c"ulid".as_ptr()), Datum::null());
        let oid_column = pg_sys::Anum_pg_type_oid as i16;
        pg_sys::GetSysCacheOid(cache, oid_column, name, schema, none, none)
    }
}

/// The name of the trigger's table, for messages.
///
/// # Safety
/// The trigger is that of the present call.
unsafe fn relation_name(trigger: &TriggerData) -> &[u8] {
    // SAFETY: a name ends with a zero. The relation is open.
    unsafe { CStr::from_ptr((*(*trigger.tg_relation).rd_rel).relname.data.as_ptr()).to_bytes() }
}
