//! Arbitrary bytes received on a carrier.
#![no_main]

#[path = "../properties/gateway_record.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
