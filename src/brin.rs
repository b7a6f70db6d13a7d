//! Which columns the minmax operator classes of BRIN accept.
//!
//! PostgreSQL's functions look for operators of the column's type. Its own classes store the type
//! that they are for, whatever the column's type is; CREATE OPERATOR CLASS cannot say that. So for
//! a domain or a uuid there would be no operators, and no row could be inserted.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int};

use pgrx::pg_sys::{self, Datum, FunctionCallInfo, Oid};

use crate::datum::Internal;
use crate::error::{self, Error};

/// What `ulid_minmax_ops` stores for a column of this type, which is an Oid.
pub(crate) fn minmax_opcinfo(typid: Internal) -> Result<Internal, Error> {
    opcinfo(typid, c"ulid_minmax_ops", pg_sys::brin_minmax_opcinfo)
}

/// What `ulid_minmax_multi_ops` stores for a column of this type, which is an Oid.
pub(crate) fn minmax_multi_opcinfo(typid: Internal) -> Result<Internal, Error> {
    opcinfo(
        typid,
        c"ulid_minmax_multi_ops",
        pg_sys::brin_minmax_multi_opcinfo,
    )
}

/// The result of PostgreSQL's function, or an error if the type is not ulid. Each INSERT asks for
/// this, so everything that is looked up here is cached.
fn opcinfo(
    argument: Internal,
    class: &CStr,
    function: unsafe fn(FunctionCallInfo) -> Datum,
) -> Result<Internal, Error> {
    let typid = Oid::from(argument.0.addr() as u32);
    // SAFETY: BRIN calls this with the type of a column, which its lock keeps. An entry of the type
    // cache is never freed. PostgreSQL's function takes the same argument.
    unsafe {
        // If the type has no btree class of its own, this is the type whose class it borrows.
        let flags = pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int;
        let ordered = (*pg_sys::lookup_type_cache(typid, flags)).btree_opintype;
        if ordered != typid || typid == pg_sys::UUIDOID {
            let type_name = CStr::from_ptr(pg_sys::format_type_be(typid));
            return Err(error::operator_class(
                class.to_bytes(),
                type_name.to_bytes(),
            ));
        }
        let result = pgrx::direct_function_call_as_datum(function, &[Some(typid.into())]);
        Ok(Internal(result.unwrap_or(Datum::null()).cast_mut_ptr()))
    }
}
