//! Arbitrary bytes as a packet.
#![no_main]

#[path = "../properties/packet.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
