//! Randomness, and the state that a sequence of ULIDs needs.

use rand::rngs::{StdRng, SysRng};
use rand::{CryptoRng, SeedableRng};

use crate::error::{Error, ErrorKind};
use crate::monotonic;
use crate::ordered::{self, IdClock};
use crate::time::Time;
use crate::uuid_v7;
use crate::value::Ulid;

/// Generates ULIDs from a cryptographic random number generator and the time that it is given,
/// which is mostly [`Time::now`].
///
/// A copy of its memory, as after `fork`, would generate the same values again: create a new one in
/// the child.
///
/// ```
/// use pg_ulid::{Generator, Time};
///
/// let mut generator = Generator::from_os()?;
/// let first = generator.monotonic(Time::now()?)?;
/// assert!(generator.monotonic(Time::now()?)? > first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Generator<R = StdRng> {
    rng: R,
    /// What [`Self::monotonic`] returned or [`Self::set_last`] was given last. Before that,
    /// [`Ulid::NIL`].
    last_monotonic: Ulid,
    /// What [`Self::uuid_v7`] returned last; zero before.
    last_uuid_v7: u128,
}

impl Generator {
    /// A separate generator, seeded by the operating system.
    ///
    /// # Errors
    /// [Without randomness](Error::is_without_randomness) if the operating system provides none.
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
            last_monotonic: Ulid::NIL,
            last_uuid_v7: 0,
        }
    }

    /// A ULID of the millisecond of this time, with 80 fresh bits of randomness.
    #[inline]
    pub fn random(&mut self, time: Time) -> Ulid {
        Ulid::new(time, randomness(&mut self.rng))
    }

    /// A ULID greater than all that this method of this generator returned before, by the rule of
    /// [`monotonic::next`] for a clock that reads `clock`. An error does not change the sequence.
    ///
    /// # Errors
    /// Those of [`monotonic::next`].
    #[inline]
    pub fn monotonic(&mut self, clock: Time) -> Result<Ulid, Error> {
        self.last_monotonic =
            monotonic::next(self.last_monotonic, clock, || randomness(&mut self.rng))?;
        Ok(self.last_monotonic)
    }

    /// A version 7 UUID greater than all that this method of this generator returned before, by the
    /// rule of [`uuid_v7::next`] for a clock that reads `clock`. An error does not change the
    /// sequence.
    ///
    /// # Errors
    /// Those of [`uuid_v7::next`].
    pub fn uuid_v7(&mut self, clock: Time) -> Result<u128, Error> {
        self.last_uuid_v7 = uuid_v7::next(self.last_uuid_v7, clock, self.rng.next_u64())?;
        Ok(self.last_uuid_v7)
    }

    /// The version 7 UUID of a time by [`uuid_v7::at`], with 62 fresh bits of randomness. It does
    /// not affect the sequence.
    pub fn uuid_v7_at(&mut self, time: Time) -> u128 {
        uuid_v7::at(time, self.rng.next_u64())
    }

    /// A ULID greater than all that this method of any generator returned before with the same
    /// `id_clock`, by the rule of [`ordered::next`] for a clock that reads `clock`, with 64 fresh
    /// bits of randomness.
    ///
    /// # Errors
    /// Those of [`IdClock::advance`].
    pub fn ordered(&mut self, clock: Time, id_clock: &IdClock) -> Result<Ulid, Error> {
        let time = id_clock.advance(clock)?;
        Ok(Ulid(
            u128::from(time.0) << 64 | u128::from(self.rng.next_u64()),
        ))
    }

    /// A version 7 UUID in the order of [`Self::ordered`] with the same `id_clock`, by
    /// [`ordered::uuid_v7`], with 58 fresh bits of randomness.
    ///
    /// # Errors
    /// Those of [`IdClock::advance`].
    pub fn ordered_uuid_v7(&mut self, clock: Time, id_clock: &IdClock) -> Result<u128, Error> {
        let time = id_clock.advance(clock)?;
        Ok(ordered::uuid_v7(time, self.rng.next_u64()))
    }

    /// Lets the monotonic sequence continue after this ULID, such as the last one of an earlier
    /// generator.
    pub fn set_last(&mut self, last: Ulid) {
        self.last_monotonic = last;
    }
}

/// 80 random bits, the randomness of a ULID.
fn randomness(rng: &mut impl CryptoRng) -> u128 {
    u128::from(rng.next_u64()) << 16 | u128::from(rng.next_u32() & 0xffff)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    const MS: u64 = 1_469_918_176_385;
    const TIME: Time = Time(MS << 16);

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
        let id_clock = IdClock::new();
        assert_random_bits(80, || generator.random(TIME).into());
        assert_random_bits(62, || generator.uuid_v7(TIME).unwrap());
        assert_random_bits(62, || generator.uuid_v7_at(TIME));
        assert_random_bits(64, || generator.ordered(TIME, &id_clock).unwrap().into());
        assert_random_bits(58, || generator.ordered_uuid_v7(TIME, &id_clock).unwrap());
    }

    #[test]
    fn generators_seeded_by_the_system_differ() {
        let id = |mut generator: Generator| generator.random(TIME);
        assert_ne!(
            id(Generator::from_os().unwrap()),
            id(Generator::from_os().unwrap())
        );
    }

    /// Whatever else is generated, and whatever fails in between.
    #[test]
    fn sequences_go_on_by_themselves() {
        let (mut generator, id_clock) = (seeded(), IdClock::new());
        let later = Time::from_unix_ms(MS + 1000).unwrap();
        generator.set_last(Ulid::upper_bound(TIME));
        let first = generator.uuid_v7(TIME).unwrap();
        assert_eq!(generator.random(later).unix_ms(), MS + 1000);
        generator.uuid_v7_at(later);
        assert!(generator.monotonic(TIME).unwrap_err().is_exhausted());
        assert!(generator.monotonic(TIME).unwrap_err().is_exhausted());
        generator.set_last(Ulid::from_parts(TIME, 41).unwrap());
        assert_eq!(generator.monotonic(TIME), Ulid::from_parts(TIME, 42));
        assert_eq!(generator.uuid_v7(TIME).unwrap() >> 64, (first >> 64) + 1);
        let mut last = seeded();
        last.uuid_v7(Time::MAX).unwrap();
        assert!([(); 2].iter().all(|()| last.uuid_v7(TIME).is_err()));
        // Generators with one id clock have one order, ULIDs and UUIDs alike.
        let id = generator.ordered(TIME, &id_clock).unwrap();
        assert_eq!(ordered::time_of(id), TIME);
        let uuid = seeded().ordered_uuid_v7(TIME, &id_clock).unwrap();
        assert_eq!(uuid, ordered::uuid_v7(Time(TIME.0 + 1), uuid as u64));
        id_clock.set(Time::MAX);
        let error = Error(ErrorKind::OutOfRangeForUlid);
        assert_eq!(generator.ordered(TIME, &id_clock), Err(error));
        assert_eq!(generator.ordered_uuid_v7(TIME, &id_clock), Err(error));
        assert_eq!(id_clock.time(), Time::MAX);
    }
}
