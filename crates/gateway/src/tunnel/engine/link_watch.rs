//! Detection of links that appear and disappear while the tunnel runs. Their sockets are replaced, and the
//! relay learns their new addresses at once.

use std::io;
use std::time::{Duration, Instant};

use ropewalk_striping::tunnel::Ping;
use rustix::fd::OwnedFd;

use super::{Engine, HandshakeRole, sending};
use crate::tunnel::link_path::Path;
use crate::tunnel::network_changes::NetworkChanges;
use crate::tunnel::sockets::Change;

/// Least interval between checks of the links, since changes of the network come in bursts.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Interval of checks while a link is missing or silent, in addition to the kernel's notifications.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Time after which a silent link tries another address of the relay.
const RELAY_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct LinkWatch {
    changes: Option<NetworkChanges>,
    checked_at: Instant,
    due: Option<Instant>,
    relay_switched_at: Instant,
}

impl LinkWatch {
    pub(super) fn new(now: Instant, changes: Option<NetworkChanges>) -> LinkWatch {
        LinkWatch {
            changes,
            checked_at: now,
            due: None,
            relay_switched_at: now,
        }
    }

    pub(super) fn changes(&self) -> Option<&NetworkChanges> {
        self.changes.as_ref()
    }

    pub(super) fn on_change(&mut self) {
        if let Some(changes) = &self.changes {
            changes.clear();
        }
        self.due = Some(self.checked_at + MIN_CHECK_INTERVAL);
    }

    pub(super) fn check_now(&mut self) {
        self.due = Some(self.checked_at);
    }

    /// Returns when to check the links; `None` while all are up.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

impl Engine {
    pub(super) fn check_links(&mut self, epoll: &OwnedFd) -> io::Result<()> {
        let HandshakeRole::Initiator(_) = self.end else {
            return Ok(());
        };
        let now = Instant::now();
        self.resolve_names(now);
        if self.watch.due.is_none() && self.is_link_lost() {
            self.watch.due = Some(self.watch.checked_at + CHECK_INTERVAL);
        }
        if self.watch.due.is_none_or(|due| now < due) {
            return Ok(());
        }
        (self.watch.checked_at, self.watch.due) = (now, None);
        for (link, change) in self.sockets.refresh() {
            self.on_link_change(epoll, link, change)?;
        }
        if now >= self.watch.relay_switched_at + RELAY_TIMEOUT {
            self.watch.relay_switched_at = now;
            for link in 0..self.sockets.len() {
                let is_silent = self.sockets.link(link).is_some() && self.is_silent(link);
                if is_silent && let Some(change) = self.sockets.try_another_relay(link) {
                    self.on_link_change(epoll, link, change)?;
                }
            }
        }
        Ok(())
    }

    fn is_link_lost(&self) -> bool {
        let mut links = (0..self.sockets.len()).filter(|&link| self.sockets.link(link).is_some());
        links.any(|link| self.sockets.get(link).is_none() || self.is_silent(link))
    }

    /// Whether the relay does not answer on a link whose interface exists.
    pub(super) fn is_silent(&self, link: usize) -> bool {
        let peer = &self.peers[0];
        if link >= peer.sender.links() || !peer.is_open(Instant::now()) {
            return true;
        }
        let status = peer.sender.link(link);
        status.up && status.suspected
    }

    pub(super) fn on_link_change(
        &mut self,
        epoll: &OwnedFd,
        link: usize,
        change: Change,
    ) -> io::Result<()> {
        self.status_changed = true;
        if change == Change::Opened {
            self.add_socket(epoll, link)?;
        }
        let (instant, now) = self.now();
        let relay = self.sockets.relay(link);
        let peer = &mut self.peers[0];
        let HandshakeRole::Initiator(dialer) = &mut self.end else {
            return Ok(());
        };
        if !peer.is_open(instant) {
            dialer.retry_now(instant);
            return Ok(());
        }
        match (change, relay) {
            (Change::Opened, Some(relay)) => {
                peer.add_path(now, link as u8, Path::new(link, relay, None));
                peer.sender.on_new_path(now, link);
                if peer.sender.is_in_use(link) {
                    // From this ping the relay learns the link's new address.
                    peer.ping(now, Ping::keepalive(link), sending(&self.sockets));
                    peer.flush(now, sending(&self.sockets));
                }
            }
            _ => peer.sender.set_up(link, false),
        }
        Ok(())
    }

    /// Sends a hello, if one is due, on the next link whose interface exists.
    pub(super) fn send_hello(&mut self, now: Instant) {
        let HandshakeRole::Initiator(dialer) = &mut self.end else {
            return;
        };
        if dialer
            .due_at(now, &self.peers[0])
            .is_none_or(|due| now < due)
        {
            return;
        }
        let available = self.sockets.iter().map(|(link, _)| link);
        let in_use = available.filter(|&link| !self.policies.terms(link).standby);
        // Unmetered links first: they usually suffice.
        let (metered, free): (Vec<_>, Vec<_>) =
            in_use.partition(|&link| self.policies.is_metered(link));
        let available = [free, metered].concat();
        self.status_changed = true;
        let (link, hello) = dialer.hello(now, &available);
        if let Some(link) = link
            && let Some(relay) = self.sockets.relay(link)
        {
            let path = Path::new(link, relay, None);
            self.sockets.send(&path, &hello, hello.len());
        }
    }
}
