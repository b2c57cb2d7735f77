//! Goodput of competitors over time.

use ropewalk_quantities::Time;
use ropewalk_scenario::{FlowOrigin, Scenario};

use crate::run_state::RunState;
use crate::timeline::CompetitorTimeline;

#[derive(Debug)]
pub(super) struct Competitors {
    pub(super) timeline: CompetitorTimeline,
    /// Entry number of the first competitor; competitors are the last entries.
    first: usize,
    counts: Vec<u32>,
    /// Time of the last row, and bytes that each entry had delivered by then.
    time: Time,
    delivered: Vec<u64>,
}

impl Competitors {
    /// Creates the recorder; `None` without competitors.
    pub(super) fn new(scenario: &Scenario) -> Option<Competitors> {
        let is_one = |flow: &ropewalk_scenario::Flow| flow.origin == FlowOrigin::Competitor;
        let first = scenario.flows.iter().position(is_one)?;
        let counts: Vec<u32> = scenario.flows[first..]
            .iter()
            .map(|flow| flow.count)
            .collect();
        Some(Competitors {
            timeline: CompetitorTimeline::default(),
            first,
            delivered: vec![0; counts.len()],
            counts,
            time: Time::ZERO,
        })
    }

    pub(super) fn add_rows<T: Copy, M>(&mut self, now: Time, state: &RunState<T, M>) {
        if now == self.time {
            return;
        }
        let mut delivered = vec![0; self.counts.len()];
        let competing = state.flows.partition_point(|flow| flow.entry < self.first);
        for flow in &state.flows[competing..] {
            delivered[flow.entry - self.first] += flow.host.delivered();
        }
        let span = (now - self.time).as_secs_f64();
        let both = delivered.iter().zip(&self.delivered).zip(&self.counts);
        for (competitor, ((to, from), count)) in both.enumerate() {
            let mbps = (to - from) as f64 * 8.0 / span / 1e6;
            self.timeline.time_s.push(now.as_secs_f64());
            self.timeline.competitor.push(competitor as u32);
            let mean = mbps / f64::from(*count).max(1.0);
            self.timeline.goodput_mbps.push(mean);
        }
        self.time = now;
        self.delivered = delivered;
    }
}
