//! What only the PostgreSQL extension and the tests use. It is exempt from semantic versioning, and
//! hidden from the documentation.

pub mod horizon;

pub use crate::error::{ErrorKind, Expected, ForeignId};
use crate::ordered::{time_of, time_of_uuid_v7};
use crate::time::Time;
use crate::value::Ulid;
pub use crate::window::histogram_fraction;

/// Whether an id clock at this time has certainly reached an id: if so, the next id of its kind is
/// greater.
///
/// The kinds are ordered ULIDs and ordered version 7 UUIDs, which have the fraction of the
/// millisecond at different bits. A ULID can look like a UUID by chance. Then both times are
/// computed, and the later one counts. They are in the same millisecond.
pub fn has_reached(time: Time, id: Ulid) -> bool {
    let is_uuid_v7 = id.0 >> 76 & 0xf == 7 && id.0 >> 62 & 0b11 == 0b10;
    time >= time_of(id) && !(is_uuid_v7 && time < time_of_uuid_v7(id.0))
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::ordered::uuid_v7;

    const MS: u64 = 1_469_918_176_385;

    #[test]
    fn an_id_clock_has_reached_an_id_when_the_next_one_is_greater() {
        // The fractions are less, the same and greater as the bits of a ULID and of a UUID.
        for fraction in [0, 0x1234, 0x7123, 0x7fff, 0xffff] {
            let time = MS << 16 | fraction;
            let ulid = |time: u64, low: u64| Ulid::from(u128::from(time) << 64 | u128::from(low));
            let uuid = |time, randomness| Ulid::from(uuid_v7(Time(time), randomness));
            let has_reached = |time, id| has_reached(Time(time), id);
            for low in [0, 1 << 63 | 0xf00d, u64::MAX] {
                for id in [ulid(time, low), uuid(time, low)] {
                    assert!(has_reached(time | 0xffff, id), "{id}");
                    assert!(!has_reached(time - 1, id), "{id}");
                }
            }
            // It is none of the other kind.
            assert!(has_reached(time, ulid(time, 0)), "{fraction}");
            assert!(has_reached(time.max(MS << 16 | 0x7fff), uuid(time, 0)));
        }
    }
}
