//! Arbitrary bytes as an authenticated client's messages other than frames.
#![no_main]

#[path = "../properties/gateway_control.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
