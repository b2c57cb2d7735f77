//! Fairness: comparison of the flows' throughput.

use ropewalk_scenario::{FlowOrigin, Scenario};
use ropewalk_simulator::{ApplicationSummary, CompetitorSummary, FlowSummary, jain_index};

use crate::competitors::FlowResult;
use crate::traffic::TrafficOutcome;

pub(crate) fn competitors(scenario: &Scenario, others: &[FlowResult]) -> Vec<CompetitorSummary> {
    let entries = scenario.flows.iter().enumerate();
    let competitors = entries.filter(|(_, flow)| flow.origin == FlowOrigin::Competitor);
    competitors
        .map(|(entry, flow)| CompetitorSummary {
            name: flow.name.clone(),
            count: flow.count,
            goodput_mbps: mean_of(entry, others),
        })
        .collect()
}

/// All flows, and Jain's index of their goodputs; `None` for a single flow.
pub(crate) fn flows(
    scenario: &Scenario,
    first: &TrafficOutcome,
    others: &[FlowResult],
) -> (Vec<FlowSummary>, Option<f64>) {
    if others.is_empty() {
        return (Vec::new(), None);
    }
    let bytes_of = |entry: usize| -> u64 {
        let own = others.iter().filter(|of| of.entry == entry);
        own.map(|of| of.bytes).sum()
    };
    let total = first.delivered_bytes + others.iter().map(|of| of.bytes).sum::<u64>();
    let summary = |(entry, flow): (usize, &ropewalk_scenario::Flow)| {
        let (goodput_mbps, delivered_bytes) = match entry {
            0 => (first.goodput_mbps, first.delivered_bytes),
            _ => (mean_of(entry, others), bytes_of(entry)),
        };
        FlowSummary {
            name: flow.name.clone(),
            protocol: flow.protocol.json_name(),
            count: (flow.count != 1).then_some(flow.count),
            goodput_mbps,
            share: delivered_bytes as f64 / total.max(1) as f64,
            delivered_bytes,
            completion_s: if entry == 0 { first.completion_s } else { None },
            fell_back: false,
            delay_ms: if entry == 0 { first.delay_ms } else { None },
            application: match entry {
                0 => first.application,
                _ => ApplicationSummary::default(),
            },
            // The report has the first flow's; the others' are not sampled.
            subflows: Vec::new(),
        }
    };
    let goodputs = others.iter().map(|of| of.goodput_mbps);
    let goodputs: Vec<f64> = [first.goodput_mbps].into_iter().chain(goodputs).collect();
    let summaries = scenario.flows.iter().enumerate().map(summary);
    (summaries.collect(), jain_index(&goodputs))
}

fn mean_of(entry: usize, others: &[FlowResult]) -> f64 {
    let own: Vec<f64> = others
        .iter()
        .filter(|of| of.entry == entry)
        .map(|of| of.goodput_mbps)
        .collect();
    own.iter().sum::<f64>() / own.len().max(1) as f64
}
