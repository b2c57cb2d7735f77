//! Arbitrary bytes as datagrams to an end of a tunnel.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = ropewalk_gateway::tunnel::any_datagrams::check(bytes);
});
