//! `serde`: canonical text in human-readable formats, 16 bytes in binary ones.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::value::Ulid;

impl Serialize for Ulid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.to_bytes())
        }
    }
}

impl<'de> Deserialize<'de> for Ulid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(UlidVisitor)
        } else {
            deserializer.deserialize_bytes(UlidVisitor)
        }
    }
}

/// Reads what a format calls it with: text, or bytes.
struct UlidVisitor;

impl Visitor<'_> for UlidVisitor {
    type Value = Ulid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a ulid as text, or as 16 bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ulid, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Ulid, E> {
        Ulid::try_from(bytes).map_err(E::custom)
    }
}
