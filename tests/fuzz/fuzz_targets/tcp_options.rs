//! Arbitrary bytes as TCP options.
#![no_main]

#[path = "../properties/tcp_options.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    properties::check(bytes);
});
