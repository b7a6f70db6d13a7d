//! The vectors of `tests/data`, read by the library and by independent implementations.

use pg_ulid::extension::{ErrorKind, Expected};
use pg_ulid::{TypeId, Ulid};

/// The rows of a vector file, split at tabs; comments are left out.
fn rows(file: &str) -> Vec<Vec<String>> {
    let rows: Vec<_> = file
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').map(unescape).collect())
        .collect();
    assert!(!rows.is_empty());
    rows
}

/// An input is read as it stands: `\t`, `\n` and `\u00e9` stand for the characters themselves.
fn unescape(field: &str) -> String {
    field
        .replace("\\t", "\t")
        .replace("\\n", "\n")
        .replace("\\u00e9", "é")
}

#[test]
fn valid() {
    for row in rows(include_str!("data/valid.tsv")) {
        let [text, uuid, unix_ms] = row.as_slice() else {
            panic!("three columns: {row:?}")
        };
        let ulid: Ulid = text.parse().unwrap();
        assert_eq!(ulid.to_string(), *text);
        assert_eq!(ulid.unix_ms().to_string(), *unix_ms);
        assert_eq!(uuid.parse::<Ulid>().unwrap(), ulid);
        // Two independent implementations: the crates `uuid` and `ulid`.
        assert_eq!(uuid::Uuid::from_bytes(ulid.to_bytes()).to_string(), *uuid);
        let witness = ulid::Ulid::from_string(text).unwrap();
        assert_eq!(u128::from(ulid), witness.0);
    }
}

#[test]
fn lenient() {
    for row in rows(include_str!("data/lenient.tsv")) {
        let [text, canonical] = row.as_slice() else {
            panic!("two columns: {row:?}")
        };
        assert_eq!(text.parse::<Ulid>().unwrap().to_string(), *canonical);
    }
}

#[test]
fn uuid_v1_v6() {
    for row in rows(include_str!("data/uuid_v1_v6.tsv")) {
        let [v1, v6, timestamp, clock_seq, node, unix_ms, text] = row.as_slice() else {
            panic!("seven columns: {row:?}")
        };
        let [v1, v6] = [v1, v6].map(|uuid| uuid.parse::<uuid::Uuid>().unwrap());
        let ulid: Ulid = text.parse().unwrap();
        assert_eq!(Ulid::from_uuid_v1(v1.as_u128()), Ok(ulid), "{v1}");
        assert_eq!(Ulid::from_uuid_v6(v6.as_u128()), Ok(ulid), "{v6}");
        assert_eq!(ulid.to_uuid_v1(), Ok(v1.as_u128()), "{v1}");
        assert_eq!(ulid.to_uuid_v6(), Ok(v6.as_u128()), "{v6}");
        assert_eq!(ulid.unix_ms().to_string(), *unix_ms);
        // The independent implementation agrees with the columns.
        for uuid in [v1, v6] {
            let (ticks, counter) = uuid.get_timestamp().unwrap().to_gregorian();
            assert_eq!(
                (ticks.to_string(), counter.to_string()),
                (timestamp.clone(), clock_seq.clone())
            );
            let octets = uuid.get_node_id().unwrap();
            assert_eq!(octets.map(|octet| format!("{octet:02x}")).concat(), *node);
        }
    }
}

#[test]
fn uuid_v7() {
    for row in rows(include_str!("data/uuid_v7.tsv")) {
        let [text, uuid] = row.as_slice() else {
            panic!("two columns: {row:?}")
        };
        let ulid: Ulid = text.parse().unwrap();
        let uuid: uuid::Uuid = uuid.parse().unwrap();
        assert_eq!(ulid.to_uuid_v7(), uuid.as_u128());
        assert_eq!(Ulid::from(uuid.as_u128()).to_uuid_v7(), uuid.as_u128());
        assert_eq!(
            (uuid.get_version_num(), uuid.get_variant()),
            (7, uuid::Variant::RFC4122)
        );
    }
}

#[test]
fn snowflake() {
    for row in rows(include_str!("data/snowflake.tsv")) {
        let [id, epoch_ms, unix_ms, datacenter, worker, sequence, text] = row.as_slice() else {
            panic!("seven columns: {row:?}")
        };
        let (id, epoch_ms) = (id.parse().unwrap(), epoch_ms.parse().unwrap());
        let ulid: Ulid = text.parse().unwrap();
        assert_eq!(Ulid::from_snowflake(id, epoch_ms), Ok(ulid), "{id}");
        assert_eq!(ulid.to_snowflake(epoch_ms), Ok(id), "{id}");
        // In its own time as the epoch, it is nothing but the parts after the time.
        let [unix_ms, datacenter, worker, sequence] =
            [unix_ms, datacenter, worker, sequence].map(|number| number.parse::<i64>().unwrap());
        assert_eq!(
            ulid.to_snowflake(unix_ms),
            Ok(datacenter << 17 | worker << 12 | sequence),
            "{id}"
        );
    }
}

#[test]
fn typeid() {
    for row in rows(include_str!("data/typeid.tsv")) {
        let [text, prefix, uuid] = row.as_slice() else {
            panic!("three columns: {row:?}")
        };
        let typeid = TypeId::parse(text.as_bytes()).unwrap();
        assert_eq!(typeid.prefix(), prefix);
        assert_eq!(
            uuid::Uuid::from_bytes(typeid.ulid().to_bytes()).to_string(),
            *uuid
        );
        assert_eq!(typeid.to_string(), *text);
        assert_eq!(TypeId::new(prefix.as_bytes(), typeid.ulid()), Ok(typeid));
    }
}

#[test]
fn typeid_invalid() {
    for row in rows(include_str!("data/typeid_invalid.tsv")) {
        let [text, fault] = row.as_slice() else {
            panic!("two columns: {row:?}")
        };
        let found = match TypeId::parse(text.as_bytes()).unwrap_err().into() {
            ErrorKind::Character {
                byte,
                position,
                expected: Expected::LowerCaseLetterOrUnderscore,
            } => {
                assert_eq!(byte, text.as_bytes()[position - 1]);
                "prefix"
            }
            ErrorKind::Length {
                expected: Expected::TypeIdPrefix,
                ..
            }
            | ErrorKind::PrefixUnderscore => "prefix",
            ErrorKind::UnderscoreWithoutPrefix => "separator",
            ErrorKind::Character {
                byte,
                position,
                expected: Expected::LowerCaseBase32,
            } => {
                assert_eq!(byte, text.as_bytes()[position - 1]);
                "suffix"
            }
            ErrorKind::Length {
                expected: Expected::TypeIdSuffix,
                ..
            } => "length",
            ErrorKind::Overflow => "overflow",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, fault, "{text:?}");
    }
}
