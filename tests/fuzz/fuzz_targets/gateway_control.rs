//! Any bytes as what a client says beside frames, once it has proved its key.
#![no_main]

#[path = "../properties/gateway_control.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = properties::hold(bytes);
});
