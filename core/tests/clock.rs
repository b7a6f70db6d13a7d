//! A day of a clock that is stepped, slewed, stopped and given a leap second, and what the generators make of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use ulid::{Generator, Ulid};

const DAY: i128 = 24 * 3600 * 1_000_000_000;
/// 2026-12-31 00:00 UTC in nanoseconds since the Unix epoch.
const START: i128 = 1_798_675_200 * 1_000_000_000;
const READINGS: u32 = 200_000;

/// A number below `limit`.
fn below(rng: &mut StdRng, limit: u64) -> i128 {
    i128::from(rng.next_u64() % limit)
}

/// What disturbs the clock between two readings, all in nanoseconds.
#[derive(Default)]
struct Clock {
    /// True time since the start of the day.
    elapsed: i128,
    /// What has been added to the time by steps and slews.
    offset: i128,
    /// Parts per million by which the clock runs fast.
    slew_ppm: i128,
    /// The clock advances in ticks of this length.
    tick: i128,
    steps_back: u32,
    steps_forward: u32,
    leaps: u32,
}

impl Clock {
    /// Lets time pass, about a day in all readings, and reads the clock.
    fn read(&mut self, rng: &mut StdRng) -> Duration {
        let mean = (DAY / i128::from(READINGS)) as u64;
        let passed = match rng.next_u64() % 4 {
            0 => below(rng, 50),     // faster than the generators count
            1 => below(rng, 20_000), // a busy session
            _ => below(rng, 4 * mean),
        };
        let before = self.elapsed;
        self.elapsed += passed;
        self.offset += passed * self.slew_ppm / 1_000_000;
        match rng.next_u64() % 20_000 {
            // by hand, or by a daemon that gave up slewing: up to ten minutes
            0 | 1 => self.step(-below(rng, 600_000_000_000)),
            2 | 3 => self.step(below(rng, 600_000_000_000)),
            // by less than a millisecond
            4..10 => self.step(below(rng, 2_000_000) - 1_000_000),
            // the machine was suspended
            10 => self.elapsed += below(rng, 60_000_000_000),
            // as much as adjtime does, either way
            11..20 => self.slew_ppm = below(rng, 1001) - 500,
            20 => self.tick = [1, 1, 1000, 4_000_000][below(rng, 4) as usize],
            // the time server is right again
            21 => self.offset = 0,
            _ => {}
        }
        // The last second of the day comes twice.
        if before < DAY && self.elapsed >= DAY {
            self.offset -= 1_000_000_000;
            self.leaps += 1;
        }
        let time = START + self.elapsed + self.offset;
        let time = time - time.rem_euclid(self.tick.max(1));
        Duration::new((time / 1_000_000_000) as u64, (time % 1_000_000_000) as u32)
    }

    fn step(&mut self, by: i128) {
        self.offset += by;
        if by < 0 {
            self.steps_back += 1;
        } else {
            self.steps_forward += 1;
        }
    }
}

/// A time in parts of a millisecond, rounded down.
fn in_parts(time: Duration, parts: u128) -> u128 {
    time.as_nanos() * parts / 1_000_000
}

/// The time that a rule must give: that of the clock, or one more than the last.
fn of_rule(last: u128, clock: u128) -> u128 {
    if clock > last { clock } else { last + 1 }
}

#[test]
fn the_rules_hold_through_a_day_of_steps_leaps_and_slews() {
    for seed in 0..3 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut clock = Clock::default();
        let shared = AtomicU64::new(0);
        let mut sessions = [1, 2].map(|session| Generator::new(StdRng::seed_from_u64(seed << 8 | session)));
        let mut last_of_session = [(Ulid::NIL, [0; 16], 0_u128); 2];
        let (mut newest, mut latest_ms, mut last_ordered, mut ordered_time) =
            ([0_u128; 2], [0_u64; 2], Ulid::NIL, 0_u128);
        let (mut caught_up, mut behind, mut ahead_most) = (0, 0, 0);
        for reading in 0..READINGS {
            let now = clock.read(&mut rng);
            let ms = now.as_millis() as u64;
            let session = (rng.next_u64() % 2) as usize;
            let generator = &mut sessions[session];
            let (last_monotonic, last_uuid, last_uuid_time) = last_of_session[session];
            let context = || format!("seed {seed}, reading {reading}: {now:?}");

            // The millisecond of the clock, whatever was before.
            assert_eq!(generator.random(ms).unwrap().unix_ms(), ms, "{}", context());

            // The latest millisecond that its session has seen, and no other.
            latest_ms[session] = latest_ms[session].max(ms);
            let monotonic = generator.monotonic(ms).unwrap();
            assert!(monotonic > last_monotonic, "{}", context());
            assert_eq!(monotonic.unix_ms(), latest_ms[session], "{}", context());

            // One order for both sessions.
            let ordered = generator.ordered(ulid::ordered::clock(now).unwrap(), &shared).unwrap();
            let clock_time = in_parts(now, 65_536);
            let time = u128::from(ordered) >> 64;
            assert!(ordered > last_ordered, "{}", context());
            assert_eq!(time, of_rule(ordered_time, clock_time), "{}", context());
            assert_eq!(u128::from(shared.load(Ordering::Relaxed)), time, "{}", context());
            if clock_time > ordered_time {
                caught_up += 1;
            } else {
                behind += 1;
            }

            let uuid = generator.uuid_v7(now).unwrap();
            let (high, clock_time) = (u128::from_be_bytes(uuid) >> 64, in_parts(now, 4096));
            let uuid_time = high >> 16 << 12 | high & 0xfff;
            assert!(uuid > last_uuid, "{}", context());
            assert_eq!(uuid_time, of_rule(last_uuid_time, clock_time), "{}", context());
            assert_eq!((uuid[6] >> 4, uuid[8] >> 6), (7, 0b10), "{}", context());

            // Ahead of all that the clock has said by less than the readings since then.
            newest[session] = newest[session].max(clock_time);
            ahead_most = ahead_most.max(uuid_time - newest[session]);
            (last_ordered, ordered_time) = (ordered, time);
            last_of_session[session] = (monotonic, uuid, uuid_time);
        }
        // The day had what it is to have, and the generators were on both sides of the clock.
        assert!(clock.elapsed > DAY && clock.leaps == 1, "{} {}", clock.elapsed, clock.leaps);
        assert!(clock.steps_back > 20 && clock.steps_forward > 20);
        assert!(caught_up > 1000 && behind > 1000, "{caught_up} {behind}");
        assert!(ahead_most < u128::from(READINGS));
    }
}
