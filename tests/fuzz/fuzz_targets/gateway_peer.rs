//! Arbitrary bytes from the peer of an association.
#![no_main]

#[path = "../properties/gateway_peer.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
