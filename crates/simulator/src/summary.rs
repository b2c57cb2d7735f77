//! Summary of a run, computed from its counters.

mod air;
mod flows;
mod links;
mod mesh;
mod silence;

use ropewalk_quantities::Time;
use ropewalk_scenario::{FlowOrigin, Scenario};

use crate::air::Air;
use crate::observer::Observer;
use crate::outcome::{
    CompetitorSummary, FlowOutcome, MeshSummary, MptcpNs3Summary, Outcome, Reordering, Stats,
    Summary,
};
use crate::recorder::Baseline;
use crate::run::Run;
use crate::run_state::RunState;
use flows::FlowMeasurement;
pub use silence::packets_of_link;

/// Measured time of a run, with the counters at its start and end.
struct Span<'a, T, M> {
    scenario: &'a Scenario,
    state: &'a RunState<T, M>,
    warmup: Time,
    end_at: Time,
    start: Baseline,
    end: Baseline,
}

pub(crate) fn summarise<O: Observer, M: Air<O::Tag>>(
    scenario: &Scenario,
    seed: u64,
    run: &mut Run<'_, O, M>,
) -> Outcome {
    let end = Baseline::take(run.now, &mut run.state);
    // A run that ended during the warm-up has no results.
    let start = run.recorder.baseline.take().unwrap_or_else(|| end.clone());
    run.meters.read(run.now, &mut run.state.network);
    let quota = run.meters.summaries(scenario);
    let mut outcomes = take_outcomes(scenario, &mut run.state);
    let first = outcomes.remove(0);
    let span = Span {
        scenario,
        state: &run.state,
        warmup: run.recorder.warmup,
        end_at: run.now,
        start,
        end,
    };
    let all: Vec<FlowMeasurement> = (0..span.state.flows.len())
        .map(|flow| span.flow(flow))
        .collect();
    let links = span.links();
    let flow = &span.state.flows[0];
    let recorder = flow.recorder.as_deref();
    let [from, to] = [&span.start, &span.end].map(|at| at.flows[0].as_ref().map(|of| of.packets));
    let (packets, out_of_order) = match (from, to) {
        (Some(from), Some(to)) => (to.0 - from.0, to.1 - from.1),
        _ => (0, 0),
    };
    let several = span.state.flows.len() > 1;
    let goodputs: Vec<f64> = all.iter().map(|flow| flow.goodput_mbps).collect();
    let cost = span.cost(&links);
    let mut warnings = scenario.warnings.clone();
    warnings.extend(span.silent_flows(&all));
    warnings.extend(span.flows_without_mptcp());
    Outcome {
        summary: Summary {
            engine: "simulate",
            scenario: scenario.title.clone(),
            seed,
            goodput_mbps: all[0].goodput_mbps,
            delivered_bytes: all[0].delivered_bytes,
            completion_s: all[0].completion_s,
            longest_gap_s: recorder
                .and_then(|recorder| recorder.longest_gap(span.end_at))
                .map(Time::as_secs_f64),
            duration_s: span.end_at.as_secs_f64(),
            fell_back: flow.host.fell_back(),
            cost,
            cost_per_gb: cost.and_then(|cost| cost_per_gb(cost, all[0].goodput_mbps)),
            quota,
            delay_ms: recorder.and_then(|recorder| recorder.delays.summary()),
            application: span.application(0),
            reordering: Reordering {
                out_of_order_ratio: if packets > 0 {
                    out_of_order as f64 / packets as f64
                } else {
                    0.0
                },
                buffer_max_bytes: flow.host.reorder_buffer_max(),
                metrics: recorder
                    .and_then(|recorder| recorder.reorder.as_ref())
                    .map(|reorder| reorder.metrics()),
            },
            mptcp_ns3: mptcp_ns3(&span, packets, out_of_order),
            links,
            mesh: scenario.mesh.as_ref().map(MeshSummary::of),
            channels: span.channels(),
            nodes: span.nodes(),
            radios: span.radios(),
            subflows: span.subflows(0),
            competitors: span.competitors(),
            flows: match several {
                true => span.flows(&all),
                false => Vec::new(),
            },
            jain_index: several.then(|| jain_index(&goodputs)).flatten(),
            warnings,
            stats: Stats {
                data_packets: span.end.data_packets,
                events: run.events,
                wall_s: None,
            },
        },
        timeline: first.timeline,
        delays: first.delays,
        others: outcomes,
        competitors: run.recorder.take_competitors(),
    }
}

/// Returns the measurements of the ns-3 module's papers for the first flow; with its segments, and the
/// number out of order.
fn mptcp_ns3<T, M>(
    span: &Span<'_, T, M>,
    packets: u64,
    out_of_order: u64,
) -> Option<MptcpNs3Summary> {
    let host = span.state.flows[0].host.mptcp_ns3()?;
    Some(MptcpNs3Summary {
        reordering: host.policy().name(),
        out_of_order_percent: 100.0 * out_of_order as f64 / packets.max(1) as f64,
        buffer_max_segments: host.reorder_segments_max(),
        buffer_max_kib: host.reorder_buffer_max() as f64 / 1024.0,
        gthroughput_mbps: host.throughput().map(|rate| rate / 1e6),
    })
}

fn take_outcomes<T, M>(scenario: &Scenario, state: &mut RunState<T, M>) -> Vec<FlowOutcome> {
    let mut numbers = vec![0; scenario.flows.len()];
    let recorded = state.flows.iter_mut().filter_map(|flow| {
        let recorder = flow.recorder.as_deref_mut()?;
        let entry = &scenario.flows[flow.entry];
        numbers[flow.entry] += 1;
        Some(FlowOutcome {
            name: match entry.count {
                1 => entry.name.clone(),
                _ => format!("{} ({})", entry.name, numbers[flow.entry]),
            },
            links: flow
                .paths
                .iter()
                .map(|&path| scenario.paths[path].name.clone())
                .collect(),
            timeline: recorder.timeline.take(),
            delays: recorder.delays.bins(),
        })
    });
    recorded.collect()
}

/// Returns the cost of 10^9 bytes of goodput at this total cost (sum of the links' prices times their
/// Mbit/s); `None` without goodput.
#[must_use]
pub fn cost_per_gb(cost: f64, goodput_mbps: f64) -> Option<f64> {
    (goodput_mbps > 0.0).then(|| 8000.0 * cost / goodput_mbps)
}

/// Returns the fairness index of Jain, Chiu and Hawe (DEC TR-301, 1984): (sum of x)^2 / (n times the sum of
/// x^2), from 1/n to 1; `None` if all are zero.
#[must_use]
pub fn jain_index(goodputs: &[f64]) -> Option<f64> {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (goodputs.len() as f64 * squares))
}

impl<T: Copy, M: Air<T>> Span<'_, T, M> {
    fn competitors(&self) -> Vec<CompetitorSummary> {
        let entries = self.scenario.flows.iter().enumerate();
        let competitors = entries.filter(|(_, flow)| flow.origin == FlowOrigin::Competitor);
        competitors
            .map(|(entry, competitor)| CompetitorSummary {
                name: competitor.name.clone(),
                count: competitor.count,
                goodput_mbps: self.competitor_mbps(entry),
            })
            .collect()
    }
}

/// Returns a mean rate in 10^6 bit/s; zero if no time has passed.
fn mbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds / 1e6
    } else {
        0.0
    }
}
