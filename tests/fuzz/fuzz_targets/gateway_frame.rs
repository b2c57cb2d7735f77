//! Arbitrary bytes as a join and frames.
#![no_main]

#[path = "../properties/gateway_frame.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
