//! The times that all generators of a server share, by any clock.

use std::time::Duration;

use pg_ulid::extension::ErrorKind;
use pg_ulid::ordered::{self, IdClock};
use pg_ulid::{Error, Time, Ulid};

use super::input::Numbers;

/// In numbers that cannot overflow.
fn plain(last: u64, now: u64) -> Result<u64, Error> {
    let next = u128::from(now).max(u128::from(last) + 1);
    u64::try_from(next).map_err(|_| ErrorKind::OutOfRangeForUlid.into())
}

/// A sequence by a shared id clock.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let id_clock = IdClock::new();
    if numbers.byte() % 4 == 0 {
        id_clock.set(Time::from_bits(numbers.u64()));
    }
    let mut accepted = true;
    while !numbers.is_empty() {
        let (clock, last) = (numbers.time(), id_clock.time());
        let expected = plain(last.to_bits(), clock.to_bits()).map(Time::from_bits);
        assert_eq!(ordered::next(last, clock), expected, "{last:?} {clock:?}");
        assert_eq!(id_clock.advance(clock), expected);
        assert_eq!(id_clock.time(), expected.unwrap_or(last));
        match expected {
            Ok(time) => {
                assert!(time > last);
                let ulid = Ulid::from(u128::from(time.to_bits()) << 64 | numbers.number(64));
                assert_eq!(ordered::time_of(ulid), time);
                let uuid = ordered::uuid_v7(time, numbers.u64());
                let witness = uuid::Uuid::from_u128(uuid);
                assert_eq!(
                    (witness.get_version_num(), witness.get_variant()),
                    (7, uuid::Variant::RFC4122)
                );
                assert_eq!(Ulid::from(uuid).unix_ms(), time.unix_ms());
                assert_eq!(ordered::uuid_v7(time, witness.as_u64_pair().1), uuid);
                assert_eq!(ordered::time_of_uuid_v7(uuid), time);
                assert!(uuid > ordered::uuid_v7(last, numbers.u64()));
                // The next id after either kind is greater than both.
                for id in [ulid, uuid.into()] {
                    let end = IdClock::new().advance_past(id);
                    let Ok(next) = ordered::next(end, Time::UNIX_EPOCH) else {
                        continue;
                    };
                    assert!(Ulid::lower_bound(next) > id);
                    assert!(ordered::uuid_v7(next, 0) > u128::from(id));
                }
            }
            Err(_) => accepted = false,
        }
    }
    accepted
}

/// Times from every number, and each number of a time.
pub fn check_time(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let (clock, us): (Duration, _) = (numbers.clock(), numbers.u64());
    let bits = |ns: u128| {
        u64::try_from(ns * 65_536 / 1_000_000)
            .map(Time::from_bits)
            .map_err(|_| Error::from(ErrorKind::OutOfRangeForUlid))
    };
    let time = Time::from_duration(clock);
    assert_eq!(time, bits(clock.as_nanos()), "{clock:?}");
    assert_eq!(Time::from_unix_us(us), bits(u128::from(us) * 1000), "{us}");
    assert_eq!(
        Time::from_unix_ms(us),
        bits(u128::from(us) * 1_000_000),
        "{us}"
    );
    let any = Time::from_bits(us);
    assert_eq!(
        u128::from(any.unix_us()),
        u128::from(us) * 1000 / 65_536,
        "{us}"
    );
    assert_eq!((any.unix_ms(), any.to_bits()), (us >> 16, us));
    let later = time.map_or(u64::MAX, |time| us.saturating_add(time.to_bits()));
    assert_eq!(any.saturating_add(clock).to_bits(), later);
    time.is_ok()
}
