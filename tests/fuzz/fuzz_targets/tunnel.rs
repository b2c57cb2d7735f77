//! Arbitrary bytes as datagrams of a tunnel's peer.
#![no_main]

#[path = "../properties/tunnel.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
