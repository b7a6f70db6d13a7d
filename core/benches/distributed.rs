//! Simulates ids of many servers whose clocks differ and which insert into one table: how many ids are out of order, how far
//! they are behind the newest one, the leaf fill of the key's index, and how many ids collide.
//!
//! ```text
//! cargo bench -p pg_ulid --bench distributed
//! cargo bench -p pg_ulid --bench distributed -- --ids random 100 10 1    # the ids themselves: generator, servers, rate, skew
//! ```
//!
//! Nothing is timed. The seeds are fixed, so every run prints the same counts. Ids are generated at random moments (a Poisson
//! process of `rate` ids in a millisecond), each on a random server. The clock of each server has a constant error from a
//! normal distribution whose standard deviation is the `skew`.

use std::collections::BTreeMap;
use std::error::Error;
use std::f64::consts::TAU;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use pg_ulid::{Generator, Ulid};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Ids in one run.
const IDS: usize = 1_000_000;

/// Runs of each kind, with other clocks and other moments: a few clocks far off change much.
const RUNS: u64 = 5;

/// Where the runs count their time from, so that its fractions are exact: 2027-01-15 08:00 UTC.
const EPOCH: Duration = Duration::from_secs(1_800_000_000);

/// The generator that the servers call, each in one session.
#[derive(Clone, Copy)]
enum Kind {
    Random,
    Monotonic,
    UuidV7,
    Ordered,
}

const KINDS: [(&str, Kind); 4] = [
    ("random", Kind::Random),
    ("monotonic", Kind::Monotonic),
    ("uuid_v7", Kind::UuidV7),
    ("ordered", Kind::Ordered),
];

/// A number from 0 to 1, neither of them included.
fn uniform(rng: &mut StdRng) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// A number from the standard normal distribution (Box and Muller).
fn normal(rng: &mut StdRng) -> f64 {
    (-2.0 * uniform(rng).ln()).sqrt() * (TAU * uniform(rng)).cos()
}

/// Ids in the order in which they are made. Rate in ids a millisecond, all servers together; skew in milliseconds.
fn ids(kind: Kind, servers: usize, rate: f64, skew: f64, seed: u64) -> Result<Vec<Ulid>, Box<dyn Error>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut fleet = Vec::with_capacity(servers);
    for _ in 0..servers {
        let generator = Generator::new(StdRng::seed_from_u64(rng.next_u64()));
        fleet.push((skew * normal(&mut rng), generator, AtomicU64::new(0)));
    }
    let mut now = 100_000.0; // no clock is so far behind
    let mut ids = Vec::with_capacity(IDS);
    for _ in 0..IDS {
        now -= uniform(&mut rng).ln() / rate;
        let (offset, generator, last) = &mut fleet[(rng.next_u64() % servers as u64) as usize];
        let clock = EPOCH + Duration::from_secs_f64((now + *offset) / 1000.0);
        let unix_ms = u64::try_from(clock.as_millis())?;
        ids.push(match kind {
            Kind::Random => generator.random(unix_ms)?,
            Kind::Monotonic => generator.monotonic(unix_ms)?,
            Kind::UuidV7 => Ulid::from(generator.uuid_v7(clock)?),
            Kind::Ordered => generator.ordered(pg_ulid::ordered::clock(clock)?, last)?,
        });
    }
    Ok(ids)
}

/// The share of ids that are smaller than an earlier one, and how many milliseconds the latest of them is behind.
fn disorder(ids: &[Ulid]) -> (f64, u64) {
    let (mut newest, mut late, mut behind) = (Ulid::NIL, 0, 0);
    for &id in ids {
        if id < newest {
            late += 1;
            behind = behind.max(newest.unix_ms() - id.unix_ms());
        } else {
            newest = id;
        }
    }
    (late as f64 / ids.len() as f64, behind)
}

/// Keys on a leaf page of PostgreSQL's btree: 8152 bytes after header and special space, 28 for a key of 16 bytes with
/// tuple header and line pointer. Every page but the rightmost has its high key besides.
const LEAF: usize = 290;

/// Keys that stay on the rightmost page when it is split: 90 %, the default fillfactor.
const LEFT_OF_RIGHTMOST: usize = 261;

/// Leaf pages of an index after these insertions, by the rules by which `nbtsplitloc.c` splits pages of distinct keys
/// of one size: the rightmost by the fillfactor, all others in the middle.
fn leaf_pages(ids: &[Ulid]) -> usize {
    let mut pages = BTreeMap::from([(Ulid::NIL, Vec::with_capacity(LEAF + 2))]);
    for &id in ids {
        let rightmost = pages.last_key_value().is_some_and(|(&first, _)| first <= id);
        let Some((_, page)) = pages.range_mut(..=id).next_back() else { continue };
        page.insert(page.partition_point(|&key| key < id), id);
        if page.len() > LEAF + usize::from(rightmost) {
            let right = page.split_off(if rightmost { LEFT_OF_RIGHTMOST } else { page.len() / 2 });
            pages.insert(right[0], right);
        }
    }
    pages.len()
}

/// Pairs of ids that agree in time and in the first `bits` of the randomness, expected and found. A finer time comes first
/// in a uuid of version 7 (12 bits) and in an ordered id (16), over which the moments are spread evenly.
fn collisions(kind: Kind, ids: &[Ulid], bits: u32) -> (f64, u64) {
    let mut of_millisecond = BTreeMap::<u64, f64>::new();
    let mut starts = BTreeMap::<(u64, u128), u64>::new();
    for id in ids {
        *of_millisecond.entry(id.unix_ms()).or_default() += 1.0;
        let random = match kind {
            // without version and variant: 12 and 62 bits of 80
            Kind::UuidV7 => ((id.randomness() >> 64 & 0xfff) << 62 | id.randomness() & ((1 << 62) - 1)) << 6,
            _ => id.randomness(),
        };
        *starts.entry((id.unix_ms(), random >> (80 - bits))).or_default() += 1;
    }
    let expected =
        of_millisecond.values().map(|n| n * (n - 1.0) / 2.0).sum::<f64>() / 2_f64.powi(bits as i32);
    (expected, starts.values().map(|n| n * (n - 1) / 2).sum())
}

/// Prints the mean of the runs of one kind, or the greatest value where that counts: operation, generator, servers,
/// rate, skew, value.
fn run(name: &str, kind: Kind, servers: usize, rate: f64, skew: f64) -> Result<(), Box<dyn Error>> {
    let (mut late, mut behind, mut pages) = (0.0, 0, 0);
    for seed in 0..RUNS {
        let ids = ids(kind, servers, rate, skew, seed)?;
        let (share, ms) = disorder(&ids);
        late += share / RUNS as f64;
        behind = behind.max(ms);
        pages += leaf_pages(&ids);
    }
    let keys = RUNS as usize * IDS;
    let run = format!("{name}\t{servers}\t{rate}\t{skew}");
    println!("out_of_order\t{run}\t{:.1}", 100.0 * late);
    println!("ms_behind\t{run}\t{behind}");
    println!("leaf_fill\t{run}\t{:.0}", 100.0 * keys as f64 / (pages * LEAF) as f64);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [option, kind, servers, rate, skew] = &arguments[..] {
        let kind = KINDS.iter().find(|(name, _)| name == kind).filter(|_| option == "--ids");
        let (_, kind) = kind.ok_or("usage: --ids random|monotonic|uuid_v7|ordered SERVERS RATE SKEW")?;
        let ids = ids(*kind, servers.parse()?, rate.parse()?, skew.parse()?, 0)?;
        for id in &ids {
            println!("{id}");
        }
        eprintln!("leaf pages of their index: {}", leaf_pages(&ids));
        return Ok(());
    }
    for (name, kind) in KINDS {
        let rates: &[f64] = if name == "random" { &[1.0, 10.0, 100.0] } else { &[10.0] };
        for &rate in rates {
            for skew in [0.0, 0.1, 1.0, 10.0, 100.0, 1000.0] {
                run(name, kind, 100, rate, skew)?;
            }
        }
        for servers in [1, 10, 1000, 10_000] {
            run(name, kind, servers, 10.0, 10.0)?;
        }
    }
    for (name, kind) in [KINDS[0], KINDS[2], KINDS[3]] {
        let ids = ids(kind, 10_000, 1000.0, 10.0, 0)?;
        for bits in [8, 16, 24, 74] {
            let (expected, found) = collisions(kind, &ids, bits);
            println!("collisions_expected\t{name}\t10000\t1000\t10\t{bits}\t{expected:.3e}");
            println!("collisions_found\t{name}\t10000\t1000\t10\t{bits}\t{found}");
        }
    }
    Ok(())
}
