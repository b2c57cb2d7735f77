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

/// A handle of a tunnel. Clones refer to the same one.
#[derive(Clone, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Becomes readable when the tunnel has something to do.
    told: OwnedFd,
    is_to_stop: AtomicBool,
    reload: Mutex<Option<Reload>>,
    /// Addresses of the relay that were found, which the tunnel has not taken yet.
    answers: Mutex<Vec<Answer>>,
    status: Mutex<Status>,
}

/// Configuration that may change while a tunnel runs.
#[derive(Clone, Debug)]
pub enum Reload {
    /// Of the listening end: the clients that may connect. Others are disconnected.
    Clients(Clients),
    /// Of the dialling end: its links, by name. Those that remain keep their state.
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

    /// Stops the tunnel: it tells its peers, and [`Tunnel::run`](super::Tunnel::run) returns.
    pub fn stop(&self) {
        self.0.is_to_stop.store(true, Ordering::Release);
        self.wake();
    }

    /// Changes the tunnel's configuration; a change for the other kind of end has no effect.
    pub fn reload(&self, reload: Reload) {
        *self.0.reload.lock().unwrap_or_else(PoisonError::into_inner) = Some(reload);
        self.wake();
    }

    /// A link has resolved the relay's name, or failed to.
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

    /// What links have found out since the last call.
    pub(super) fn take_answers(&self) -> Vec<Answer> {
        let mut answers = self
            .0
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *answers)
    }

    fn wake(&self) {
        // A write to an eventfd only fails if it is readable already.
        let _ = rustix::io::write(&self.0.told, &1_u64.to_ne_bytes());
    }

    /// What is to be done: whether to stop, and a configuration change.
    pub(super) fn take(&self) -> (bool, Option<Reload>) {
        // The value has no meaning.
        let _ = rustix::io::read(&self.0.told, &mut [0; 8]);
        let mut reload = self.0.reload.lock().unwrap_or_else(PoisonError::into_inner);
        (self.0.is_to_stop.load(Ordering::Acquire), reload.take())
    }

    /// The tunnel's status, at most a tenth of a second old; complete once it has ended.
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
