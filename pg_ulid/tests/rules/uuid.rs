//! UUIDs of version 1 and 6, any 16 bytes as one, and version 7 made from any ULID.

use pg_ulid::extension::{ErrorKind, ForeignId};
use pg_ulid::{Error, Ulid};
use uuid::{Builder, Uuid, Variant};

use super::input::Numbers;

/// The Unix epoch in 100 ns since 1582-10-15.
const UNIX_EPOCH: u64 = 0x01b2_1dd2_1381_4000;

/// What the crate `uuid` sees in a UUID, as fields of a ULID: milliseconds, 100 ns, clock sequence,
/// node.
fn plain(uuid: u128, version: u8) -> Result<Ulid, Error> {
    let witness = Uuid::from_u128(uuid);
    let variant = match witness.get_variant() {
        Variant::NCS => 0b0,
        Variant::RFC4122 => 0b10,
        Variant::Microsoft => 0b110,
        _ => 0b111,
    };
    let found = witness.get_version_num() as u8;
    if (found, variant) != (version, 0b10) {
        return Err(ErrorKind::Version {
            expected: version,
            version: found,
            variant,
        }
        .into());
    }
    let (Some(timestamp), Some(node)) = (witness.get_timestamp(), witness.get_node_id()) else {
        unreachable!("a uuid of version {version} has a time and a node");
    };
    let (ticks, clock_seq) = timestamp.to_gregorian();
    if ticks < UNIX_EPOCH {
        return Err(ErrorKind::OutOfRangeForUlid.into());
    }
    let node = node
        .into_iter()
        .fold(0, |node, byte| node << 8 | u128::from(byte));
    let (ms, remainder) = ((ticks - UNIX_EPOCH) / 10_000, (ticks - UNIX_EPOCH) % 10_000);
    let randomness = u128::from(remainder) << 66 | u128::from(clock_seq) << 52 | node << 4;
    Ok(Ulid::from(u128::from(ms) << 80 | randomness))
}

/// The UUIDs of version 1 and 6 that a ULID came from, or why there are none.
fn plain_inverse(ulid: Ulid, target: ForeignId) -> Result<[u128; 2], Error> {
    let value = u128::from(ulid);
    let (ms, remainder) = (value >> 80, value >> 66 & 0x3fff);
    let (clock_seq, node, padding) = (
        value >> 52 & 0x3fff,
        value >> 4 & 0xffff_ffff_ffff,
        value & 0xf,
    );
    if remainder > 9999 || padding > 0 {
        return Err(ErrorKind::NotMadeFrom { target }.into());
    }
    let ticks = ms * 10_000 + remainder + u128::from(UNIX_EPOCH);
    if ticks >= 1 << 60 {
        return Err(ErrorKind::TimeOutOfRangeFor { target }.into());
    }
    let node: [u8; 6] = std::array::from_fn(|i| (node >> (40 - 8 * i)) as u8);
    let (ticks, clock_seq) = (ticks as u64, clock_seq as u16);
    Ok([
        Builder::from_gregorian_timestamp(ticks, clock_seq, &node)
            .into_uuid()
            .as_u128(),
        Builder::from_sorted_gregorian_timestamp(ticks, clock_seq, &node)
            .into_uuid()
            .as_u128(),
    ])
}

/// A time in 100 ns since 1582-10-15, 61 bits. The Unix epoch and the last time that fits are more
/// frequent than by chance.
fn ticks(numbers: &mut Numbers) -> u64 {
    let number = numbers.number(61) as u64;
    match numbers.byte() % 4 {
        0 => UNIX_EPOCH + number % 7 - 3,
        _ => number,
    }
}

/// A UUID: bytes by chance, those of a version, or made of fields.
fn any_uuid(numbers: &mut Numbers) -> u128 {
    let (kind, version, value) = (numbers.byte(), numbers.byte(), numbers.number(128));
    let version = [1, 6, u128::from(version >> 4)][usize::from(version % 3)];
    let (ticks, clock_seq, node) = (
        ticks(numbers) % (1 << 60),
        value as u16 & 0x3fff,
        numbers.bytes(),
    );
    match kind % 4 {
        0 => value,
        1 => value & !(0xf << 76) & !(0b11 << 62) | version << 76 | 0b10 << 62,
        2 => Builder::from_gregorian_timestamp(ticks, clock_seq, &node)
            .into_uuid()
            .as_u128(),
        _ => Builder::from_sorted_gregorian_timestamp(ticks, clock_seq, &node)
            .into_uuid()
            .as_u128(),
    }
}

/// A ULID: any, or one that mostly came from a UUID of version 1 or 6.
fn any_ulid(numbers: &mut Numbers) -> Ulid {
    let (kind, value, ticks) = (
        numbers.byte(),
        numbers.number(128),
        u128::from(ticks(numbers)),
    );
    let (ms, remainder) = match (kind % 4, ticks.checked_sub(UNIX_EPOCH.into())) {
        (0, _) => return Ulid::from(value),
        (1, Some(ticks)) => (ticks / 10_000, ticks % 10_000),
        _ => (value >> 80, ticks % 10_002),
    };
    let padding = if kind >> 6 == 0 { 0xf } else { 0 };
    Ulid::from(ms << 80 | remainder << 66 | value & ((1 << 66) - 16 + padding))
}

/// Both ways for both versions, and version 7.
pub fn check(input: &[u8]) -> bool {
    let mut numbers = Numbers(input);
    let uuid = any_uuid(&mut numbers);
    let (v1, v6) = (Ulid::from_uuid_v1(uuid), Ulid::from_uuid_v6(uuid));
    assert_eq!((v1, v6), (plain(uuid, 1), plain(uuid, 6)));
    if let Ok(ulid) = v1 {
        assert_eq!(ulid.to_uuid_v1(), Ok(uuid));
    }
    if let Ok(ulid) = v6 {
        assert_eq!(ulid.to_uuid_v6(), Ok(uuid));
        let other = any_uuid(&mut numbers);
        if let Ok(of_other) = Ulid::from_uuid_v6(other) {
            assert_eq!(ulid.cmp(&of_other), uuid.cmp(&other));
        }
    }

    let ulid = any_ulid(&mut numbers);
    let inverse = (ulid.to_uuid_v1(), ulid.to_uuid_v6());
    assert_eq!(
        inverse.0,
        plain_inverse(ulid, ForeignId::UuidV1).map(|[v1, _]| v1)
    );
    assert_eq!(
        inverse.1,
        plain_inverse(ulid, ForeignId::UuidV6).map(|[_, v6]| v6)
    );
    if let (Ok(v1), Ok(v6)) = inverse {
        assert_eq!(
            (Ulid::from_uuid_v1(v1), Ulid::from_uuid_v6(v6)),
            (Ok(ulid), Ok(ulid))
        );
    }

    let witness =
        Builder::from_unix_timestamp_millis(ulid.unix_ms(), &ulid.randomness_bytes()).into_uuid();
    assert_eq!(ulid.to_uuid_v7(), witness.as_u128());
    v1.is_ok() || v6.is_ok() || inverse.0.is_ok()
}
