//! Arbitrary bytes as a capture file.
#![no_main]

#[path = "../properties/capture.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
