//! Listeners passed by a service manager (socket activation, sd_listen_fds(3)). They outlive this process, so
//! clients that connect during a restart wait.
#![allow(unsafe_code)]

use std::env;
use std::net::TcpListener;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process;

use rustix::io::{FdFlags, fcntl_setfd};

const FIRST: RawFd = 3;
/// Maximum number of accepted listeners.
const MAX: RawFd = 64;

/// Takes all listeners that are meant for this process. Call it once.
pub(crate) fn passed_listeners() -> Vec<TcpListener> {
    let number = |name| env::var(name).ok()?.parse::<u32>().ok();
    if number("LISTEN_PID") != Some(process::id()) {
        return Vec::new();
    }
    let count = number("LISTEN_FDS").map_or(0, |count| count.min(MAX as u32)) as RawFd;
    let listeners = (FIRST..FIRST + count).map(|number| {
        // SAFETY: by the protocol these descriptors are open, and nothing else here knows them.
        let listener = unsafe { OwnedFd::from_raw_fd(number) };
        // Child processes do not inherit it, and tokio needs it non-blocking.
        let _ = fcntl_setfd(&listener, FdFlags::CLOEXEC);
        let listener = TcpListener::from(listener);
        let _ = listener.set_nonblocking(true);
        listener
    });
    listeners.collect()
}
