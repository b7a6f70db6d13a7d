//! What the checks make of an input, and what inputs are made of.

use std::time::Duration;

use pg_ulid::Time;
use rand::Rng;
use rand::rngs::SmallRng;

/// Characters that are read in a special way, or are next to some that are.
const SPECIAL: &[u8] = b"ILOUilou01789/:@GZ[`gz{-_ .\x00\x7f\x80\xc3\xe9\xff";

/// Numbers taken from an input, one after another. Where it ends, zeros follow.
pub struct Numbers<'a>(pub &'a [u8]);

impl Numbers<'_> {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let [byte] = self.bytes();
        byte
    }

    /// The next bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_at(N.min(self.0.len()));
        self.0 = rest;
        let mut bytes = [0; N];
        bytes[..taken.len()].copy_from_slice(taken);
        bytes
    }

    /// A number of at most so many bits. Small ones and those near a power of two, where rules have
    /// their limits, are more frequent than by chance.
    pub fn number(&mut self, bits: u32) -> u128 {
        let [kind, shift] = self.bytes();
        let shift = u32::from(shift) % (bits + 1);
        let number = match kind % 4 {
            0 => u128::from_le_bytes(self.bytes()),
            1 => u128::from_le_bytes(self.bytes())
                .checked_shr(128 - shift)
                .unwrap_or(0),
            2 => self.near(1_u128.checked_shl(shift).unwrap_or(0)),
            _ => self.near(u128::MAX),
        };
        number & u128::MAX.checked_shr(128 - bits).unwrap_or(0)
    }

    /// A number at most 3 away from this one, modulo 2^128.
    fn near(&mut self, number: u128) -> u128 {
        number.wrapping_add_signed(i128::from(self.byte() % 7) - 3)
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> u64 {
        self.number(64) as u64
    }

    /// A signed number of 64 bits.
    pub fn i64(&mut self) -> i64 {
        self.u64().cast_signed()
    }

    /// What a clock reads: mostly near one moment, otherwise near the end of what a ULID holds, or
    /// anything.
    pub fn clock(&mut self) -> Duration {
        let near = |moment: Duration, ns: i32| match ns {
            0.. => moment + Duration::from_nanos(ns.unsigned_abs().into()),
            _ => moment - Duration::from_nanos(ns.unsigned_abs().into()),
        };
        match self.byte() % 64 {
            0 => Duration::new(self.u64(), self.number(30) as u32 % 1_000_000_000),
            1 => near(
                Duration::from_millis(1 << 48),
                i32::from_le_bytes(self.bytes()) >> 8,
            ),
            2 => Duration::from_millis(self.number(49) as u64),
            kind => near(
                Duration::from_millis(1_469_918_176_385),
                i32::from_le_bytes(self.bytes()) >> (4 * u32::from(kind % 8)),
            ),
        }
    }

    /// The time of such a clock; the last one if it does not fit.
    pub fn time(&mut self) -> Time {
        Time::from_duration(self.clock()).unwrap_or(Time::MAX)
    }
}

/// Goes on to the next value of a sequence, which must be greater than the last. Returns whether
/// there is one.
pub fn advance<T: PartialOrd, E>(last: &mut T, next: Result<T, E>) -> bool {
    let Ok(next) = next else { return false };
    assert!(next > *last);
    *last = next;
    true
}

/// Bytes by chance.
pub fn bytes<const N: usize>(rng: &mut SmallRng, input: &mut Vec<u8>) {
    input.resize(N, 0);
    rng.fill_bytes(input);
}

/// A number below `end`, which is small.
pub fn below(rng: &mut SmallRng, end: usize) -> usize {
    ((u64::from(rng.next_u32()) * end as u64) >> 32) as usize
}

/// Appends characters chosen by chance from `choices`, which are as many as a power of two.
pub fn append(rng: &mut SmallRng, input: &mut Vec<u8>, choices: &[u8], count: usize) {
    let start = input.len();
    input.resize(start + count, 0);
    rng.fill_bytes(&mut input[start..]);
    for byte in &mut input[start..] {
        *byte = choices[usize::from(*byte) & (choices.len() - 1)];
    }
}

/// Leaves half of the inputs as they are; changes, inserts or removes up to three characters in the
/// others.
pub fn mutate(rng: &mut SmallRng, input: &mut Vec<u8>) {
    for _ in 0..below(rng, 8).saturating_sub(4) {
        let at = below(rng, input.len() + 1);
        let byte = if rng.next_u32() & 1 == 0 {
            rng.next_u32() as u8
        } else {
            SPECIAL[below(rng, SPECIAL.len())]
        };
        match (below(rng, 8), input.get_mut(at)) {
            (0, Some(_)) => drop(input.remove(at)),
            (1, _) | (_, None) => input.insert(at, byte),
            (2, Some(old)) => *old ^= 0x20,
            (_, Some(old)) => *old = byte,
        }
    }
}
