//! What only the PostgreSQL extension and the tests use. It is exempt from semantic versioning, and
//! hidden from the documentation.

pub use crate::error::{ErrorKind, Expected, ForeignId};
pub use crate::window::histogram_fraction;
