//! Errors as PostgreSQL reports them: SQLSTATE, message, detail and hint, in the server's language and encoding.
//!
//! This calls the server, so it runs where nothing catches a panic: nothing here indexes, slices or unwraps.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::fmt::{self, Write};
use std::panic::Location;
use std::process::abort;
use std::ptr::{null, null_mut};

use pg_ulid::{ErrorKind, Expected, ForeignId, Ulid};
use pgrx::PgSqlErrorCode::{self, *};
use pgrx::pg_sys::{Node, StringInfoData, pg_enc};

use super::frame::{Frame, Plain};
use crate::server;

/// A [`Text`] of pieces: bytes in the server's encoding, and formatted values.
macro_rules! text {
    ($($piece:expr),* $(,)?) => {{
        let mut text = Text::new();
        $(Piece::append_to($piece, &mut text);)*
        text
    }};
}

/// An error that a function of the extension raises, and where.
#[derive(Clone, Copy)]
pub(crate) struct Error<'call> {
    fault: Fault<'call>,
    location: &'static Location<'static>,
}

impl<'call> From<Fault<'call>> for Error<'call> {
    /// The location is where this is called, or where `?` is written.
    #[track_caller]
    fn from(fault: Fault<'call>) -> Self {
        Self { fault, location: Location::caller() }
    }
}

/// What is wrong. Nothing becomes a fault by itself: what calls the library says which fault its error is.
#[derive(Clone, Copy)]
pub(crate) enum Fault<'call> {
    /// 22P02, or 22003 if the text has more than 128 bits.
    Parse { text: &'call CStr, error: pg_ulid::Error },
    /// 22P02, or 22003 if it begins with more than 128 bits have: no text of a ulid starts with this.
    Prefix { text: &'call [u8], error: pg_ulid::Error },
    /// 22P02, or 22003 if the suffix has more than 128 bits.
    TypeId { text: &'call [u8], error: pg_ulid::Error },
    /// 22023: not a valid prefix of a TypeID.
    TypeIdPrefix { prefix: &'call [u8], error: pg_ulid::Error },
    /// 22023: a TypeID whose prefix differs from the expected one.
    OtherPrefix { typeid: &'call [u8], prefix: &'call [u8], expected: &'call [u8] },
    /// 22P03: a bytea that is not 16 bytes long.
    Length { found: usize },
    /// 22P03: a bytea that is not 10 bytes long.
    RandomnessLength { found: usize },
    /// 22023 or 22008: a uuid, which is `id`, cannot be converted to a ULID, or a ULID to an id of another kind.
    Convert { error: pg_ulid::Error, id: u128 },
    /// 22003: a snowflake or a key that is negative.
    Negative(pg_ulid::Error),
    /// 22008: an epoch that is infinite.
    Epoch,
    /// 22008: a timestamp that does not fit into a ULID.
    Timestamp,
    /// 22008: a system clock that does not.
    Clock,
    /// 22008: there is no time after the one that the ordered ids of the server have reached.
    OrderedTime,
    /// 22023: a ULID to continue ordered ones after is more than a day ahead of the clock.
    Ahead(Ulid),
    /// 2200H: no greater ULID in this millisecond.
    Exhausted,
    /// 25000: a parallel worker would make an ordered id, or find another horizon than its leader.
    ParallelWorker,
    /// 55000: a standby has no horizon.
    Recovery,
    /// 55000: libraries of several layouts use the shared memory.
    OtherLayout,
    /// 42804, as core says it: an index on a column whose type the operator class does not accept.
    OperatorClass { class: &'call CStr, type_name: &'call CStr },
    /// XX000, as for core's `gen_random_uuid`: no randomness from the operating system.
    Seed,
}

impl Error<'_> {
    /// Reports the error of a call. It returns if the caller asked for a soft error (PostgreSQL 16 and later).
    #[cold]
    pub(crate) fn report(self, frame: Frame<'_>) {
        // SAFETY: the context is that of the call.
        unsafe { self.send(frame.context(), frame.plain()) };
    }

    /// Raises the error.
    #[cold]
    pub(crate) fn raise(self, plain: Plain) -> ! {
        // SAFETY: there is no context.
        unsafe { self.send(null_mut(), plain) };
        abort()
    }

    /// Reports the error: as a soft one, and returns, or raises it.
    ///
    /// # Safety
    /// The context is that of the present call, or null.
    unsafe fn send(self, context: *mut Node, _: Plain) {
        let (file, line) = (file(self.location), self.location.line() as c_int);
        #[cfg(feature = "pg15")]
        let _ = context;
        // SAFETY: the context is that of the call, or there is none; a null domain is core's.
        unsafe {
            #[cfg(feature = "pg15")]
            let is_wanted = server::errstart(pgrx::PgLogLevel::ERROR as c_int, null());
            #[cfg(not(feature = "pg15"))]
            let is_wanted = server::errsave_start(context, null());
            if !is_wanted {
                return;
            }
            self.fault.report().describe();
            #[cfg(feature = "pg15")]
            server::errfinish(file, line, null());
            #[cfg(not(feature = "pg15"))]
            server::errsave_finish(context, file, line, null());
        }
    }
}

/// Warns that ordered ids are ahead of the clock.
#[cold]
#[track_caller]
pub(crate) fn warn_of_clock(_: Plain) {
    let location = Location::caller();
    // SAFETY: a null domain is core's.
    unsafe {
        if server::errstart(pgrx::PgLogLevel::WARNING as c_int, null()) {
            Report::new(ERRCODE_WARNING, text!["ordered ids are more than a minute ahead of the clock"])
                .detail(text!["ulid_ordered_time() is the time that they have reached."])
                .hint(BACK_TO_THE_CLOCK)
                .describe();
            server::errfinish(file(location), location.line() as c_int, null());
        }
    }
}

const TIMES: &str = "A ULID holds times from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00.";
const BACK_TO_THE_CLOCK: &CStr =
    c"If the clock is right, ulid_reset_ordered_time() lets them continue from it, below the ones that exist.";

impl<'call> Fault<'call> {
    /// The table of the errors.
    fn report(self) -> Report<'call> {
        match self {
            Self::Parse { text, error } => {
                let input = text.to_bytes();
                match error.kind() {
                    ErrorKind::Overflow => {
                        Report::of_core(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, OUT_OF_RANGE, text, c"ulid")
                    }
                    _ => Report::of_core(ERRCODE_INVALID_TEXT_REPRESENTATION, INVALID_SYNTAX, c"ulid", text),
                }
                .detail(detail(input, error))
            }
            Self::Prefix { text, error } => match error.kind() {
                ErrorKind::Overflow => Report::new(
                    ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                    text!["prefix \"", text, "\" is out of range for type ulid"],
                ),
                _ => Report::new(
                    ERRCODE_INVALID_TEXT_REPRESENTATION,
                    text!["invalid prefix of a ulid: \"", text, "\""],
                ),
            }
            .detail(detail(text, error)),
            Self::TypeId { text, error } => match error.kind() {
                ErrorKind::Overflow => Report::new(
                    ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                    text!["TypeID \"", text, "\" is out of range for type ulid"],
                ),
                _ => {
                    Report::new(ERRCODE_INVALID_TEXT_REPRESENTATION, text!["invalid TypeID: \"", text, "\""])
                }
            }
            .detail(detail(text, error)),
            Self::TypeIdPrefix { prefix, error } => Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                text!["invalid prefix of a TypeID: \"", prefix, "\""],
            )
            .detail(detail(prefix, error)),
            Self::OtherPrefix { typeid, prefix, expected } => Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                text!["TypeID \"", typeid, "\" has the prefix \"", prefix, "\", not \"", expected, "\""],
            ),
            Self::Length { found } => Report::new(
                ERRCODE_INVALID_BINARY_REPRESENTATION,
                text![format_args!("invalid length for type ulid: {found} bytes")],
            )
            .detail(text![Sentence(Expected::Bytes)]),
            Self::RandomnessLength { found } => Report::new(
                ERRCODE_INVALID_BINARY_REPRESENTATION,
                text![format_args!("invalid length for the randomness of a ulid: {found} bytes")],
            )
            .detail(text!["The randomness is exactly 10 bytes long."]),
            Self::Convert { error, id } => convert_report(error, id),
            Self::Negative(error) => {
                Report::new(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, text![format_args!("{error}")])
                    .detail(text!["A snowflake or a key must not be negative."])
            }
            Self::Epoch => Report::new(ERRCODE_DATETIME_FIELD_OVERFLOW, text!["epoch out of range"])
                .detail(text!["An epoch must be finite."]),
            Self::Timestamp => Report::of_time("timestamp"),
            Self::Clock => Report::of_time("system clock"),
            Self::OrderedTime => Report::of_time("time of ordered ids").hint(BACK_TO_THE_CLOCK),
            Self::Ahead(ulid) => Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                text![format_args!("ulid \"{ulid}\" is more than a day ahead of the clock")],
            )
            .hint(c"To continue after it anyway, pass true as the second argument."),
            Self::Exhausted => Report::new(
                ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                text![format_args!("{}", pg_ulid::Error::from(ErrorKind::Exhausted))],
            )
            .hint(c"The next millisecond has room again; retry the statement."),
            Self::ParallelWorker => Report::new(
                ERRCODE_INVALID_TRANSACTION_STATE,
                text!["cannot use ordered ids in a parallel worker"],
            )
            .hint(c"A function that generates them or asks for their horizon must be PARALLEL RESTRICTED."),
            Self::Recovery => Report::new(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                text!["cannot determine the horizon of ordered ids during recovery"],
            )
            .hint(c"Ask the primary server; what it answers holds here once what it had written until then is replayed."),
            Self::OtherLayout => Report::new(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                text!["cannot determine the horizon of ordered ids"],
            )
            .detail(text!["Sessions of this server use different releases of library \"ulid\"."])
            .hint(c"Restart the server."),
            Self::OperatorClass { class, type_name } => {
                Report::of_core(ERRCODE_DATATYPE_MISMATCH, UNACCEPTED, class, type_name)
                    .hint(c"Index the expression (column::ulid) instead.")
            }
            Self::Seed => Report::new(
                ERRCODE_INTERNAL_ERROR,
                text![format_args!("{}", pg_ulid::Error::from(ErrorKind::Seed))],
            ),
        }
    }
}

/// What is wrong with a text: the character, as the text has it, or the length.
fn detail(text: &[u8], error: pg_ulid::Error) -> Text {
    match error.kind() {
        ErrorKind::Character { position, expected, .. } => {
            let place = format_args!(" at position {position} is not {expected}.");
            match first_character(text.get(position.saturating_sub(1)..).unwrap_or_default()) {
                Character::Text(character) => text!["Character \"", character, "\"", place],
                Character::Byte(byte) => text![format_args!("Byte {byte:#04x}{place}")],
            }
        }
        _ => text![Sentence(error)],
    }
}

/// Names the id, so that its row can be found, and what prevents the conversion.
fn convert_report(error: pg_ulid::Error, id: u128) -> Report<'static> {
    let ulid = Ulid::from(id);
    let (value, randomness) = (u128::from(ulid), ulid.randomness());
    match error.kind() {
        ErrorKind::Version { version, variant, .. } => {
            let (a, b, c) = (value >> 96, value >> 80 & 0xffff, value >> 64 & 0xffff);
            let (d, e) = (value >> 48 & 0xffff, value & 0xffff_ffff_ffff);
            Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                text![format_args!(
                    "{}",
                    error.about(format_args!("uuid \"{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}\""))
                )],
            )
            .detail(text![format_args!(
                "Its version is {version} and its variant, in bits, is {variant:b}; that of RFC 9562 is 10."
            )])
        }
        ErrorKind::Time { target } => Report::new(
            ERRCODE_DATETIME_FIELD_OVERFLOW,
            text![format_args!("{}", error.about(format_args!("ulid \"{ulid}\"")))],
        )
        .detail(match target {
            ForeignId::UuidV1 | ForeignId::UuidV6 => {
                text!["Such a uuid holds times to 5236-03-31 21:21:00.684+00."]
            }
            _ => text!["A snowflake holds times from its epoch to 2^41 - 1 milliseconds after it."],
        }),
        ErrorKind::Randomness { target } => Report::new(
            ERRCODE_INVALID_PARAMETER_VALUE,
            text![format_args!("{}", error.about(format_args!("ulid \"{ulid}\"")))],
        )
        .detail(match target {
            ForeignId::Snowflake => text![format_args!(
                "Its low 58 bits are {:#x}; made from a snowflake, they are zero.",
                randomness & ((1 << 58) - 1)
            )],
            ForeignId::Key => text![format_args!(
                "The high 17 bits of its randomness are {:#x}; made from a key, they are zero.",
                randomness >> 63
            )],
            _ => text![format_args!(
                "The 14 bits after its time are {} and its low 4 bits {}; made from such a uuid, they are at most 9999 and zero.",
                randomness >> 66,
                randomness & 0xf
            )],
        }),
        // A time that does not fit.
        _ => Fault::Timestamp.report(),
    }
}

/// What PostgreSQL says of an error.
struct Report<'call> {
    sqlstate: PgSqlErrorCode,
    message: Message<'call>,
    detail: Option<Text>,
    hint: Option<&'static CStr>,
}

enum Message<'call> {
    /// A text in English.
    Own(Text),
    /// A format of core's, which the server translates, and its two values.
    Core(&'static CStr, [&'call CStr; 2]),
}

const INVALID_SYNTAX: &CStr = c"invalid input syntax for type %s: \"%s\"";
const OUT_OF_RANGE: &CStr = c"value \"%s\" is out of range for type %s";
const UNACCEPTED: &CStr = c"operator class \"%s\" does not accept data type %s";

impl<'call> Report<'call> {
    fn new(sqlstate: PgSqlErrorCode, message: Text) -> Self {
        Self { sqlstate, message: Message::Own(message), detail: None, hint: None }
    }

    fn of_core(sqlstate: PgSqlErrorCode, format: &'static CStr, a: &'call CStr, b: &'call CStr) -> Self {
        Self { sqlstate, message: Message::Core(format, [a, b]), detail: None, hint: None }
    }

    /// A time that no ULID has.
    fn of_time(name: &str) -> Self {
        let error = pg_ulid::Error::from(ErrorKind::Range);
        Self::new(ERRCODE_DATETIME_FIELD_OVERFLOW, text![format_args!("{name} {error}")]).detail(text![TIMES])
    }

    fn detail(self, detail: Text) -> Self {
        Self { detail: Some(detail), ..self }
    }

    fn hint(self, hint: &'static CStr) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// # Safety
    /// An error report has been started, and all frames from here to PostgreSQL are plain.
    unsafe fn describe(&self) {
        let text = c"%s".as_ptr();
        // SAFETY: a report has been started. Each format has as many directives, all of them %s, as it is given
        // strings, and these end with a zero.
        unsafe {
            server::errcode(self.sqlstate as c_int);
            match &self.message {
                Message::Own(message) => server::errmsg(text, message.0.data),
                Message::Core(format, [a, b]) => server::errmsg(format.as_ptr(), a.as_ptr(), b.as_ptr()),
            };
            if let Some(detail) = &self.detail {
                server::errdetail(text, detail.0.data);
            }
            if let Some(hint) = self.hint {
                server::errhint(text, hint.as_ptr());
            }
        }
    }
}

/// A text in the server's encoding and memory, which grows as needed and ends with a zero. It has nothing to drop, and
/// neither has the formatting of numbers and ids into it: where memory runs out, the server's error passes all of it.
struct Text(StringInfoData);

impl Text {
    fn new() -> Self {
        let mut text = StringInfoData::default();
        // SAFETY: this allocates; it is called where all frames are plain, as all of this module.
        unsafe { server::initStringInfo(&mut text) };
        Self(text)
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.as_bytes().append_to(self);
        Ok(())
    }
}

trait Piece {
    fn append_to(self, text: &mut Text);
}

impl Piece for &[u8] {
    fn append_to(self, text: &mut Text) {
        for &byte in self {
            // SAFETY: the text has been initialized; see `Text::new`.
            unsafe { server::appendStringInfoChar(&mut text.0, byte as c_char) };
        }
    }
}

impl Piece for &str {
    fn append_to(self, text: &mut Text) {
        self.as_bytes().append_to(text);
    }
}

impl Piece for fmt::Arguments<'_> {
    fn append_to(self, text: &mut Text) {
        // Appending does not fail.
        let _ = text.write_fmt(self);
    }
}

/// What becomes a sentence by a capital and a full stop.
struct Sentence<T>(T);

impl<T: fmt::Display> Piece for Sentence<T> {
    fn append_to(self, text: &mut Text) {
        let start = text.0.len as usize;
        format_args!("{}.", self.0).append_to(text);
        // SAFETY: something was appended there.
        unsafe {
            let first = text.0.data.cast::<u8>().add(start);
            *first = (*first).to_ascii_uppercase();
        }
    }
}

/// How a character is quoted.
enum Character<'call> {
    /// As it is, in the server's encoding.
    Text(&'call [u8]),
    /// As a number: a byte that may be part of a character, which in SQL_ASCII only the client knows.
    Byte(u8),
}

/// The first character of a text; none of an empty one.
fn first_character(text: &[u8]) -> Character<'_> {
    // SAFETY: these report no errors. pg_encoding_mblen looks at the bytes of one character; a copy that ends with
    // zeros gives it more than any encoding can want.
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

/// The file of a location, with a zero at its end.
fn file(location: &'static Location<'static>) -> *const c_char {
    location.file_as_c_str().as_ptr()
}
