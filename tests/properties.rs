//! What holds for every value and every text.

use proptest::prelude::*;
use ulid::{MonotonicError, Ulid, monotonic};

/// Texts that look like a ULID or a UUID more often than chance would have it.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..50),
        "[0-9A-Za-z]{26}".prop_map(String::into_bytes),
        "[0-7][0-9A-TV-Za-tv-z]{25}".prop_map(String::into_bytes),
        "[0-9a-fA-F-]{36}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #[test]
    fn text_round_trips(value: u128) {
        let ulid = Ulid::from(value);
        let text = ulid.to_string();
        prop_assert_eq!(text.len(), ulid::TEXT_LEN);
        prop_assert_eq!(text.parse::<Ulid>(), Ok(ulid));
        prop_assert_eq!(text.to_lowercase().parse::<Ulid>(), Ok(ulid));
        prop_assert_eq!(ulid.to_text(), text.as_bytes());
    }

    #[test]
    fn text_agrees_with_the_ulid_crate(value: u128) {
        prop_assert_eq!(Ulid::from(value).to_string(), ulid_witness::Ulid::from(value).to_string());
    }

    #[test]
    fn uuid_form_agrees_with_the_uuid_crate(value: u128) {
        prop_assert_eq!(uuid::Uuid::from_u128(value).to_string().parse::<Ulid>(), Ok(Ulid::from(value)));
    }

    #[test]
    fn text_bytes_and_values_have_one_order(a: u128, b: u128) {
        let (x, y) = (Ulid::from(a), Ulid::from(b));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        prop_assert_eq!(x.cmp(&y), x.to_bytes().cmp(&y.to_bytes()));
        prop_assert_eq!(x.cmp(&y), x.to_string().cmp(&y.to_string()));
    }

    #[test]
    fn parse_never_panics_and_what_it_reads_it_writes_back(text in texts()) {
        if let Ok(ulid) = Ulid::parse(&text) {
            let again = ulid.to_string();
            prop_assert_eq!(again.parse::<Ulid>(), Ok(ulid));
            if text.len() == ulid::TEXT_LEN {
                let canonical = String::from_utf8(text).unwrap().to_uppercase().replace(['I', 'L'], "1");
                prop_assert_eq!(again, canonical.replace('O', "0"));
            }
        }
    }

    #[test]
    fn parse_agrees_with_the_uuid_crate_on_its_form(text in "[0-9a-fA-F]{8}-[0-9a-g-]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}") {
        let witness = uuid::Uuid::try_parse(&text).ok().map(|uuid| Ulid::from(uuid.into_bytes()));
        prop_assert_eq!(text.parse::<Ulid>().ok(), witness);
    }

    #[test]
    fn parts_round_trip(unix_ms in 0..=Ulid::MAX_UNIX_MS, randomness in 0..=Ulid::MAX_RANDOMNESS) {
        let ulid = Ulid::from_parts(unix_ms, randomness).unwrap();
        prop_assert_eq!((ulid.unix_ms(), ulid.randomness()), (unix_ms, randomness));
        prop_assert!(Ulid::lower_bound(unix_ms).unwrap() <= ulid);
        prop_assert!(ulid <= Ulid::upper_bound(unix_ms).unwrap());
    }

    #[test]
    fn the_next_monotonic_value_is_greater(last: u128, unix_ms in 0..=Ulid::MAX_UNIX_MS, randomness in 0..=Ulid::MAX_RANDOMNESS) {
        let last = Ulid::from(last);
        match monotonic::next(last, unix_ms, || randomness) {
            Ok(next) => prop_assert!(next > last && next.unix_ms() == unix_ms.max(last.unix_ms())),
            Err(error) => {
                prop_assert_eq!(error, MonotonicError::Exhausted);
                prop_assert_eq!(last.randomness(), Ulid::MAX_RANDOMNESS);
            }
        }
    }
}
