//! Any input for every rule.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    for target in &ulid_fuzz::TARGETS {
        (target.check)(input);
    }
});
