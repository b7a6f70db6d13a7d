//! The times that all generators of a server share, by any clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pg_ulid::{Error, ErrorKind, Ulid, ordered};

use super::input::Numbers;

/// In numbers that cannot overflow.
fn plain(last: u64, clock: Duration) -> Result<u64, Error> {
    let now = clock.as_nanos() * 65_536 / 1_000_000;
    let now = u64::try_from(now).map_err(|_| ErrorKind::Range)?;
    u64::try_from(u128::from(now).max(u128::from(last) + 1)).map_err(|_| ErrorKind::Range.into())
}

/// A sequence by a shared id clock.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let id_clock = AtomicU64::new(if numbers.byte() % 4 == 0 {
        numbers.u64()
    } else {
        0
    });
    let mut accepted = true;
    while !numbers.is_empty() {
        let (clock, last) = (numbers.clock(), id_clock.load(Ordering::Relaxed));
        let expected = plain(last, clock);
        let now = ordered::clock(clock);
        assert_eq!(
            now.and_then(|now| ordered::next(last, now)),
            expected,
            "{last:x} {clock:?}"
        );
        assert_eq!(
            now.and_then(|now| ordered::advance(&id_clock, now)),
            expected
        );
        assert_eq!(id_clock.load(Ordering::Relaxed), expected.unwrap_or(last));
        match expected {
            Ok(time) => {
                assert!(time > last);
                assert_eq!(
                    u128::from(ordered::unix_us(time)),
                    u128::from(time) * 1000 / 65_536
                );
                assert_eq!(
                    Ok(ordered::lower_bound(time)),
                    Ulid::lower_bound(time / 65_536)
                );
                let uuid = ordered::uuid_v7(time, numbers.u64());
                let witness = uuid::Uuid::from_u128(uuid);
                assert_eq!(
                    (witness.get_version_num(), witness.get_variant()),
                    (7, uuid::Variant::RFC4122)
                );
                assert_eq!(Ulid::from(uuid).unix_ms(), time >> 16);
                assert_eq!(ordered::uuid_v7(time, witness.as_u64_pair().1), uuid);
                assert_eq!(ordered::time_of_uuid_v7(uuid), time);
                assert!(uuid > ordered::uuid_v7(last, numbers.u64()));
                // The next id after either kind is greater than both.
                let next = ordered::uuid_v7(
                    ordered::advance_to(&AtomicU64::new(0), uuid.into()).saturating_add(1),
                    0,
                );
                assert!(next > uuid || time >> 16 == Ulid::MAX_UNIX_MS);
            }
            Err(_) => accepted = false,
        }
    }
    accepted
}
