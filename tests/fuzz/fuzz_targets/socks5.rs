//! Arbitrary bytes from a program to the proxy.
#![no_main]

#[path = "../properties/socks5.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::check(bytes);
});
