//! The vectors of `tests/data`, read by the library and by independent witnesses.

use ulid::{ParseError, Ulid};

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
    field.replace("\\t", "\t").replace("\\n", "\n").replace("\\u00e9", "é")
}

#[test]
fn valid() {
    for row in rows(include_str!("data/valid.tsv")) {
        let [text, uuid, unix_ms] = row.as_slice() else { panic!("three columns: {row:?}") };
        let ulid: Ulid = text.parse().unwrap();
        assert_eq!(ulid.to_string(), *text);
        assert_eq!(ulid.unix_ms().to_string(), *unix_ms);
        assert_eq!(uuid.parse::<Ulid>().unwrap(), ulid);
        // Two witnesses: the crates `uuid` and `ulid`.
        assert_eq!(uuid::Uuid::from_bytes(ulid.to_bytes()).to_string(), *uuid);
        let witness = ulid_witness::Ulid::from_string(text).unwrap();
        assert_eq!(u128::from(ulid), witness.0);
    }
}

#[test]
fn lenient() {
    for row in rows(include_str!("data/lenient.tsv")) {
        let [text, canonical] = row.as_slice() else { panic!("two columns: {row:?}") };
        assert_eq!(text.parse::<Ulid>().unwrap().to_string(), *canonical);
    }
}

#[test]
fn invalid() {
    for row in rows(include_str!("data/invalid.tsv")) {
        let [text, fault, at] = row.as_slice() else { panic!("three columns: {row:?}") };
        let found = match text.parse::<Ulid>().unwrap_err() {
            ParseError::Length { found } => {
                assert_eq!(found, text.chars().count());
                ("length", String::new())
            }
            ParseError::Character { byte, position, .. } => {
                assert_eq!(byte, text.as_bytes()[position - 1]);
                ("character", position.to_string())
            }
            ParseError::Overflow => ("overflow", "1".to_owned()),
            other => panic!("{other:?}"),
        };
        if fault != "any" {
            assert_eq!(found, (fault.as_str(), at.clone()), "{text:?}");
        }
    }
}
