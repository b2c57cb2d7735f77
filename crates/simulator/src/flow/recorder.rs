//! Measurements of a flow during a run.

use std::collections::BTreeSet;

use ropewalk_network::{Direction, LinkId, Medium, Network, RouteId};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Flow, Scenario};

use crate::Options;
use crate::application::Application;
use crate::hosts::Host;
use crate::metrics::{Histogram, Reorder};
use crate::timeline::{ConnectionTimeline, SubflowTimeline, Timeline};
use crate::timeliness::Timeliness;

/// Displacements beyond this count as loss in RFC 5236's densities.
const REORDER_THRESHOLD: u32 = 64;

#[derive(Debug)]
pub(crate) struct FlowRecorder {
    /// Whether its finite transfer was delivered completely.
    pub(crate) complete: bool,
    /// Whether its finite transfer of datagrams has ended, possibly with losses.
    ended: bool,
    pub(crate) delays: Histogram,
    pub(crate) reorder: Option<Reorder>,
    pub(crate) timeline: Option<Timeline>,
    /// Zero before the first delivery.
    pub(crate) last_delivery: Time,
    longest_gap: Time,
    warmup: Time,
    /// Whether its reordering response may undo losses.
    may_undo: bool,
    /// Deadlines of its messages, if they have any.
    pub(crate) timeliness: Option<Timeliness>,
    /// Size of a unit whose delay is measured, and the end of the next one; for bulk transfers.
    unit: u64,
    next_mark: u64,
    previous: Previous,
}

#[derive(Clone, Debug, Default)]
struct Previous {
    time: Time,
    delivered: u64,
    by_subflow: Vec<(u64, u64)>,
}

impl FlowRecorder {
    pub(crate) fn new(scenario: &Scenario, flow: &Flow, options: &Options) -> FlowRecorder {
        let unit = flow.payload().as_u64();
        FlowRecorder {
            complete: false,
            ended: false,
            delays: Histogram::new(),
            reorder: options.reordering.then(|| Reorder::new(REORDER_THRESHOLD)),
            timeline: options.timeline_step.map(|_| Timeline::default()),
            last_delivery: Time::ZERO,
            longest_gap: Time::ZERO,
            warmup: scenario.warmup,
            may_undo: may_undo(flow),
            timeliness: Timeliness::of(&flow.traffic, flow.start, scenario.warmup),
            unit,
            next_mark: unit,
            previous: Previous::default(),
        }
    }

    /// Ends the warm-up: measurements of the order of arrival begin with the packets in flight.
    pub(crate) fn end_warmup(&mut self) {
        if let Some(reorder) = &mut self.reorder {
            *reorder = Reorder::joining(REORDER_THRESHOLD);
        }
    }

    #[inline(always)]
    pub(crate) fn arrival(&mut self, number: u32) {
        if self.reorder.is_some() {
            self.note_order(number);
        }
    }

    /// Not inlined, so that runs without this measurement pay nothing.
    #[inline(never)]
    fn note_order(&mut self, number: u32) {
        if let Some(reorder) = &mut self.reorder {
            reorder.arrival(u64::from(number));
        }
    }

    /// Records data up to `end`, delivered in order; returns whether that completes the transfer.
    #[inline]
    pub(crate) fn delivered(&mut self, now: Time, end: u64, application: &mut Application) -> bool {
        self.longest_gap = self.longest_gap(now).unwrap_or(Time::ZERO);
        self.last_delivery = now;
        if application.has_messages() {
            self.take_messages(now, end, application);
            return false;
        }
        let total = application.total();
        while self.next_mark <= end || total == Some(end) && self.next_mark < end + self.unit {
            if let Some(written) = application.written_at(self.next_mark.min(end))
                && now >= self.warmup
            {
                self.delays.record(now - written);
            }
            self.next_mark += self.unit;
        }
        let completes = total == Some(end) && !self.complete;
        if completes {
            self.complete = true;
            application.release_memory();
        }
        completes
    }

    #[inline(never)]
    fn take_messages(&mut self, now: Time, end: u64, application: &mut Application) {
        while let Some((size, written)) = application.take_message(end) {
            if now >= self.warmup {
                self.delays.record(now - written);
            }
            if let Some(timeliness) = &mut self.timeliness {
                timeliness.arrived(now, size, written);
            }
        }
    }

    pub(crate) fn datagram(&mut self, now: Time, written: Time) {
        self.longest_gap = self.longest_gap(now).unwrap_or(Time::ZERO);
        self.last_delivery = now;
        if now >= self.warmup {
            self.delays.record(now - written);
        }
    }

    /// Ends the transfer of datagrams, `whole` or with losses; returns whether that is new.
    pub(crate) fn end_datagrams(&mut self, whole: bool) -> bool {
        let news = !self.ended;
        self.ended = true;
        self.complete |= whole;
        news
    }

    /// Returns the longest time without a delivery, after the warm-up and the first delivery, up to `end`;
    /// `None` without deliveries.
    #[inline]
    pub(crate) fn longest_gap(&self, end: Time) -> Option<Time> {
        let last = self.last_delivery;
        let gap = end.saturating_sub(last.max(self.warmup));
        (last > Time::ZERO).then(|| self.longest_gap.max(gap))
    }

    /// Adds a row to the timeline, and one per subflow. `held`: playing time in the player's buffer, if
    /// any.
    pub(crate) fn add_rows<P: Copy, M: Medium<P>>(
        &mut self,
        now: Time,
        host: &Host,
        network: &Network<P, M>,
        routes: &[[RouteId; 2]],
        held: Option<Time>,
    ) {
        let Some(timeline) = &mut self.timeline else {
            return;
        };
        if now == self.previous.time {
            return;
        }
        let span = (now - self.previous.time).as_secs_f64();
        let mbps = |bytes: u64| bytes as f64 * 8.0 / span / 1e6;
        let time_s = now.as_secs_f64();
        self.previous.by_subflow.resize(host.subflows(), (0, 0));
        let SubflowTimeline {
            time_s: times,
            subflow: subflows,
            goodput_mbps,
            cwnd_bytes,
            ssthresh_bytes,
            in_flight_bytes,
            srtt_ms,
        } = &mut timeline.subflows;
        for subflow in 0..host.subflows() {
            let state = host.state(subflow);
            let (delivered, undos) = (host.delivered_by(subflow), host.counters(subflow).undone);
            let (delivered_before, undos_before) = self.previous.by_subflow[subflow];
            times.push(time_s);
            subflows.push(subflow as u32);
            goodput_mbps.push(mbps(delivered - delivered_before));
            cwnd_bytes.push(state.cwnd);
            ssthresh_bytes.push(if state.ssthresh == u64::MAX {
                f64::NAN
            } else {
                state.ssthresh as f64
            });
            in_flight_bytes.push(state.in_flight);
            srtt_ms.push(if state.srtt == Time::ZERO {
                f64::NAN
            } else {
                state.srtt.as_millis_f64()
            });
            if self.may_undo {
                timeline.undone.push(undos - undos_before);
            }
            self.previous.by_subflow[subflow] = (delivered, undos);
        }
        let ConnectionTimeline {
            time_s: times,
            goodput_mbps,
            capacity_mbps,
            reorder_buffer_bytes,
            player_buffer_s,
        } = &mut timeline.connection;
        times.push(time_s);
        goodput_mbps.push(mbps(host.delivered() - self.previous.delivered));
        reorder_buffer_bytes.push(host.reorder_buffer());
        player_buffer_s.extend(held.map(Time::as_secs_f64));
        self.previous.delivered = host.delivered();
        let capacity = capacity_between(network, routes, self.previous.time, now);
        capacity_mbps.push(capacity.map_or(f64::NAN, mbps));
        self.previous.time = now;
    }
}

pub(crate) fn may_undo(flow: &Flow) -> bool {
    flow.transport.reordering.name() != "none" && !flow.protocol.is_datagrams()
}

/// Returns the capacity of these routes in this time, by the narrowest link of each; `None` if one is
/// unlimited, wireless, or on two of the routes.
fn capacity_between<P: Copy, M: Medium<P>>(
    network: &Network<P, M>,
    routes: &[[RouteId; 2]],
    from: Time,
    to: Time,
) -> Option<u64> {
    let routes: BTreeSet<RouteId> = routes.iter().map(|[there, _]| *there).collect();
    let mut counted = BTreeSet::new();
    let capacity = |link: LinkId| {
        if !network.is_wired(link) {
            return None;
        }
        let link = network.link(link, Direction::Forward);
        link.capacity_between(from, to).map(Bytes::as_u64)
    };
    let mut narrowest = |route: RouteId| {
        let hops = network.route(route).hops().iter();
        let links = hops.filter_map(|hop| Some(network.topology().hop(*hop).link?.0));
        let links: BTreeSet<LinkId> = links.collect();
        let shared = !links.iter().all(|link| counted.insert(*link));
        let carried: Option<Vec<u64>> = links.into_iter().map(capacity).collect();
        carried.filter(|_| !shared)?.into_iter().min()
    };
    routes.into_iter().map(&mut narrowest).sum()
}
