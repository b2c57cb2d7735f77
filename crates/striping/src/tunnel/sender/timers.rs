//! Timers of the sender: keepalive, packet trains, probes of the path MTU, and queued packets.

use ropewalk_quantities::Time;

use super::Sender;
use crate::tunnel::queue_limit;
use crate::tunnel::scheduler::Scheduler;
use crate::tunnel::sender_types::Ping;
use crate::tunnel::train;

impl<P: Clone> Sender<P> {
    /// Handles timers at the time of [`poll_timeout`](Sender::poll_timeout); returns pings for keepalive,
    /// packet trains and probes of the path MTU.
    pub fn handle_timeout(&mut self, now: Time) -> Vec<Ping> {
        if self.is_peer_gone(now) {
            self.drop_for_silent_peer();
        }
        let mut pings = Vec::new();
        let keepalive = self.config.keepalive;
        if self.links.first_due(&self.activity, keepalive).action_at <= now {
            for number in 0..self.links.len() {
                let due = self.links.due(number, &self.activity, keepalive);
                if due.action_at <= now {
                    self.act_on(now, number, due.ping_at, &mut pings);
                }
            }
        }
        self.update_usable();
        pings
    }

    fn act_on(&mut self, now: Time, number: usize, ping_at: Time, pings: &mut Vec<Ping>) {
        let shares = self.links.has_several();
        let others = self.usable.iter().any(|&other| other != number);
        let is_watched = self.links.is_watched(number);
        let may_send = self.links.is_in_use(number);
        let link = self.links.change(number);
        let was_suspected = link.control.suspected();
        let is_due = *link.is_up && is_watched && link.control.poll_ping(now, ping_at);
        if is_due && may_send {
            pings.push(Ping::keepalive(number));
        }
        let is_train = shares && may_send && link.control.poll_train(now);
        if is_train && !self.config.naive {
            pings.extend((0..train::LENGTH).map(|_| Ping::of_train(number)));
        }
        let late = is_watched && link.control.is_late(now) && others;
        if late {
            link.control.suspend();
        }
        if link.control.suspected() && !was_suspected || late {
            let given_up = link.buffer.give_up();
            // The redundant mode sends copies on the other links anyway.
            if !others || self.config.scheduler != Scheduler::Redundant {
                given_up.for_each(|packet| self.repairs.push(packet));
            }
        }
        if !self.links.is_probed(number, &self.activity) {
            return;
        }
        let link = self.links.change(number);
        if link.path_mtu.handle_timeout(now) {
            link.control.forgive_loss();
        }
        while let Some(probe) = link.path_mtu.poll_probe(now) {
            pings.push(Ping {
                link: number,
                token: probe.token,
                bytes: probe.bytes,
                in_fragments: probe.in_fragments,
            });
        }
    }

    /// Returns when to call [`handle_timeout`](Sender::handle_timeout) or
    /// [`poll_transmit`](Sender::poll_transmit) if nothing happens before. It may change after each call of
    /// the others.
    #[must_use]
    pub fn poll_timeout(&mut self) -> Option<Time> {
        let of_links = (self.links).first_due(&self.activity, self.config.keepalive);
        let controls = &self.links.controls;
        let room = || {
            let usable = self.usable.iter();
            usable.filter_map(|&link| controls[link].room_at())
        };
        let sending = match (self.queue.is_empty(), self.scheduling.reserved_link) {
            _ if !self.repairs.is_empty() => room().min(),
            (true, _) => None,
            (false, _) if self.scheduling.call_again_at.is_some() => self.scheduling.call_again_at,
            (false, Some(link)) => controls[link].room_at(),
            (false, None) => room().filter(|at| self.scheduling.is_news(*at)).min(),
        };
        let copied = self.copies.links_with_copies(&self.usable);
        let copying = copied.filter_map(|link| controls[link].room_at()).min();
        let of_links = Some(of_links.at).filter(|at| *at < Time::MAX);
        let due = [
            of_links,
            sending,
            copying,
            self.urgent_at(),
            self.drops_at(),
        ];
        due.into_iter().flatten().min()
    }

    /// Returns when packets for a silent peer are dropped, if the queue is longer than allowed then.
    fn drops_at(&self) -> Option<Time> {
        let drops = self.queue.bytes > queue_limit::MIN || self.keeps_packets();
        self.peer_gone_at().filter(|_| drops)
    }
}
