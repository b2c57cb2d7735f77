//! Control of a running tunnel from other threads.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use super::status::TunnelStatus;
use crate::Link;
use crate::keys::Clients;
use crate::lock::lock;
use crate::relay_name::Resolution;

/// Handle of a running tunnel. Clones refer to the same tunnel.
#[derive(Clone, Debug)]
pub struct Control(Arc<ControlState>);

#[derive(Debug)]
struct ControlState {
    /// Readable when the tunnel has a request to handle.
    wake_fd: OwnedFd,
    is_to_stop: AtomicBool,
    /// Whether another path of this process reaches the relay.
    is_reached_otherwise: AtomicBool,
    /// Number of the relay that a client uses.
    relay: AtomicUsize,
    reload: Mutex<Option<Reload>>,
    /// Results of resolving the relay's name that the tunnel has not taken yet.
    resolutions: Mutex<Vec<Resolution>>,
    status: Mutex<TunnelStatus>,
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
    pub(super) fn new(status: TunnelStatus) -> io::Result<Control> {
        let wake_fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Control(Arc::new(ControlState {
            wake_fd,
            is_to_stop: AtomicBool::new(false),
            is_reached_otherwise: AtomicBool::new(false),
            relay: AtomicUsize::new(0),
            reload: Mutex::default(),
            resolutions: Mutex::default(),
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
        *lock(&self.0.reload) = Some(reload);
        self.wake();
    }

    /// Notes whether TCP carriers of this process reach the relay, for the device's carrier signal.
    pub(crate) fn set_reached_otherwise(&self, is_reached: bool) {
        let before = self
            .0
            .is_reached_otherwise
            .swap(is_reached, Ordering::AcqRel);
        if before != is_reached {
            self.wake();
        }
    }

    pub(super) fn is_reached_otherwise(&self) -> bool {
        self.0.is_reached_otherwise.load(Ordering::Acquire)
    }

    /// Makes a client use another relay: 0 is that of its role, the others are
    /// [`other_relays`](super::Config::other_relays). The session with the present relay ends; a number without a
    /// relay has no effect.
    pub fn use_relay(&self, number: usize) {
        if self.0.relay.swap(number, Ordering::AcqRel) != number {
            self.wake();
        }
    }

    pub(super) fn relay(&self) -> usize {
        self.0.relay.load(Ordering::Acquire)
    }

    pub(super) fn deliver(&self, resolution: Resolution) {
        lock(&self.0.resolutions).push(resolution);
        self.wake();
    }

    pub(super) fn take_resolutions(&self) -> Vec<Resolution> {
        std::mem::take(&mut *lock(&self.0.resolutions))
    }

    fn wake(&self) {
        // A write to an eventfd fails only if it is readable already.
        let _ = rustix::io::write(&self.0.wake_fd, &1_u64.to_ne_bytes());
    }

    /// Takes the pending requests: whether to stop, and a new configuration.
    pub(super) fn take(&self) -> (bool, Option<Reload>) {
        let _ = rustix::io::read(&self.0.wake_fd, &mut [0; 8]);
        let reload = lock(&self.0.reload).take();
        (self.0.is_to_stop.load(Ordering::Acquire), reload)
    }

    /// Returns the tunnel's status, at most 0.1 s old; the final one once the tunnel has ended.
    #[must_use]
    pub fn status(&self) -> TunnelStatus {
        lock(&self.0.status).clone()
    }

    pub(super) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.0.wake_fd.as_fd()
    }

    pub(super) fn publish(&self, peers: TunnelStatus) {
        *lock(&self.0.status) = peers;
    }
}
