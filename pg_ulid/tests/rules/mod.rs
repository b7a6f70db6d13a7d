//! Checks of the pure Rust part for any input: each compares the library with the same rule written
//! in the simplest way, or with another crate, and panics if they differ.
//!
//! A check takes bytes, so `cargo test` runs the same checks, with inputs of a fixed seed, as
//! libFuzzer, guided by coverage (`scripts/test.sh fuzz`).

pub mod input;
pub mod monotonic;
pub mod ordered;
pub mod parse;
pub mod prefix;
pub mod snowflake;
pub mod typeid;
pub mod uuid;
pub mod uuid_v7;
pub mod value;
pub mod window;

use rand::SeedableRng;
use rand::rngs::SmallRng;

/// One check, and where its inputs come from.
pub struct Target {
    /// The name of its file.
    pub name: &'static str,
    /// Panics if the library and the plain rule differ. Returns whether the library accepted the
    /// input.
    pub check: fn(&[u8]) -> bool,
    /// Makes an input that is accepted more often than bytes by chance.
    pub shape: fn(&mut SmallRng, &mut Vec<u8>),
}

/// All of them.
pub const TARGETS: [Target; 11] = [
    Target {
        name: "parse",
        check: parse::check,
        shape: parse::shape,
    },
    Target {
        name: "value",
        check: value::check,
        shape: input::bytes::<36>,
    },
    Target {
        name: "prefix",
        check: prefix::check,
        shape: prefix::shape,
    },
    Target {
        name: "typeid",
        check: typeid::check,
        shape: typeid::shape,
    },
    Target {
        name: "window",
        check: window::check,
        shape: input::bytes::<64>,
    },
    Target {
        name: "uuid",
        check: uuid::check,
        shape: input::bytes::<96>,
    },
    Target {
        name: "snowflake",
        check: snowflake::check,
        shape: input::bytes::<80>,
    },
    Target {
        name: "uuid_v7",
        check: uuid_v7::check,
        shape: input::bytes::<64>,
    },
    Target {
        name: "ordered",
        check: ordered::check,
        shape: input::bytes::<64>,
    },
    Target {
        name: "time",
        check: ordered::check_time,
        shape: input::bytes::<40>,
    },
    Target {
        name: "monotonic",
        check: monotonic::check,
        shape: input::bytes::<80>,
    },
];

impl Target {
    /// Checks inputs of this seed.
    pub fn run(&self, seed: u64, inputs: usize) {
        let (mut rng, mut input) = (SmallRng::seed_from_u64(seed), Vec::new());
        for _ in 0..inputs {
            (self.shape)(&mut rng, &mut input);
            (self.check)(&input);
        }
    }
}
