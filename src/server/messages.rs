//! The messages of errors and of the warning, as formats: the table that `tests/release.rs` looks
//! for in `docs/errors.md`. Those of the library are in its own errors.

use std::ffi::CStr;

macro_rules! messages {
    ($($name:ident = $format:literal;)*) => {
        $(pub(crate) const $name: &CStr = $format;)*

        /// All of them.
        #[allow(dead_code, reason = "the test reads it")]
        pub(crate) const ALL: &[&CStr] = &[$($name),*];
    };
}

messages! {
    // Core's, which the server translates.
    INVALID_SYNTAX = c"invalid input syntax for type %s: \"%s\"";
    OUT_OF_RANGE = c"value \"%s\" is out of range for type %s";
    UNACCEPTED = c"operator class \"%s\" does not accept data type %s";
    // Ours.
    PREFIX_RANGE = c"prefix \"%.*s\" is out of range for type ulid";
    PREFIX = c"invalid prefix of a ulid: \"%.*s\"";
    TYPEID_RANGE = c"TypeID \"%.*s\" is out of range for type ulid";
    TYPEID = c"invalid TypeID: \"%.*s\"";
    TYPEID_PREFIX = c"invalid prefix of a TypeID: \"%.*s\"";
    OTHER_PREFIX = c"TypeID \"%.*s\" has the prefix \"%.*s\", not \"%.*s\"";
    LENGTH = c"invalid length for type ulid: %.*s bytes";
    RANDOMNESS_LENGTH = c"invalid length for the randomness of a ulid: %.*s bytes";
    EPOCH = c"epoch out of range";
    TIMESTAMP = c"timestamp out of range for type ulid";
    CLOCK = c"system clock out of range for type ulid";
    ORDERED_TIME = c"time of ordered ids out of range for type ulid";
    AHEAD = c"ulid \"%.*s\" is more than a day ahead of the clock";
    PARALLEL_WORKER = c"cannot use ordered ids in a parallel worker";
    RECOVERY = c"cannot determine the horizon of ordered ids during recovery";
    OTHER_LAYOUT = c"cannot determine the horizon of ordered ids";
    WARNING_OF_CLOCK = c"ordered ids are more than a minute ahead of the clock";
}
