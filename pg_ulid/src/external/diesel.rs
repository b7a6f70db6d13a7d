//! `diesel`: the SQL type of a [`pg_ulid::Ulid`](crate::Ulid), for `table!`.
//!
//! ```
//! diesel::table! {
//!     use diesel::sql_types::*;
//!     use pg_ulid::diesel::*;
//!
//!     orders (id) {
//!         id -> Ulid,
//!         note -> Nullable<Text>,
//!     }
//! }
//! ```

use diesel::deserialize::{self, FromSql};
use diesel::pg::{Pg, PgValue};
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::SqlType;
use std::io::Write;

use crate::value;

/// The SQL type `ulid`. It is found by its name, so the schema that the extension is in must be on
/// the search path.
#[derive(Clone, Copy, Debug, Default, QueryId, SqlType)]
#[diesel(postgres_type(name = "ulid"))]
pub struct Ulid;

impl ToSql<Ulid, Pg> for value::Ulid {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(&self.to_bytes())?;
        Ok(IsNull::No)
    }
}

impl FromSql<Ulid, Pg> for value::Ulid {
    fn from_sql(bytes: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self::try_from(bytes.as_bytes())?)
    }
}
