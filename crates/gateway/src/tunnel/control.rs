//! What other threads may ask of a tunnel that runs.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use super::status::Status;
use crate::Link;
use crate::keys::Clients;

/// A handle of a tunnel; all of its clones are alike.
#[derive(Clone, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Can be read once the tunnel is told something.
    told: OwnedFd,
    is_to_stop: AtomicBool,
    reload: Mutex<Option<Reload>>,
    status: Mutex<Status>,
}

/// What may change while a tunnel runs.
#[derive(Clone, Debug)]
pub enum Reload {
    /// Of the end that is called: who may come in. Others are cut.
    Clients(Clients),
    /// Of the end that calls: its links, by name. Those that stay keep what they carry.
    Links(Vec<Link>),
}

impl Control {
    pub(super) fn new(status: Status) -> io::Result<Control> {
        let told = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Control(Arc::new(Shared {
            told,
            is_to_stop: AtomicBool::new(false),
            reload: Mutex::default(),
            status: Mutex::new(status),
        })))
    }

    /// Tells the tunnel to end: it says so to its peers, and [`Tunnel::run`](super::Tunnel::run)
    /// returns.
    pub fn stop(&self) {
        self.0.is_to_stop.store(true, Ordering::Release);
        self.wake();
    }

    /// Tells the tunnel what has changed; an end that it does not concern leaves all as it is.
    pub fn reload(&self, reload: Reload) {
        *self.0.reload.lock().unwrap_or_else(PoisonError::into_inner) = Some(reload);
        self.wake();
    }

    fn wake(&self) {
        // An eventfd that cannot be written has been written often enough.
        let _ = rustix::io::write(&self.0.told, &1_u64.to_ne_bytes());
    }

    /// What there is to be done: to end, or to follow a change.
    pub(super) fn take(&self) -> (bool, Option<Reload>) {
        // It says nothing but that it was written.
        let _ = rustix::io::read(&self.0.told, &mut [0; 8]);
        let mut reload = self.0.reload.lock().unwrap_or_else(PoisonError::into_inner);
        (self.0.is_to_stop.load(Ordering::Acquire), reload.take())
    }

    /// What the tunnel has done, but for the last tenth of a second; all of it once it has ended.
    #[must_use]
    pub fn status(&self) -> Status {
        let status = self.0.status.lock().unwrap_or_else(PoisonError::into_inner);
        status.clone()
    }

    pub(super) fn told(&self) -> BorrowedFd<'_> {
        self.0.told.as_fd()
    }

    pub(super) fn publish(&self, peers: Status) {
        let mut status = self.0.status.lock().unwrap_or_else(PoisonError::into_inner);
        *status = peers;
    }
}
