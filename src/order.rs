//! The transition functions of `min` and `max`, which core does not have for uuid. All other comparison is core's.

use ulid_core::Ulid;

pub(super) fn smaller<'call>(a: &'call Ulid, b: &'call Ulid) -> &'call Ulid {
    a.min(b)
}

pub(super) fn larger<'call>(a: &'call Ulid, b: &'call Ulid) -> &'call Ulid {
    a.max(b)
}
