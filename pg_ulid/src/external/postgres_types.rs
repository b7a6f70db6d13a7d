//! `postgres-types`: parameters and results of `tokio-postgres`, `postgres` and the pools above
//! them.
//!
//! These drivers send a parameter in binary, as the type that the server has inferred for it. A
//! [`Ulid`] can be a `ulid` or a `uuid`, which have the same 16 bytes, a `text`, a `varchar` or a
//! `char(26)`, and a domain over one of these. Lists and `Option` follow from that: a `Vec<Ulid>`
//! is a `ulid[]`.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use postgres_types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::value::Ulid;

type BoxError = Box<dyn Error + Sync + Send>;

/// How a value of a type is sent: as 16 bytes, or as text.
#[derive(PartialEq)]
enum Form {
    Bytes,
    Text,
}

/// The form of a type. `None` if a [`Ulid`] cannot be of this type. The name of a type tells
/// whether it is `ulid`, because that has no fixed Oid and can be in any schema.
fn form(ty: &Type) -> Option<Form> {
    match ty.kind() {
        Kind::Domain(base) => form(base),
        _ if *ty == Type::UUID => Some(Form::Bytes),
        _ if [Type::TEXT, Type::VARCHAR, Type::BPCHAR].contains(ty) => Some(Form::Text),
        Kind::Simple if ty.name() == "ulid" => Some(Form::Bytes),
        _ => None,
    }
}

/// From `ulid`, `uuid`, and text as [`Ulid::parse`] reads it.
impl<'a> FromSql<'a> for Ulid {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, BoxError> {
        if form(ty) == Some(Form::Text) {
            Ok(Self::parse(raw)?)
        } else {
            Ok(Self::try_from(raw)?)
        }
    }

    fn accepts(ty: &Type) -> bool {
        form(ty).is_some()
    }
}

/// To `ulid`, `uuid`, and the canonical text.
impl ToSql for Ulid {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        if form(ty) == Some(Form::Text) {
            out.put_slice(&self.to_text())
        } else {
            out.put_slice(&self.to_bytes())
        }
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        form(ty).is_some()
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The type as a server describes it.
    fn server_type(name: &str, kind: Kind) -> Type {
        Type::new(name.into(), 16_384, kind, "public".into())
    }

    fn written<T: ToSql>(value: &T, ty: &Type) -> Vec<u8> {
        let mut out = BytesMut::new();
        value.to_sql_checked(ty, &mut out).unwrap();
        out.to_vec()
    }

    #[test]
    fn bytes_for_a_ulid_and_a_uuid_text_for_text() {
        let id: Ulid = "01ARYZ6S41TSV4RRFFQ69G5FAV".parse().unwrap();
        let ulid = server_type("ulid", Kind::Simple);
        let domain = server_type("order_id", Kind::Domain(ulid.clone()));
        for ty in [ulid, domain, Type::UUID] {
            assert!(<Ulid as FromSql>::accepts(&ty));
            assert_eq!(written(&id, &ty), id.to_bytes());
            assert_eq!(Ulid::from_sql(&ty, &id.to_bytes()).unwrap(), id);
            assert!(Ulid::from_sql(&ty, b"01ARYZ6S41TSV4RRFFQ69G5FAV").is_err());
        }
        for ty in [Type::TEXT, Type::VARCHAR, Type::BPCHAR] {
            assert!(<Ulid as FromSql>::accepts(&ty));
            assert_eq!(written(&id, &ty), b"01ARYZ6S41TSV4RRFFQ69G5FAV");
            assert_eq!(
                Ulid::from_sql(&ty, b"01aryz6s41tsv4rrffq69g5fav").unwrap(),
                id
            );
            assert!(Ulid::from_sql(&ty, &id.to_bytes()).is_err());
        }
    }

    #[test]
    fn lists_are_arrays() {
        let array = server_type("_ulid", Kind::Array(server_type("ulid", Kind::Simple)));
        let ids = vec![Some(Ulid::NIL), None, Some(Ulid::MAX)];
        assert_eq!(
            Vec::<Option<Ulid>>::from_sql(&array, &written(&ids, &array)).unwrap(),
            ids
        );
    }

    #[test]
    fn no_other_type() {
        let others = [
            server_type("ulid", Kind::Enum(Vec::new())),
            server_type("citext", Kind::Simple),
            Type::BYTEA,
        ];
        for ty in others {
            assert!(!<Ulid as FromSql>::accepts(&ty) && !<Ulid as ToSql>::accepts(&ty));
        }
    }
}
