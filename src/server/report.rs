//! Errors as PostgreSQL reports them: SQLSTATE, message and detail, in the server's language and encoding.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::fmt::{self, Write};
use std::panic::Location;
use std::ptr::null;

use pgrx::PgSqlErrorCode::{self, *};
use pgrx::pg_sys::{Node, pg_enc};

use crate::server;
use ulid_core::{
    ConvertError, Expected, ForeignId, LengthError, ParseError, PrefixError, RangeError, SeedError,
    TypeIdError, Ulid,
};

/// A format and a value for each `%s` in it; the compiler counts them.
macro_rules! message {
    ($format:expr $(, $argument:expr)* $(,)?) => {{
        const { assert!(directives($format) == <[&str]>::len(&[$(stringify!($argument)),*])) };
        Message::new($format, [$($argument.into()),*])
    }};
}

/// An error that a function of the extension raises, and where.
pub(crate) struct Error<'call> {
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
pub(crate) enum Fault<'call> {
    /// 22P02, or 22003 if the text has more than 128 bits.
    Parse { text: &'call CStr, error: ParseError },
    /// 22P02, or 22003 if it begins with more than 128 bits have: no text of a ulid starts with this.
    Prefix { text: &'call [u8], error: PrefixError },
    /// 22P02, or 22003 if the suffix has more than 128 bits.
    TypeId { text: &'call [u8], error: TypeIdError },
    /// 22023: not a valid prefix of a TypeID.
    TypeIdPrefix { prefix: &'call [u8], error: TypeIdError },
    /// 22023: a TypeID whose prefix differs from the expected one.
    OtherPrefix { typeid: &'call [u8], prefix: &'call [u8], expected: &'call [u8] },
    /// 22P03: a bytea that is not 16 bytes long.
    Length(LengthError),
    /// 22P03: a bytea that is not 10 bytes long.
    RandomnessLength { found: usize },
    /// 22023 or 22008: a uuid, whose bytes are `id`, cannot be converted to a ULID, or a ULID to an id of another kind.
    Convert { error: ConvertError, id: [u8; 16] },
    /// 22003: a snowflake or a key that is negative.
    Negative(i64),
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

impl From<SeedError> for Fault<'_> {
    fn from(_: SeedError) -> Self {
        Self::Seed
    }
}

impl Error<'_> {
    /// Reports the error. If the caller asked for a soft error (`context` of the call frame, PostgreSQL 16 and later),
    /// this returns; otherwise it raises an ERROR and does not return.
    ///
    /// # Safety
    /// `context` is that of the present call frame, and no frame from here to PostgreSQL has anything to drop.
    pub(crate) unsafe fn report(self, context: *mut Node) {
        let (file, line) = (file(self.place), self.place.line() as c_int);
        #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
        let _ = context;
        // SAFETY: promised by the caller. A null domain is core's.
        unsafe {
            #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
            let is_wanted = server::errstart(pgrx::PgLogLevel::ERROR as c_int, null());
            #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
            let is_wanted = server::errsave_start(context, null());
            if !is_wanted {
                return;
            }
            self.fault.report().describe();
            #[cfg(any(feature = "pg13", feature = "pg14", feature = "pg15"))]
            server::errfinish(file, line, null());
            #[cfg(not(any(feature = "pg13", feature = "pg14", feature = "pg15")))]
            server::errsave_finish(context, file, line, null());
        }
    }
}

/// Warns that ordered ULIDs are ahead of the clock.
///
/// # Safety
/// No frame from here to PostgreSQL has anything to drop.
#[cold]
#[track_caller]
pub(crate) unsafe fn warn_of_clock() {
    let place = Location::caller();
    let report =
        Report::new(ERRCODE_WARNING, message!(c"ordered ulids are more than a minute ahead of the clock"))
            .detail(message!(c"ulid_ordered_time() is the time that they have reached."))
            .hint(BACK_TO_THE_CLOCK);
    // SAFETY: promised by the caller; a warning returns.
    unsafe {
        if server::errstart(pgrx::PgLogLevel::WARNING as c_int, null()) {
            report.describe();
            server::errfinish(file(place), place.line() as c_int, null());
        }
    }
}

const TIMES: &CStr = c"A ULID holds times from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00.";
const MORE_THAN_128_BITS: &CStr = c"The first character of a ULID is at most 7.";
const BACK_TO_THE_CLOCK: &CStr =
    c"If the clock is right, ulid_reset_ordered_time() lets them continue from it, below the ones that exist.";

impl<'call> Fault<'call> {
    /// The table of the errors. The messages "value ... is out of range" and "invalid input syntax" are core's own words,
    /// so they are translated with core's catalogue.
    fn report(self) -> Report<'call> {
        match self {
            Self::Parse { text, error: error @ ParseError::Overflow } => Report::new(
                ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                message!(c"value \"%s\" is out of range for type %s", text, "ulid"),
            )
            .detail(parse_detail(text, error)),
            Self::Parse { text, error } => Report::new(
                ERRCODE_INVALID_TEXT_REPRESENTATION,
                message!(c"invalid input syntax for type %s: \"%s\"", "ulid", text),
            )
            .detail(parse_detail(text, error)),
            Self::Prefix { text, error: error @ PrefixError::Overflow } => Report::new(
                ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                message!(c"prefix \"%s\" is out of range for type ulid", text),
            )
            .detail(prefix_detail(text, error)),
            Self::Prefix { text, error } => Report::new(
                ERRCODE_INVALID_TEXT_REPRESENTATION,
                message!(c"invalid prefix of a ulid: \"%s\"", text),
            )
            .detail(prefix_detail(text, error)),
            Self::TypeId { text, error: error @ TypeIdError::Overflow } => Report::new(
                ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                message!(c"TypeID \"%s\" is out of range for type ulid", text),
            )
            .detail(typeid_detail(text, error)),
            Self::TypeId { text, error } => {
                Report::new(ERRCODE_INVALID_TEXT_REPRESENTATION, message!(c"invalid TypeID: \"%s\"", text))
                    .detail(typeid_detail(text, error))
            }
            Self::TypeIdPrefix { prefix, error } => Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                message!(c"invalid prefix of a TypeID: \"%s\"", prefix),
            )
            .detail(typeid_detail(prefix, error)),
            Self::OtherPrefix { typeid, prefix, expected } => Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                message!(c"TypeID \"%s\" has the prefix \"%s\", not \"%s\"", typeid, prefix, expected),
            ),
            Self::Length(LengthError { found }) => Report::new(
                ERRCODE_INVALID_BINARY_REPRESENTATION,
                message!(c"invalid length for type ulid: %s bytes", found),
            )
            .detail(message!(c"A ULID is exactly 16 bytes long.")),
            Self::RandomnessLength { found } => Report::new(
                ERRCODE_INVALID_BINARY_REPRESENTATION,
                message!(c"invalid length for the randomness of a ulid: %s bytes", found),
            )
            .detail(message!(c"The randomness is exactly 10 bytes long.")),
            Self::Convert { error, id } => convert_report(error, id),
            Self::Negative(found) => Report::new(
                ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                message!(c"value \"%s\" is out of range for type ulid", found),
            )
            .detail(message!(c"A snowflake or a key must not be negative.")),
            Self::Epoch => Report::new(ERRCODE_DATETIME_FIELD_OVERFLOW, message!(c"epoch out of range"))
                .detail(message!(c"An epoch must be finite.")),
            Self::Timestamp => Report::new(
                ERRCODE_DATETIME_FIELD_OVERFLOW,
                message!(c"timestamp out of range for type ulid"),
            )
            .detail(message!(TIMES)),
            Self::Clock => Report::new(
                ERRCODE_DATETIME_FIELD_OVERFLOW,
                message!(c"system clock out of range for type ulid"),
            )
            .detail(message!(TIMES)),
            Self::OrderedTime => Report::new(
                ERRCODE_DATETIME_FIELD_OVERFLOW,
                message!(c"time of ordered ulids out of range for type ulid"),
            )
            .detail(message!(TIMES))
            .hint(BACK_TO_THE_CLOCK),
            Self::Ahead(ulid) => Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                message!(c"ulid \"%s\" is more than a day ahead of the clock", ulid),
            )
            .hint(
                c"If ordered ulids shall continue after it nevertheless, pass true as the second argument.",
            ),
            Self::Exhausted => Report::new(
                ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                message!(c"could not generate a monotonic ulid: randomness of this millisecond is exhausted"),
            )
            .hint(c"The next millisecond has room again; retry the statement."),
            Self::Seed => Report::new(ERRCODE_INTERNAL_ERROR, message!(c"could not generate random values")),
        }
    }
}

fn parse_detail(text: &CStr, error: ParseError) -> Message<'_> {
    match error {
        ParseError::Length { found } => {
            message!(c"A ULID has 26 characters, or 36 in the form of a UUID, not %s.", found)
        }
        ParseError::Character { position, expected, .. } => {
            character_detail(text.to_bytes(), position, expected)
        }
        ParseError::Overflow => message!(MORE_THAN_128_BITS),
    }
}

fn prefix_detail(text: &[u8], error: PrefixError) -> Message<'_> {
    match error {
        PrefixError::Character { position, .. } => character_detail(text, position, Expected::Base32),
        PrefixError::Overflow => message!(MORE_THAN_128_BITS),
        PrefixError::Length => message!(c"A ULID has 26 characters."),
    }
}

fn typeid_detail(text: &[u8], error: TypeIdError) -> Message<'_> {
    match error {
        TypeIdError::PrefixCharacter { position, .. } => {
            character_detail(text, position, "a lower-case letter or an underscore")
        }
        TypeIdError::PrefixLength { found } => {
            message!(c"The prefix has at most 63 characters, not %s.", found)
        }
        TypeIdError::PrefixUnderscore => message!(c"The prefix must not start or end with an underscore."),
        TypeIdError::Separator => message!(c"Without a prefix there is no underscore before the suffix."),
        TypeIdError::SuffixCharacter { position, .. } => {
            character_detail(text, position, "in Crockford's Base32 alphabet in lower case")
        }
        TypeIdError::SuffixLength { found } => message!(c"The suffix has 26 characters, not %s.", found),
        TypeIdError::Overflow => message!(c"The first character of the suffix is at most 7."),
    }
}

/// Names the character at a position, from 1, and what it is not.
fn character_detail<'call>(
    text: &'call [u8],
    position: usize,
    expected: impl Into<Text<'call>>,
) -> Message<'call> {
    match first_character(text.get(position.saturating_sub(1)..).unwrap_or_default()) {
        Character::Text(character) => {
            message!(c"Character \"%s\" at position %s is not %s.", character, position, expected)
        }
        Character::Byte(byte) => {
            message!(c"Byte %s at position %s is not %s.", format_args!("{byte:#04x}"), position, expected)
        }
    }
}

/// Names the id, so that its row can be found, and what prevents the conversion.
fn convert_report(error: ConvertError, id: [u8; 16]) -> Report<'static> {
    let ulid = Ulid::from(id);
    let randomness = ulid.randomness();
    match error {
        ConvertError::Version { expected, version, variant } => {
            let [a, b, c, d] =
                [0, 4, 8, 12].map(|i| u32::from_be_bytes([id[i], id[i + 1], id[i + 2], id[i + 3]]));
            let [b, c] = [b, c].map(|middle| (middle >> 16, middle & 0xffff));
            let uuid = format_args!("{a:08x}-{:04x}-{:04x}-{:04x}-{:04x}{d:08x}", b.0, b.1, c.0, c.1);
            Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                message!(c"uuid \"%s\" is not of version %s", uuid, expected),
            )
            .detail(message!(
                c"Its version is %s and its variant, in bits, is %s; that of RFC 9562 is 10.",
                version,
                format_args!("{variant:b}")
            ))
        }
        ConvertError::Negative { found } => Fault::Negative(found).report(),
        ConvertError::Range(RangeError) => Fault::Timestamp.report(),
        ConvertError::Time { target } => Report::new(
            ERRCODE_DATETIME_FIELD_OVERFLOW,
            message!(c"time of ulid \"%s\" is out of range for %s", ulid, target),
        )
        .detail(match target {
            ForeignId::Snowflake | ForeignId::Key => {
                message!(c"A snowflake holds times from its epoch to 2^41 - 1 milliseconds after it.")
            }
            ForeignId::UuidV1 | ForeignId::UuidV6 => {
                message!(c"Such a uuid holds times to 5236-03-31 21:21:00.684+00.")
            }
        }),
        ConvertError::Randomness { target } => Report::new(
            ERRCODE_INVALID_PARAMETER_VALUE,
            message!(c"ulid \"%s\" was not made from %s", ulid, target),
        )
        .detail(match target {
            ForeignId::UuidV1 | ForeignId::UuidV6 => message!(
                c"The 14 bits after its time are %s and its low 4 bits %s; made from such a uuid, they are at most 9999 and zero.",
                randomness >> 66,
                randomness & 0xf
            ),
            ForeignId::Snowflake => message!(
                c"Its low 58 bits are %s; made from a snowflake, they are zero.",
                format_args!("{:#x}", randomness & ((1 << 58) - 1))
            ),
            ForeignId::Key => message!(
                c"The high 17 bits of its randomness are %s; made from a key, they are zero.",
                format_args!("{:#x}", randomness >> 63)
            ),
        }),
    }
}

/// What PostgreSQL says of an error.
struct Report<'call> {
    sqlstate: PgSqlErrorCode,
    message: Message<'call>,
    detail: Option<Message<'call>>,
    hint: Option<&'static CStr>,
}

impl<'call> Report<'call> {
    fn new(sqlstate: PgSqlErrorCode, message: Message<'call>) -> Self {
        Self { sqlstate, message, detail: None, hint: None }
    }

    fn detail(self, detail: Message<'call>) -> Self {
        Self { detail: Some(detail), ..self }
    }

    fn hint(self, hint: &'static CStr) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// # Safety
    /// An error report has been started, and no frame from here to PostgreSQL has anything to drop.
    unsafe fn describe(&self) {
        // SAFETY: promised by the caller. A format has no directives but %s, and at most three of them.
        unsafe {
            server::errcode(self.sqlstate as c_int);
            let Message { format, arguments: [a, b, c] } = &self.message;
            server::errmsg(format.as_ptr(), a.c_string(), b.c_string(), c.c_string());
            if let Some(Message { format, arguments: [a, b, c] }) = &self.detail {
                server::errdetail(format.as_ptr(), a.c_string(), b.c_string(), c.c_string());
            }
            if let Some(hint) = self.hint {
                server::errhint(c"%s".as_ptr(), hint.as_ptr());
            }
        }
    }
}

/// A format, which has no directives but `%s`, and what they stand for.
struct Message<'call> {
    format: &'static CStr,
    arguments: [Text<'call>; MAX_ARGUMENTS],
}

/// As many as a message needs. A format may name fewer than it is given.
const MAX_ARGUMENTS: usize = 3;

/// The number of `%s` in a format. It must not have other directives.
const fn directives(format: &CStr) -> usize {
    let (bytes, mut found, mut n) = (format.to_bytes(), 0, 0);
    while n < bytes.len() {
        if bytes[n] == b'%' {
            assert!(bytes[n + 1] == b's');
            found += 1;
        }
        n += 1;
    }
    found
}

impl<'call> Message<'call> {
    fn new<const N: usize>(format: &'static CStr, given: [Text<'call>; N]) -> Self {
        const { assert!(N <= MAX_ARGUMENTS) };
        let mut arguments = [Text::Bytes(&[]); MAX_ARGUMENTS];
        arguments[..N].copy_from_slice(&given);
        Self { format, arguments }
    }
}

/// An argument of a message.
#[derive(Clone, Copy)]
enum Text<'call> {
    /// In the server's encoding, which need not be UTF-8.
    Bytes(&'call [u8]),
    /// ASCII characters, as many as a uuid has at most.
    Short { bytes: [u8; 36], len: usize },
}

impl Text<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Short { bytes, len } => &bytes[..*len],
        }
    }

    /// A copy that ends with a zero.
    ///
    /// # Safety
    /// No frame from here to PostgreSQL has anything to drop.
    unsafe fn c_string(&self) -> *const c_char {
        let text = self.bytes();
        // SAFETY: promised by the caller; the memory has room for the text and the zero.
        unsafe {
            let copy = server::palloc(text.len() + 1).cast::<u8>();
            copy.copy_from_nonoverlapping(text.as_ptr(), text.len());
            copy.add(text.len()).write(0);
            copy.cast()
        }
    }

    /// What a value is displayed as. What does not fit is left out.
    fn short(value: impl fmt::Display) -> Self {
        struct Buffer([u8; 36], usize);

        impl Write for Buffer {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                let room = self.0.get_mut(self.1..self.1 + text.len()).ok_or(fmt::Error)?;
                room.copy_from_slice(text.as_bytes());
                self.1 += text.len();
                Ok(())
            }
        }

        let mut buffer = Buffer([0; 36], 0);
        let _ = write!(buffer, "{value}");
        Self::Short { bytes: buffer.0, len: buffer.1 }
    }
}

impl<'call> From<&'call [u8]> for Text<'call> {
    fn from(bytes: &'call [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'call> From<&'call CStr> for Text<'call> {
    fn from(text: &'call CStr) -> Self {
        Self::Bytes(text.to_bytes())
    }
}

impl From<&'static str> for Text<'_> {
    fn from(text: &'static str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}

macro_rules! short {
    ($($type:ty),*) => {
        $(impl From<$type> for Text<'_> {
            fn from(value: $type) -> Self {
                Self::short(value)
            }
        })*
    };
}

short!(usize, u8, i64, u128, fmt::Arguments<'_>, Expected, ForeignId, Ulid);

/// How a character is quoted.
enum Character<'call> {
    /// As it is, in the server's encoding.
    Text(&'call [u8]),
    /// As a number: a byte that may be part of a character, which in SQL_ASCII only the client knows.
    Byte(u8),
}

/// The first character of a text; none of an empty one.
fn first_character(text: &[u8]) -> Character<'_> {
    // SAFETY: pg_encoding_mblen looks at the bytes of one character; a copy that ends with zeros gives it more than
    // any encoding can want.
    let length = unsafe {
        let encoding = server::GetDatabaseEncoding();
        match text.first() {
            Some(&byte) if !byte.is_ascii() && encoding == pg_enc::PG_SQL_ASCII as c_int => {
                return Character::Byte(byte);
            }
            _ => {}
        }
        let mut character = [0_u8; 16];
        character.iter_mut().zip(text.iter().take(4)).for_each(|(copy, &byte)| *copy = byte);
        server::pg_encoding_mblen(encoding, character.as_ptr().cast())
    };
    let length = usize::try_from(length).unwrap_or_default();
    Character::Text(text.get(..length).unwrap_or(text))
}

/// The file of a place, with a zero at its end.
#[allow(clippy::incompatible_msrv, reason = "with PostgreSQL it takes the version of Rust that pgrx does")]
fn file(place: &'static Location<'static>) -> *const c_char {
    place.file_as_c_str().as_ptr()
}
