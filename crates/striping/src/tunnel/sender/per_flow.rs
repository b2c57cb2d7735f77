//! Flows that keep to one link each.
//!
//! A flow with a congestion control of its own, such as QUIC, takes reordering for loss, and the queue of a slow
//! link for congestion. So all its packets use one link, at once: neither queue nor rate control of the tunnel
//! delays them, and the flow's own congestion control finds the link's rate.
//!
//! A new flow gets the link with the highest known rate per flow, and of nearly equal ones the quickest. It moves
//! when its link fails, and when another link is clearly better while the flow fills its own.

use std::collections::VecDeque;

use ropewalk_quantities::{Rate, Time};
use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing};

use super::Sender;
use crate::tunnel::lanes::LANES;
use crate::tunnel::sender_types::Transmit;

/// Links of at least this fraction of the best rate are compared by delay.
const NEARLY: f64 = 0.8;
/// Another link is clearly better if its rate is this many times the flow's own.
const CLEARLY: f64 = 1.5;
/// Least interval of comparisons with other links, and the same in round trips.
const MIN_INTERVAL: Time = Time::from_secs(1);
const ROUND_TRIPS: u64 = 4;
/// A queue of the flow's own: the smoothed round trip exceeds the least one by this factor and this time.
const QUEUED_GAIN: f64 = 1.5;
const QUEUED: Time = Time::from_millis(5);
/// Time for which a flow stays after a move; it doubles with each move.
const FIRST_STAY: Time = Time::from_secs(2);
const MAX_STAY: Time = Time::from_secs(60);
/// A flow that has sent nothing for this long does not count as one of its link.
const ACTIVE: Time = Time::from_secs(2);
/// Most bytes that wait for the driver, as while a client's rate delays them.
const MAX_READY: u64 = 256 * 1024;
/// Rate of a link that has not been measured.
const UNKNOWN: Rate = Rate::from_bps(1_000_000);

/// The link of each flow, and its packets that are to be sent now.
#[derive(Debug)]
pub(super) struct FlowLinks<P> {
    /// By lane; empty before the first flow.
    flows: Vec<Option<FlowLink>>,
    ready: VecDeque<Transmit<P>>,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct FlowLink {
    link: usize,
    used_at: Time,
    /// Start of the present comparison, the flow's bytes since then, and the link's losses before.
    since: Time,
    bytes: u64,
    lost: u64,
    stays_until: Time,
    stay: Time,
}

impl<P> Default for FlowLinks<P> {
    fn default() -> FlowLinks<P> {
        FlowLinks {
            flows: Vec::new(),
            ready: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<P> FlowLinks<P> {
    fn flow(&self, lane: u8) -> Option<FlowLink> {
        self.flows.get(usize::from(lane)).copied().flatten()
    }

    /// Returns the bytes and the packets that wait for the driver.
    pub(super) fn waiting(&self) -> (u64, usize) {
        (self.bytes, self.ready.len())
    }

    /// Drops all packets that wait for the driver; returns their number.
    pub(super) fn clear(&mut self) -> u64 {
        self.bytes = 0;
        let dropped = self.ready.len() as u64;
        self.ready = VecDeque::new();
        dropped
    }

    fn push(&mut self, packet: Transmit<P>) {
        self.bytes += u64::from(packet.bytes);
        self.ready.push_back(packet);
    }

    fn pop(&mut self) -> Option<Transmit<P>> {
        let first = self.ready.pop_front()?;
        self.bytes -= u64::from(first.bytes);
        Some(first)
    }

    fn add_bytes(&mut self, lane: u8, bytes: u32) {
        if let Some(Some(flow)) = self.flows.get_mut(usize::from(lane)) {
            flow.bytes += u64::from(bytes);
        }
    }

    fn set(&mut self, lane: u8, flow: FlowLink) {
        self.flows.resize(LANES, None);
        self.flows[usize::from(lane)] = Some(flow);
    }

    /// Returns the number of active flows on each link, without that of a lane.
    fn others(&self, now: Time, lane: u8, links: usize) -> Vec<u32> {
        let mut counts = vec![0; links];
        let flows = self.flows.iter().enumerate();
        let others = flows.filter(|(other, _)| *other != usize::from(lane));
        for flow in others.filter_map(|(_, flow)| flow.as_ref()) {
            if now < flow.used_at + ACTIVE
                && let Some(count) = counts.get_mut(flow.link)
            {
                *count += 1;
            }
        }
        counts
    }
}

impl<P: Clone> Sender<P> {
    /// Gives a packet of a flow to the flow's link. Returns false, and drops it, if no link may carry it, or too
    /// many packets wait for the driver.
    pub(super) fn enqueue_on_link(&mut self, now: Time, packet: P, bytes: u32, lane: u8) -> bool {
        let has_room = self.flow_links.bytes + u64::from(bytes) <= MAX_READY;
        let link = match has_room && !self.is_peer_gone(now) {
            true => self.link_of_flow(now, lane),
            false => None,
        };
        let link = link.filter(|&link| self.links.controls[link].allowed_at() <= now);
        let Some(link) = link else {
            self.counters.dropped += 1;
            return false;
        };
        self.flow_links.add_bytes(lane, bytes);
        self.counters.packets += 1;
        self.unanswered.get_or_insert(now);
        self.on_packet(now, bytes);
        let sequencing = Sequencing {
            lane: 0,
            sequence: self.lanes.next(0),
            delivery: Delivery::AtOnce,
        };
        self.flow_links.push(Transmit {
            link,
            sequencing,
            packet,
            bytes,
        });
        true
    }

    /// Returns the next packet of a flow with a link of its own. Packets whose link has failed meanwhile are
    /// dropped.
    pub(super) fn poll_flow_links(&mut self) -> Option<Transmit<P>> {
        while let Some(next) = self.flow_links.pop() {
            if self.links.states[next.link].is_available {
                return Some(next);
            }
            self.counters.dropped += 1;
        }
        None
    }

    /// Returns one more such packet for a datagram on this link, if the next one has at most `most` bytes.
    pub(super) fn poll_more_of_flow_links(
        &mut self,
        link: usize,
        most: u32,
    ) -> Option<Transmit<P>> {
        let next = self.flow_links.ready.front()?;
        let fits = next.link == link && next.bytes <= most;
        fits.then(|| self.flow_links.pop()).flatten()
    }

    fn link_of_flow(&mut self, now: Time, lane: u8) -> Option<usize> {
        let before = self.flow_links.flow(lane);
        let is_usable = |flow: &FlowLink| self.is_responsive_within_skew(flow.link);
        let mut flow = match before.filter(is_usable) {
            Some(flow) => flow,
            None => {
                let link = self.best_link(now, lane)?;
                FlowLink {
                    link,
                    used_at: now,
                    since: now,
                    bytes: 0,
                    lost: self.lost(link),
                    stays_until: now,
                    stay: before.map_or(FIRST_STAY, |before| before.stay),
                }
            }
        };
        flow.used_at = now;
        let interval = MIN_INTERVAL.max(self.links.states[flow.link].round_trip * ROUND_TRIPS);
        if now >= flow.since + interval {
            if now >= flow.stays_until
                && let Some(link) = self.clearly_better(now, lane, &flow)
            {
                flow.link = link;
                flow.stays_until = now + flow.stay;
                flow.stay = (flow.stay * 2).min(MAX_STAY);
            }
            flow.since = now;
            flow.bytes = 0;
            flow.lost = self.lost(flow.link);
        }
        self.flow_links.set(lane, flow);
        Some(flow.link)
    }

    fn is_responsive_within_skew(&self, link: usize) -> bool {
        self.links.states[link].is_responsive && self.within_skew.contains(&link)
    }

    fn lost(&self, link: usize) -> u64 {
        self.links.controls[link].link_sender().counts().1
    }

    /// Returns the rate that a link has for one more flow besides `others`, in bits per second.
    fn rate_for(&self, link: usize, others: &[u32]) -> f64 {
        let rate = self.links.states[link].estimate.rate;
        let rate = if rate.as_bps() > 0 { rate } else { UNKNOWN };
        let limit = self.links.terms[link].rate;
        let rate = limit.map_or(rate, |limit| rate.min(limit));
        rate.as_bps() as f64 / f64::from(1 + others[link])
    }

    /// Returns the link with the highest rate for a flow, or a quicker one that is nearly as fast.
    fn best_link(&self, now: Time, lane: u8) -> Option<usize> {
        let others = self.flow_links.others(now, lane, self.links.len());
        let links = self.within_skew.iter().copied();
        let usable = links.filter(|&link| self.links.states[link].is_available);
        let rates = usable.map(|link| (link, self.rate_for(link, &others)));
        let rates: Vec<(usize, f64)> = rates.collect();
        let best = rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        let nearly = rates.into_iter().filter(|(_, rate)| *rate >= NEARLY * best);
        let quickest = nearly.min_by_key(|(link, _)| self.links.states[*link].round_trip);
        quickest.map(|(link, _)| link)
    }

    /// Returns a link that is clearly better for a flow than its own, if the flow fills its own.
    fn clearly_better(&self, now: Time, lane: u8, flow: &FlowLink) -> Option<usize> {
        let control = &self.links.controls[flow.link];
        let least = control.round_trip();
        let smoothed = control.smoothed().unwrap_or(least);
        let is_queued =
            smoothed.as_secs_f64() > QUEUED_GAIN * least.as_secs_f64() + QUEUED.as_secs_f64();
        let is_limited = control.allowed_at() > now;
        if !is_limited && !is_queued && self.lost(flow.link) == flow.lost {
            return None;
        }
        let own = (flow.bytes * 8) as f64 / now.saturating_sub(flow.since).as_secs_f64().max(1e-3);
        let best = self.best_link(now, lane)?;
        let others = self.flow_links.others(now, lane, self.links.len());
        let is_better = best != flow.link && self.rate_for(best, &others) > CLEARLY * own;
        is_better.then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::flow::{Class, Flow};
    use crate::tunnel::{Feedback, Scheduler, SenderConfig};

    const MS: fn(u64) -> Time = Time::from_millis;
    const PACKET: u32 = 1400;

    fn sender(links: usize) -> Sender<u32> {
        let mut sender = Sender::new(SenderConfig {
            scheduler: Scheduler::PerFlow,
            ..SenderConfig::default()
        });
        (0..links).for_each(|_| _ = sender.add_link(MS(0)));
        sender
    }

    fn flow(lane: u8) -> Flow {
        Flow {
            lane,
            class: Class::InStep,
        }
    }

    /// Sends a packet of a flow; returns its link.
    fn send(sender: &mut Sender<u32>, now: Time, lane: u8) -> Option<usize> {
        sender.enqueue(now, 7, PACKET, flow(lane)).then_some(())?;
        let sent = sender.poll_transmit(now)?;
        assert_eq!(sent.sequencing.delivery, Delivery::AtOnce);
        sender.send(now, sent.link, sent.bytes + 68);
        Some(sent.link)
    }

    #[test]
    fn packets_of_a_flow_use_one_link_however_much_is_in_flight() {
        let mut sender = sender(3);
        let first = send(&mut sender, MS(1), 5).unwrap();
        for number in 0..2000 {
            assert_eq!(send(&mut sender, MS(1 + number / 100), 5), Some(first));
        }
        assert_eq!(sender.backlog().0, 0);
    }

    #[test]
    fn flows_are_spread_over_equal_links() {
        let mut sender = sender(2);
        let links = [5, 6, 7, 8].map(|lane| send(&mut sender, MS(1), lane).unwrap());
        let on_first = links.iter().filter(|&&link| link == 0).count();
        assert_eq!(on_first, 2, "{links:?}");
    }

    #[test]
    fn flow_moves_when_its_link_fails() {
        let mut sender = sender(2);
        let first = send(&mut sender, MS(1), 5).unwrap();
        sender.set_up(first, false);
        let second = send(&mut sender, MS(2), 5).unwrap();
        assert_ne!(first, second);
        sender.set_up(second, false);
        assert_eq!(send(&mut sender, MS(3), 5), None);
        // It does not return for a link that is no better.
        sender.set_up(first, true);
        sender.set_up(second, true);
        let third = send(&mut sender, MS(4), 5).unwrap();
        assert_eq!(send(&mut sender, MS(5), 5), Some(third));
    }

    /// Reports all datagrams so far as arrived, `late` after the least delay.
    fn report(sender: &mut Sender<u32>, now: Time, link: usize) {
        let status = sender.link(link);
        let feedback = Feedback {
            link: link as u8,
            highest: status.datagrams - 1,
            received: status.datagrams,
            bytes: status.bytes,
            clock: (now.as_nanos() / 1000) as u32,
            ..Feedback::default()
        };
        sender.on_heard(now, link);
        sender.on_feedback(now, &feedback);
    }

    #[test]
    fn packets_for_a_driver_that_takes_none_are_bounded() {
        let mut sender = sender(2);
        let taken = (0..1000).filter(|_| sender.enqueue(MS(1), 7, PACKET, flow(5)));
        assert_eq!(taken.count() as u64, MAX_READY / u64::from(PACKET));
        assert!(sender.backlog().0 <= MAX_READY);
    }

    #[test]
    fn flow_that_does_not_fill_its_link_stays() {
        let mut sender = sender(2);
        let first = send(&mut sender, MS(1), 5).unwrap();
        for step in 1..400 {
            assert_eq!(send(&mut sender, MS(step * 25), 5), Some(first));
            report(&mut sender, MS(step * 25 + 10), first);
        }
    }
}
