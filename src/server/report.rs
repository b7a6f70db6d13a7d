//! Errors as PostgreSQL reports them: SQLSTATE, message, detail and hint, in the server's language
//! and encoding.
//!
//! This calls the server, so it runs where nothing catches a panic: nothing here indexes, slices or
//! unwraps.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::fmt::{self, Write};
use std::panic::Location;
use std::process::abort;
use std::ptr::null;

use pg_ulid::{ErrorKind, Expected, ForeignId, Ulid};
use pgrx::PgLogLevel;
use pgrx::PgSqlErrorCode::{self, *};
use pgrx::pg_sys::pg_enc;

use Piece::Bytes;

use super::frame::{Frame, Plain};
use super::messages::*;
use crate::server;

/// A [`Text`]: a format, and for each of its directives, all of them `%.*s`, a [`Piece`].
macro_rules! text {
    ($format:expr $(, $piece:expr)* $(,)?) => {{
        const { assert!(directives($format) == <[&str]>::len(&[$(stringify!($piece)),*])) };
        Text::new($format, [$($piece),*])
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
        Self {
            fault,
            location: Location::caller(),
        }
    }
}

/// What is wrong. Nothing becomes a fault by itself: what calls the library says which fault its
/// error is.
#[derive(Clone, Copy)]
pub(crate) enum Fault<'call> {
    /// 22P02, or 22003 if the text has more than 128 bits.
    Parse {
        text: &'call CStr,
        error: pg_ulid::Error,
    },
    /// 22P02, or 22003 if it begins with more than 128 bits have: no text of a ulid starts with
    /// this.
    Prefix {
        text: &'call [u8],
        error: pg_ulid::Error,
    },
    /// 22P02, or 22003 if the suffix has more than 128 bits.
    TypeId {
        text: &'call [u8],
        error: pg_ulid::Error,
    },
    /// 22023: not a valid prefix of a TypeID.
    TypeIdPrefix {
        prefix: &'call [u8],
        error: pg_ulid::Error,
    },
    /// 22023: a TypeID whose prefix differs from the expected one.
    OtherPrefix {
        typeid: &'call [u8],
        prefix: &'call [u8],
        expected: &'call [u8],
    },
    /// 22P03: a bytea that is not 16 bytes long.
    Length { found: usize },
    /// 22P03: a bytea that is not 10 bytes long.
    RandomnessLength { found: usize },
    /// 22023 or 22008: a uuid, which is `id`, cannot be converted to a ULID, or a ULID to an id of
    /// another kind.
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
    OperatorClass {
        class: &'call CStr,
        type_name: &'call CStr,
    },
    /// XX000, as for core's `gen_random_uuid`: no randomness from the operating system.
    Seed,
}

impl Error<'_> {
    /// Reports the error of a call. It returns if the caller asked for a soft error (PostgreSQL 16
    /// and later).
    #[cold]
    pub(crate) fn report(self, frame: Frame<'_>) {
        #[cfg(feature = "pg15")]
        self.raise(frame.plain());
        // SAFETY: the context is that of the call; a null domain is core's.
        #[cfg(not(feature = "pg15"))]
        unsafe {
            if server::errsave_start(frame.context(), null()) {
                self.fault.report().describe(frame.plain());
                let (file, line) = (
                    self.location.file_as_c_str().as_ptr(),
                    self.location.line() as c_int,
                );
                server::errsave_finish(frame.context(), file, line, null());
            }
        }
    }

    /// Raises the error.
    #[cold]
    pub(crate) fn raise(self, plain: Plain) -> ! {
        self.fault
            .report()
            .send(PgLogLevel::ERROR, self.location, plain);
        abort()
    }
}

/// Warns that ordered ids are ahead of the clock.
#[cold]
#[track_caller]
pub(crate) fn warn_of_clock(plain: Plain) {
    Report::new(ERRCODE_WARNING, text![WARNING_OF_CLOCK])
        .detail(text![
            c"ulid_ordered_time() is the time that they have reached."
        ])
        .hint(BACK_TO_THE_CLOCK)
        .send(PgLogLevel::WARNING, Location::caller(), plain);
}

const BACK_TO_THE_CLOCK: &CStr =
    c"If the clock is right, ulid_reset_ordered_time() lets them continue from it, below the ones that exist.";
const ASK_THE_PRIMARY: &CStr =
    c"Ask the primary server; what it answers holds here once what it had written until then is replayed.";

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
                ErrorKind::Overflow => {
                    Report::new(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, text![PREFIX_RANGE, Bytes(text)])
                }
                _ => Report::new(ERRCODE_INVALID_TEXT_REPRESENTATION, text![PREFIX, Bytes(text)]),
            }
            .detail(detail(text, error)),
            Self::TypeId { text, error } => match error.kind() {
                ErrorKind::Overflow => {
                    Report::new(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, text![TYPEID_RANGE, Bytes(text)])
                }
                _ => Report::new(ERRCODE_INVALID_TEXT_REPRESENTATION, text![TYPEID, Bytes(text)]),
            }
            .detail(detail(text, error)),
            Self::TypeIdPrefix { prefix, error } => {
                Report::new(ERRCODE_INVALID_PARAMETER_VALUE, text![TYPEID_PREFIX, Bytes(prefix)])
                    .detail(detail(prefix, error))
            }
            Self::OtherPrefix { typeid, prefix, expected } => Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                text![OTHER_PREFIX, Bytes(typeid), Bytes(prefix), Bytes(expected)],
            ),
            Self::Length { found } => {
                Report::new(ERRCODE_INVALID_BINARY_REPRESENTATION, text![LENGTH, shown(found)])
                    .detail(sentence(Expected::Bytes))
            }
            Self::RandomnessLength { found } => {
                Report::new(ERRCODE_INVALID_BINARY_REPRESENTATION, text![RANDOMNESS_LENGTH, shown(found)])
                    .detail(text![c"The randomness is exactly 10 bytes long."])
            }
            Self::Convert { error, id } => convert_report(error, id),
            Self::Negative(error) => {
                Report::new(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, text![c"%.*s", shown(error)])
                    .detail(text![c"A snowflake or a key must not be negative."])
            }
            Self::Epoch => Report::new(ERRCODE_DATETIME_FIELD_OVERFLOW, text![EPOCH])
                .detail(text![c"An epoch must be finite."]),
            Self::Timestamp => Report::of_time(TIMESTAMP),
            Self::Clock => Report::of_time(CLOCK),
            Self::OrderedTime => Report::of_time(ORDERED_TIME).hint(BACK_TO_THE_CLOCK),
            Self::Ahead(ulid) => Report::new(ERRCODE_INVALID_PARAMETER_VALUE, text![AHEAD, shown(ulid)])
                .hint(c"To continue after it anyway, pass true as the second argument."),
            Self::Exhausted => Report::new(
                ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                text![c"%.*s", shown(pg_ulid::Error::from(ErrorKind::Exhausted))],
            )
            .hint(c"The next millisecond has room again; retry the statement."),
            Self::ParallelWorker => Report::new(ERRCODE_INVALID_TRANSACTION_STATE, text![PARALLEL_WORKER])
                .hint(
                    c"A function that generates them or asks for their horizon must be PARALLEL RESTRICTED.",
                ),
            Self::Recovery => {
                Report::new(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, text![RECOVERY]).hint(ASK_THE_PRIMARY)
            }
            Self::OtherLayout => Report::new(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, text![OTHER_LAYOUT])
                .detail(text![c"Sessions of this server use different releases of library \"ulid\"."])
                .hint(c"Restart the server."),
            Self::OperatorClass { class, type_name } => {
                Report::of_core(ERRCODE_DATATYPE_MISMATCH, UNACCEPTED, class, type_name)
                    .hint(c"Index the expression (column::ulid) instead.")
            }
            Self::Seed => Report::new(
                ERRCODE_INTERNAL_ERROR,
                text![c"%.*s", shown(pg_ulid::Error::from(ErrorKind::Seed))],
            ),
        }
    }
}

/// What is wrong with a text: the character, as the text has it, or the length.
fn detail(text: &[u8], error: pg_ulid::Error) -> Text<'_> {
    let ErrorKind::Character {
        position, expected, ..
    } = error.kind()
    else {
        return sentence(error);
    };
    let text = text.get(position.saturating_sub(1)..).unwrap_or_default();
    let rest = shown(format_args!("position {position} is not {expected}"));
    let mut character = [0_u8; 16];
    character
        .iter_mut()
        .zip(text.iter().take(4))
        .for_each(|(copy, &byte)| *copy = byte);
    // SAFETY: these report no errors. pg_encoding_mblen looks at the bytes of one character; a copy
    // that ends with zeros gives it more than any encoding can want.
    let (encoding, length) = unsafe {
        let encoding = server::GetDatabaseEncoding();
        (
            encoding,
            server::pg_encoding_mblen(encoding, character.as_ptr().cast()),
        )
    };
    match text.first() {
        // It may be part of a character, which in SQL_ASCII only the client knows.
        Some(byte) if !byte.is_ascii() && encoding == pg_enc::PG_SQL_ASCII as c_int => {
            text![
                c"Byte %.*s at %.*s.",
                shown(format_args!("{byte:#04x}")),
                rest
            ]
        }
        _ => text![
            c"Character \"%.*s\" at %.*s.",
            Bytes(text.get(..length as usize).unwrap_or(text)),
            rest
        ],
    }
}

/// What becomes a sentence by a capital and a full stop.
fn sentence(what: impl fmt::Display) -> Text<'static> {
    let mut shown = Shown::new(what);
    if let Some(first) = shown.bytes.first_mut() {
        first.make_ascii_uppercase();
    }
    text![c"%.*s.", Piece::Value(shown)]
}

/// Names the id, so that its row can be found, and what prevents the conversion.
fn convert_report(error: pg_ulid::Error, id: u128) -> Report<'static> {
    let ulid = Ulid::from(id);
    let (about_ulid, randomness) = (
        shown(error.about(format_args!("ulid \"{ulid}\""))),
        ulid.randomness(),
    );
    match error.kind() {
        ErrorKind::Version { version, variant, .. } => {
            let (a, b, c) = (id >> 96, id >> 80 & 0xffff, id >> 64 & 0xffff);
            let (d, e) = (id >> 48 & 0xffff, id & 0xffff_ffff_ffff);
            Report::new(
                ERRCODE_INVALID_PARAMETER_VALUE,
                text![
                    c"%.*s",
                    shown(error.about(format_args!("uuid \"{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}\"")))
                ],
            )
            .detail(text![
                c"Its version is %.*s and its variant, in bits, is %.*s; that of RFC 9562 is 10.",
                shown(version),
                shown(format_args!("{variant:b}"))
            ])
        }
        ErrorKind::Time { target } => {
            Report::new(ERRCODE_DATETIME_FIELD_OVERFLOW, text![c"%.*s", about_ulid]).detail(match target {
                ForeignId::UuidV1 | ForeignId::UuidV6 => {
                    text![c"Such a uuid holds times to 5236-03-31 21:21:00.684+00."]
                }
                _ => text![c"A snowflake holds times from its epoch to 2^41 - 1 milliseconds after it."],
            })
        }
        ErrorKind::Randomness { target } => {
            Report::new(ERRCODE_INVALID_PARAMETER_VALUE, text![c"%.*s", about_ulid]).detail(match target {
                ForeignId::Snowflake => text![
                    c"Its low 58 bits are %.*s; made from a snowflake, they are zero.",
                    shown(format_args!("{:#x}", randomness & ((1 << 58) - 1)))
                ],
                ForeignId::Key => text![
                    c"The high 17 bits of its randomness are %.*s; made from a key, they are zero.",
                    shown(format_args!("{:#x}", randomness >> 63))
                ],
                _ => text![
                    c"The 14 bits after its time are %.*s and its low 4 bits %.*s; made from such a uuid, they are at most 9999 and zero.",
                    shown(randomness >> 66),
                    shown(randomness & 0xf)
                ],
            })
        }
        // A time that does not fit.
        _ => Fault::Timestamp.report(),
    }
}

/// What PostgreSQL says of an error.
struct Report<'call> {
    sqlstate: PgSqlErrorCode,
    message: Text<'call>,
    detail: Option<Text<'call>>,
    hint: Option<&'static CStr>,
}

impl<'call> Report<'call> {
    fn new(sqlstate: PgSqlErrorCode, message: Text<'call>) -> Self {
        Self {
            sqlstate,
            message,
            detail: None,
            hint: None,
        }
    }

    fn of_core(
        sqlstate: PgSqlErrorCode,
        format: &'static CStr,
        a: &'call CStr,
        b: &'call CStr,
    ) -> Self {
        let pieces = [a, b, c""].map(|text| Piece::Bytes(text.to_bytes_with_nul()));
        Self::new(
            sqlstate,
            Text {
                format,
                pieces,
                of_core: true,
            },
        )
    }

    /// A time that no ULID has.
    fn of_time(message: &'static CStr) -> Self {
        Self::new(ERRCODE_DATETIME_FIELD_OVERFLOW, Text::new(message, [])).detail(text![
            c"A ULID holds times from 1970-01-01 00:00:00+00 to 10889-08-02 05:31:50.655+00."
        ])
    }

    fn detail(self, detail: Text<'call>) -> Self {
        Self {
            detail: Some(detail),
            ..self
        }
    }

    fn hint(self, hint: &'static CStr) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }

    /// Reports it, and returns if it is no error.
    fn send(&self, level: PgLogLevel, location: &'static Location<'static>, plain: Plain) {
        // SAFETY: a null domain is core's; the file ends with a zero.
        unsafe {
            if server::errstart(level as c_int, null()) {
                self.describe(plain);
                server::errfinish(
                    location.file_as_c_str().as_ptr(),
                    location.line() as c_int,
                    null(),
                );
            }
        }
    }

    /// # Safety
    /// An error report has been started.
    unsafe fn describe(&self, _: Plain) {
        // SAFETY: a report has been started; a hint has no directives.
        unsafe {
            server::errcode(self.sqlstate as c_int);
            self.message.pass_to(server::errmsg);
            if let Some(detail) = &self.detail {
                detail.pass_to(server::errdetail);
            }
            if let Some(hint) = self.hint {
                server::errhint(hint.as_ptr());
            }
        }
    }
}

/// A text that the server makes of a format and its pieces.
struct Text<'call> {
    format: &'static CStr,
    pieces: [Piece<'call>; 3],
    /// Whether the format is core's, which the server translates. Its two directives are `%s`.
    of_core: bool,
}

/// The number of the directives of a format; more than a text has pieces if one is not `%.*s`.
const fn directives(format: &CStr) -> usize {
    let (mut rest, mut n) = (format.to_bytes(), 0);
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            n += if matches!(after, [b'.', b'*', b's', ..]) {
                1
            } else {
                4
            };
        }
        rest = after;
    }
    n
}

impl<'call> Text<'call> {
    fn new<const N: usize>(format: &'static CStr, given: [Piece<'call>; N]) -> Self {
        let mut pieces = [Piece::Bytes(&[]); 3];
        pieces
            .iter_mut()
            .zip(given)
            .for_each(|(piece, given)| *piece = given);
        Self {
            format,
            pieces,
            of_core: false,
        }
    }

    /// # Safety
    /// The function takes a format, and a report has been started.
    unsafe fn pass_to(&self, function: unsafe extern "C-unwind" fn(*const c_char, ...) -> c_int) {
        let [a, b, c] = self.pieces.each_ref().map(Piece::bytes);
        let [i, j, k] = [a, b, c].map(|bytes| bytes.len() as c_int);
        // SAFETY: each directive takes a length and as many bytes; one of core's takes bytes that
        // end with a zero.
        unsafe {
            match self.of_core {
                true => function(self.format.as_ptr(), a.as_ptr(), b.as_ptr()),
                false => function(
                    self.format.as_ptr(),
                    i,
                    a.as_ptr(),
                    j,
                    b.as_ptr(),
                    k,
                    c.as_ptr(),
                ),
            };
        }
    }
}

#[derive(Clone, Copy)]
enum Piece<'call> {
    /// In the server's encoding.
    Bytes(&'call [u8]),
    Value(Shown),
}

impl Piece<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Value(shown) => shown.bytes.get(..shown.len).unwrap_or_default(),
        }
    }
}

/// A value as text, which is formatted in this frame: none calls the server. The longest, that a
/// time is out of range for a uuid, has 81 bytes.
#[derive(Clone, Copy)]
struct Shown {
    bytes: [u8; 96],
    len: usize,
}

impl Shown {
    fn new(value: impl fmt::Display) -> Self {
        let mut shown = Self {
            bytes: [0; _],
            len: 0,
        };
        // What had no room would be missing.
        let _ = write!(shown, "{value}");
        shown
    }
}

fn shown(value: impl fmt::Display) -> Piece<'static> {
    Piece::Value(Shown::new(value))
}

impl Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes
            .get_mut(self.len..end)
            .ok_or(fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
