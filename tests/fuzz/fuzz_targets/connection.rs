//! Arbitrary bytes as segments of a connection.
#![no_main]

#[path = "../properties/connection.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
