//! Errors as PostgreSQL reports them: SQLSTATE, message and detail, in the server's language and encoding.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::panic::Location;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::Node;

use super::server::{self, errdetail, errhint, errmsg};
use crate::error::{
    ConvertError, Expected, ForeignId, LengthError, MonotonicError, ParseError, PrefixError, RangeError,
    TypeIdError,
};
use crate::generator::SeedError;
use crate::value::Ulid;

/// An error that a function of the extension raises, and where.
pub(super) struct Error<'call> {
    fault: Fault<'call>,
    place: &'static Location<'static>,
}

impl<'call, F: Into<Fault<'call>>> From<F> for Error<'call> {
    /// The place is where this is called, or where `?` is written.
    #[track_caller]
    fn from(fault: F) -> Self {
        Self { fault: fault.into(), place: Location::caller() }
    }
}

/// What is wrong.
pub(super) enum Fault<'call> {
    /// 22P02, or 22003 if the text has more than 128 bits.
    Parse { text: &'call CStr, error: ParseError },
    /// 22P02, or 22003 if it begins with more than 128 bits have: no text of a ulid starts with this.
    Prefix { text: &'call [u8], error: PrefixError },
    /// 22P02, or 22003 if the suffix has more than 128 bits.
    TypeId { text: &'call [u8], error: TypeIdError },
    /// 22023: not a valid prefix of a TypeID.
    TypeIdPrefix { prefix: &'call [u8], error: TypeIdError },
    /// 22023: a TypeID whose prefix, the first `prefix_len` bytes, differs from the expected one.
    OtherPrefix { typeid: &'call [u8], prefix_len: usize, expected: &'call [u8] },
    /// 22P03: a bytea that is not 16 bytes long.
    Length(LengthError),
    /// 22P03: a bytea that is not 10 bytes long.
    RandomnessLength { found: usize },
    /// 22023, 22003 or 22008: an id of another kind cannot be converted to a ULID, or a ULID, whose bytes are `id`, to
    /// that kind.
    Convert { error: ConvertError, id: [u8; 16] },
    /// 22008: an epoch that is infinite.
    Epoch,
    /// 22008: a timestamp that does not fit into a ULID.
    Timestamp,
    /// 22008: the same for the system clock.
    Clock,
    /// 22008: the same for the time that the ordered ULIDs of the server have reached.
    OrderedTime,
    /// 22023: a ULID after which ordered ones shall continue is more than a day ahead of the clock.
    Ahead(Ulid),
    /// 2200H: no greater ULID in this millisecond.
    Exhausted,
    /// XX000, as for core's `gen_random_uuid`: no randomness from the operating system.
    Seed,
}

impl From<LengthError> for Fault<'_> {
    fn from(error: LengthError) -> Self {
        Self::Length(error)
    }
}

impl From<RangeError> for Fault<'_> {
    fn from(_: RangeError) -> Self {
        Self::Clock
    }
}

/// For an id that is neither a uuid nor a ulid: the error itself names all of it.
impl From<ConvertError> for Fault<'_> {
    fn from(error: ConvertError) -> Self {
        Self::Convert { error, id: [0; 16] }
    }
}

impl From<MonotonicError> for Fault<'_> {
    fn from(error: MonotonicError) -> Self {
        match error {
            MonotonicError::Range(error) => error.into(),
            MonotonicError::Exhausted => Self::Exhausted,
        }
    }
}

impl From<SeedError> for Fault<'_> {
    fn from(_: SeedError) -> Self {
        Self::Seed
    }
}

/// The times that a ULID can hold, for details.
const TIMES: &CStr = c"A ULID holds times from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00.";

impl Error<'_> {
    /// Reports the error. If the caller asked for a soft error (`context` of the call frame, PostgreSQL 16 and later),
    /// this returns; otherwise it raises an ERROR and does not return.
    ///
    /// # Safety
    /// `context` is that of the present call frame, and no frame from here to PostgreSQL has anything to drop.
    pub(super) unsafe fn report(self, context: *mut Node) {
        // SAFETY: promised by the caller; the strings end with a zero and PostgreSQL copies them.
        unsafe {
            if !start(context) {
                return;
            }
            self.fault.describe();
            finish(context, self.place);
        }
    }
}

impl Fault<'_> {
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
                Self::Prefix { text, error } => describe_prefix_error(text, error),
                Self::TypeId { text, error } => {
                    if error == TypeIdError::Overflow {
                        code(PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE);
                        errmsg(
                            c"TypeID \"%.*s\" is out of range for type ulid".as_ptr(),
                            len(text),
                            text.as_ptr(),
                        );
                    } else {
                        code(PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION);
                        errmsg(c"invalid TypeID: \"%.*s\"".as_ptr(), len(text), text.as_ptr());
                    }
                    describe_typeid_error(text, error);
                }
                Self::TypeIdPrefix { prefix, error } => {
                    code(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE);
                    errmsg(c"invalid prefix of a TypeID: \"%.*s\"".as_ptr(), len(prefix), prefix.as_ptr());
                    describe_typeid_error(prefix, error);
                }
                Self::OtherPrefix { typeid, prefix_len, expected } => {
                    code(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE);
                    errmsg(
                        c"TypeID \"%.*s\" has the prefix \"%.*s\", not \"%.*s\"".as_ptr(),
                        len(typeid),
                        typeid.as_ptr(),
                        len(&typeid[..prefix_len]),
                        typeid.as_ptr(),
                        len(expected),
                        expected.as_ptr(),
                    );
                }
                Self::Length(LengthError { found }) => {
                    code(PgSqlErrorCode::ERRCODE_INVALID_BINARY_REPRESENTATION);
                    errmsg(c"invalid length for type ulid: %lu bytes".as_ptr(), found);
                    errdetail(c"A ULID is exactly 16 bytes long.".as_ptr());
                }
                Self::RandomnessLength { found } => {
                    code(PgSqlErrorCode::ERRCODE_INVALID_BINARY_REPRESENTATION);
                    errmsg(c"invalid length for the randomness of a ulid: %lu bytes".as_ptr(), found);
                    errdetail(c"The randomness is exactly 10 bytes long.".as_ptr());
                }
                Self::Convert { error, id } => describe_convert_error(error, id),
                Self::Epoch => {
                    code(PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW);
                    errmsg(c"epoch out of range".as_ptr());
                    errdetail(c"An epoch must be finite.".as_ptr());
                }
                Self::Timestamp => describe_timestamp_error(),
                Self::Clock => {
                    code(PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW);
                    errmsg(c"system clock out of range for type ulid".as_ptr());
                    errdetail(c"%s".as_ptr(), TIMES.as_ptr());
                }
                Self::OrderedTime => {
                    code(PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW);
                    errmsg(c"time of ordered ulids out of range for type ulid".as_ptr());
                    errdetail(c"%s".as_ptr(), TIMES.as_ptr());
                    errhint(BACK_TO_THE_CLOCK.as_ptr());
                }
                Self::Ahead(ulid) => {
                    let text = ulid.to_text();
                    code(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE);
                    errmsg(
                        c"ulid \"%.*s\" is more than a day ahead of the clock".as_ptr(),
                        text.len() as c_int,
                        text.as_ptr(),
                    );
                    errhint(
                        c"If ordered ulids shall continue after it nevertheless, pass true as the second argument."
                            .as_ptr(),
                    );
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

/// Describes the fault of the text.
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
                    Expected::Base32 => IN_ALPHABET,
                    Expected::HexDigit => c"a hexadecimal digit",
                    Expected::Hyphen => c"a hyphen",
                };
                describe_character(text.to_bytes(), position, expected);
            }
            ParseError::Overflow => {
                errdetail(MORE_THAN_128_BITS.as_ptr());
            }
        }
    }
}

const IN_ALPHABET: &CStr = c"in Crockford's Base32 alphabet";
const MORE_THAN_128_BITS: &CStr = c"The first character of a ULID is at most 7.";

/// Names the character at a position, from 1, and what it is not.
///
/// # Safety
/// An error report has been started.
unsafe fn describe_character(text: &[u8], position: usize, expected: &CStr) {
    let rest = &text[position - 1..];
    // SAFETY: the format is given the values it names.
    unsafe {
        errdetail(
            c"Character \"%.*s\" at position %lu is not %s.".as_ptr(),
            character_len(rest),
            rest.as_ptr(),
            position,
            expected.as_ptr(),
        );
    }
}

/// # Safety
/// An error report has been started.
unsafe fn describe_prefix_error(text: &[u8], error: PrefixError) {
    // SAFETY: each format is given the values it names.
    unsafe {
        if error == PrefixError::Overflow {
            code(PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE);
            errmsg(c"prefix \"%.*s\" is out of range for type ulid".as_ptr(), len(text), text.as_ptr());
        } else {
            code(PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION);
            errmsg(c"invalid prefix of a ulid: \"%.*s\"".as_ptr(), len(text), text.as_ptr());
        }
        match error {
            PrefixError::Character { position, .. } => describe_character(text, position, IN_ALPHABET),
            PrefixError::Overflow => {
                errdetail(MORE_THAN_128_BITS.as_ptr());
            }
            PrefixError::Length => {
                errdetail(c"A ULID has 26 characters.".as_ptr());
            }
        }
    }
}

/// Describes the fault of a TypeID, or of a prefix of one.
///
/// # Safety
/// An error report has been started.
unsafe fn describe_typeid_error(text: &[u8], error: TypeIdError) {
    // SAFETY: each format is given the values it names.
    unsafe {
        match error {
            TypeIdError::PrefixCharacter { position, .. } => {
                describe_character(text, position, c"a lower-case letter or an underscore");
            }
            TypeIdError::PrefixLength { found } => {
                errdetail(c"The prefix has at most 63 characters, not %lu.".as_ptr(), found);
            }
            TypeIdError::PrefixUnderscore => {
                errdetail(c"The prefix must not start or end with an underscore.".as_ptr());
            }
            TypeIdError::Separator => {
                errdetail(c"Without a prefix there is no underscore before the suffix.".as_ptr());
            }
            TypeIdError::SuffixCharacter { position, .. } => {
                describe_character(text, position, c"in Crockford's Base32 alphabet in lower case");
            }
            TypeIdError::SuffixLength { found } => {
                errdetail(c"The suffix has 26 characters, not %lu.".as_ptr(), found);
            }
            TypeIdError::Overflow => {
                errdetail(c"The first character of the suffix is at most 7.".as_ptr());
            }
        }
    }
}

/// # Safety
/// An error report has been started.
unsafe fn describe_timestamp_error() {
    // SAFETY: the format is given the string it names.
    unsafe {
        code(PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW);
        errmsg(c"timestamp out of range for type ulid".as_ptr());
        errdetail(c"%s".as_ptr(), TIMES.as_ptr());
    }
}

/// Names the id, so that its row can be found, and describes what prevents the conversion.
///
/// # Safety
/// An error report has been started.
unsafe fn describe_convert_error(error: ConvertError, id: [u8; 16]) {
    let ulid = Ulid::from(id);
    let (text, randomness) = (ulid.to_text(), ulid.randomness());
    let text_len = text.len() as c_int;
    // SAFETY: each format is given the values it names.
    unsafe {
        match error {
            ConvertError::Version { expected, version, variant } => {
                let [a, b, c, d] =
                    [0, 4, 8, 12].map(|i| u32::from_be_bytes([id[i], id[i + 1], id[i + 2], id[i + 3]]));
                code(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE);
                errmsg(
                    c"uuid \"%08x-%04x-%04x-%04x-%04x%08x\" is not of version %d".as_ptr(),
                    a,
                    b >> 16,
                    b & 0xffff,
                    c >> 16,
                    c & 0xffff,
                    d,
                    c_int::from(expected),
                );
                let variant = match variant {
                    0b0 => c"0",
                    0b10 => c"10",
                    0b110 => c"110",
                    _ => c"111",
                };
                errdetail(
                    c"Its version is %d and its variant, in bits, is %s; that of RFC 9562 is 10.".as_ptr(),
                    c_int::from(version),
                    variant.as_ptr(),
                );
            }
            ConvertError::Negative { found } => {
                code(PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE);
                errmsg(c"value \"%lld\" is out of range for type ulid".as_ptr(), found);
                errdetail(c"A snowflake or a key must not be negative.".as_ptr());
            }
            ConvertError::Range(RangeError) => describe_timestamp_error(),
            ConvertError::Time { target } => {
                code(PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW);
                errmsg(
                    c"time of ulid \"%.*s\" is out of range for %s".as_ptr(),
                    text_len,
                    text.as_ptr(),
                    name(target).as_ptr(),
                );
                errdetail(match target {
                    ForeignId::Snowflake | ForeignId::Key => {
                        c"A snowflake holds times from its epoch to 2^41 - 1 milliseconds after it.".as_ptr()
                    }
                    ForeignId::UuidV1 | ForeignId::UuidV6 => {
                        c"Such a uuid holds times to 5236-03-31 21:21:00.684+00.".as_ptr()
                    }
                });
            }
            ConvertError::Randomness { target } => {
                code(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE);
                errmsg(
                    c"ulid \"%.*s\" was not made from %s".as_ptr(),
                    text_len,
                    text.as_ptr(),
                    name(target).as_ptr(),
                );
                match target {
                    ForeignId::UuidV1 | ForeignId::UuidV6 => errdetail(
                        c"The 14 bits after its time are %d and its low 4 bits %d; made from such a uuid, they are at most 9999 and zero.".as_ptr(),
                        (randomness >> 66) as c_int,
                        (randomness & 0xf) as c_int,
                    ),
                    ForeignId::Snowflake => errdetail(
                        c"Its low 58 bits are 0x%llx; made from a snowflake, they are zero.".as_ptr(),
                        randomness as u64 & ((1 << 58) - 1),
                    ),
                    ForeignId::Key => errdetail(
                        c"The high 17 bits of its randomness are 0x%x; made from a key, they are zero.".as_ptr(),
                        (randomness >> 63) as c_int,
                    ),
                };
            }
        }
    }
}

fn name(target: ForeignId) -> &'static CStr {
    match target {
        ForeignId::UuidV1 => c"a uuid of version 1",
        ForeignId::UuidV6 => c"a uuid of version 6",
        ForeignId::Snowflake => c"a snowflake",
        ForeignId::Key => c"a bigint key",
    }
}

/// The length of a text as a precision of a format.
fn len(text: &[u8]) -> c_int {
    c_int::try_from(text.len()).unwrap_or(c_int::MAX)
}

/// The length in bytes of the first character of a non-empty text, in the server's encoding.
fn character_len(text: &[u8]) -> c_int {
    // SAFETY: pg_encoding_mblen looks at the bytes of one character; a copy that ends with zeros gives it more than
    // any encoding can want.
    let length = unsafe {
        let mut character = [0_u8; 16];
        let copied = text.len().min(4);
        character[..copied].copy_from_slice(&text[..copied]);
        server::pg_encoding_mblen(server::GetDatabaseEncoding(), character.as_ptr().cast())
    };
    length.clamp(1, len(text))
}

/// # Safety
/// An error report has been started.
unsafe fn code(sqlstate: PgSqlErrorCode) {
    // SAFETY: promised by the caller.
    unsafe { server::errcode(sqlstate as c_int) };
}

/// Warns that ordered ULIDs are ahead of the clock.
///
/// # Safety
/// No frame from here to PostgreSQL has anything to drop.
#[cold]
pub(super) unsafe fn warn_of_clock() {
    let place = Location::caller();
    // SAFETY: promised by the caller; a warning returns.
    unsafe {
        if server::errstart(pgrx::PgLogLevel::WARNING as c_int, std::ptr::null()) {
            code(PgSqlErrorCode::ERRCODE_WARNING);
            errmsg(c"ordered ulids are more than a minute ahead of the clock".as_ptr());
            errdetail(c"ulid_ordered_time() is the time that they have reached.".as_ptr());
            errhint(BACK_TO_THE_CLOCK.as_ptr());
            server::errfinish(file(place), place.line() as c_int, std::ptr::null());
        }
    }
}

const BACK_TO_THE_CLOCK: &CStr =
    c"If the clock is right, ulid_reset_ordered_time() lets them continue from it, below the ones that exist.";

/// Starts a report and returns whether its text is wanted.
///
/// # Safety
/// `context` is that of the present call frame.
unsafe fn start(context: *mut Node) -> bool {
    // SAFETY: promised by the caller. A null domain is core's.
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    unsafe {
        let _ = context;
        server::errstart(pgrx::PgLogLevel::ERROR as c_int, std::ptr::null())
    }
    // SAFETY: the same.
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    unsafe {
        server::errsave_start(context, std::ptr::null())
    }
}

/// Ends the report, which names the place. Returns only if the error is a soft one.
///
/// # Safety
/// `context` is that of [`start`], and the frames up to PostgreSQL have nothing to drop.
unsafe fn finish(context: *mut Node, place: &'static Location<'static>) {
    let (file, line) = (file(place), place.line() as c_int);
    // SAFETY: promised by the caller.
    #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
    unsafe {
        let _ = context;
        server::errfinish(file, line, std::ptr::null());
    }
    // SAFETY: the same.
    #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
    unsafe {
        server::errsave_finish(context, file, line, std::ptr::null());
    }
}

/// The file of a place, with a zero at its end.
#[allow(clippy::incompatible_msrv, reason = "with PostgreSQL it takes the version of Rust that pgrx does")]
fn file(place: &'static Location<'static>) -> *const c_char {
    place.file_as_c_str().as_ptr()
}
