//! Errors as PostgreSQL reports them: SQLSTATE, message, detail, in the server's language and encoding.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{Node, Oid};

use crate::error::{Expected, LengthError, MonotonicError, ParseError, RangeError};
use crate::generator::SeedError;

/// An error that a function of the extension can raise.
pub(super) enum Error<'call> {
    /// 22P02, or 22003 where the text is of more than 128 bits.
    Parse { text: &'call CStr, error: ParseError },
    /// 22P03: a bytea that is not 16 bytes long.
    Length(LengthError),
    /// 22008: a timestamp that a ULID has no room for.
    Timestamp,
    /// 22008: the same of the system's clock.
    Clock,
    /// 42883: a range that is not one of times, as if the operator were not there.
    RangeType(Oid),
    /// 2200H: no greater ULID in this millisecond.
    Exhausted,
    /// XX000, as core's `gen_random_uuid` has it: no randomness from the operating system.
    Seed,
}

impl From<LengthError> for Error<'_> {
    fn from(error: LengthError) -> Self {
        Self::Length(error)
    }
}

impl From<RangeError> for Error<'_> {
    fn from(_: RangeError) -> Self {
        Self::Clock
    }
}

impl From<MonotonicError> for Error<'_> {
    fn from(error: MonotonicError) -> Self {
        match error {
            MonotonicError::Range(error) => error.into(),
            MonotonicError::Exhausted => Self::Exhausted,
        }
    }
}

impl From<SeedError> for Error<'_> {
    fn from(_: SeedError) -> Self {
        Self::Seed
    }
}

/// The times that a ULID can hold, for details.
const TIMES: &CStr = c"A ULID holds times from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00.";

impl Error<'_> {
    /// Reports the error: softly where the caller asked for that (`context` of the call frame, PostgreSQL 16 and
    /// later) and then returns, as an ERROR otherwise and then does not.
    ///
    /// # Safety
    /// `context` is that of the present call frame, and no frame from here to PostgreSQL has anything to drop.
    pub(super) unsafe fn report(self, context: *mut Node) {
        // SAFETY: promised by the caller; the strings end with a zero and PostgreSQL copies them.
        unsafe {
            if !start(context) {
                return;
            }
            self.describe();
            finish(context);
        }
    }

    /// # Safety
    /// An error report has been started.
    unsafe fn describe(self) {
        // SAFETY: each format is given the strings it names. The first two messages are core's own words, so they
        // are translated with core's catalogue.
        unsafe {
            match self {
                Self::Parse { text, error } => {
                    if error == ParseError::Overflow {
                        code(PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE);
                        errmsg(
                            c"value \"%s\" is out of range for type %s".as_ptr(),
                            text.as_ptr(),
                            c"ulid".as_ptr(),
                        );
                    } else {
                        code(PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION);
                        errmsg(
                            c"invalid input syntax for type %s: \"%s\"".as_ptr(),
                            c"ulid".as_ptr(),
                            text.as_ptr(),
                        );
                    }
                    describe_parse_error(text, error);
                }
                Self::Length(LengthError { found }) => {
                    code(PgSqlErrorCode::ERRCODE_INVALID_BINARY_REPRESENTATION);
                    errmsg(c"invalid length for type ulid: %lu bytes".as_ptr(), found);
                    errdetail(c"A ULID is exactly 16 bytes long.".as_ptr());
                }
                Self::Timestamp => {
                    code(PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW);
                    errmsg(c"timestamp out of range for type ulid".as_ptr());
                    errdetail(c"%s".as_ptr(), TIMES.as_ptr());
                }
                Self::Clock => {
                    code(PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW);
                    errmsg(c"system clock out of range for type ulid".as_ptr());
                    errdetail(c"%s".as_ptr(), TIMES.as_ptr());
                }
                Self::RangeType(range) => {
                    code(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION);
                    errmsg(
                        c"operator does not exist: %s".as_ptr(),
                        psprintf(c"ulid <@ %s".as_ptr(), pgrx::pg_sys::format_type_be(range)),
                    );
                    errhint(c"Only a tstzrange holds the times of ULIDs.".as_ptr());
                }
                Self::Exhausted => {
                    code(PgSqlErrorCode::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED);
                    errmsg(
                        c"could not generate a monotonic ulid: randomness of this millisecond is exhausted"
                            .as_ptr(),
                    );
                    errhint(c"The next millisecond has room again; retry the statement.".as_ptr());
                }
                Self::Seed => {
                    code(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR);
                    errmsg(c"could not generate random values".as_ptr());
                }
            }
        }
    }
}

/// Says which fault the text has.
///
/// # Safety
/// An error report has been started.
unsafe fn describe_parse_error(text: &CStr, error: ParseError) {
    // SAFETY: each format is given the values it names.
    unsafe {
        match error {
            ParseError::Length { found } => {
                errdetail(c"A ULID has 26 characters, or 36 in the form of a UUID, not %lu.".as_ptr(), found);
            }
            ParseError::Character { position, expected, .. } => {
                let expected = match expected {
                    Expected::Base32 => c"in Crockford's Base32 alphabet",
                    Expected::HexDigit => c"a hexadecimal digit",
                    Expected::Hyphen => c"a hyphen",
                };
                let rest = &text.to_bytes()[position - 1..];
                errdetail(
                    c"Character \"%.*s\" at position %lu is not %s.".as_ptr(),
                    character_len(rest),
                    rest.as_ptr(),
                    position,
                    expected.as_ptr(),
                );
            }
            ParseError::Overflow => {
                errdetail(c"The first character of a ULID is at most 7.".as_ptr());
            }
        }
    }
}

/// The length in bytes of the first character of a text that is not empty, in the server's encoding.
fn character_len(text: &[u8]) -> c_int {
    let available = c_int::try_from(text.len()).unwrap_or(c_int::MAX);
    // SAFETY: pg_encoding_mblen looks at the bytes of one character; a copy that ends with zeros gives it more than
    // any encoding can want.
    let length = unsafe {
        let mut character = [0_u8; 16];
        let copied = text.len().min(4);
        character[..copied].copy_from_slice(&text[..copied]);
        pgrx::pg_sys::pg_encoding_mblen(pgrx::pg_sys::GetDatabaseEncoding(), character.as_ptr().cast())
    };
    length.clamp(1, available)
}

/// # Safety
/// An error report has been started.
unsafe fn code(sqlstate: PgSqlErrorCode) {
    // SAFETY: promised by the caller.
    unsafe { errcode(sqlstate as c_int) };
}

/// Starts a report and says whether anybody wants its text.
///
/// # Safety
/// `context` is that of the present call frame.
unsafe fn start(context: *mut Node) -> bool {
    // SAFETY: promised by the caller. A null domain is core's.
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    unsafe {
        let _ = context;
        errstart(pgrx::PgLogLevel::ERROR as c_int, std::ptr::null())
    }
    // SAFETY: the same.
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    unsafe {
        errsave_start(context, std::ptr::null())
    }
}

/// Ends the report. Returns only where the error is a soft one.
///
/// # Safety
/// `context` is that of [`start`], and the frames up to PostgreSQL have nothing to drop.
unsafe fn finish(context: *mut Node) {
    const FILE: &str = concat!(file!(), "\0");
    const LINE: c_int = line!() as c_int;
    // SAFETY: promised by the caller.
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    unsafe {
        let _ = context;
        errfinish(FILE.as_ptr().cast(), LINE, std::ptr::null());
    }
    // SAFETY: the same.
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    unsafe {
        errsave_finish(context, FILE.as_ptr().cast(), LINE, std::ptr::null());
    }
}

// pgrx binds none of these, or binds them with a jump of its own that would turn the report into UTF-8.
unsafe extern "C-unwind" {
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    fn errstart(level: c_int, domain: *const c_char) -> bool;
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    fn errsave_start(context: *mut Node, domain: *const c_char) -> bool;
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    fn errsave_finish(context: *mut Node, file: *const c_char, line: c_int, function: *const c_char);
    fn psprintf(format: *const c_char, ...) -> *mut c_char;
    fn errcode(sqlstate: c_int) -> c_int;
    fn errmsg(format: *const c_char, ...) -> c_int;
    fn errdetail(format: *const c_char, ...) -> c_int;
    fn errhint(format: *const c_char, ...) -> c_int;
}
