//! Choice of the link for the next packet of the queue.

use ropewalk_quantities::{Time, named};
use ropewalk_transport::SubflowState;
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;
use ropewalk_transport::scheduling::redundant::RedundantConfig;
use ropewalk_transport::scheduling::round_robin::{RoundRobinConfig, RoundRobinCursor};
use ropewalk_transport::scheduling::weighted::{WeightedConfig, WeightedCredits};
use ropewalk_transport::scheduling::{
    Choice, PacketScheduler, Pending, Scheduler as _, SubflowSet,
};
use ropewalk_wire::gateway::tunnel::LinkTerms;

use super::rate_control::RateControl;

named! {
    /// Schedulers of the tunnel.
    #[derive(Default)]
    pub enum Scheduler {
        /// Round-robin; a packet is queued for the link whose turn it is. The device of song-2018 does not
        /// wait: [`Sender::transmit_at_once`](super::Sender::transmit_at_once).
        RoundRobin = RoundRobinConfig::DESCRIPTION.name,
        /// In proportion to the links' rates; a packet is queued for the link whose turn it is.
        Weighted = WeightedConfig::DESCRIPTION.name,
        /// Of the links with room, the one that would deliver first.
        #[default]
        EarliestArrival = EarliestArrivalConfig::DESCRIPTION.name,
        /// As `EarliestArrival`, with copies on all other links.
        Redundant = RedundantConfig::DESCRIPTION.name,
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Backlog {
    pub(super) next: u64,
    pub(super) waiting: u64,
    pub(super) room: u64,
    pub(super) taken: u64,
}

#[derive(Debug)]
pub(super) struct Scheduling {
    pub(super) reserved_link: Option<usize>,
    turns: RoundRobinCursor,
    shares: WeightedCredits,
    /// One of the transport's schedulers, in place of the tunnel's own; the links as subflows, and when it
    /// asked to be called again.
    pub(super) other: Option<PacketScheduler>,
    table: Vec<SubflowState>,
    /// Returns when to call a scheduler that preferred to wait, even without new room.
    pub(super) call_again_at: Option<Time>,
    /// When it last refused links with room.
    refused_at: Option<Time>,
}

impl Default for Scheduling {
    fn default() -> Scheduling {
        Scheduling {
            reserved_link: None,
            // As if the first link had just been used.
            turns: RoundRobinCursor::after(0),
            shares: WeightedCredits::default(),
            other: None,
            table: Vec::new(),
            call_again_at: None,
            refused_at: None,
        }
    }
}

impl Scheduling {
    /// Returns the link for the next packet, among the `usable` of all links; `None` if the packet stays
    /// queued.
    pub(super) fn pick(
        &mut self,
        scheduler: Scheduler,
        now: Time,
        backlog: &Backlog,
        usable: &[usize],
        links: &[RateControl],
        terms: &[LinkTerms],
    ) -> Option<usize> {
        if self.other.is_some() {
            let link = self.choose_by_transport(now, backlog, usable, links, terms);
            self.refused_at = link.is_none().then_some(now);
            return link;
        }
        if let Scheduler::EarliestArrival | Scheduler::Redundant = scheduler {
            let ready = usable
                .iter()
                .copied()
                .filter(|&link| links[link].has_room(now));
            return ready.min_by_key(|&link| links[link].arrival(now, backlog.next));
        }
        let reserved_link = self.reserved_link.filter(|link| usable.contains(link));
        let link = match (reserved_link, scheduler) {
            (Some(link), _) => link,
            (None, Scheduler::RoundRobin) => self
                .turns
                .next(links.len(), |link| usable.contains(&link))?,
            (None, _) => self.next_by_rate(usable, links)?,
        };
        let ready = links[link].has_room(now);
        self.reserved_link = (!ready).then_some(link);
        ready.then_some(link)
    }

    /// Whether room at this time is new to a scheduler that preferred to wait.
    pub(super) fn is_news(&self, room_at: Time) -> bool {
        self.refused_at.is_none_or(|refused| room_at > refused)
    }

    fn next_by_rate(&mut self, usable: &[usize], links: &[RateControl]) -> Option<usize> {
        // Unknown links count as equal. Of equal links the last goes first.
        let weight = |link: usize| (links[link].rate().as_bps() / 1000).max(100) as f64;
        let weights = usable.iter().rev().map(|&link| (link, weight(link)));
        self.shares.next(links.len(), weights).map(|(link, _)| link)
    }

    fn choose_by_transport(
        &mut self,
        now: Time,
        backlog: &Backlog,
        usable: &[usize],
        links: &[RateControl],
        terms: &[LinkTerms],
    ) -> Option<usize> {
        self.call_again_at = None;
        self.table.clear();
        self.table
            .extend(links.iter().enumerate().map(|(link, control)| {
                let link_sender = control.link_sender();
                let room = if control.has_room(now) {
                    backlog.next
                } else {
                    0
                };
                SubflowState {
                    usable: usable.contains(&link),
                    mss: backlog.next,
                    cwnd: link_sender.in_flight() + room,
                    in_flight: link_sender.in_flight(),
                    assigned: link_sender.sent_bytes(),
                    acknowledged: link_sender.arrived_bytes(),
                    srtt: control.smoothed().unwrap_or(Time::ZERO),
                    min_rtt: control
                        .smoothed()
                        .map_or(Time::MAX, |_| control.round_trip()),
                    delivery_rate: control.rate().as_bps() as f64 / 8.0,
                    cost: terms[link].cost,
                    priority: terms[link].priority,
                    ..SubflowState::default()
                }
            }));
        let pending = Pending {
            now,
            unsent: backlog.waiting,
            window: u64::MAX,
            window_size: backlog.room,
            written: backlog.taken,
            acknowledged: self.table.iter().map(|link| link.acknowledged).sum(),
            deadline: None,
            left_of_write: 0,
            changed: SubflowSet::ALL,
        };
        let ready = |link: &usize| usable.contains(link) && links[*link].has_room(now);
        match self.other.as_mut()?.choose(&pending, &self.table) {
            Choice::Send(link) | Choice::Assign(link) => Some(link).filter(ready),
            Choice::SendOn(several) => several.iter().find(ready),
            Choice::WaitUntil(time) if time > now => {
                self.call_again_at = Some(time);
                None
            }
            // With nothing in flight, no event would change the scheduler's choice.
            Choice::Wait | Choice::WaitUntil(_) => {
                let idle = links.iter().all(|link| link.link_sender().in_flight() == 0);
                usable.iter().copied().filter(|_| idle).find(ready)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Backlog = Backlog {
        next: 1000,
        waiting: 1000,
        room: 100_000,
        taken: 1000,
    };

    fn links(count: usize) -> Vec<RateControl> {
        vec![RateControl::new(Time::ZERO); count]
    }

    fn pick(
        scheduling: &mut Scheduling,
        scheduler: Scheduler,
        usable: &[usize],
        links: &[RateControl],
    ) -> Option<usize> {
        let terms = vec![LinkTerms::default(); links.len()];
        scheduling.pick(scheduler, Time::ZERO, &PACKET, usable, links, &terms)
    }

    #[test]
    fn round_robin_cycles_through_usable_links() {
        let (mut scheduling, links) = (Scheduling::default(), links(4));
        let mut pick = |usable: &[usize]| {
            super::tests::pick(&mut scheduling, Scheduler::RoundRobin, usable, &links).unwrap()
        };
        assert_eq!([(); 4].map(|()| pick(&[0, 1, 3])), [1, 3, 0, 1]);
        assert_eq!([(); 3].map(|()| pick(&[0, 2])), [2, 0, 2]);
    }

    #[test]
    fn fixed_turn_schedulers_wait_for_their_link() {
        let (mut scheduling, mut links) = (Scheduling::default(), links(2));
        while links[1].has_room(Time::ZERO) {
            links[1].send(Time::ZERO, 1500, true);
        }
        for scheduler in [Scheduler::RoundRobin, Scheduler::Weighted] {
            let picks = [(); 2].map(|()| pick(&mut scheduling, scheduler, &[0, 1], &links));
            assert!(picks.contains(&None), "{scheduler:?}: {picks:?}");
        }
        let earliest = pick(&mut scheduling, Scheduler::EarliestArrival, &[0, 1], &links);
        assert_eq!(earliest, Some(0));
    }
}
