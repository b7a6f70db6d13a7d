//! Which columns the minmax operator classes of BRIN accept.
//!
//! PostgreSQL's minmax functions look up operators by the `atttypid` in the tuple descriptor of the
//! index. The built-in classes set `opckeytype`, so it is the type of the class. CREATE OPERATOR
//! CLASS drops a STORAGE that is equal to the type of the class. So for a uuid or a domain, it
//! would be the type of the column. The lookup would fail, and no row could be inserted.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};

use pgrx::pg_sys::{self, Datum, FunctionCallInfo};

use crate::datum::Internal;
use crate::error::{self, Error};

/// The OpcInfo support procedure of `ulid_minmax_ops`. The argument, declared as `internal`, is the
/// Oid of the column's type. Returns a BrinOpcInfo.
pub(crate) fn minmax_opcinfo(typid: Internal) -> Result<*mut c_void, Error> {
    // SAFETY: an OpcInfo procedure takes the Oid alone, and looks only at that.
    unsafe { opcinfo(typid, c"ulid_minmax_ops", pg_sys::brin_minmax_opcinfo) }
}

/// The OpcInfo support procedure of `ulid_minmax_multi_ops`, with the same argument and result.
pub(crate) fn minmax_multi_opcinfo(typid: Internal) -> Result<*mut c_void, Error> {
    let function = pg_sys::brin_minmax_multi_opcinfo;
    // SAFETY: an OpcInfo procedure takes the Oid alone, and looks only at that.
    unsafe { opcinfo(typid, c"ulid_minmax_multi_ops", function) }
}

/// Calls PostgreSQL's OpcInfo procedure. For a uuid or a domain, it is an error: CREATE INDEX
/// accepts them for the operator class, because they are binary-coercible to ulid. A domain is
/// recognized by having no btree operator class of its own.
///
/// brininsert() calls this through brin_build_desc() in each statement, so look things up only in
/// the type cache here.
///
/// # Safety
/// The function takes one such argument and does not use `flinfo`.
unsafe fn opcinfo(
    typid: Internal,
    opclass: &CStr,
    function: unsafe fn(FunctionCallInfo) -> Datum,
) -> Result<*mut c_void, Error> {
    let typid = typid.as_oid();
    // SAFETY: an entry of the type cache is never freed. format_type_be() returns a text in the
    // memory context of the call, which is copied into the error. The caller passes a function that
    // takes this argument.
    unsafe {
        // If the type has no btree class of its own, this is the type whose class it borrows.
        let flags = pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int;
        let opclass_type = (*pg_sys::lookup_type_cache(typid, flags)).btree_opintype;
        if opclass_type != typid || typid == pg_sys::UUIDOID {
            let type_name = CStr::from_ptr(pg_sys::format_type_be(typid));
            return Err(error::operator_class_refuses_type(
                opclass.to_bytes(),
                type_name.to_bytes(),
            ));
        }
        let result = pgrx::direct_function_call_as_datum(function, &[Some(typid.into())]);
        Ok(result.unwrap_or(Datum::null()).cast_mut_ptr())
    }
}
