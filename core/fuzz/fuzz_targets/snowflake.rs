#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    ulid_fuzz::snowflake::check(input);
});
