//! Detection of links that appear and disappear while the tunnel runs. Their sockets are replaced, and the
//! relay learns their new addresses at once.

use std::io;
use std::time::{Duration, Instant};

use ropewalk_striping::tunnel::Ping;
use rustix::fd::OwnedFd;

use super::{End, Engine, sending};
use crate::tunnel::link_path::Path;
use crate::tunnel::network_changes::NetworkChanges;
use crate::tunnel::sockets::Change;

/// Least interval between checks of the links, since changes of the network come in bursts.
const STEP: Duration = Duration::from_millis(100);
/// Interval of checks while a link is missing or silent, in addition to the kernel's notifications.
const ANYHOW: Duration = Duration::from_secs(1);
/// Time after which a silent link tries another address of the relay.
const ANOTHER: Duration = Duration::from_secs(2);

pub(super) struct LinkWatch {
    changes: Option<NetworkChanges>,
    looked: Instant,
    due: Option<Instant>,
    tried_another: Instant,
}

impl LinkWatch {
    pub(super) fn new(now: Instant, changes: Option<NetworkChanges>) -> LinkWatch {
        LinkWatch {
            changes,
            looked: now,
            due: None,
            tried_another: now,
        }
    }

    pub(super) fn changes(&self) -> Option<&NetworkChanges> {
        self.changes.as_ref()
    }

    pub(super) fn on_change(&mut self) {
        if let Some(changes) = &self.changes {
            changes.clear();
        }
        self.due = Some(self.looked + STEP);
    }

    pub(super) fn hurry(&mut self) {
        self.due = Some(self.looked);
    }

    /// Returns when to check the links; `None` while all are up.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }
}

impl Engine {
    pub(super) fn look_at_links(&mut self, epoll: &OwnedFd) -> io::Result<()> {
        let End::Initiator(_) = self.end else {
            return Ok(());
        };
        let now = Instant::now();
        self.ask_names(now);
        if self.watch.due.is_none() && self.is_link_lost() {
            self.watch.due = Some(self.watch.looked + ANYHOW);
        }
        if self.watch.due.is_none_or(|due| now < due) {
            return Ok(());
        }
        (self.watch.looked, self.watch.due) = (now, None);
        for (link, change) in self.sockets.refresh() {
            self.follow_link(epoll, link, change)?;
        }
        if now >= self.watch.tried_another + ANOTHER {
            self.watch.tried_another = now;
            for link in 0..self.sockets.len() {
                let is_silent = self.sockets.link(link).is_some() && self.is_silent(link);
                if is_silent && let Some(change) = self.sockets.try_another_relay(link) {
                    self.follow_link(epoll, link, change)?;
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

    pub(super) fn follow_link(
        &mut self,
        epoll: &OwnedFd,
        link: usize,
        change: Change,
    ) -> io::Result<()> {
        self.unpublished = true;
        if change == Change::Found {
            self.listen_to(epoll, link)?;
        }
        let (instant, now) = self.now();
        let relay = self.sockets.relay(link);
        let peer = &mut self.peers[0];
        let End::Initiator(dialer) = &mut self.end else {
            return Ok(());
        };
        if !peer.is_open(instant) {
            dialer.hurry(instant);
            return Ok(());
        }
        match (change, relay) {
            (Change::Found, Some(relay)) => {
                peer.add_path(now, link as u8, Path::new(link, relay, None));
                peer.sender.on_new_path(now, link);
                if peer.sender.is_in_use(link) {
                    // From this ping the relay learns the link's new address.
                    peer.ping(now, Ping::sign_of_life(link), sending(&self.sockets));
                    peer.flush(now, sending(&self.sockets));
                }
            }
            _ => peer.sender.set_up(link, false),
        }
        Ok(())
    }

    /// Sends a hello, if one is due, on the next link whose interface exists.
    pub(super) fn say_hello(&mut self, now: Instant) {
        let End::Initiator(dialer) = &mut self.end else {
            return;
        };
        if dialer
            .due_at(now, &self.peers[0])
            .is_none_or(|due| now < due)
        {
            return;
        }
        let there = self.sockets.iter().map(|(link, _)| link);
        let in_use = there.filter(|&link| !self.contracts.terms(link).standby);
        // Unmetered links first: they usually suffice.
        let (metered, free): (Vec<_>, Vec<_>) =
            in_use.partition(|&link| self.contracts.is_metered(link));
        let there = [free, metered].concat();
        self.unpublished = true;
        let (link, hello) = dialer.hello(now, &there);
        if let Some(link) = link
            && let Some(relay) = self.sockets.relay(link)
        {
            let path = Path::new(link, relay, None);
            self.sockets.send(&path, &hello, hello.len());
        }
    }
}
