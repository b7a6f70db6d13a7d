//! The library against the crates `ulid`, `uuid` and `ferroid`, and against the clock that all of
//! them read.
//!
//! ```text
//! cargo bench -p pg_ulid --bench pg_ulid                 # everything
//! cargo bench -p pg_ulid --bench pg_ulid -- decode       # one operation
//! cargo bench -p pg_ulid --bench pg_ulid -- decode/ours --count 1000000
//! ```
//!
//! Each round times every contender once, each time starting with a different one, so a machine
//! that slows down for a while slows all of them. The output is medians over the rounds: the time
//! of one call, and its ratio to ours within the same round. With `--count` each contender only
//! runs that many calls, untimed, for a tool that counts instructions: the difference between two
//! such runs is free of the start.

use std::hint::black_box;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ferroid::base32::Base32UlidExt;
use ferroid::generator::{BasicMonoUlidGenerator, Poll};
use ferroid::rand::ThreadRandom;
use ferroid::time::TimeSource;
use pg_ulid::{Generator, TEXT_LEN, Time, Ulid};
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, SeedableRng};
use uuid::{NoContext, Timestamp, Uuid};

/// How often each contender is timed.
const ROUNDS: usize = 3001;

/// Calls in one timing: 20 to 500 µs, long against the timer, short against what else the machine
/// does.
const CALLS: usize = 4096;

/// Different ids in turn, so that no branch is predicted from the previous one. A power of two.
const IDS: usize = 1024;

/// One call of one crate, repeated.
struct Contender {
    operation: &'static str,
    name: &'static str,
    repeat: Box<dyn FnMut(usize)>,
}

impl Contender {
    fn new<T>(
        operation: &'static str,
        name: &'static str,
        mut call: impl FnMut(usize) -> T + 'static,
    ) -> Self {
        let repeat = Box::new(move |calls| {
            for i in 0..calls {
                // By reference: moving a result from where it was written costs more than some of
                // the calls.
                black_box(&call(i % IDS));
            }
        });
        Self {
            operation,
            name,
            repeat,
        }
    }

    /// Nanoseconds for one call.
    fn time(&mut self) -> f64 {
        let start = Instant::now();
        (self.repeat)(CALLS);
        start.elapsed().as_nanos() as f64 / CALLS as f64
    }
}

/// The system clock for `ferroid`, whose own clock is a thread that ticks.
struct SystemClock;

impl TimeSource<u128> for SystemClock {
    fn current_millis(&self) -> u128 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_millis()
    }
}

/// Ours comes first within each operation; the ratios are to it.
fn contenders() -> Result<Vec<Contender>, Box<dyn std::error::Error>> {
    let mut rng = StdRng::try_from_rng(&mut SysRng)?;
    let ids: [u128; IDS] =
        std::array::from_fn(|_| u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()));
    let texts = ids.map(|id| Ulid::from(id).to_text());
    let strings = ids.map(|id| Ulid::from(id).to_string());
    let uuid_texts = ids.map(|id| Uuid::from_u128(id).to_string());

    let (mut random, mut monotonic) = (Generator::from_os()?, Generator::from_os()?);
    let mut ulid_rng = StdRng::try_from_rng(&mut SysRng)?;
    let mut ulid_monotonic = ulid::Generator::new();
    let ferroid_monotonic =
        BasicMonoUlidGenerator::<ferroid::id::ULID, _, _>::new(SystemClock, ThreadRandom);

    let (ulids, ulid_crate) = (ids.map(Ulid::from), ids.map(ulid::Ulid));
    let (uuids, ferroids) = (
        ids.map(Uuid::from_u128),
        ids.map(ferroid::id::ULID::from_raw),
    );
    let (mut text, mut uuid_text) = ([0; TEXT_LEN], [0; 36]);

    Ok(vec![
        Contender::new("clock", "SystemTime", |_| SystemTime::now()),
        Contender::new("clock", "Time", |_| Time::now()),
        Contender::new("generate", "ours", move |_| {
            random.random(Time::now().unwrap_or(Time::UNIX_EPOCH))
        }),
        Contender::new("generate", "ulid", |_| ulid::Ulid::generate()),
        Contender::new("generate", "ulid+StdRng", move |_| {
            ulid::Ulid::with_source(&mut ulid_rng)
        }),
        Contender::new("generate", "uuid v7", |_| {
            Uuid::new_v7(Timestamp::now(NoContext))
        }),
        Contender::new("generate", "ferroid", |_| ferroid::id::ULID::now()),
        Contender::new("monotonic", "ours", move |_| {
            monotonic.monotonic(Time::now().unwrap_or(Time::UNIX_EPOCH))
        }),
        Contender::new("monotonic", "ulid", move |_| ulid_monotonic.generate().ok()),
        Contender::new("monotonic", "uuid v7", |_| Uuid::now_v7()),
        Contender::new("monotonic", "ferroid", move |_| {
            match ferroid_monotonic.poll_id() {
                Poll::Ready { id } => Some(id),
                Poll::Pending { .. } => None,
            }
        }),
        Contender::new("encode", "ours", move |i| {
            black_box(&ulids[i].to_text());
        }),
        Contender::new("encode", "ulid", move |i| {
            black_box(ulid_crate[i].array_to_str(&mut text));
        }),
        Contender::new("encode", "uuid", move |i| {
            black_box(uuids[i].hyphenated().encode_lower(&mut uuid_text));
        }),
        Contender::new("encode", "ferroid", move |i| {
            let mut text = ferroid::id::ULID::base32_array();
            black_box(ferroids[i].encode_to_buf(&mut text));
        }),
        Contender::new("decode", "ours", move |i| Ulid::parse(&texts[i])),
        Contender::new("decode", "ulid", move |i| {
            ulid::Ulid::from_string(&strings[i])
        }),
        Contender::new("decode", "uuid", {
            let texts = uuid_texts.clone();
            move |i| Uuid::try_parse(&texts[i])
        }),
        Contender::new("decode", "ferroid", move |i| {
            ferroid::id::ULID::decode(texts[i].as_slice())
        }),
        Contender::new("decode uuid", "ours", {
            let texts = uuid_texts.clone();
            move |i| Ulid::parse(texts[i].as_bytes())
        }),
        Contender::new("decode uuid", "uuid", move |i| {
            Uuid::try_parse(&uuid_texts[i])
        }),
    ])
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut filter = String::new();
    // Only `cargo bench` measures times; `cargo test --all-targets` makes a single call.
    let mut count = Some(1);
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.pop_if(|argument| argument == "--bench").is_some() {
        count = None;
    }
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--count" => count = Some(arguments.next().unwrap_or_default().parse()?),
            _ => filter = argument,
        }
    }

    let mut contenders = contenders()?;
    contenders.retain(
        |Contender {
             operation, name, ..
         }| {
            filter.is_empty() || filter == *operation || filter == format!("{operation}/{name}")
        },
    );
    if let Some(count) = count {
        for contender in &mut contenders {
            (contender.repeat)(count);
        }
        return Ok(());
    }

    let mut times = vec![Vec::with_capacity(ROUNDS); contenders.len()];
    for round in 0..ROUNDS {
        for i in 0..contenders.len() {
            let next = (round + i) % contenders.len();
            times[next].push(contenders[next].time());
        }
    }

    println!("{:<12} {:<12} {:>8} {:>8}", "operation", "", "ns", "ratio");
    let mut ours = 0;
    for (i, contender) in contenders.iter().enumerate() {
        if contenders[ours].operation != contender.operation {
            ours = i;
        }
        let ratios = times[i]
            .iter()
            .zip(&times[ours])
            .map(|(time, ours)| time / ours)
            .collect();
        let (operation, name, time) = (
            contender.operation,
            contender.name,
            median(times[i].clone()),
        );
        println!(
            "{operation:<12} {name:<12} {time:>8.2} {:>8.2}",
            median(ratios)
        );
    }
    Ok(())
}
