//! The traits of other crates for [`Ulid`](crate::Ulid), each behind the feature of its name.

#[cfg(feature = "diesel")]
pub mod diesel;
#[cfg(feature = "postgres-types")]
mod postgres_types;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "sqlx")]
mod sqlx;
