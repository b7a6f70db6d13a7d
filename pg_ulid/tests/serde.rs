//! Text in human-readable formats, bytes in binary ones.
#![cfg(feature = "serde")]

use pg_ulid::Ulid;

const TEXT: &str = "01ARYZ6S41TSV4RRFFQ69G5FAV";

#[test]
fn json_holds_the_text() {
    let ulid: Ulid = TEXT.parse().unwrap();
    let json = serde_json::to_string(&ulid).unwrap();
    assert_eq!(json, format!("\"{TEXT}\""));
    assert_eq!(serde_json::from_str::<Ulid>(&json).unwrap(), ulid);
    assert_eq!(
        serde_json::from_str::<Ulid>("\"01563df3-6481-d676-4c61-efb99302bd5b\"").unwrap(),
        ulid
    );
    let error = serde_json::from_str::<Ulid>("5").unwrap_err().to_string();
    assert!(
        error.contains("expected a ulid as text, or as 16 bytes"),
        "{error}"
    );
    let error = serde_json::from_str::<Ulid>("\"01ARYZ6S41TSV4RRFFQ69G5FAU\"")
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("character \"U\" at position 26 is not in Crockford's Base32 alphabet"),
        "{error}"
    );
}

#[test]
fn a_binary_format_holds_the_bytes() {
    let ulid: Ulid = TEXT.parse().unwrap();
    let mut buffer = [0; 32];
    let bytes = postcard::to_slice(&ulid, &mut buffer).unwrap();
    assert_eq!(bytes[0], 16);
    assert_eq!(bytes[1..], ulid.to_bytes());
    assert_eq!(postcard::from_bytes::<Ulid>(bytes).unwrap(), ulid);
    bytes[0] = 15;
    assert!(postcard::from_bytes::<Ulid>(bytes).is_err());
}
