//! Links that may carry packets, and the limit of the queue.

use ropewalk_quantities::{Rate, Time};

use super::super::lanes::THIN;
use super::super::queue_limit::CombinedLink;
use super::links::LinkState;
use super::{Scheduler, Sender};

/// A thin connection has at most this part of the quickest link's rate.
const THIN_SHARE: u64 = 8;

impl<P: Clone> Sender<P> {
    /// Whether packets use the link that delivers them first; other schedulers have their own order.
    pub(super) fn uses_first_arrival(&self) -> bool {
        self.config.scheduler == Scheduler::EarliestArrival && self.scheduling.other.is_none()
    }

    /// Whether packets of thin connections go before others by the quickest link, since they are a small part
    /// of its known rate.
    pub(super) fn favours_thin_connections(&self, now: Time) -> bool {
        let usable = self.usable.iter().copied();
        let links = &self.links.controls;
        let quickest = usable.min_by_key(|&link| links[link].urgent_rank(now, u64::from(THIN)));
        let is_slow = quickest.is_none_or(|link| {
            let estimate = links[link].estimate();
            estimate.known && estimate.rate.as_bps() < THIN_SHARE * 8 * u64::from(THIN)
        });
        self.uses_first_arrival() && !is_slow
    }

    /// Selects the links that are worth their delay; schedulers that take fixed turns use all.
    pub(super) fn select(&mut self, now: Time) {
        if self.uses_first_arrival() {
            self.update_estimates();
            let busy = self.queue.bytes > self.queue_limit.bytes / 4;
            let states = &self.links.states;
            let used = self.usable.iter();
            let slowest = used.map(|&link| states[link].estimate.delay).max();
            let slowest = slowest.unwrap_or(Time::ZERO);
            self.demand.note(now, self.taken, self.queue.bytes, slowest);
            if self.selection.select(now, busy, self.demand.in_flight()) {
                self.links.has_changed = true;
            }
        }
    }

    fn update_estimates(&mut self) {
        let selection = &mut self.selection;
        self.links.update_states(|link, state| {
            selection.note(link, state.is_responsive.then_some(state.estimate));
        });
    }

    pub(super) fn update_usable(&mut self) {
        let now = self.activity.packet_at;
        self.update_estimates();
        if std::mem::take(&mut self.links.has_changed) {
            self.find_available();
            let combined = self.combined();
            if self.queue_limit.update(now, &self.usable, combined) {
                self.counters.dropped += self.queue.cut(self.queue_limit.bytes);
            }
            // The limit includes links that are left out. Without a queue as long as their delay, connections
            // never have more in flight than the other links carry, and these would stay out.
            let left_out = |link: &usize| self.selection.leaves_out(*link);
            if !self.usable.iter().all(left_out) {
                self.usable.retain(|link| !self.selection.leaves_out(*link));
            }
        } else {
            self.queue_limit.tick(now);
        }
        let passthrough = self.passthrough();
        if let Some(before) = self.passthrough.filter(|_| self.passthrough != passthrough) {
            let control = &self.links.controls[before];
            let has_died = !self.links.is_up(before) || control.suspected();
            self.lanes.end_passthrough(has_died);
            self.set_passthrough(before, false);
        }
        self.passthrough = passthrough;
        if let Some(passthrough) = passthrough {
            self.set_passthrough(passthrough, true);
        }
    }

    fn set_passthrough(&mut self, link: usize, is_passthrough: bool) {
        if self.links.controls[link].is_passthrough != is_passthrough {
            self.links
                .change(link)
                .control
                .set_passthrough(is_passthrough);
        }
    }

    fn find_available(&mut self) {
        let (states, usable) = (&self.links.states, &mut self.usable);
        let all = 0..states.len();
        usable.clear();
        usable.extend(all.clone().filter(|&link| states[link].is_responsive));
        if usable.is_empty() {
            // Urgent packets serve as pings.
            usable.extend(all.filter(|&link| states[link].is_available));
        }
        // Feedback about a slow link returns by the quickest one, so its one-way delay is not half of its
        // round trip. Round trips count as well, since a clock may jump.
        let heard = usable.iter().map(|&link| &states[link]);
        let mut heard = heard.filter(|state| state.is_heard);
        let Some(first) = heard.next() else {
            return;
        };
        let beyond =
            |state: &LinkState| i64::from(state.one_way.wrapping_sub(first.one_way) as i32);
        let (mut least, mut least_round_trip) = (0, first.round_trip);
        for state in heard {
            least = least.min(beyond(state));
            least_round_trip = least_round_trip.min(state.round_trip);
        }
        let skew = self.config.skew;
        usable.retain(|&link| {
            let state = &states[link];
            let delay = Time::from_micros((beyond(state) - least).unsigned_abs());
            let round_trip = state.round_trip.saturating_sub(least_round_trip);
            !state.is_heard || delay.min(round_trip) <= skew
        });
    }

    fn combined(&self) -> CombinedLink {
        let states = &self.links.states;
        let links = self.usable.iter().map(|&link| &states[link]);
        let heard = links.clone().filter(|link| link.is_heard);
        CombinedLink {
            rate: Rate::from_bps(links.clone().map(|link| link.estimate.rate.as_bps()).sum()),
            round_trip: heard
                .map(|link| link.round_trip)
                .max()
                .unwrap_or(Time::ZERO),
            known: links.clone().all(|link| link.knows_its_rate),
        }
    }

    /// Returns the link to use as a pass-through link, once no packet of a flow is in flight on another:
    /// otherwise later packets could overtake earlier ones.
    fn passthrough(&self) -> Option<usize> {
        let &[link] = &self.usable[..] else {
            return None;
        };
        let mut others = self.links.buffers.iter().enumerate();
        let others_in_use =
            (0..self.links.len()).any(|other| other != link && self.is_in_use(other));
        let only = !others_in_use && self.terms(link).rate.is_none();
        let settled = others.all(|(other, buffer)| other == link || buffer.is_empty());
        // On a link that loses without congestion, retransmission by the tunnel is better.
        let is_passthrough =
            self.uses_first_arrival() && settled && only && !self.links.controls[link].is_lossy();
        is_passthrough.then_some(link)
    }
}
