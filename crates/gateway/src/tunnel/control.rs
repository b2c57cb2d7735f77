//! Control of a running tunnel from other threads.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use super::relay_name::Answer;
use super::status::Status;
use crate::Link;
use crate::keys::Clients;

/// Handle of a running tunnel. Clones refer to the same tunnel.
#[derive(Clone, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Readable when the tunnel has a request to handle.
    told: OwnedFd,
    is_to_stop: AtomicBool,
    reload: Mutex<Option<Reload>>,
    /// Results of resolving the relay's name that the tunnel has not taken yet.
    answers: Mutex<Vec<Answer>>,
    status: Mutex<Status>,
}

/// Configuration that may change while a tunnel runs.
#[derive(Clone, Debug)]
pub enum Reload {
    /// For a relay: the clients that may connect. Others are disconnected.
    Clients(Clients),
    /// For a client: its links. Links whose name remains keep their state.
    Links(Vec<Link>),
}

impl Control {
    pub(super) fn new(status: Status) -> io::Result<Control> {
        let told = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Control(Arc::new(Shared {
            told,
            is_to_stop: AtomicBool::new(false),
            reload: Mutex::default(),
            answers: Mutex::default(),
            status: Mutex::new(status),
        })))
    }

    /// Stops the tunnel: it notifies its peers, and [`Tunnel::run`](super::Tunnel::run) returns.
    pub fn stop(&self) {
        self.0.is_to_stop.store(true, Ordering::Release);
        self.wake();
    }

    /// Changes the tunnel's configuration. A change for the other role has no effect.
    pub fn reload(&self, reload: Reload) {
        *self.0.reload.lock().unwrap_or_else(PoisonError::into_inner) = Some(reload);
        self.wake();
    }

    pub(super) fn deliver(&self, answer: Answer) {
        let mut answers = self
            .0
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        answers.push(answer);
        drop(answers);
        self.wake();
    }

    pub(super) fn take_answers(&self) -> Vec<Answer> {
        let mut answers = self
            .0
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *answers)
    }

    fn wake(&self) {
        // A write to an eventfd fails only if it is readable already.
        let _ = rustix::io::write(&self.0.told, &1_u64.to_ne_bytes());
    }

    /// Takes the pending requests: whether to stop, and a new configuration.
    pub(super) fn take(&self) -> (bool, Option<Reload>) {
        let _ = rustix::io::read(&self.0.told, &mut [0; 8]);
        let mut reload = self.0.reload.lock().unwrap_or_else(PoisonError::into_inner);
        (self.0.is_to_stop.load(Ordering::Acquire), reload.take())
    }

    /// Returns the tunnel's status, at most 0.1 s old; the final one once the tunnel has ended.
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
