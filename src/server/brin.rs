//! Which columns the minmax classes of BRIN accept. Core's functions look for operators of the type
//! of the column. The classes for core's types store the type that they are for, whatever the
//! column has; CREATE OPERATOR CLASS cannot say that. So for a domain or a uuid there would be no
//! operators, and no row could be written.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int};

use pgrx::pg_sys::{self, Oid, PGFunction};

use super::datum::Internal;
use super::frame::Plain;
use super::report::{Error, Fault};
use crate::server;

/// What `ulid_minmax_ops` stores for a column of this type, which is an Oid.
pub(crate) fn minmax_opcinfo(typid: Internal, plain: Plain) -> Internal {
    opcinfo(
        typid,
        c"ulid_minmax_ops",
        Some(server::brin_minmax_opcinfo),
        plain,
    )
}

/// What `ulid_minmax_multi_ops` stores for a column of this type, which is an Oid.
pub(crate) fn minmax_multi_opcinfo(typid: Internal, plain: Plain) -> Internal {
    opcinfo(
        typid,
        c"ulid_minmax_multi_ops",
        Some(server::brin_minmax_multi_opcinfo),
        plain,
    )
}

/// The answer of core's function, or an error if the type is not ulid. What each INSERT looks up
/// here is cached.
fn opcinfo(argument: Internal, class: &CStr, of_core: PGFunction, plain: Plain) -> Internal {
    let typid = Oid::from(argument.0.addr() as u32);
    // SAFETY: BRIN calls this with the type of a column; an entry of the cache is never freed. The
    // function of core's takes the same argument.
    unsafe {
        // Of a type without an order of its own, this is the type whose order it borrows.
        let ordered =
            (*server::lookup_type_cache(typid, pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int))
                .btree_opintype;
        if ordered != typid || typid == pg_sys::UUIDOID {
            let type_name = CStr::from_ptr(server::format_type_be(typid));
            Error::from(Fault::OperatorClass { class, type_name }).raise(plain);
        }
        Internal(
            server::DirectFunctionCall1Coll(of_core, Oid::INVALID, typid.into()).cast_mut_ptr(),
        )
    }
}
