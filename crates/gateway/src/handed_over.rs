//! Listeners that a service manager has opened and hands over (sd_listen_fds(3)): they outlive this
//! process, and who connects between two of them waits.
#![allow(unsafe_code)]

use std::env;
use std::net::TcpListener;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process;

use rustix::io::{FdFlags, fcntl_setfd};

/// SD_LISTEN_FDS_START.
const FIRST: RawFd = 3;
/// No service has more of them.
const MOST: RawFd = 64;

/// All of them, if they are meant for this process; to be called once.
pub(crate) fn handed_over() -> Vec<TcpListener> {
    let number = |name| env::var(name).ok()?.parse::<u32>().ok();
    if number("LISTEN_PID") != Some(process::id()) {
        return Vec::new();
    }
    let count = number("LISTEN_FDS").map_or(0, |count| count.min(MOST as u32)) as RawFd;
    let listeners = (FIRST..FIRST + count).map(|number| {
        // SAFETY: by the protocol these descriptors are open and this process's, and nothing else
        // here knows them.
        let listener = unsafe { OwnedFd::from_raw_fd(number) };
        // Programs that are started do not get it, and whoever waits for it waits in tokio.
        let _ = fcntl_setfd(&listener, FdFlags::CLOEXEC);
        let listener = TcpListener::from(listener);
        let _ = listener.set_nonblocking(true);
        listener
    });
    listeners.collect()
}
