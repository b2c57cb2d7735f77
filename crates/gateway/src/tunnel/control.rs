//! What other threads may ask of a tunnel that runs.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use super::status::Status;

/// A handle of a tunnel; all of its clones are alike.
#[derive(Clone, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Can be read once the tunnel is told to end.
    stop: OwnedFd,
    status: Mutex<Status>,
}

impl Control {
    pub(super) fn new(status: Status) -> io::Result<Control> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Control(Arc::new(Shared {
            stop,
            status: Mutex::new(status),
        })))
    }

    /// Tells the tunnel to end: it says so to its peers, and [`Tunnel::run`](super::Tunnel::run)
    /// returns.
    pub fn stop(&self) {
        // An eventfd that cannot be written has been written often enough.
        let _ = rustix::io::write(&self.0.stop, &1_u64.to_ne_bytes());
    }

    /// What the tunnel has done, but for the last tenth of a second; all of it once it has ended.
    #[must_use]
    pub fn status(&self) -> Status {
        let status = self.0.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.clone()
    }

    pub(super) fn stopped(&self) -> BorrowedFd<'_> {
        self.0.stop.as_fd()
    }

    pub(super) fn publish(&self, peers: Status) {
        let mut status = self.0.status.lock().unwrap_or_else(PoisonError::into_inner);
        *status = peers;
    }
}
