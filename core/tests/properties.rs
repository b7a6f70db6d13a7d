//! Properties of every value and every text.

use std::time::Duration;

use proptest::prelude::*;
use ulid::{ErrorKind, TypeId, Ulid, Window, monotonic, ordered};

/// Texts that look like a ULID or a UUID more often than by chance.
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
                prop_assert_eq!(error, ErrorKind::Exhausted.into());
                prop_assert_eq!(last.randomness(), Ulid::MAX_RANDOMNESS);
            }
        }
    }

    #[test]
    fn ordered_uuids_are_of_version_7_in_the_order_of_their_times(a: u64, b: u64, randomness: [u64; 2]) {
        let [a, b] = [a.min(b), a.max(b)];
        let uuids = [(a, randomness[0]), (b, randomness[1])].map(|(time, randomness)| ordered::uuid_v7(time, randomness));
        prop_assert!(a == b || uuids[0] < uuids[1]);
        for (uuid, time) in uuids.into_iter().zip([a, b]) {
            let uuid = uuid::Uuid::from_bytes(uuid);
            prop_assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
            prop_assert_eq!(Ulid::from(uuid.into_bytes()).unix_ms(), time >> 16);
            prop_assert_eq!(ordered::uuid_v7(time, uuid.as_u64_pair().1), uuid.into_bytes());
        }
    }

    #[test]
    fn the_next_ordered_time_is_the_clock_or_one_more(last: u64, seconds in 1..281_474_976_710u64, ns in 0..1_000_000_000u32) {
        let clock = Duration::new(seconds, ns);
        let time = clock.as_nanos() * 65_536 / 1_000_000;
        let expected = u64::try_from(time.max(u128::from(last) + 1)).map_err(|_| ErrorKind::Range.into());
        prop_assert_eq!(ordered::clock(clock).and_then(|clock| ordered::next(last, clock)), expected);
        // Where the clock is near, one or the other.
        let last = (time as u64).wrapping_add(last % 3).wrapping_sub(1);
        prop_assert_eq!(ordered::clock(clock).and_then(|clock| ordered::next(last, clock)), Ok((time as u64).max(last.wrapping_add(1))));
    }

    #[test]
    fn a_prefix_holds_what_starts_with_it(value: u128, other: u128, length in 0..=26usize, keep in 0..=26u32) {
        let ulid = Ulid::from(value);
        let text = ulid.to_string();
        let prefix = &text[..length];
        let window = Window::starting_with(prefix.as_bytes()).unwrap();
        prop_assert_eq!(Window::starting_with(prefix.to_lowercase().as_bytes()), Ok(window));
        prop_assert!(window.contains(ulid));
        // Others that have some characters in common with it, and its neighbours.
        let other = other.checked_shr(keep * 5).unwrap_or(0) ^ value;
        let neighbours = [u128::from(window.lower()).wrapping_sub(1), u128::from(window.upper()).wrapping_add(1)];
        for other in [other, value.wrapping_add(1), neighbours[0], neighbours[1]].map(Ulid::from) {
            prop_assert_eq!(window.contains(other), other.to_string().starts_with(prefix), "{} {}", other, prefix);
        }
    }

    #[test]
    fn a_prefix_is_read_where_it_can_be_completed(text in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..30),
        "[0-9A-Za-z]{0,27}".prop_map(String::into_bytes),
        "[0-7][0-9A-TV-Za-tv-z]{0,26}".prop_map(String::into_bytes),
    ]) {
        let mut whole = text.clone();
        whole.resize(whole.len().max(26), b'0');
        prop_assert_eq!(Window::starting_with(&text).map(Window::lower).ok(), Ulid::parse(&whole).ok().filter(|_| text.len() <= 26));
    }

    #[test]
    fn typeids_round_trip_in_the_order_of_their_texts(
        a: u128, b: u128,
        x in "([a-z]([a-z_]{0,5}[a-z])?)?", y in "([a-z]([a-z_]{0,5}[a-z])?)?",
    ) {
        let [a, b] = [(&x, a), (&y, b)].map(|(prefix, value)| TypeId::new(prefix.as_bytes(), value.into()).unwrap());
        let text = a.to_string();
        prop_assert_eq!(TypeId::parse(text.as_bytes()), Ok(a));
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
    }

    #[test]
    fn parsing_a_typeid_never_panics_and_what_it_reads_it_writes_back(text in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100),
        "[a-z_]{0,65}_?[0-7][0-9a-z]{24,26}".prop_map(String::into_bytes),
        "[a-z][a-z_]{0,3}[a-z]_[0-9][0-9a-hjkmnp-tv-z]{25}".prop_map(String::into_bytes),
    ]) {
        if let Ok(typeid) = TypeId::parse(&text) {
            prop_assert_eq!(typeid.to_string().into_bytes(), text);
        }
    }
}
