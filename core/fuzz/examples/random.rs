//! Runs the checks on inputs made by chance from a seed, as fast as the machine can.
//!
//! ```text
//! cargo run --release --example random -- [--inputs=N | --seconds=S] [--seed=N] [TARGET...]
//! cargo run --release --example random -- --write=DIRECTORY TARGET    # writes some inputs as files, for libFuzzer to begin with
//! cargo run --release --example random -- --list                      # prints the targets
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::SmallRng;
use ulid_fuzz::{TARGETS, Target};

/// Inputs between two looks at the clock.
const BATCH: u64 = 10_000;

/// Files that `--write` writes.
const FILES: usize = 200;

struct Options {
    inputs: u64,
    time: Duration,
    seed: u64,
    write: Option<String>,
    list: bool,
    targets: Vec<&'static Target>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        inputs: u64::MAX,
        time: Duration::MAX,
        seed: 1,
        write: None,
        list: false,
        targets: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
        let number = || value.parse::<u64>().map_err(|error| format!("{argument}: {error}"));
        match name {
            "--inputs" => options.inputs = number()?,
            "--seconds" => options.time = Duration::from_secs(number()?),
            "--seed" => options.seed = number()?,
            "--write" => options.write = Some(value.to_owned()),
            "--list" => options.list = true,
            _ => options.targets.push(
                TARGETS
                    .iter()
                    .find(|target| target.name == name)
                    .ok_or(format!("no target is called {name}"))?,
            ),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.iter().collect();
    }
    if options.inputs == u64::MAX && options.time == Duration::MAX {
        options.inputs = 1_000_000;
    }
    Ok(options)
}

/// Returns whether all inputs passed.
fn run(target: &Target, options: &Options) -> bool {
    let mut rng = SmallRng::seed_from_u64(options.seed);
    let (mut input, mut inputs, mut accepted) = (Vec::new(), 0, 0_u64);
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        while inputs < options.inputs && start.elapsed() < options.time {
            for _ in 0..BATCH.min(options.inputs - inputs) {
                (target.shape)(&mut rng, &mut input);
                inputs += 1;
                accepted += u64::from((target.check)(&input));
            }
        }
    }));
    let share = 100.0 * accepted as f64 / inputs as f64;
    println!(
        "{}: {inputs} inputs in {:.0} s, {share:.0} % accepted, seed {}",
        target.name,
        start.elapsed().as_secs_f64(),
        options.seed
    );
    if outcome.is_err() {
        println!("{}: input {inputs} FAILED: {input:02x?} \"{}\"", target.name, input.escape_ascii());
    }
    outcome.is_ok()
}

fn write(target: &Target, directory: &str, seed: u64) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let (mut rng, mut input) = (SmallRng::seed_from_u64(seed), Vec::new());
    for number in 0..FILES {
        (target.shape)(&mut rng, &mut input);
        std::fs::write(format!("{directory}/{number}"), &input)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    if options.list {
        options.targets.iter().for_each(|target| println!("{}", target.name));
        return ExitCode::SUCCESS;
    }
    let mut passed = true;
    for target in &options.targets {
        passed &= match &options.write {
            Some(directory) => {
                write(target, directory, options.seed).inspect_err(|error| eprintln!("{error}")).is_ok()
            }
            None => run(target, &options),
        };
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
