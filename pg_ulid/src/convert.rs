//! Converts UUIDs and keys to ULIDs and back: every bit is kept, and so is the order in time. Only
//! `to_uuid_v7` loses some.

use crate::error::{Error, ErrorKind, ForeignId};
use crate::time::Time;
use crate::value::Ulid;

/// The time in a UUID of version 1 or 6 counts ticks of 100 ns from 1582-10-15. So many of them are
/// a millisecond.
const TICKS_PER_MS: u64 = 10_000;

/// The Unix epoch as such a time.
const UNIX_EPOCH_TICKS: u64 = 0x01b2_1dd2_1381_4000;

/// The last time that these UUIDs have: it has 60 bits.
const MAX_TICKS: u64 = (1 << 60) - 1;

/// The mask of the tail, which is what follows the variant: 14 bits of clock sequence, 48 of node.
const TAIL: u64 = (1 << 62) - 1;

/// The bits after the tail in a ULID, all zeros.
const UUID_PADDING_BITS: u32 = 4;

/// The lowest bit of the ticks within the millisecond, in a ULID: the tail and the padding come
/// after them.
const REMAINDER_SHIFT: u32 = 66;

/// UUIDs of version 1 and 6, which contain the time in units of 100 ns, a clock sequence and a
/// node, in different order.
///
/// The fields of their ULID are in time order: the milliseconds, the 100 ns within the millisecond
/// (14 bits, 0 to 9999), the clock sequence (14), the node (48), 4 zero bits. A version 1 UUID and
/// the version 6 UUID of the same fields have the same ULID. Any other UUID is a ULID without
/// conversion.
///
/// A UUID is a number here, that of `Uuid::as_u128` and `Uuid::from_u128` in the crate `uuid`.
///
/// ```
/// use pg_ulid::Ulid;
///
/// // 2022-02-22 19:22:22 UTC, clock sequence 0x33c8, node 9f6bdeced846.
/// let v1 = 0xc232ab00_9414_11ec_b3c8_9f6bdeced846_u128;
/// let id = Ulid::from_uuid_v1(v1)?;
/// assert_eq!(id, "017f22e2-79b0-0003-3c89-f6bdeced8460".parse()?);
/// assert_eq!(id.to_uuid_v1()?, v1);
/// assert_eq!(id.to_uuid_v6()?, 0x1ec9414c_232a_6b00_b3c8_9f6bdeced846_u128);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl Ulid {
    /// The ULID for a version 1 UUID.
    ///
    /// # Errors
    /// - [Of another kind](Error::is_other_kind) if it is not of version 1.
    /// - [Out of range](Error::is_out_of_range) if its time is before the Unix epoch.
    pub fn from_uuid_v1(uuid: u128) -> Result<Self, Error> {
        let (high, low) = halves_of_version(uuid, 1)?;
        // The low 32 bits of the time, its middle 16, the version, its high 12.
        from_ticks(
            (high & 0xfff) << 48 | (high >> 16 & 0xffff) << 32 | high >> 32,
            low,
        )
    }

    /// The ULID for a version 6 UUID.
    ///
    /// # Errors
    /// - [Of another kind](Error::is_other_kind) if it is not of version 6.
    /// - [Out of range](Error::is_out_of_range) if its time is before the Unix epoch.
    pub fn from_uuid_v6(uuid: u128) -> Result<Self, Error> {
        let (high, low) = halves_of_version(uuid, 6)?;
        // The high 48 bits of the time, the version, its low 12.
        from_ticks((high >> 16) << 12 | high & 0xfff, low)
    }

    /// The version 1 UUID that this ULID came from: the inverse of [`Self::from_uuid_v1`].
    ///
    /// # Errors
    /// - [Of another kind](Error::is_other_kind) if no UUID of version 1 or 6 gives this ULID.
    /// - [Out of range](Error::is_out_of_range) if the time does not fit 60 bits: after
    ///   5236-03-31 21:21:00.684 UTC.
    pub fn to_uuid_v1(self) -> Result<u128, Error> {
        let (ticks, tail) = to_ticks(self, ForeignId::UuidV1)?;
        Ok(uuid_with_version(
            1,
            ticks << 32 | (ticks >> 32 & 0xffff) << 16 | ticks >> 48,
            tail,
        ))
    }

    /// The version 6 UUID that this ULID came from: the inverse of [`Self::from_uuid_v6`].
    ///
    /// # Errors
    /// - [Of another kind](Error::is_other_kind) if no UUID of version 1 or 6 gives this ULID.
    /// - [Out of range](Error::is_out_of_range) if the time does not fit 60 bits: after
    ///   5236-03-31 21:21:00.684 UTC.
    pub fn to_uuid_v6(self) -> Result<u128, Error> {
        let (ticks, tail) = to_ticks(self, ForeignId::UuidV6)?;
        Ok(uuid_with_version(
            6,
            (ticks >> 12) << 16 | ticks & 0xfff,
            tail,
        ))
    }

    /// A valid version 7 UUID of the same millisecond, for programs that check version and variant.
    ///
    /// Version and variant replace 6 of the 80 bits of randomness: the 1st to the 4th, the 17th and
    /// the 18th. So up to 64 ULIDs have the same UUID, and the order within a millisecond is lost.
    ///
    /// A ULID that came from a version 7 UUID gives that UUID. If no program checks the version,
    /// use the unchanged bytes as a UUID. That loses nothing.
    ///
    /// ```
    /// use pg_ulid::Ulid;
    ///
    /// let id: Ulid = "01563df3-6481-d676-4c61-efb99302bd5b".parse()?;
    /// assert_eq!(id.to_uuid_v7(), 0x01563df3_6481_7676_8c61_efb99302bd5b_u128);
    /// # Ok::<(), pg_ulid::Error>(())
    /// ```
    pub const fn to_uuid_v7(self) -> u128 {
        uuid_with_version(7, (self.0 >> 64) as u64, self.0 as u64)
    }
}

/// Rows that have a creation time, and a number or bytes that identify them.
impl Ulid {
    /// The ULID for a row created in the millisecond of this time, with a key that counts up from
    /// zero, such as a `bigserial`. The key is the randomness, so ULIDs sort by time, then by key.
    ///
    /// ```
    /// use pg_ulid::{Time, Ulid};
    ///
    /// let id = Ulid::from_key(Time::from_unix_ms(1_469_918_176_385)?, 42)?;
    /// assert_eq!((id.unix_ms(), id.to_key()?), (1_469_918_176_385, 42));
    /// # Ok::<(), pg_ulid::Error>(())
    /// ```
    ///
    /// # Errors
    /// [Out of range](Error::is_out_of_range) if the key is negative.
    pub fn from_key(created_at: Time, key: i64) -> Result<Self, Error> {
        let randomness =
            u128::try_from(key).map_err(|_| Error(ErrorKind::Negative { found: key }))?;
        Ok(Self::new(created_at, randomness))
    }

    /// The key that this ULID came from: the inverse of [`Self::from_key`]. The time is
    /// [`Self::unix_ms`].
    ///
    /// # Errors
    /// [Of another kind](Error::is_other_kind) if no key gives this ULID: the randomness is above
    /// [`i64::MAX`].
    pub fn to_key(self) -> Result<i64, Error> {
        let target = ForeignId::BigintKey;
        i64::try_from(self.randomness()).map_err(|_| Error(ErrorKind::NotMadeFrom { target }))
    }

    /// The ULID of the millisecond of a time and the 80 bits of randomness, as bytes, the most
    /// significant first.
    pub fn from_parts_bytes(time: Time, randomness: [u8; 10]) -> Self {
        let mut bytes = [0; 16];
        bytes[6..].copy_from_slice(&randomness);
        Self::new(time, u128::from_be_bytes(bytes))
    }

    /// The 10 bytes after the time, the most significant first.
    pub const fn randomness_bytes(self) -> [u8; 10] {
        let [_, _, _, _, _, _, randomness @ ..] = self.to_bytes();
        randomness
    }
}

/// The high and the low 64 bits of a UUID. An error unless it has the expected version, and the
/// variant of RFC 9562.
fn halves_of_version(uuid: u128, expected: u8) -> Result<(u64, u64), Error> {
    let (high, low) = ((uuid >> 64) as u64, uuid as u64);
    let version = (high >> 12) as u8 & 0xf;
    // The variant is the first one to three bits of the low half.
    let variant = match (low >> 61) as u8 {
        0b000..=0b011 => 0b0,
        0b100 | 0b101 => 0b10,
        bits => bits,
    };
    if version == expected && variant == 0b10 {
        Ok((high, low))
    } else {
        Err(Error(ErrorKind::Version {
            expected,
            version,
            variant,
        }))
    }
}

/// The UUID of these high and low 64 bits, after version and variant have replaced the six bits of
/// their places in RFC 9562: the bits 48 to 51 from the left, and 64 and 65.
pub(crate) const fn uuid_with_version(version: u8, high: u64, low: u64) -> u128 {
    let high = high & !0xf000 | (version as u64) << 12;
    let low = low & TAIL | 0b10 << 62;
    (high as u128) << 64 | low as u128
}

/// The ULID for a time in ticks of 100 ns since 1582-10-15, and the tail: the low 62 bits of `low`.
/// Out of range before the Unix epoch.
fn from_ticks(ticks: u64, low: u64) -> Result<Ulid, Error> {
    let ticks = ticks
        .checked_sub(UNIX_EPOCH_TICKS)
        .ok_or(Error(ErrorKind::OutOfRangeForUlid))?;
    let remainder = u128::from(ticks % TICKS_PER_MS);
    let tail = u128::from(low & TAIL);
    Ok(Ulid::new(
        Time::from_unix_ms(ticks / TICKS_PER_MS)?,
        remainder << REMAINDER_SHIFT | tail << UUID_PADDING_BITS,
    ))
}

/// The inverse of [`from_ticks`]: the time in ticks of 100 ns since 1582-10-15, 60 bits, and the
/// tail. `target` is for the error, if the ULID was not made from a UUID of version 1 or 6, or is
/// too late.
fn to_ticks(ulid: Ulid, target: ForeignId) -> Result<(u64, u64), Error> {
    let randomness = ulid.randomness();
    let remainder = (randomness >> REMAINDER_SHIFT) as u64;
    if remainder >= TICKS_PER_MS || randomness.trailing_zeros() < UUID_PADDING_BITS {
        return Err(Error(ErrorKind::NotMadeFrom { target }));
    }
    // 48 bits of milliseconds give no more than 62 bits here.
    let ticks = ulid.unix_ms() * TICKS_PER_MS + remainder + UNIX_EPOCH_TICKS;
    if ticks > MAX_TICKS {
        return Err(Error(ErrorKind::TimeOutOfRangeFor { target }));
    }
    Ok((ticks, (randomness >> UUID_PADDING_BITS) as u64 & TAIL))
}
