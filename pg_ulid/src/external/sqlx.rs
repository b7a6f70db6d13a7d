//! `sqlx`: parameters and results of sqlx for PostgreSQL, in binary and as text, and arrays of
//! them.
//!
//! A parameter is sent as a `ulid`; a result is a `ulid` or a `uuid`. The type is found by its
//! name, so the schema that the extension is in must be on the search path.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{
    PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef, Postgres,
};
use sqlx::{Decode, Encode, Type, TypeInfo};

use crate::value::Ulid;

impl Type<Postgres> for Ulid {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("ulid")
    }

    /// Whether a column of this type can be read as a ULID: its 16 bytes are those of a `ulid` or a
    /// `uuid`. sqlx names built-in types in upper case (`UUID`), and others as regtype does, so
    /// with the schema if that is not on the search path. For a domain, the server reports the base
    /// type.
    fn compatible(ty: &PgTypeInfo) -> bool {
        ["ulid", "uuid"]
            .iter()
            .any(|name| ty.name().eq_ignore_ascii_case(name))
    }
}

impl PgHasArrayType for Ulid {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::array_of("ulid")
    }

    /// The same for an array. The server has two names for the type: `ulid[]` by regtype, and
    /// `_ulid` in pg_type.
    fn array_compatible(ty: &PgTypeInfo) -> bool {
        ["ulid[]", "_ulid", "uuid[]"]
            .iter()
            .any(|name| ty.name().eq_ignore_ascii_case(name))
    }
}

impl Encode<'_, Postgres> for Ulid {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(&self.to_bytes());
        Ok(IsNull::No)
    }
}

impl Decode<'_, Postgres> for Ulid {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        match value.format() {
            PgValueFormat::Binary => Ok(Self::try_from(value.as_bytes()?)?),
            PgValueFormat::Text => Ok(Self::parse(value.as_bytes()?)?),
        }
    }
}
