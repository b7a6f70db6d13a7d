//! Catalog lookups about types, operators and functions. They need a transaction, within which the
//! planner runs.
//!
//! A type that does not exist is an ERROR, and so is an operator class that is dropped during its
//! lookup. The lookup of another object finds nothing. If that was a function, the ACL check of
//! [`super::node::Root::may_execute`] raises an ERROR.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int};

use pg_ulid::Ulid;
use pgrx::pg_sys::{self, Datum, FormData_pg_proc, HeapTuple, Oid, SysCacheIdentifier};

use crate::datum::TextArg;
use crate::fmgr::Argument;

/// The type itself, or the one that a domain is over.
pub(super) fn base_type(typid: Oid) -> Oid {
    // SAFETY: only values are passed, and no pointer is returned.
    unsafe { pg_sys::getBaseType(typid) }
}

/// Whether values of a type can be read as ulids: 16 bytes, passed by reference.
pub(super) fn is_sixteen_bytes_by_reference(typid: Oid) -> bool {
    let (mut length, mut by_value) = (0, true);
    // SAFETY: the pointers are to these two variables.
    unsafe { pg_sys::get_typlenbyval(typid, &mut length, &mut by_value) };
    usize::try_from(length) == Ok(size_of::<Ulid>()) && !by_value
}

/// The opfamily of the type's default btree operator class, which defines the order of the type;
/// `None` if it has none. A domain has that of its base type, whose operators it needs.
pub(super) fn default_btree_opfamily(typid: Oid) -> Option<Oid> {
    // SAFETY: the result is an entry of the type cache, which is never freed.
    let opfamily = unsafe {
        (*pg_sys::lookup_type_cache(typid, pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int)).btree_opf
    };
    (opfamily != Oid::INVALID).then_some(opfamily)
}

/// The operator of the type's default btree opfamily for a btree strategy, if it is also a member
/// of `opfamily`.
pub(super) fn default_btree_operator(typid: Oid, strategy: u32, opfamily: Oid) -> Option<Oid> {
    // SAFETY: only values are passed, and no pointer is returned.
    unsafe {
        let operator = pg_sys::get_opfamily_member(
            default_btree_opfamily(typid)?,
            typid,
            typid,
            strategy as i16,
        );
        (operator != Oid::INVALID && pg_sys::op_in_opfamily(operator, opfamily)).then_some(operator)
    }
}

/// The strategy of an operator in the type's default btree opfamily: 1 for `<`, 2 for `<=`, 3 for
/// `=`, 4 for `>=`, 5 for `>`. `None` if it is no member.
pub(super) fn default_btree_strategy(operator: Oid, typid: Oid) -> Option<u32> {
    // SAFETY: only values are passed, and no pointer is returned.
    let strategy =
        unsafe { pg_sys::get_op_opfamily_strategy(operator, default_btree_opfamily(typid)?) };
    u32::try_from(strategy)
        .ok()
        .filter(|&strategy| strategy != 0)
}

/// The operator that compares two values of a type by this function. It is a member of the type's
/// default btree opfamily, or the negator of one: `<>` has no btree strategy.
pub(super) fn comparison_operator(function: Oid, typid: Oid) -> Option<Oid> {
    let opfamily = default_btree_opfamily(typid)?;
    (1..=pg_sys::BTMaxStrategyNumber)
        .filter_map(|strategy| default_btree_operator(typid, strategy, opfamily))
        // InvalidOid if it has no negator.
        // SAFETY: only values are passed, and no pointer is returned.
        .flat_map(|operator| [operator, unsafe { pg_sys::get_negator(operator) }])
        .find(|&operator| function_of_operator(operator) == function)
}

/// The function that implements an operator; InvalidOid if there is no such operator.
pub(super) fn function_of_operator(operator: Oid) -> Oid {
    // SAFETY: only values are passed, and no pointer is returned.
    unsafe { pg_sys::get_opcode(operator) }
}

/// Whether a function is written in SQL, so that the planner may inline it. Built-in functions are
/// skipped: none of them calls ours.
pub(super) fn is_sql_function(function: Oid) -> bool {
    if function.to_u32() < pg_sys::FirstUnpinnedObjectId {
        return false;
    }
    // SAFETY: the cache is that of pg_proc, whose struct this is.
    unsafe {
        let tuple =
            pg_sys::SearchSysCache1(SysCacheIdentifier::PROCOID as c_int, Datum::from(function));
        if tuple.is_null() {
            return false;
        }
        let language = (*pg_sys::GETSTRUCT(tuple).cast::<FormData_pg_proc>()).prolang;
        pg_sys::ReleaseSysCache(tuple);
        language == Oid::from(pg_sys::SQLlanguageId)
    }
}

/// The function of this name, these arguments and this result in the schema of another one. It must
/// be a C function with the symbol of that name and the same `probin` as the other one. It must not
/// be SECURITY DEFINER and must have no `proconfig`. So it is ours, and not a function that
/// somebody has put there under its name.
pub(super) fn function_of_same_library(
    function: Oid,
    name: &CStr,
    arguments: &[Oid],
    result: Oid,
) -> Option<Oid> {
    let by_signature = SysCacheIdentifier::PROCNAMEARGSNSP as c_int;
    let by_oid = SysCacheIdentifier::PROCOID as c_int;
    // SAFETY: the keys are of the types of these caches, which are of pg_proc, and the attributes
    // read as texts are texts, which are compared before ReleaseSysCache(). The query calls the
    // function, but nothing prevents another session from dropping it.
    unsafe {
        let types = pg_sys::buildoidvector(arguments.as_ptr(), arguments.len() as c_int);
        let types = Datum::from(types);
        let schema = Datum::from(pg_sys::get_func_namespace(function));
        let tuple =
            pg_sys::SearchSysCache3(by_signature, Datum::from(name.as_ptr()), types, schema);
        if tuple.is_null() {
            return None;
        }
        let other = pg_sys::SearchSysCache1(by_oid, Datum::from(function));
        if other.is_null() {
            pg_sys::ReleaseSysCache(tuple);
            return None;
        }
        let text = |tuple, number| {
            syscache_attribute(by_oid, tuple, number)
                .map(|datum| TextArg::from_datum_guarded(datum).0)
        };
        let found = &*pg_sys::GETSTRUCT(tuple).cast::<FormData_pg_proc>();
        let is_ours = found.prolang == Oid::from(pg_sys::ClanguageId)
            && found.prorettype == result
            && !found.prosecdef
            && syscache_attribute(by_oid, tuple, pg_sys::Anum_pg_proc_proconfig).is_none()
            && text(tuple, pg_sys::Anum_pg_proc_prosrc) == Some(name.to_bytes())
            && text(tuple, pg_sys::Anum_pg_proc_probin) == text(other, pg_sys::Anum_pg_proc_probin);
        let found = found.oid;
        pg_sys::ReleaseSysCache(other);
        pg_sys::ReleaseSysCache(tuple);
        is_ours.then_some(found)
    }
}

/// An attribute of a tuple that a system cache has found; `None` if it is null.
///
/// # Safety
/// The tuple is of this cache, and the number is one of the `Anum_` constants of its catalog.
pub(super) unsafe fn syscache_attribute(
    cache: c_int,
    tuple: HeapTuple,
    number: u32,
) -> Option<Datum> {
    let mut is_null = false;
    // SAFETY: the cache knows the attributes of its catalog.
    let datum = unsafe { pg_sys::SysCacheGetAttr(cache, tuple, number as i16, &mut is_null) };
    (!is_null).then_some(datum)
}
