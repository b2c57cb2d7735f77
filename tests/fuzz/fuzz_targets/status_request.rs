//! Arbitrary bytes as a status request over HTTP or to the control socket.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = ropewalk_gateway::hold_any_request(bytes);
});
