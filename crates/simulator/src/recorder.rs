//! What is measured of a run: baselines at the end of the warm-up, delays, reordering, a timeline.

use ropewalk_network::{Counters as LinkCounters, Direction};
use ropewalk_quantities::Time;
use ropewalk_scenario::{Protocol, Scenario};
use ropewalk_transport::Counters;

use crate::Options;
use crate::application::Application;
use crate::metrics::{Histogram, Reorder};
use crate::outcome::{ConnectionTimeline, SubflowTimeline, Timeline};
use crate::world::World;

/// Displacements beyond this count as loss in RFC 5236's densities.
const REORDER_THRESHOLD: u32 = 64;

/// Watches the measured flow and the links.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// The finite transfer has arrived whole.
    pub(crate) complete: bool,
    pub(crate) delays: Histogram,
    pub(crate) reorder: Option<Reorder>,
    pub(crate) timeline: Option<Timeline>,
    pub(crate) baseline: Baseline,
    /// Of the measured flow; zero before the first.
    pub(crate) last_delivery: Time,
    longest_gap: Time,
    pub(crate) warmup: Time,
    /// Size of what a delay is measured of, and the end of the next such piece.
    unit: u64,
    next_mark: u64,
    step: Option<Time>,
    next_step: Time,
    previous: Previous,
}

/// Counters as they stood at the end of the warm-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    pub(crate) links: Vec<LinkCounters>,
    pub(crate) transmitted: Vec<u64>,
    pub(crate) subflows: Vec<SubflowBaseline>,
    pub(crate) delivered: Vec<u64>,
    pub(crate) packets: (u64, u64),
    pub(crate) data_packets: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SubflowBaseline {
    pub(crate) counters: Counters,
    pub(crate) delivered: u64,
    pub(crate) duplicates: u64,
    pub(crate) resent: Option<u64>,
}

/// The timeline's last row.
#[derive(Clone, Debug, Default)]
struct Previous {
    time: Time,
    delivered: u64,
    by_subflow: Vec<u64>,
}

impl Recorder {
    pub(crate) fn new<T: Copy>(
        scenario: &Scenario,
        options: &Options,
        world: &World<T>,
    ) -> Recorder {
        let flow = scenario.first();
        let piece = match &flow.protocol {
            Protocol::Bas(aggregation) => aggregation.packet,
            Protocol::Tcp | Protocol::StripedTcp(_) | Protocol::Mptcp => None,
        };
        let piece = piece.unwrap_or(flow.transport.segment);
        let unit = world.flows[0].application.unit(piece.as_u64());
        Recorder {
            complete: false,
            delays: Histogram::new(),
            reorder: options.reordering.then(|| Reorder::new(REORDER_THRESHOLD)),
            timeline: options.timeline_step.map(|_| Timeline::default()),
            baseline: Baseline::default(),
            last_delivery: Time::ZERO,
            longest_gap: Time::ZERO,
            warmup: scenario.warmup,
            unit,
            next_mark: unit,
            step: options.timeline_step,
            next_step: options.timeline_step.unwrap_or(Time::MAX),
            previous: Previous::default(),
        }
    }

    /// When to call [`Recorder::sample`] next.
    pub(crate) fn next(&self) -> Option<Time> {
        let warmup = if self.baseline.links.is_empty() {
            self.warmup
        } else {
            Time::MAX
        };
        let next = warmup.min(self.next_step);
        (next != Time::MAX).then_some(next)
    }

    /// Takes the baseline at the end of the warm-up, and a row of the timeline at each step.
    pub(crate) fn sample<T: Copy>(&mut self, now: Time, world: &mut World<T>) {
        if self.baseline.links.is_empty() && now >= self.warmup {
            self.baseline = Baseline::take(now, world);
            world.flows[0].carrier.restart_reorder_buffer_max();
            if let Some(reorder) = &mut self.reorder {
                *reorder = Reorder::joining(REORDER_THRESHOLD);
            }
        }
        if let Some(step) = self.step
            && now >= self.next_step
        {
            self.next_step += step;
            self.add_rows(now, world);
        }
    }

    /// The run is over: the timeline's last step ends here.
    pub(crate) fn finish<T: Copy>(&mut self, now: Time, world: &World<T>) {
        if now > self.previous.time {
            self.add_rows(now, world);
        }
    }

    /// A data packet of the measured flow arrived.
    #[inline]
    pub(crate) fn arrival(&mut self, number: u32) {
        if let Some(reorder) = &mut self.reorder {
            reorder.arrival(u64::from(number));
        }
    }

    /// The measured flow's data up to `end` is delivered in order.
    #[inline]
    pub(crate) fn delivered(&mut self, now: Time, end: u64, application: &mut Application) {
        self.longest_gap = self.longest_gap(now).unwrap_or(Time::ZERO);
        self.last_delivery = now;
        let total = application.total();
        while self.next_mark <= end || total == Some(end) && self.next_mark < end + self.unit {
            if let Some(written) = application.written_at(self.next_mark.min(end))
                && now >= self.warmup
            {
                self.delays.record(now - written);
            }
            self.next_mark += self.unit;
        }
        self.complete = total == Some(end);
    }

    /// The longest time without a delivery, after the warm-up and the first one, if the last such
    /// time ends then; `None` if nothing was delivered.
    #[inline]
    pub(crate) fn longest_gap(&self, end: Time) -> Option<Time> {
        let last = self.last_delivery;
        let gap = end.saturating_sub(last.max(self.warmup));
        (last > Time::ZERO).then(|| self.longest_gap.max(gap))
    }

    fn add_rows<T: Copy>(&mut self, now: Time, world: &World<T>) {
        let Some(timeline) = &mut self.timeline else {
            return;
        };
        let carrier = &world.flows[0].carrier;
        let span = (now - self.previous.time).as_secs_f64();
        let mbps = |bytes: u64| bytes as f64 * 8.0 / span / 1e6;
        let time_s = now.as_secs_f64();
        self.previous.by_subflow.resize(carrier.subflows(), 0);
        let SubflowTimeline {
            time_s: times,
            subflow: subflows,
            goodput_mbps,
            cwnd_bytes,
            ssthresh_bytes,
            in_flight_bytes,
            srtt_ms,
        } = &mut timeline.subflows;
        for subflow in 0..carrier.subflows() {
            let state = carrier.state(subflow);
            let delivered = carrier.delivered_by(subflow);
            times.push(time_s);
            subflows.push(subflow as u32);
            goodput_mbps.push(mbps(delivered - self.previous.by_subflow[subflow]));
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
            self.previous.by_subflow[subflow] = delivered;
        }
        let ConnectionTimeline {
            time_s: times,
            goodput_mbps,
            capacity_mbps,
            reorder_buffer_bytes,
        } = &mut timeline.connection;
        times.push(time_s);
        goodput_mbps.push(mbps(carrier.delivered() - self.previous.delivered));
        reorder_buffer_bytes.push(carrier.reorder_buffer());
        self.previous.delivered = carrier.delivered();
        let capacity = world.capacity_between(self.previous.time, now);
        capacity_mbps.push(capacity.map_or(f64::NAN, mbps));
        self.previous.time = now;
    }
}

impl Baseline {
    /// All counters as they stand now.
    pub(crate) fn take<T: Copy>(now: Time, world: &mut World<T>) -> Baseline {
        let links = world.links().map(|link| {
            let forward = world.network.link_mut(link, Direction::Forward);
            (forward.counters(), forward.transmitted(now).as_u64())
        });
        let (links, transmitted) = links.unzip();
        let carrier = &world.flows[0].carrier;
        let subflows = (0..carrier.subflows())
            .map(|subflow| SubflowBaseline {
                counters: carrier.counters(subflow),
                delivered: carrier.delivered_by(subflow),
                duplicates: carrier.duplicates(subflow),
                resent: carrier.resent_by(subflow),
            })
            .collect();
        Baseline {
            links,
            transmitted,
            subflows,
            delivered: world
                .flows
                .iter()
                .map(|flow| flow.carrier.delivered())
                .collect(),
            packets: carrier.packets(),
            data_packets: world.data_packets(),
        }
    }
}
