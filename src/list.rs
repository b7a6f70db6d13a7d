//! Lists of PostgreSQL.
#![allow(unsafe_code)]

use pgrx::pg_sys::{List, ListCell};

/// The ListCells of a List. PostgreSQL reads them by inline functions, which have no symbol.
///
/// # Safety
/// The list is a valid one, or null for the empty list, and does not change while they are used.
pub(crate) unsafe fn list_cells<'list>(list: *const List) -> &'list [ListCell] {
    if list.is_null() {
        return &[];
    }
    // SAFETY: a list that is not null has as many elements as its length says.
    unsafe { std::slice::from_raw_parts((*list).elements, (*list).length as usize) }
}
