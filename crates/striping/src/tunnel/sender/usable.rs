//! Which links may carry packets, and the bound of the queue.

use ropewalk_quantities::{Rate, Time};

use super::super::lanes::THIN;
use super::super::queue_limit::CombinedLink;
use super::{RateControl, Scheduler, Sender};

/// A thin connection has at most this part of the quickest link's rate.
const THIN_SHARE: u64 = 8;

impl<P: Clone> Sender<P> {
    /// Whether packets go by the link that delivers them first; other schedulers have their own order.
    fn goes_by_arrival(&self) -> bool {
        self.config.scheduler == Scheduler::EarliestArrival && !self.scheduling.follows_other()
    }

    /// Whether packets of thin connections go before others by the quickest link: they are next to nothing of
    /// what it carries, as far as is known.
    pub(super) fn favours_thin_connections(&self, now: Time) -> bool {
        let quickest = self.quickest(now, u64::from(THIN));
        let is_slow = quickest.is_none_or(|link| {
            let estimate = self.links.controls()[link].estimate();
            estimate.known && estimate.rate.as_bps() < THIN_SHARE * 8 * u64::from(THIN)
        });
        self.goes_by_arrival() && !is_slow
    }

    /// Selects the links that are worth their delay; schedulers that take fixed turns use all.
    pub(super) fn weigh(&mut self, now: Time) {
        if self.goes_by_arrival() {
            let busy = self.queue.bytes() > self.queue_limit.bytes() / 4;
            let links = &self.links;
            let controls = links.controls();
            let used = self.usable.iter();
            let slowest = used.map(|&link| controls[link].estimate().delay).max();
            let slowest = slowest.unwrap_or(Time::ZERO);
            self.demand
                .note(now, self.taken, self.queue.bytes(), slowest);
            let in_flight = self.demand.in_flight();
            let could = (0..links.len()).filter(|&link| links.is_able(link));
            let estimates = could.map(|link| (link, controls[link].estimate()));
            self.selection.weigh(now, busy, in_flight, estimates);
        }
    }

    /// Updates which links may carry packets, and the bound of the queue.
    pub(super) fn reconsider(&mut self) {
        let now = self.activity.packet_at();
        if self.links.take_changed() {
            self.find_able();
            let combined = self.combined();
            if self.queue_limit.follow(now, &self.usable, combined) {
                self.counters.dropped += self.queue.cut(self.queue_limit.bytes());
            }
            // The bound counts links that are left out too: only with a queue as long as their delay is there
            // more in flight than the others carry.
            let left_out = |link: &usize| self.selection.leaves_out(*link);
            if !self.usable.iter().all(left_out) {
                self.usable.retain(|link| !self.selection.leaves_out(*link));
            }
        } else {
            self.queue_limit.go_on(now);
        }
        let wire = self.wire();
        if let Some(before) = self.wire.filter(|_| self.wire != wire) {
            let control = &self.links.controls()[before];
            let has_died = !self.links.is_up(before) || control.suspected();
            self.lanes.end_wire(has_died);
        }
        self.wire = wire;
        for link in 0..self.links.len() {
            let is_wire = wire == Some(link);
            if self.links.controls()[link].is_wire() != is_wire {
                self.links.change(link).control.set_wire(is_wire);
            }
        }
    }

    /// Finds the links that could carry packets, worth their delay or not.
    fn find_able(&mut self) {
        let (links, usable) = (&self.links, &mut self.usable);
        let all = 0..links.len();
        usable.clear();
        usable.extend(all.clone().filter(|&link| links.is_able(link)));
        if usable.is_empty() {
            // Urgent packets serve as pings.
            usable.extend(all.filter(|&link| links.is_there(link)));
        }
        let controls = links.controls();
        let delay = |link: usize| controls[link].round_trip() / 2;
        let known = |link: &usize| controls[*link].smoothed().is_some();
        let least = usable.iter().copied().filter(known).map(delay).min();
        if let Some(least) = least {
            let most = least + self.config.skew;
            usable.retain(|&link| delay(link) <= most);
        }
    }

    /// The usable links, taken as one.
    fn combined(&self) -> CombinedLink {
        let controls = self.links.controls();
        let links = self.usable.iter().map(|&link| &controls[link]);
        let heard = links.clone().filter(|link| link.smoothed().is_some());
        CombinedLink {
            rate: Rate::from_bps(links.clone().map(|link| link.rate().as_bps()).sum()),
            round_trip: heard
                .map(RateControl::round_trip)
                .max()
                .unwrap_or(Time::ZERO),
            known: links.clone().all(RateControl::knows_its_rate),
        }
    }

    /// The link to use as a wire, once no packet of a flow is in flight on another: what is sent on it then
    /// cannot arrive before what was sent earlier.
    fn wire(&self) -> Option<usize> {
        let &[link] = &self.usable[..] else {
            return None;
        };
        let mut others = self.links.buffers().iter().enumerate();
        let others_in_use =
            (0..self.links.len()).any(|other| other != link && self.is_in_use(other));
        let only = !others_in_use && self.terms(link).rate.is_none();
        let settled = others.all(|(other, buffer)| other == link || buffer.is_empty());
        // On a link that loses without congestion, retransmission by the tunnel is better.
        let is_wire =
            self.goes_by_arrival() && settled && only && !self.links.controls()[link].is_lossy();
        is_wire.then_some(link)
    }
}
