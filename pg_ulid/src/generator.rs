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
    // The standard library would take a sixth longer.
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
/// A copy of its memory, as after `fork`, would generate the same values again: create a new one in
/// the child.
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
    last_uuid_v7: u128,
}

impl Generator {
    /// A separate generator, seeded by the operating system.
    ///
    /// # Errors
    /// [`ErrorKind::Seed`] if the operating system provides no randomness.
    pub fn from_os() -> Result<Self, Error> {
        StdRng::try_from_rng(&mut SysRng)
            .map(Self::new)
            .map_err(|_| Error(ErrorKind::Seed))
    }
}

impl<R: CryptoRng> Generator<R> {
    /// A generator that uses this source of randomness and has not returned a value yet.
    pub const fn new(rng: R) -> Self {
        Self {
            rng,
            last: Ulid::NIL,
            last_uuid_v7: 0,
        }
    }

    /// A ULID for this time, in milliseconds since the Unix epoch, with 80 fresh bits of
    /// randomness.
    ///
    /// # Errors
    /// [`ErrorKind::Range`] above [`Ulid::MAX_UNIX_MS`].
    pub fn random(&mut self, unix_ms: u64) -> Result<Ulid, Error> {
        Ulid::from_parts(unix_ms, randomness(&mut self.rng))
    }

    /// A ULID greater than all that this method of this generator returned before, by the rule of
    /// [`monotonic::next`] for a clock that reads `unix_ms`. An error does not change the sequence.
    ///
    /// # Errors
    /// Those of [`monotonic::next`].
    pub fn monotonic(&mut self, unix_ms: u64) -> Result<Ulid, Error> {
        self.last = monotonic::next(self.last, unix_ms, || randomness(&mut self.rng))?;
        Ok(self.last)
    }

    /// A version 7 UUID greater than all that this method of this generator returned before, by the
    /// rule of [`uuid_v7::next`] for a clock that reads `since_epoch`. An error does not change the
    /// sequence.
    ///
    /// # Errors
    /// Those of [`uuid_v7::next`].
    pub fn uuid_v7(&mut self, since_epoch: Duration) -> Result<u128, Error> {
        self.last_uuid_v7 = uuid_v7::next(self.last_uuid_v7, since_epoch, self.rng.next_u64())?;
        Ok(self.last_uuid_v7)
    }

    /// The version 7 UUID for a moment by [`uuid_v7::at`], with 62 fresh bits of randomness. It
    /// does not affect the sequence.
    ///
    /// # Errors
    /// Those of [`uuid_v7::at`].
    pub fn uuid_v7_at(&mut self, since_epoch: Duration) -> Result<u128, Error> {
        uuid_v7::at(since_epoch, self.rng.next_u64())
    }

    /// A ULID greater than all that this method of any generator returned before with the same
    /// `id_clock`, by the rule of [`ordered::advance`] for a clock that reads `clock`
    /// ([`ordered::clock`]), with 64 fresh bits of randomness.
    ///
    /// # Errors
    /// Those of [`ordered::advance`].
    pub fn ordered(&mut self, clock: u64, id_clock: &AtomicU64) -> Result<Ulid, Error> {
        let time = ordered::advance(id_clock, clock)?;
        Ok(Ulid(
            u128::from(time) << 64 | u128::from(self.rng.next_u64()),
        ))
    }

    /// A version 7 UUID in the order of [`Self::ordered`] with the same `id_clock`, by
    /// [`ordered::uuid_v7`], with 58 fresh bits of randomness.
    ///
    /// # Errors
    /// Those of [`ordered::advance`].
    pub fn ordered_uuid_v7(&mut self, clock: u64, id_clock: &AtomicU64) -> Result<u128, Error> {
        let time = ordered::advance(id_clock, clock)?;
        Ok(ordered::uuid_v7(time, self.rng.next_u64()))
    }

    /// Lets the monotonic sequence continue after this ULID, such as the last one of an earlier
    /// generator.
    pub fn set_last(&mut self, last: Ulid) {
        self.last = last;
    }
}

/// 80 bits.
fn randomness(rng: &mut impl CryptoRng) -> u128 {
    u128::from(rng.next_u64()) << 16 | u128::from(rng.next_u32() & 0xffff)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    const MS: u64 = 1_469_918_176_385;
    const MOMENT: Duration = Duration::from_millis(MS);

    fn seeded() -> Generator {
        Generator::new(StdRng::from_seed([7; 32]))
    }

    /// Of 400 ids, the lowest bits are random and no others, within five standard deviations.
    #[track_caller]
    fn assert_random_bits(bits: u32, id: impl FnMut() -> u128) {
        let ids: Vec<u128> = std::iter::repeat_with(id).take(400).collect();
        for bit in 0..bits {
            let ones = ids.iter().filter(|&id| id >> bit & 1 == 1).count();
            assert!((150..=250).contains(&ones), "bit {bit}: {ones}");
        }
    }

    #[test]
    fn each_id_has_fresh_random_bits() {
        let mut generator = seeded();
        let id_clock = AtomicU64::new(0);
        assert_random_bits(80, || generator.random(MS).unwrap().into());
        assert_random_bits(62, || generator.uuid_v7(MOMENT).unwrap());
        assert_random_bits(62, || generator.uuid_v7_at(MOMENT).unwrap());
        assert_random_bits(64, || generator.ordered(MS, &id_clock).unwrap().into());
        assert_random_bits(58, || generator.ordered_uuid_v7(MS, &id_clock).unwrap());
    }

    #[test]
    fn the_clock_is_read_to_the_millisecond() {
        let standard = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let (before, fine, ms, after) = (
            standard(),
            since_epoch().unwrap(),
            unix_ms().unwrap(),
            standard(),
        );
        assert!(
            (before..=after).contains(&fine),
            "{before:?} {fine:?} {after:?}"
        );
        assert!(
            (fine.as_millis()..=after.as_millis()).contains(&ms.into()),
            "{fine:?} {ms} {after:?}"
        );
    }

    #[test]
    fn generators_seeded_by_the_system_differ() {
        let id = |mut generator: Generator| generator.random(MS).unwrap();
        assert_ne!(
            id(Generator::from_os().unwrap()),
            id(Generator::from_os().unwrap())
        );
    }

    /// Whatever else is generated, and whatever fails in between.
    #[test]
    fn sequences_go_on_by_themselves() {
        let (mut generator, id_clock) = (seeded(), AtomicU64::new(MS));
        generator.set_last(Ulid::from_parts(MS, 41).unwrap());
        let first = generator.uuid_v7(MOMENT).unwrap();
        generator.random(MS + 1000).unwrap();
        generator
            .uuid_v7_at(Duration::from_millis(MS + 1000))
            .unwrap();
        assert_eq!(generator.random(u64::MAX), Err(Error(ErrorKind::Range)));
        assert_eq!(generator.monotonic(u64::MAX), Err(Error(ErrorKind::Range)));
        assert_eq!(
            generator.uuid_v7(Duration::MAX),
            Err(Error(ErrorKind::Range))
        );
        assert_eq!(
            generator.uuid_v7_at(Duration::MAX),
            Err(Error(ErrorKind::Range))
        );
        assert_eq!(
            generator.monotonic(MS),
            Ok(Ulid::from_parts(MS, 42).unwrap())
        );
        assert_eq!(generator.uuid_v7(MOMENT).unwrap() >> 64, (first >> 64) + 1);
        // Generators with one id clock have one order, ULIDs and UUIDs alike.
        let id = generator.ordered(MS, &id_clock).unwrap();
        assert_eq!(ordered::time_of(id), MS + 1);
        let uuid = seeded().ordered_uuid_v7(MS, &id_clock).unwrap();
        assert_eq!(uuid, ordered::uuid_v7(MS + 2, uuid as u64));
        id_clock.store(u64::MAX, Ordering::Relaxed);
        assert_eq!(
            generator.ordered(MS, &id_clock),
            Err(Error(ErrorKind::Range))
        );
        assert_eq!(
            generator.ordered_uuid_v7(MS, &id_clock),
            Err(Error(ErrorKind::Range))
        );
        assert_eq!(id_clock.into_inner(), u64::MAX);
    }
}
