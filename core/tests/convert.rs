//! Properties of every id of another kind: it converts back, and sorts like the ULIDs; and of version 7 UUIDs generated
//! one after another.

use std::time::Duration;

use proptest::prelude::*;
use ulid::{ErrorKind, ForeignId, TWITTER_EPOCH_MS, Ulid, uuid_v7};
use uuid::{Builder, Variant};

/// The Unix epoch in 100 ns since 1582-10-15.
const UNIX_EPOCH: u64 = 0x01b2_1dd2_1381_4000;

/// The fields of a UUID of version 1 or 6: timestamp, clock sequence, node. Their order is that of the tuple.
type Fields = (u64, u16, u64);

/// Fields of 1970 and later. Neighbours and equal fields are more frequent than by chance.
fn fields() -> impl Strategy<Value = Fields> {
    (
        prop_oneof![UNIX_EPOCH..1 << 60, UNIX_EPOCH..UNIX_EPOCH + 20_000, Just((1 << 60) - 1)],
        prop_oneof![0..1u16 << 14, 0..2u16, Just((1 << 14) - 1)],
        prop_oneof![0..1u64 << 48, 0..2u64, Just((1 << 48) - 1)],
    )
}

/// The UUIDs of version 1 and 6 with these fields, by the reference implementation.
fn uuids((timestamp, clock_seq, node): Fields) -> [[u8; 16]; 2] {
    let node = std::array::from_fn(|i| (node >> (40 - 8 * i)) as u8);
    [
        Builder::from_gregorian_timestamp(timestamp, clock_seq, &node).into_uuid().into_bytes(),
        Builder::from_sorted_gregorian_timestamp(timestamp, clock_seq, &node).into_uuid().into_bytes(),
    ]
}

/// A time and a key; equal times are more frequent than by chance.
fn row() -> impl Strategy<Value = (u64, i64)> {
    (prop_oneof![0..=Ulid::MAX_UNIX_MS, 0..2u64], 0..=i64::MAX)
}

proptest! {
    #[test]
    fn uuid_v1_and_v6_round_trip(fields in fields()) {
        let [v1, v6] = uuids(fields);
        let ulid = Ulid::from_uuid_v1(v1).unwrap();
        prop_assert_eq!(Ulid::from_uuid_v6(v6), Ok(ulid));
        prop_assert_eq!(ulid.to_uuid_v1(), Ok(v1));
        prop_assert_eq!(ulid.to_uuid_v6(), Ok(v6));
        let (timestamp, clock_seq, node) = fields;
        let (ms, remainder) = ((timestamp - UNIX_EPOCH) / 10_000, (timestamp - UNIX_EPOCH) % 10_000);
        let randomness = u128::from(remainder) << 66 | u128::from(clock_seq) << 52 | u128::from(node) << 4;
        prop_assert_eq!(Ulid::from_parts(ms, randomness), Ok(ulid));
    }

    #[test]
    fn uuid_v1_and_v6_keep_their_order(a in fields(), mut b in fields(), same_time: bool, same_clock: bool) {
        b.0 = if same_time { a.0 } else { b.0 };
        b.1 = if same_clock { a.1 } else { b.1 };
        let [[a1, a6], [b1, b6]] = [a, b].map(uuids);
        let order = Ulid::from_uuid_v1(a1).unwrap().cmp(&Ulid::from_uuid_v1(b1).unwrap());
        prop_assert_eq!(order, a.cmp(&b));
        prop_assert_eq!(order, a6.cmp(&b6));
    }

    #[test]
    fn the_ulid_that_gives_a_uuid_is_the_one_it_gives(ulid in any::<u128>().prop_map(Ulid::from), keep: bool) {
        // Half of them have the zeros that a UUID needs; by chance this would be rare.
        let ulid = if keep { ulid } else { Ulid::from(u128::from(ulid) & !(1 << 79) & !0xf) };
        if let Ok(v1) = ulid.to_uuid_v1() {
            prop_assert_eq!(Ulid::from_uuid_v1(v1), Ok(ulid));
        }
        if let Ok(v6) = ulid.to_uuid_v6() {
            prop_assert_eq!(Ulid::from_uuid_v6(v6), Ok(ulid));
        }
        prop_assert_eq!(ulid.to_uuid_v1().is_ok(), ulid.to_uuid_v6().is_ok());
    }

    #[test]
    fn any_uuid_is_read_or_refused_as_the_witness_sees_it(value: u128, version in prop_oneof![Just(1), Just(6), 0..16u128]) {
        let uuid = uuid::Uuid::from_u128(value & !(0xf << 76) | version << 76);
        let readable = uuid.get_variant() == Variant::RFC4122
            && uuid.get_timestamp().is_some_and(|time| time.to_gregorian().0 >= UNIX_EPOCH);
        prop_assert_eq!(Ulid::from_uuid_v1(uuid.into_bytes()).is_ok(), readable && version == 1);
        prop_assert_eq!(Ulid::from_uuid_v6(uuid.into_bytes()).is_ok(), readable && version == 6);
    }

    #[test]
    fn uuid_v7_keeps_the_time_and_74_bits(value: u128) {
        let ulid = Ulid::from(value);
        let witness = Builder::from_unix_timestamp_millis(ulid.unix_ms(), &ulid.randomness_bytes()).into_uuid();
        prop_assert_eq!(ulid.to_uuid_v7(), witness.into_bytes());
        let again = Ulid::from(ulid.to_uuid_v7());
        prop_assert_eq!(again.unix_ms(), ulid.unix_ms());
        prop_assert_eq!((u128::from(again) ^ value) & !(0xf << 76 | 0b11 << 62), 0);
        prop_assert_eq!(again.to_uuid_v7(), ulid.to_uuid_v7());
    }

    #[test]
    fn snowflakes_round_trip(id in 0..=i64::MAX, epoch_ms in -1i64 << 42..1 << 49) {
        let unix_ms = (id >> 22) + epoch_ms;
        match Ulid::from_snowflake(id, epoch_ms) {
            Ok(ulid) => {
                prop_assert_eq!(ulid.to_snowflake(epoch_ms), Ok(id));
                let parts = ulid.snowflake_parts().unwrap();
                prop_assert_eq!(parts.unix_ms as i64, unix_ms);
                let low = i64::from(parts.datacenter) << 17 | i64::from(parts.worker) << 12 | i64::from(parts.sequence);
                prop_assert_eq!((unix_ms - epoch_ms) << 22 | low, id);
                prop_assert_eq!(ulid.randomness(), (id as u128 & 0x3f_ffff) << 58);
            }
            Err(error) => {
                prop_assert_eq!(error, ErrorKind::Range.into());
                prop_assert!(!(0..1 << 48).contains(&unix_ms));
            }
        }
    }

    #[test]
    fn snowflakes_keep_their_order(a in 0..=i64::MAX, b in 0..=i64::MAX, near in 0..1i64 << 24) {
        for b in [b, a, a.saturating_add(near)] {
            let [x, y] = [a, b].map(|id| Ulid::from_snowflake(id, TWITTER_EPOCH_MS).unwrap());
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }
    }

    #[test]
    fn the_ulid_that_gives_a_snowflake_is_the_one_it_gives(
        unix_ms in 0..=Ulid::MAX_UNIX_MS,
        parts in 0..1u128 << 22,
        age in prop_oneof![-1000..1i64 << 42, any::<i64>()],
    ) {
        let epoch_ms = (unix_ms as i64).saturating_sub(age);
        let ulid = Ulid::from_parts(unix_ms, parts << 58).unwrap();
        match ulid.to_snowflake(epoch_ms) {
            Ok(id) => prop_assert_eq!(Ulid::from_snowflake(id, epoch_ms), Ok(ulid)),
            Err(error) => {
                prop_assert_eq!(error, ErrorKind::Time { target: ForeignId::Snowflake }.into());
                prop_assert!(!(0..1 << 41).contains(&(i128::from(unix_ms) - i128::from(epoch_ms))));
            }
        }
    }

    #[test]
    fn keys_round_trip_and_keep_their_order(a in row(), b in row()) {
        let [x, y] = [a, b].map(|(unix_ms, key)| Ulid::from_key(unix_ms, key).unwrap());
        prop_assert_eq!((x.unix_ms(), x.to_key().unwrap()), a);
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
    }

    #[test]
    fn randomness_bytes_round_trip(value: u128) {
        let ulid = Ulid::from(value);
        prop_assert_eq!(Ulid::from_parts_bytes(ulid.unix_ms(), ulid.randomness_bytes()), Ok(ulid));
    }

    #[test]
    fn the_next_uuid_v7_is_greater(
        times in prop::collection::vec(prop_oneof![0..1u64 << 62, 1u64 << 60..(1 << 60) + 2000], 1..50),
        randomness: u64,
    ) {
        let mut last = [0; 16];
        for (step, unix_ns) in times.into_iter().enumerate() {
            let next = uuid_v7::next(last, Duration::from_nanos(unix_ns), randomness.rotate_left(step as u32)).unwrap();
            prop_assert!(next > last);
            let uuid = uuid::Uuid::from_bytes(next);
            prop_assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, Variant::RFC4122));
            prop_assert_eq!(Ulid::from(next).to_uuid_v7(), next);
            // The time is that of the clock, unless the clock is not later than the last one.
            let time = |uuid: [u8; 16]| {
                let ulid = Ulid::from(uuid);
                u128::from(ulid.unix_ms()) << 12 | ulid.randomness() >> 64 & 0xfff
            };
            prop_assert_eq!(time(next), (u128::from(unix_ns) * 4096 / 1_000_000).max(time(last) + 1));
            prop_assert_eq!(uuid.as_u64_pair().1 << 2, randomness.rotate_left(step as u32) << 2);
            last = next;
        }
    }
}
