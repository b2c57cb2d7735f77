//! Results of flows.

use std::ops::Range;

use ropewalk_quantities::Time;
use ropewalk_scenario::{Flow, FlowOrigin, Traffic};
use ropewalk_transport::reordering::{Evidence, ReorderingSign};
use ropewalk_transport::{Counters, DEFAULT_DUP_THRESH};

use super::{Span, mbps};
use crate::air::Air;
use crate::flow::may_undo;
use crate::metrics::Histogram;
use crate::outcome::{ApplicationSummary, FlowSummary, Nstat, SubflowSummary, UndoneSummary};
use crate::request_response::RequestResponse;
use crate::timeliness::LateCounts;

pub(super) struct FlowMeasurement {
    pub(super) goodput_mbps: f64,
    pub(super) delivered_bytes: u64,
    pub(super) completion_s: Option<f64>,
}

impl<T: Copy, M: Air<T>> Span<'_, T, M> {
    pub(super) fn flow(&self, number: usize) -> FlowMeasurement {
        let flow = &self.state.flows[number];
        let delivered_bytes = self.end.delivered[number] - self.start.delivered[number];
        let completed = flow.recorder.as_deref().filter(|of| of.complete);
        let first_write = flow.application.first_write.unwrap_or(Time::ZERO);
        FlowMeasurement {
            goodput_mbps: mbps(delivered_bytes, self.seconds(number)),
            delivered_bytes,
            completion_s: completed.map(|of| (of.last_delivery - first_write).as_secs_f64()),
        }
    }

    /// Returns the duration of a flow's measurement: from its first write (of a competitor, its start) or
    /// the end of the warm-up, to its completion or the end of the run.
    fn seconds(&self, number: usize) -> f64 {
        let flow = &self.state.flows[number];
        let (from, to) = match flow.recorder.as_deref() {
            Some(recorder) => {
                let completed = recorder.complete.then_some(recorder.last_delivery);
                let first_write = flow.application.first_write;
                (first_write, completed.unwrap_or(self.end_at))
            }
            None => (Some(flow.start), self.end_at),
        };
        let from = from.unwrap_or(Time::ZERO).max(self.warmup);
        to.saturating_sub(from).as_secs_f64()
    }

    /// Returns the mean goodput of a competitor's flows; 10^6 bit/s.
    pub(super) fn competitor_mbps(&self, entry: usize) -> f64 {
        let flow = &self.scenario.flows[entry];
        let seconds = self.end_at.saturating_sub(flow.start.max(self.warmup));
        let bytes: u64 = self
            .of_entry(entry)
            .map(|number| self.end.delivered[number] - self.start.delivered[number])
            .sum();
        mbps(bytes, seconds.as_secs_f64()) / f64::from(flow.count.max(1))
    }

    pub(super) fn of_entry(&self, entry: usize) -> Range<usize> {
        let flows = &self.state.flows;
        // Flows are in the order of their entries.
        let first = flows.partition_point(|flow| flow.entry < entry);
        first..flows.partition_point(|flow| flow.entry <= entry)
    }

    pub(super) fn application(&self, entry: usize) -> ApplicationSummary {
        let traffic = &self.scenario.flows[entry].traffic;
        if let Traffic::Requested(_) = traffic {
            let own = self.state.flows[self.of_entry(entry)].iter();
            let said: Vec<&RequestResponse> =
                own.filter_map(|flow| flow.application.requests()).collect();
            return RequestResponse::summary(&said, self.end_at);
        }
        if traffic.deadline().is_none() {
            return ApplicationSummary::default();
        }
        let (mut late, mut delays, mut stall) = (LateCounts::default(), Histogram::new(), None);
        for flow in &self.state.flows[self.of_entry(entry)] {
            let Some(recorder) = flow.recorder.as_deref() else {
                continue;
            };
            let Some(timeliness) = &recorder.timeliness else {
                continue;
            };
            late += timeliness.late(self.end_at, flow.application.undelivered());
            delays.merge(&recorder.delays);
            // Of several equal flows, the first counts.
            stall = stall.or_else(|| timeliness.stall(self.end_at));
        }
        late.summary(traffic, &delays, stall)
    }

    pub(super) fn flows(&self, all: &[FlowMeasurement]) -> Vec<FlowSummary> {
        let total: u64 = all.iter().map(|flow| flow.delivered_bytes).sum();
        let entries = self.scenario.flows.iter().enumerate();
        entries
            .map(|(entry, flow)| {
                let own = self.of_entry(entry);
                let delivered_bytes = all[own.clone()]
                    .iter()
                    .map(|of| of.delivered_bytes)
                    .sum::<u64>();
                let goodputs = all[own.clone()].iter().map(|of| of.goodput_mbps);
                let completions = all[own.clone()].iter().map(|of| of.completion_s);
                let completions: Option<Vec<f64>> = completions.collect();
                let mut delays = Histogram::new();
                let recorders = self.state.flows[own.clone()].iter();
                let recorders = recorders.map(|flow| flow.recorder.as_deref());
                for recorder in recorders.flatten() {
                    delays.merge(&recorder.delays);
                }
                let alone = flow.count == 1 && flow.origin != FlowOrigin::Competitor;
                FlowSummary {
                    name: flow.name.clone(),
                    protocol: flow.protocol.json_name(),
                    count: (flow.count != 1).then_some(flow.count),
                    goodput_mbps: goodputs.sum::<f64>() / own.len().max(1) as f64,
                    share: delivered_bytes as f64 / total.max(1) as f64,
                    delivered_bytes,
                    completion_s: completions.and_then(|of| of.into_iter().reduce(f64::max)),
                    fell_back: self.fell_back(entry),
                    delay_ms: delays.summary(),
                    application: self.application(entry),
                    subflows: match alone {
                        true => self.subflows(own.start),
                        false => Vec::new(),
                    },
                }
            })
            .collect()
    }

    fn fell_back(&self, entry: usize) -> bool {
        let own = &self.state.flows[self.of_entry(entry)];
        !own.is_empty() && own.iter().all(|flow| flow.host.fell_back())
    }

    /// Warns of flows whose MPTCP fell back to TCP, or lost a subflow to a middlebox.
    pub(super) fn flows_without_mptcp(&self) -> impl Iterator<Item = String> + '_ {
        let fell_back = |entry: &(usize, &Flow)| self.fell_back(entry.0);
        let entries = self.scenario.flows.iter().enumerate().filter(fell_back);
        entries.map(|(_, flow)| {
            let first = &self.scenario.paths[flow.paths[0]].name;
            format!(
                "flow {}: MPTCP fell back to TCP on path {first} alone, which loses its options \
                 (RFC 8684, 3.7)",
                flow.name
            )
        })
    }

    pub(super) fn subflows(&self, number: usize) -> Vec<SubflowSummary> {
        let flow = &self.state.flows[number];
        let [start, end] = [&self.start, &self.end].map(|at| at.flows[number].as_ref());
        let (Some(start), Some(end)) = (start, end) else {
            return Vec::new();
        };
        let seconds = self.seconds(number);
        let both = start.subflows.iter().zip(&end.subflows);
        let all: u64 = both
            .clone()
            .map(|(from, to)| to.delivered - from.delivered)
            .sum();
        let both = both.enumerate();
        both.map(|(subflow, (from, to))| {
            let state = flow.host.state(subflow);
            SubflowSummary {
                link: self.scenario.paths[flow.paths[subflow]].name.clone(),
                goodput_mbps: mbps(to.delivered - from.delivered, seconds),
                share: (to.delivered - from.delivered) as f64 / all.max(1) as f64,
                segments_sent: to.counters.segments_sent - from.counters.segments_sent,
                retransmissions: to.counters.retransmissions - from.counters.retransmissions,
                fast_recoveries: to.counters.fast_recoveries - from.counters.fast_recoveries,
                timeouts: to.counters.timeouts - from.counters.timeouts,
                spurious_retransmissions: to.duplicates - from.duplicates,
                undone: undone(
                    &self.scenario.flows[flow.entry],
                    &from.counters,
                    &to.counters,
                ),
                resent_bytes: to.resent.map(|to| to - from.resent.unwrap_or(0)),
                srtt_ms: (state.srtt > Time::ZERO).then(|| state.srtt.as_millis_f64()),
            }
        })
        .collect()
    }
}

/// Returns the counters of the flow's reordering response between two snapshots; `None` without one.
fn undone(flow: &Flow, from: &Counters, to: &Counters) -> Option<UndoneSummary> {
    if !may_undo(flow) {
        return None;
    }
    let by =
        |evidence: Evidence| to.undone_by[evidence as usize] - from.undone_by[evidence as usize];
    let seen = |by: ReorderingSign| to.reordering_by[by as usize] - from.reordering_by[by as usize];
    let undone = to.undone - from.undone;
    let spurious_timeouts = to.undone_timeouts - from.undone_timeouts;
    let spurious_rtos = by(Evidence::NeverResent);
    Some(UndoneSummary {
        undone,
        spurious_fast_recoveries: undone - spurious_timeouts,
        spurious_timeouts,
        dupthresh_max: to.threshold_max.max(DEFAULT_DUP_THRESH),
        nstat: (flow.transport.reordering.name() == "linux").then(|| Nstat {
            dsack_undo: by(Evidence::Duplicates),
            partial_undo: by(Evidence::Late),
            full_undo: by(Evidence::AtTheEnd),
            loss_undo: by(Evidence::LateAfterTimeout) + spurious_rtos,
            spurious_rtos,
            sack_reorder: seen(ReorderingSign::Acknowledged),
            ts_reorder: seen(ReorderingSign::Echoed),
            paws_estab: to.discarded_as_old - from.discarded_as_old,
        }),
    })
}
