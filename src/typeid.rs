//! TypeIDs as text in the server's encoding. The pure part defines how they are read and written.

use super::datum::{ShortText, TextArg};
use super::error::{Error, Fault};
use ulid_core::{TypeId, TypeIdError, Ulid};

fn parse(text: TextArg<'_>) -> Result<TypeId<'_>, Error<'_>> {
    Ok(TypeId::parse(text.0).map_err(|error| Fault::TypeId { text: text.0, error })?)
}

pub(super) fn from_ulid<'call>(prefix: TextArg<'call>, ulid: &Ulid) -> Result<ShortText, Error<'call>> {
    let refused = |error: TypeIdError| Fault::TypeIdPrefix { prefix: prefix.0, error };
    let (text, len) = TypeId::new(prefix.0, *ulid).map_err(refused)?.to_text();
    Ok(ShortText::new(&text[..len]))
}

pub(super) fn to_ulid(typeid: TextArg<'_>) -> Result<Ulid, Error<'_>> {
    Ok(parse(typeid)?.ulid())
}

pub(super) fn to_ulid_of<'call>(
    typeid: TextArg<'call>,
    prefix: TextArg<'call>,
) -> Result<Ulid, Error<'call>> {
    let text = typeid.0;
    let typeid = parse(typeid)?;
    let (found, expected) = (typeid.prefix().as_bytes(), prefix.0);
    if found != expected {
        Err(Fault::OtherPrefix { typeid: text, prefix: found, expected })?;
    }
    Ok(typeid.ulid())
}

pub(super) fn prefix(typeid: TextArg<'_>) -> Result<ShortText, Error<'_>> {
    Ok(ShortText::new(parse(typeid)?.prefix().as_bytes()))
}
