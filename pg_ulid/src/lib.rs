//! ULIDs: the library that the ULID type for PostgreSQL is built on. It needs no PostgreSQL.
//!
//! A ULID is 128 bits: 48 bits of Unix time in milliseconds, then 80 bits of randomness, the most
//! significant byte first ([specification](https://github.com/ulid/spec)). Its text is 26
//! characters of [Crockford's Base32](https://www.crockford.com/base32.html). Values, bytes and
//! texts sort the same.
//!
//! # First use
//! ```
//! use pg_ulid::{Generator, Time, Ulid};
//!
//! let mut generator = Generator::from_os()?;
//! let id = generator.random(Time::now()?);
//! let text = id.to_string();
//! assert_eq!(text.len(), 26);
//! assert_eq!(text.parse::<Ulid>()?, id);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which one when
//! - [`Time`]: what each of these takes and returns as a time, from the clock or from a number of a
//!   named unit.
//! - [`Generator::random`]: ids generated in different places, with 80 fresh random bits each.
//! - [`Generator::monotonic`]: each id is greater than the previous one, also within a millisecond
//!   and if the clock steps back; neighbours can be guessed. [`monotonic::next`] is its rule,
//!   without clock or generator.
//! - [`Generator::ordered`]: each id is greater than the previous one, whichever generator returned
//!   that, as long as the generators share an [`IdClock`](ordered::IdClock); neighbours cannot be
//!   guessed. [`ordered::next`] is its rule. [`Generator::ordered_uuid_v7`]: the same order in
//!   version 7 UUIDs, by [`ordered::uuid_v7`].
//! - [`Ulid::lower_bound`] and [`Ulid::upper_bound`]: the ends of a millisecond, for ranges.
//! - [`Window`]: the ids created between two moments, or whose text starts with given characters.
//! - [`TypeId`]: an id as text, after a prefix that names its type.
//! - [`Ulid::from_uuid_v1`], [`Ulid::from_uuid_v6`] and their inverses: ids of these versions,
//!   lossless and in time order. A UUID of any other version is a ULID; [`Ulid::to_uuid_v7`]
//!   converts any ULID to a valid version 7 UUID.
//! - [`Ulid::from_snowflake`] and its inverse: snowflakes of any epoch, lossless and in order.
//! - [`Ulid::from_key`] and its inverse: rows with a creation time and a numeric key.
//! - [`Generator::uuid_v7`]: a sequence of version 7 UUIDs, which are ULIDs; [`uuid_v7::next`] is
//!   its rule. [`Generator::uuid_v7_at`]: one for a given time.
//!
//! # Features
//! - `serde` (default): text in human-readable formats, 16 bytes in binary ones.
//! - `postgres-types`: a [`Ulid`] and lists of them are parameters and results of `tokio-postgres`,
//!   `postgres` and `deadpool-postgres`.
//! - `sqlx`: the same for sqlx with PostgreSQL.
//! - `diesel`: the same for diesel, with the SQL type in `pg_ulid::diesel`.
#![forbid(unsafe_code)]

mod codec;
mod convert;
mod error;
#[doc(hidden)]
pub mod extension;
mod external;
mod generator;
pub mod monotonic;
pub mod ordered;
mod prefix;
mod snowflake;
mod sync;
mod time;
mod typeid;
pub mod uuid_v7;
mod value;
mod window;

pub use codec::TEXT_LEN;
pub use error::Error;
#[cfg(feature = "diesel")]
pub use external::diesel;
pub use generator::Generator;
pub use snowflake::TWITTER_EPOCH_MS;
pub use time::Time;
pub use typeid::TypeId;
pub use value::Ulid;
pub use window::Window;

// The example of the crate's README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
