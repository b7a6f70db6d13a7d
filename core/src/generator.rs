//! Randomness, the clock, and the state that a sequence of ULIDs needs.

use std::time::Duration;

use rand::rngs::{StdRng, SysRng};
use rand::{CryptoRng, SeedableRng};

use crate::error::{Error, ErrorKind};
use crate::monotonic;
use crate::ordered;
use crate::sync::AtomicU64;
use crate::uuid_v7;
use crate::value::Ulid;

/// The current time in milliseconds since the Unix epoch, by the system clock.
///
/// # Errors
/// [`ErrorKind::Range`] if the clock is before 1970.
pub fn unix_ms() -> Result<u64, Error> {
    let now = since_epoch()?;
    // It takes 584 million years of seconds until this wraps.
    Ok(now.as_secs().wrapping_mul(1000) + u64::from(now.subsec_millis()))
}

/// The current time since the Unix epoch, by the same clock, at its full resolution.
///
/// # Errors
/// [`ErrorKind::Range`] if the clock is before 1970.
pub fn since_epoch() -> Result<Duration, Error> {
    // Where there is this clock, the standard library's subtraction of 1970 would take another sixth of the time that
    // reading it takes. The nanoseconds are less than a billion.
    #[cfg(unix)]
    let now = {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
        u64::try_from(now.tv_sec).map(|seconds| Duration::new(seconds, now.tv_nsec as u32))
    };
    #[cfg(not(unix))]
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_err(|_| Error(ErrorKind::Range))
}

/// Generates ULIDs from a cryptographic random number generator and the given time.
///
/// A copy of its memory, as after `fork`, would give the same values again: make a new one in the child.
///
/// ```
/// use pg_ulid::{Generator, unix_ms};
///
/// let mut generator = Generator::from_os()?;
/// let first = generator.monotonic(unix_ms()?)?;
/// assert!(generator.monotonic(unix_ms()?)? > first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Generator<R = StdRng> {
    rng: R,
    last: Ulid,
    last_uuid_v7: [u8; 16],
}

impl Generator {
    /// A separate generator, seeded by the operating system.
    ///
    /// # Errors
    /// [`ErrorKind::Seed`] if the operating system provides no randomness.
    pub fn from_os() -> Result<Self, Error> {
        StdRng::try_from_rng(&mut SysRng).map(Self::new).map_err(|_| Error(ErrorKind::Seed))
    }
}

impl<R: CryptoRng> Generator<R> {
    /// A generator that uses this source of randomness and has not returned a value yet.
    pub const fn new(rng: R) -> Self {
        Self { rng, last: Ulid::NIL, last_uuid_v7: [0; 16] }
    }

    /// A ULID for this time, in milliseconds since the Unix epoch, with 80 fresh bits of randomness.
    ///
    /// # Errors
    /// [`ErrorKind::Range`] above [`Ulid::MAX_UNIX_MS`].
    pub fn random(&mut self, unix_ms: u64) -> Result<Ulid, Error> {
        Ulid::from_parts(unix_ms, randomness(&mut self.rng))
    }

    /// A ULID greater than all that this method of this generator returned before, by the rule of [`monotonic::next`]
    /// for a clock that reads `unix_ms`. An error does not change the sequence.
    ///
    /// # Errors
    /// Those of [`monotonic::next`].
    pub fn monotonic(&mut self, unix_ms: u64) -> Result<Ulid, Error> {
        self.monotonic_number(unix_ms).map(Ulid::from)
    }

    /// [`Self::monotonic`] as a number, see [`monotonic::next_number`].
    #[doc(hidden)]
    pub fn monotonic_number(&mut self, unix_ms: u64) -> Result<u128, Error> {
        let next = monotonic::next_number(self.last, unix_ms, || randomness(&mut self.rng))?;
        self.last = next.into();
        Ok(next)
    }

    /// A version 7 UUID greater than all that this method of this generator returned before, by the rule of
    /// [`uuid_v7::next`] for a clock that reads `since_epoch`. An error does not change the sequence.
    ///
    /// # Errors
    /// Those of [`uuid_v7::next`].
    pub fn uuid_v7(&mut self, since_epoch: Duration) -> Result<[u8; 16], Error> {
        self.last_uuid_v7 = uuid_v7::next(self.last_uuid_v7, since_epoch, self.rng.next_u64())?;
        Ok(self.last_uuid_v7)
    }

    /// The version 7 UUID for a moment by [`uuid_v7::at`], with 62 fresh bits of randomness. It does not affect the
    /// sequence.
    ///
    /// # Errors
    /// Those of [`uuid_v7::at`].
    pub fn uuid_v7_at(&mut self, since_epoch: Duration) -> Result<[u8; 16], Error> {
        uuid_v7::at(since_epoch, self.rng.next_u64())
    }

    /// A ULID greater than all that this method of any generator returned before with the same `shared` word, by the
    /// rule of [`ordered::advance`] for a clock that reads `clock` ([`ordered::clock`]), with 64 fresh bits of randomness.
    ///
    /// # Errors
    /// Those of [`ordered::advance`].
    pub fn ordered(&mut self, clock: u64, shared: &AtomicU64) -> Result<Ulid, Error> {
        let time = ordered::advance(shared, clock)?;
        Ok((u128::from(time) << 64 | u128::from(self.rng.next_u64())).into())
    }

    /// The same as a version 7 UUID, by [`ordered::uuid_v7`], with 58 fresh bits of randomness.
    ///
    /// # Errors
    /// Those of [`ordered::advance`].
    pub fn ordered_uuid_v7(&mut self, clock: u64, shared: &AtomicU64) -> Result<[u8; 16], Error> {
        let time = ordered::advance(shared, clock)?;
        Ok(ordered::uuid_v7(time, self.rng.next_u64()))
    }

    /// Lets the monotonic sequence continue after this ULID, such as the last one of an earlier generator.
    pub fn set_last(&mut self, last: Ulid) {
        self.last = last;
    }
}

/// 80 bits.
fn randomness(rng: &mut impl CryptoRng) -> u128 {
    u128::from(rng.next_u64()) << 16 | u128::from(rng.next_u32() & 0xffff)
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;
    use crate::sync::Ordering;

    const MS: u64 = 1_469_918_176_385;

    fn seeded() -> Generator {
        Generator::new(StdRng::from_seed([7; 32]))
    }

    #[test]
    fn all_eighty_bits_are_random() {
        let mut generator = seeded();
        let ids: Vec<_> = (0..400).map(|_| generator.random(MS).unwrap()).collect();
        assert!(ids.iter().all(|id| id.unix_ms() == MS));
        for bit in 0..80 {
            let ones = ids.iter().filter(|id| id.randomness() >> bit & 1 == 1).count();
            // Five standard deviations.
            assert!((150..=250).contains(&ones), "bit {bit}: {ones}");
        }
    }

    #[test]
    fn the_clock_is_read_to_the_millisecond() {
        let standard = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let (before, fine, ms, after) = (standard(), since_epoch().unwrap(), unix_ms().unwrap(), standard());
        assert!((before..=after).contains(&fine), "{before:?} {fine:?} {after:?}");
        assert!((fine.as_millis()..=after.as_millis()).contains(&ms.into()), "{fine:?} {ms} {after:?}");
    }

    #[test]
    fn generators_seeded_by_the_system_differ() {
        let id = |mut generator: Generator| generator.random(MS).unwrap();
        assert_ne!(id(Generator::from_os().unwrap()), id(Generator::from_os().unwrap()));
    }

    #[test]
    fn monotonic_increases_whatever_the_clock_does() {
        let mut generator = seeded();
        let mut last = Ulid::NIL;
        for step in 0..1000 {
            let id = generator.monotonic(MS + step % 7).unwrap();
            assert!(id > last);
            last = id;
        }
        assert_eq!(last.unix_ms(), MS + 6);
    }

    #[test]
    fn an_error_leaves_the_sequence_where_it_was() {
        let mut generator = Generator { last: Ulid::upper_bound(MS).unwrap(), ..seeded() };
        assert_eq!(generator.monotonic(MS), Err(Error(ErrorKind::Exhausted)));
        assert_eq!(generator.monotonic(u64::MAX), Err(Error(ErrorKind::Range)));
        assert_eq!(generator.last, Ulid::upper_bound(MS).unwrap());
        assert_eq!(generator.monotonic(MS + 1).unwrap().unix_ms(), MS + 1);
    }

    #[test]
    fn random_values_do_not_move_the_monotonic_sequence() {
        let mut generator = seeded();
        let first = generator.monotonic(MS).unwrap();
        generator.random(MS + 1000).unwrap();
        assert_eq!(u128::from(generator.monotonic(MS).unwrap()), u128::from(first) + 1);
    }

    #[test]
    fn uuids_increase_whatever_the_clock_does_and_apart_from_the_monotonic_sequence() {
        let mut generator = seeded();
        let first = generator.monotonic(MS).unwrap();
        let (mut last, mut ones, mut zeros) = ([0; 16], 0, 0);
        for step in 0..1000 {
            let uuid = generator.uuid_v7(Duration::from_millis(MS + step % 7)).unwrap();
            assert!(uuid > last);
            last = uuid;
            ones |= u128::from_be_bytes(uuid);
            zeros |= !u128::from_be_bytes(uuid);
        }
        let random = (1 << 62) - 1;
        assert_eq!((ones & random, zeros & random), (random, random));
        assert_eq!(u128::from(generator.monotonic(MS).unwrap()), u128::from(first) + 1);
        assert_eq!(generator.uuid_v7(Duration::MAX), Err(Error(ErrorKind::Range)));
        assert_eq!(generator.last_uuid_v7, last);
    }

    #[test]
    fn a_sequence_continues_after_an_id_of_another() {
        let mut generator = seeded();
        let last = Ulid::from_parts(MS, 41).unwrap();
        generator.set_last(last);
        assert_eq!(generator.monotonic(MS), Ok(Ulid::from_parts(MS, 42).unwrap()));
    }

    #[test]
    fn ordered_ids_are_the_shared_time_and_64_random_bits() {
        let shared = AtomicU64::new(0);
        let (mut a, mut b) = (seeded(), Generator::new(StdRng::from_seed([8; 32])));
        let (mut last, mut ones, mut zeros) = (Ulid::NIL, 0, 0);
        for step in 0..1000 {
            let generator = if step % 3 == 0 { &mut a } else { &mut b };
            let id = generator.ordered((MS + step % 7) << 16, &shared).unwrap();
            assert!(id > last);
            assert_eq!((u128::from(id) >> 64) as u64, shared.load(Ordering::Relaxed));
            last = id;
            ones |= u128::from(id) as u64;
            zeros |= !u128::from(id) as u64;
        }
        assert_eq!((ones, zeros), (u64::MAX, u64::MAX));
        shared.store(u64::MAX, Ordering::Relaxed);
        assert_eq!(a.ordered(MS << 16, &shared), Err(Error(ErrorKind::Range)));
        assert_eq!(shared.into_inner(), u64::MAX);
    }

    #[test]
    fn ordered_uuids_and_ulids_have_one_order() {
        let shared = AtomicU64::new(0);
        let mut generator = seeded();
        let (mut last, mut ones, mut zeros) = ([0; 16], 0, 0);
        for step in 0..1000 {
            let now = (MS + step % 7) << 16;
            let id = generator.ordered(now, &shared).unwrap();
            let uuid = generator.ordered_uuid_v7(now, &shared).unwrap();
            assert_eq!(
                uuid,
                ordered::uuid_v7((u128::from(id) >> 64) as u64 + 1, u128::from_be_bytes(uuid) as u64)
            );
            assert!(uuid > last);
            last = uuid;
            ones |= u128::from_be_bytes(uuid);
            zeros |= !u128::from_be_bytes(uuid);
        }
        let random = (1 << 58) - 1;
        assert_eq!((ones & random, zeros & random), (random, random));
        shared.store(u64::MAX, Ordering::Relaxed);
        assert_eq!(generator.ordered_uuid_v7(MS << 16, &shared), Err(Error(ErrorKind::Range)));
    }

    #[test]
    fn a_uuid_of_a_moment_does_not_move_the_sequence() {
        let mut generator = seeded();
        let first = generator.uuid_v7(Duration::from_millis(MS)).unwrap();
        let later = Duration::from_millis(MS + 1000);
        assert_ne!(generator.uuid_v7_at(later), generator.uuid_v7_at(later));
        assert_eq!(Ulid::from(generator.uuid_v7_at(later).unwrap()).unix_ms(), MS + 1000);
        assert_eq!(generator.last_uuid_v7, first);
        assert_eq!(generator.uuid_v7_at(Duration::MAX), Err(Error(ErrorKind::Range)));
    }
}
