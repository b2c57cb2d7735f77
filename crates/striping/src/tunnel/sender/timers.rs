//! Timers of the sender: keepalive, packet trains, probes of the path MTU, and packets that wait for room.

use ropewalk_quantities::Time;

use super::Sender;
use crate::tunnel::scheduler::Scheduler;
use crate::tunnel::sending::Ping;
use crate::tunnel::train;

/// After this long in a quiet tunnel the path MTU is no longer probed.
const PROBED_FOR: Time = Time::from_secs(30);

impl<P: Clone> Sender<P> {
    /// To be called at the time of [`poll_timeout`](Sender::poll_timeout): the pings to send for keepalive,
    /// packet trains and probes of the path MTU.
    pub fn handle_timeout(&mut self, now: Time) -> Vec<Ping> {
        let mut pings = Vec::new();
        let shares = self.shares();
        for number in 0..self.links.len() {
            let due = self.ask_at(number);
            let others = self.usable.iter().any(|&other| other != number);
            let is_watched = self.is_watched(number);
            let may_send = self.is_in_use(number);
            let link = &mut self.links[number];
            let was_suspected = link.suspected();
            let is_due = self.up[number] && is_watched && link.ask(now, due);
            if is_due && may_send {
                pings.push(Ping::sign_of_life(number));
            }
            if shares && may_send && link.poll_train(now) {
                pings.extend((0..train::LENGTH).map(|_| Ping::of_train(number)));
            }
            let late = is_watched && link.is_late(now) && others;
            if late {
                link.hold_back();
            }
            if link.suspected() && !was_suspected || late {
                let given_up = self.retransmit_buffers[number].give_up();
                // The redundant mode has sent it on the other links already, or is about to.
                if !others || self.config.scheduler != Scheduler::Redundant {
                    self.repairs.extend(given_up);
                }
            }
            if self.probing_at(number).is_none() {
                continue;
            }
            let path_mtu = &mut self.path_mtus[number];
            if path_mtu.handle_timeout(now) {
                self.links[number].forgive_loss();
            }
            while let Some(probe) = path_mtu.poll_probe(now) {
                pings.push(Ping {
                    link: number,
                    token: probe.token,
                    bytes: probe.bytes,
                });
            }
        }
        self.reconsider();
        pings
    }

    /// When a link is to be pinged.
    fn ask_at(&self, link: usize) -> Time {
        let quiet_at = self.activity.quiet_at();
        let link = &self.links[link];
        let due = link.timeout(None);
        if due <= quiet_at {
            return due;
        }
        link.timeout(Some(self.config.keepalive)).max(quiet_at)
    }

    /// Whether silence of a link matters: it is in use, or packets are still in flight on it.
    fn is_watched(&self, link: usize) -> bool {
        !self.terms[link].standby || !self.retransmit_buffers[link].is_empty()
    }

    /// When the search for the path MTU of a link goes on: not of a silent link, and not in a quiet tunnel.
    fn probing_at(&self, link: usize) -> Option<Time> {
        let at = self.path_mtus[link].poll_timeout()?;
        let is_of_use = at <= self.activity.packet_at() + PROBED_FOR;
        (is_of_use && self.is_in_use(link) && !self.links[link].suspected()).then_some(at)
    }

    /// When a link is to be pinged, counts as late, sends its packet train, or has its path MTU probed.
    fn link_due_at(&self, number: usize, shares: bool) -> Time {
        let link = &self.links[number];
        let mut due = self.probing_at(number).unwrap_or(Time::MAX);
        if self.is_watched(number) {
            if self.up[number] {
                due = due.min(self.ask_at(number));
            }
            due = due.min(link.late_at().unwrap_or(Time::MAX));
        }
        match link.train_at() {
            Some(at) if shares && self.is_in_use(number) => due.min(at),
            _ => due,
        }
    }

    /// When [`handle_timeout`](Sender::handle_timeout) or [`poll_transmit`](Sender::poll_transmit) is to be
    /// called next without anything having happened. It may change after each call of the others.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let shares = self.shares();
        let links = (0..self.links.len()).map(|link| self.link_due_at(link, shares));
        let of_links = links.min().filter(|at| *at < Time::MAX);
        let room = || {
            let usable = self.usable.iter();
            usable.filter_map(|&link| self.links[link].room_at())
        };
        let sending = match (self.queue.is_empty(), self.scheduling.waited_for()) {
            _ if !self.repairs.is_empty() => room().min(),
            (true, _) => None,
            (false, _) if self.scheduling.ask_at().is_some() => self.scheduling.ask_at(),
            (false, Some(link)) => self.links[link].room_at(),
            (false, None) => room().filter(|at| self.scheduling.is_news(*at)).min(),
        };
        let copied = self
            .usable
            .iter()
            .filter(|&&link| self.copies.waits_for(link));
        let copying = copied.filter_map(|&link| self.links[link].room_at()).min();
        let due = [of_links, sending, copying, self.urgent_at()];
        due.into_iter().flatten().min()
    }
}
