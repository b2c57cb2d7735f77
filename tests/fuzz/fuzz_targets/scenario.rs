//! Arbitrary bytes as a scenario file.
#![no_main]

#[path = "../properties/scenario.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
