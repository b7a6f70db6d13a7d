//! The errors that the functions raise. Each has one constructor here, with its SQLSTATE, message,
//! detail and hint. A constructor does not raise the error: `fmgr` does, when the function has
//! returned it. Only a warning is reported where it is made.
//!
//! `pg_ulid::Error` is the error of the library. It has no blanket `From`: each caller maps it. It
//! calls the constructor in a closure, because `#[track_caller]` takes the file and the line of the
//! caller, which the server logs.
//!
//! pgrx's `ereport!` is not used: its texts are UTF-8, and these quote text in the encoding of the
//! database.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Display;
use std::panic::Location;
use std::ptr::null;

use pg_ulid::Ulid;
use pg_ulid::extension::{ErrorKind, Expected, ForeignId};
use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode::{self, *};
use pgrx::pg_sys::{self, FunctionCallInfo, pg_enc};

use crate::datum::TimestampTz;
use crate::fmgr::longjmp;

/// An error that was not raised yet. It has the size of a pointer, to keep a [`Result`] small.
#[derive(Clone, Copy)]
pub(crate) struct Error(&'static Report);

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// What ereport() gets, and the place in the code that made the error. This and the strings that it
/// quotes are in the CurrentMemoryContext of the call. So it is `'static` only in name: use it
/// before that context is reset.
#[derive(Clone, Copy)]
struct Report {
    sqlstate: PgSqlErrorCode,
    message: Formatted,
    detail: Option<Formatted>,
    /// A C string; null if there is none.
    hint: *const c_char,
    location: &'static Location<'static>,
}

/// What errmsg() and errdetail() take: a format whose directives are all `%s`, and their values,
/// which are C strings. Values that the format does not use are empty.
#[derive(Clone, Copy)]
struct Formatted {
    format: &'static CStr,
    values: [*const c_char; Self::MAX_VALUES],
}

impl Formatted {
    /// The maximum number of `%s` in a format.
    const MAX_VALUES: usize = 3;

    /// Copies the values, which are in the encoding of the database and have no zero byte.
    fn new<const N: usize>(format: &'static CStr, given: [&[u8]; N]) -> Self {
        const { assert!(N <= Self::MAX_VALUES) };
        let mut values = [c"".as_ptr(); Self::MAX_VALUES];
        for (value, bytes) in values.iter_mut().zip(given) {
            // SAFETY: `len` bytes are readable. pnstrdup() appends a zero.
            *value = unsafe { pg_sys::pnstrdup(bytes.as_ptr().cast(), bytes.len()) };
        }
        Self { format, values }
    }

    /// Calls errmsg() or errdetail() with this.
    ///
    /// # Safety
    /// The function takes a format, and errstart() or errsave_start() has returned true.
    unsafe fn pass_to(self, function: unsafe extern "C-unwind" fn(*const c_char, ...) -> c_int) {
        let [a, b, c] = self.values;
        // SAFETY: each directive takes a string. The format uses at most these, and printf ignores
        // surplus arguments.
        unsafe { function(self.format.as_ptr(), a, b, c) };
    }
}

impl Error {
    /// An error without detail and hint, made by the caller of the constructor.
    #[cold]
    #[track_caller]
    fn new<const N: usize>(
        sqlstate: PgSqlErrorCode,
        message: &'static CStr,
        values: [&[u8]; N],
    ) -> Self {
        let (message, location) = (Formatted::new(message, values), Location::caller());
        Self::allocate(Report {
            sqlstate,
            message,
            detail: None,
            hint: null(),
            location,
        })
    }

    /// Puts the report into CurrentMemoryContext.
    #[cold]
    fn allocate(report: Report) -> Self {
        // SAFETY: palloc gives aligned memory or does not return. The error is reported in this
        // call, before its memory context is reset.
        unsafe {
            let pointer = pg_sys::palloc(size_of::<Report>()).cast::<Report>();
            pointer.write(report);
            Self(&*pointer)
        }
    }

    /// The same error with this DETAIL.
    #[cold]
    fn detail<const N: usize>(self, format: &'static CStr, values: [&[u8]; N]) -> Self {
        let detail = Some(Formatted::new(format, values));
        Self::allocate(Report { detail, ..*self.0 })
    }

    /// The same error with this HINT.
    #[cold]
    fn hint(self, hint: &'static CStr) -> Self {
        let hint = hint.as_ptr();
        Self::allocate(Report { hint, ..*self.0 })
    }

    /// Raises the error, which longjmps. But from PostgreSQL 16 on, a caller can ask for a soft
    /// error, as pg_input_is_valid() does: this saves the error in the caller's ErrorSaveContext,
    /// and returns.
    ///
    /// # Safety
    /// `fcinfo` is that of the present call. Every frame up to the next `sigsetjmp` owns nothing
    /// that needs Drop ([`longjmp`]).
    #[cold]
    pub(crate) unsafe fn errsave(self, fcinfo: FunctionCallInfo) {
        // SAFETY: `fcinfo` is that of the present call. An ERROR skips only this error, which is
        // `Copy`. A null domain stands for PostgreSQL's translations.
        unsafe {
            #[cfg(feature = "pg15")]
            {
                let _ = fcinfo;
                self.ereport(PgLogLevel::ERROR);
            }
            #[cfg(not(feature = "pg15"))]
            {
                let context = (*fcinfo).context;
                if longjmp::errsave_start(context, null()) {
                    self.add_fields();
                    let file = self.0.location.file_as_c_str().as_ptr();
                    longjmp::errsave_finish(context, file, self.0.location.line() as c_int, null());
                }
            }
        }
    }

    /// Reports it as a WARNING. If reporting it raises an ERROR, that becomes a panic.
    #[cold]
    pub(crate) fn warn(self) {
        // SAFETY: the frames that an ERROR skips own nothing that needs Drop, and nothing in it
        // panics.
        unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| self.ereport(PgLogLevel::WARNING)) };
    }

    /// Raises the error, which longjmps, or reports it if the level is below ERROR.
    ///
    /// # Safety
    /// Every frame up to the next `sigsetjmp` owns nothing that needs Drop ([`longjmp`]).
    pub(crate) unsafe fn ereport(self, level: PgLogLevel) {
        // SAFETY: an ERROR skips only this error, which is `Copy`. A null domain stands for
        // PostgreSQL's translations.
        unsafe {
            if longjmp::errstart(level as c_int, null()) {
                self.add_fields();
                let file = self.0.location.file_as_c_str().as_ptr();
                longjmp::errfinish(file, self.0.location.line() as c_int, null());
            }
        }
    }

    /// Adds SQLSTATE, message, detail and hint to PostgreSQL's ErrorData.
    ///
    /// # Safety
    /// errstart() or errsave_start() has returned true, and nothing has finished the ErrorData.
    unsafe fn add_fields(self) {
        // SAFETY: errstart() or errsave_start() has pushed the ErrorData that these add to.
        unsafe {
            longjmp::errcode(self.0.sqlstate as c_int);
            self.0.message.pass_to(longjmp::errmsg);
            if let Some(detail) = self.0.detail {
                detail.pass_to(longjmp::errdetail);
            }
            if !self.0.hint.is_null() {
                longjmp::errhint(c"%s".as_ptr(), self.0.hint);
            }
        }
    }

    /// The same error with a DETAIL that says what the library found wrong in this text, which is
    /// in the encoding of the database: which character is wrong, or what else is. The library
    /// knows no encoding, so its position counts bytes, from 1. Before that position, all is ASCII.
    fn detail_about_text(self, text: &[u8], error: pg_ulid::Error) -> Self {
        let ErrorKind::Character {
            position, expected, ..
        } = error.into()
        else {
            return self.detail(c"%s.", [capitalized(error).as_bytes()]);
        };
        let rest = format!("position {position} is not {expected}");
        let text = text.get(position - 1..).unwrap_or_default();
        // A character has at most 4 bytes. pg_encoding_mblen() may read past the first one, so the
        // copy is padded with zeros.
        let mut padded = [0_u8; 16];
        padded
            .iter_mut()
            .zip(text.iter().take(4))
            .for_each(|(copy, &byte)| *copy = byte);
        // SAFETY: the copy is longer than any character. The length is in bytes.
        let (encoding, length) = unsafe {
            let encoding = pg_sys::GetDatabaseEncoding();
            (
                encoding,
                pg_sys::pg_encoding_mblen(encoding, padded.as_ptr().cast()),
            )
        };
        match text.first() {
            // In SQL_ASCII, only the client knows what characters the bytes are.
            Some(byte) if !byte.is_ascii() && encoding == pg_enc::PG_SQL_ASCII as c_int => self
                .detail(
                    c"Byte %s at %s.",
                    [format!("{byte:#04x}").as_bytes(), rest.as_bytes()],
                ),
            _ => {
                let character = text.get(..length as usize).unwrap_or(text);
                self.detail(c"Character \"%s\" at %s.", [character, rest.as_bytes()])
            }
        }
    }
}

/// The words of the library as the beginning of a sentence.
fn capitalized(what: impl Display) -> String {
    let mut text = what.to_string();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

const HINT_RESET_ID_CLOCK: &CStr =
    c"If the system clock is right, ulid_reset_ordered_time() sets the \
    id clock back to it. New ordered ids are then less than those that exist.";

const HINT_USE_DEFAULT: &CStr = c"Let the default of the column generate the id.";

/// 22P02 with the format and the values of `invalid`, or 22003 with those of `out_of_range` if the
/// text stands for more than 128 bits. The error of the library says which, and the detail.
#[cold]
#[track_caller]
fn invalid_or_out_of_range<const N: usize>(
    text: &[u8],
    error: pg_ulid::Error,
    invalid: (&'static CStr, [&[u8]; N]),
    out_of_range: (&'static CStr, [&[u8]; N]),
) -> Error {
    let (sqlstate, (message, values)) = if error.is_out_of_range() {
        (ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, out_of_range)
    } else {
        (ERRCODE_INVALID_TEXT_REPRESENTATION, invalid)
    };
    Error::new(sqlstate, message, values).detail_about_text(text, error)
}

/// 22P02 or 22003: not a text of a ulid. The messages are PostgreSQL's own, so its translations
/// apply.
#[track_caller]
pub(crate) fn invalid_ulid(text: &[u8], error: pg_ulid::Error) -> Error {
    let invalid = (
        c"invalid input syntax for type %s: \"%s\"",
        [b"ulid".as_slice(), text],
    );
    let out_of_range = (c"value \"%s\" is out of range for type %s", [text, b"ulid"]);
    invalid_or_out_of_range(text, error, invalid, out_of_range)
}

/// 22P02 or 22003: no text of a ulid starts with this.
#[track_caller]
pub(crate) fn invalid_prefix(prefix: &[u8], error: pg_ulid::Error) -> Error {
    let invalid = c"invalid prefix of a ulid: \"%s\"";
    let out_of_range = c"prefix \"%s\" is out of range for type ulid";
    invalid_or_out_of_range(prefix, error, (invalid, [prefix]), (out_of_range, [prefix]))
}

/// 22P02 or 22003: not a TypeID.
#[track_caller]
pub(crate) fn invalid_typeid(text: &[u8], error: pg_ulid::Error) -> Error {
    let invalid = c"invalid TypeID: \"%s\"";
    let out_of_range = c"TypeID \"%s\" is out of range for type ulid";
    invalid_or_out_of_range(text, error, (invalid, [text]), (out_of_range, [text]))
}

/// 22023: not a prefix of a TypeID.
#[track_caller]
pub(crate) fn invalid_typeid_prefix(prefix: &[u8], error: pg_ulid::Error) -> Error {
    Error::new(
        ERRCODE_INVALID_PARAMETER_VALUE,
        c"invalid prefix of a TypeID: \"%s\"",
        [prefix],
    )
    .detail_about_text(prefix, error)
}

/// 22023: a TypeID with another prefix than the expected one.
#[track_caller]
pub(crate) fn other_typeid_prefix(typeid: &[u8], prefix: &[u8], expected: &[u8]) -> Error {
    Error::new(
        ERRCODE_INVALID_PARAMETER_VALUE,
        c"TypeID \"%s\" has the prefix \"%s\", not \"%s\"",
        [typeid, prefix, expected],
    )
}

/// 22P03: a bytea that is to be a ulid has not 16 bytes, but this many.
#[track_caller]
pub(crate) fn ulid_length(found: usize) -> Error {
    Error::new(
        ERRCODE_INVALID_BINARY_REPRESENTATION,
        c"invalid length for type ulid: %s bytes",
        [found.to_string().as_bytes()],
    )
    .detail(c"%s.", [capitalized(Expected::UlidBytes).as_bytes()])
}

/// 22P03: a bytea that is to be the randomness of a ulid has not 10 bytes, but this many.
#[track_caller]
pub(crate) fn randomness_length(found: usize) -> Error {
    Error::new(
        ERRCODE_INVALID_BINARY_REPRESENTATION,
        c"invalid length for the randomness of a ulid: %s bytes",
        [found.to_string().as_bytes()],
    )
    .detail(c"The randomness is exactly 10 bytes long.", [])
}

/// 22003: a snowflake or a key that is negative. 22008: a snowflake whose time does not fit into a
/// ULID.
#[track_caller]
pub(crate) fn snowflake_or_key(error: pg_ulid::Error) -> Error {
    match error.into() {
        ErrorKind::Negative { .. } => Error::new(
            ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            c"%s",
            [error.to_string().as_bytes()],
        )
        .detail(c"A snowflake or a key must not be negative.", []),
        // ErrorKind::OutOfRangeForUlid: the time of a snowflake.
        _ => timestamp_out_of_range(),
    }
}

/// 22008: the epoch of a snowflake is `infinity` or `-infinity`.
#[track_caller]
pub(crate) fn infinite_epoch() -> Error {
    Error::new(ERRCODE_DATETIME_FIELD_OVERFLOW, c"epoch out of range", [])
        .detail(c"An epoch must be finite.", [])
}

/// 22008, with this message: a time that no ULID has.
#[track_caller]
fn out_of_range_time(message: &'static CStr) -> Error {
    Error::new(ERRCODE_DATETIME_FIELD_OVERFLOW, message, []).detail(
        c"A ULID holds times from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00.",
        [],
    )
}

/// 22008: a timestamp that does not fit into a ULID.
#[track_caller]
pub(crate) fn timestamp_out_of_range() -> Error {
    out_of_range_time(c"timestamp out of range for type ulid")
}

/// 22008: the system clock reads a time that does not fit into a ULID.
#[track_caller]
pub(crate) fn system_clock_out_of_range() -> Error {
    out_of_range_time(c"system clock out of range for type ulid")
}

/// 22008: the id clock is at the last time that a ULID can have, so no ordered id follows.
#[track_caller]
pub(crate) fn id_clock_out_of_range() -> Error {
    out_of_range_time(c"id clock out of range for type ulid").hint(HINT_RESET_ID_CLOCK)
}

/// 22023: the id that ulid_advance_ordered_time() was called with is more than a day ahead of the
/// system clock.
#[track_caller]
pub(crate) fn ahead_of_system_clock(id: Ulid) -> Error {
    Error::new(
        ERRCODE_INVALID_PARAMETER_VALUE,
        c"ulid \"%s\" is more than a day ahead of the system clock",
        [&id.to_text()],
    )
    .hint(c"To set the id clock to it anyway, pass true as the second argument.")
}

/// 01000, a warning and no error: the id clock, and so ordered ids, are more than a minute ahead of
/// the system clock.
#[track_caller]
pub(crate) fn id_clock_ahead() -> Error {
    Error::new(
        ERRCODE_WARNING,
        c"the id clock is more than a minute ahead of the system clock",
        [],
    )
    .detail(c"ulid_ordered_time() returns the id clock.", [])
    .hint(HINT_RESET_ID_CLOCK)
}

/// 2200H: the last monotonic ULID of this backend has the greatest randomness, so no ULID of its
/// millisecond is greater, and the system clock is not in a later one.
#[track_caller]
pub(crate) fn randomness_exhausted() -> Error {
    Error::new(
        ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        c"%s",
        [pg_ulid::Error::from(ErrorKind::Exhausted)
            .to_string()
            .as_bytes()],
    )
    .hint(c"The next millisecond has room again; retry the statement.")
}

/// 25000: a parallel worker asked for an ordered id, which would belong to a transaction that ends
/// later than the worker, or for the next horizon.
#[track_caller]
pub(crate) fn parallel_worker() -> Error {
    Error::new(
        ERRCODE_INVALID_TRANSACTION_STATE,
        c"cannot use ordered ids in a parallel worker",
        [],
    )
    .hint(c"A function that generates them or refreshes their horizon must be PARALLEL RESTRICTED.")
}

/// 42P01: the table with the horizon is not in the schema of the functions, so nothing keeps ids
/// above the horizon.
#[track_caller]
pub(crate) fn no_horizon_table() -> Error {
    Error::new(
        ERRCODE_UNDEFINED_TABLE,
        c"table \"ulid_horizon\" of extension \"ulid\" does not exist",
        [],
    )
    .hint(c"It must keep its name, and be in the schema of the extension.")
}

/// 25001: the id clock cannot be reset by a subtransaction, which may be rolled back alone.
#[track_caller]
pub(crate) fn reset_in_subtransaction() -> Error {
    Error::new(
        ERRCODE_ACTIVE_SQL_TRANSACTION,
        c"cannot reset the id clock in a subtransaction",
        [],
    )
}

/// 0A000: a transaction that has refreshed the horizon or reset the id clock cannot be prepared.
#[track_caller]
pub(crate) fn horizon_in_prepared() -> Error {
    Error::new(
        ERRCODE_FEATURE_NOT_SUPPORTED,
        c"cannot PREPARE a transaction that has refreshed the horizon or reset the id clock",
        [],
    )
}

/// What is wrong with the use of the trigger function `ulid_ordered_guard`.
#[derive(Clone, Copy)]
pub(crate) enum Misuse {
    Call,
    Timing,
    Event,
    Arguments,
}

impl Misuse {
    /// The message, in words of PostgreSQL's own triggers, with one `%s` for the function.
    const fn message(self) -> &'static CStr {
        match self {
            Self::Call => c"function \"%s\" was not called by trigger manager",
            Self::Timing => c"function \"%s\" must be fired AFTER ROW",
            Self::Event => c"function \"%s\" must be fired for INSERT or UPDATE",
            Self::Arguments => c"function \"%s\" must have one argument, the name of a column",
        }
    }
}

/// The number of `%` in a format. These four are passed one argument, and no format of theirs has
/// another directive than `%s`.
const fn directives(format: &CStr) -> usize {
    let (bytes, mut n, mut count) = (format.to_bytes(), 0, 0);
    while n < bytes.len() {
        count += (bytes[n] == b'%') as usize;
        n += 1;
    }
    count
}

const _: () = {
    assert!(directives(Misuse::Call.message()) == 1);
    assert!(directives(Misuse::Timing.message()) == 1);
    assert!(directives(Misuse::Event.message()) == 1);
    assert!(directives(Misuse::Arguments.message()) == 1);
};

/// 39P01: the trigger function `ulid_ordered_guard` is used in another way than the hint shows.
#[track_caller]
pub(crate) fn misused_guard(misuse: Misuse) -> Error {
    Error::new(
        ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        misuse.message(),
        [b"ulid_ordered_guard"],
    )
    .hint(
        c"It is for CREATE TRIGGER name AFTER INSERT OR UPDATE ON table FOR EACH ROW \
            EXECUTE FUNCTION ulid_ordered_guard('column').",
    )
}

/// 42703, in PostgreSQL's words: the argument of the trigger `ulid_ordered_guard` names no
/// column, or a system column.
#[track_caller]
pub(crate) fn undefined_column(column: &[u8], relation: &[u8]) -> Error {
    Error::new(
        ERRCODE_UNDEFINED_COLUMN,
        c"column \"%s\" of relation \"%s\" does not exist",
        [column, relation],
    )
}

/// 42804: the argument of that trigger names a column of another type than ulid or uuid.
#[track_caller]
pub(crate) fn guarded_column_type(column: &[u8], relation: &[u8], type_name: &[u8]) -> Error {
    Error::new(
        ERRCODE_DATATYPE_MISMATCH,
        c"column \"%s\" of relation \"%s\" is of type %s, not ulid or uuid",
        [column, relation, type_name],
    )
}

/// 42P10: the argument of that trigger names a virtual generated column.
#[track_caller]
pub(crate) fn generated_column(column: &[u8], relation: &[u8]) -> Error {
    Error::new(
        ERRCODE_INVALID_COLUMN_REFERENCE,
        c"column \"%s\" of relation \"%s\" is a virtual generated column",
        [column, relation],
    )
    .detail(
        c"The row does not have its value, which the trigger could check.",
        [],
    )
}

/// 23502: a new or updated row has no id, and the constraint that refuses it was dropped.
#[track_caller]
pub(crate) fn null_id(column: &[u8], relation: &[u8]) -> Error {
    Error::new(
        ERRCODE_NOT_NULL_VIOLATION,
        c"null value in column \"%s\" of relation \"%s\"",
        [column, relation],
    )
    .detail(c"Consumers would never read the row.", [])
}

/// Why the trigger `ulid_ordered_guard` refuses an id.
#[derive(Clone, Copy)]
pub(crate) enum Refused {
    /// The transaction has generated no ordered id, so it does not hold the horizon back.
    NoOrderedId,
    /// The id clock was reset since the transaction generated its first ordered id.
    Reset,
    /// The id is earlier than this time, beyond which the transaction lets no horizon rise.
    BeforeBound(TimestampTz),
    /// The id is later than this time, a second after the id clock and the system clock.
    TooFarAhead(TimestampTz),
}

/// 23514: the trigger `ulid_ordered_guard` refuses the id of a new or updated row. Consumers may
/// have passed it, or would not come to it for a long time. The id is quoted as a uuid if the
/// column is of that type.
#[track_caller]
pub(crate) fn refused_id(id: Ulid, is_uuid: bool, relation: &[u8], why: Refused) -> Error {
    let name = if is_uuid {
        uuid_text(id.into())
    } else {
        format!("ulid \"{id}\"")
    };
    let values = [relation, name.as_bytes()];
    if let Refused::TooFarAhead(latest) = why {
        return Error::new(
            ERRCODE_CHECK_VIOLATION,
            c"consumers of relation \"%s\" cannot reach %s yet",
            values,
        )
        .detail(
            c"Its time is after %s, a second after the id clock and the system clock.",
            [time_text(latest).as_bytes()],
        )
        .hint(HINT_USE_DEFAULT);
    }
    let passed = Error::new(
        ERRCODE_CHECK_VIOLATION,
        c"consumers of relation \"%s\" may have passed %s",
        values,
    );
    match why {
        Refused::Reset => passed
            .detail(c"The id clock was reset during this transaction.", [])
            .hint(c"Repeat the transaction."),
        Refused::BeforeBound(bound) => passed
            .detail(
                c"This transaction generated its first ordered id at %s.",
                [time_text(bound).as_bytes()],
            )
            .hint(HINT_USE_DEFAULT),
        // Refused::NoOrderedId, as TooFarAhead has returned above.
        _ => passed
            .detail(c"This transaction has generated no ordered id.", [])
            .hint(HINT_USE_DEFAULT),
    }
}

/// 55000: a process of this server has generated ordered ids without an entry in shared memory, or
/// this one cannot read the entries. So no horizon can be computed. The cause is mostly that
/// processes have loaded libraries which lay out the memory differently.
#[track_caller]
pub(crate) fn entries_incomplete() -> Error {
    Error::new(
        ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        c"cannot determine the horizon of ordered ids",
        [],
    )
    .detail(
        c"Sessions of this server use different releases of library \"ulid\".",
        [],
    )
    .hint(c"Restart the server.")
}

/// 42804, in PostgreSQL's words: a BRIN index on a column whose type the operator class does not
/// accept: uuid, which has such classes of its own, or a domain.
#[track_caller]
pub(crate) fn operator_class_refuses_type(class: &[u8], type_name: &[u8]) -> Error {
    Error::new(
        ERRCODE_DATATYPE_MISMATCH,
        c"operator class \"%s\" does not accept data type %s",
        [class, type_name],
    )
    .hint(if type_name == b"uuid" {
        c"Use the default operator class instead."
    } else {
        c"Index the expression (column::ulid) instead."
    })
}

/// XX000, as for PostgreSQL's gen_random_uuid(): the operating system gave no randomness to seed a
/// generator.
#[track_caller]
pub(crate) fn no_randomness() -> Error {
    Error::new(
        ERRCODE_INTERNAL_ERROR,
        c"%s",
        [pg_ulid::Error::from(ErrorKind::Seed).to_string().as_bytes()],
    )
}

/// The 128 bits are a uuid that cannot be converted to a ULID, or a ULID that cannot be converted
/// to an id of another kind. 22023: the uuid is of another version than the expected one, or the
/// ULID has bits that no id of the other kind gives. 22008: its time does not fit. Most messages
/// quote the id, so that its row can be found.
#[track_caller]
pub(crate) fn not_convertible(id: impl Into<u128>, error: pg_ulid::Error) -> Error {
    let id = id.into();
    // Only the arms TimeOutOfRangeFor and NotMadeFrom use this. In these, the id is a ULID.
    let ulid = Ulid::from(id);
    let randomness = ulid.randomness();
    let text = ulid.to_text();
    match error.into() {
        ErrorKind::Version {
            expected,
            version,
            variant,
        } => Error::new(
            ERRCODE_INVALID_PARAMETER_VALUE,
            c"%s is not of version %s",
            [uuid_text(id).as_bytes(), expected.to_string().as_bytes()],
        )
        .detail(
            c"Its version is %s and its variant, in bits, is %s; that of RFC 9562 is 10.",
            [
                version.to_string().as_bytes(),
                format!("{variant:b}").as_bytes(),
            ],
        ),
        ErrorKind::TimeOutOfRangeFor { target } => Error::new(
            ERRCODE_DATETIME_FIELD_OVERFLOW,
            c"time of ulid \"%s\" is out of range for %s",
            [&text, target.to_string().as_bytes()],
        )
        .detail(
            match target {
                ForeignId::UuidV1 | ForeignId::UuidV6 => {
                    c"Such a uuid holds times to 5236-03-31 21:21:00.684+00."
                }
                _ => c"A snowflake holds times from its epoch to 2^41 - 1 milliseconds after it.",
            },
            [],
        ),
        ErrorKind::NotMadeFrom { target } => {
            let error = Error::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                c"ulid \"%s\" was not made from %s",
                [&text, target.to_string().as_bytes()],
            );
            match target {
                ForeignId::Snowflake => error.detail(
                    c"Its low 58 bits are %s; made from a snowflake, they are zero.",
                    [format!("{:#x}", randomness & ((1 << 58) - 1)).as_bytes()],
                ),
                ForeignId::BigintKey => error.detail(
                    c"The high 17 bits of its randomness are %s; made from a key, they are zero.",
                    [format!("{:#x}", randomness >> 63).as_bytes()],
                ),
                ForeignId::UuidV1 | ForeignId::UuidV6 => error.detail(
                    c"The 14 bits after its time are %s and its low 4 bits %s; made from such a \
                        uuid, they are at most 9999 and zero.",
                    [
                        (randomness >> 66).to_string().as_bytes(),
                        (randomness & 0xf).to_string().as_bytes(),
                    ],
                ),
            }
        }
        // ErrorKind::OutOfRangeForUlid: the time of a uuid is before 1970.
        _ => timestamp_out_of_range(),
    }
}

/// The time in the time zone of the session, always in the style ISO.
fn time_text(time: TimestampTz) -> String {
    // SAFETY: any time will do. The text is in a static buffer until the next call, and ends with a
    // zero.
    let text = unsafe { CStr::from_ptr(pg_sys::timestamptz_to_str(time.0)) };
    text.to_string_lossy().into_owned()
}

/// The uuid of these 128 bits as messages quote it: `uuid "…"`, in PostgreSQL's output format.
fn uuid_text(id: u128) -> String {
    let (a, b, c) = (id >> 96, id >> 80 & 0xffff, id >> 64 & 0xffff);
    let (d, e) = (id >> 48 & 0xffff, id & 0xffff_ffff_ffff);
    format!("uuid \"{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}\"")
}
