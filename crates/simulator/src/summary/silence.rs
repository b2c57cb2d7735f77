//! Warnings about flows that delivered nothing in the measured time, each with the reason.

use ropewalk_network::Counters;

use super::Span;
use super::flows::FlowMeasurement;
use crate::air::Air;

/// Maximum number of links whose packets a warning counts.
const SHOWN: usize = 4;

impl<T: Copy, M: Air<T>> Span<'_, T, M> {
    /// Returns a warning for each entry of the scenario whose flows delivered nothing.
    pub(super) fn silent_flows(&self, all: &[FlowMeasurement]) -> Vec<String> {
        let entries = self.scenario.flows.iter().enumerate();
        let silent = entries.filter(|(entry, _)| {
            let mut own = all[self.of_entry(*entry)].iter();
            own.all(|flow| flow.delivered_bytes == 0)
        });
        let several = self.scenario.flows.len() > 1;
        silent
            .map(|(entry, flow)| {
                let reason = self.reason_of_silence(entry);
                match several {
                    true => format!("flow {:?} delivered nothing: {reason}", flow.name),
                    false => format!("nothing was delivered: {reason}"),
                }
            })
            .collect()
    }

    fn reason_of_silence(&self, entry: usize) -> String {
        let described = &self.scenario.flows[entry];
        let own = self.of_entry(entry);
        if own.clone().any(|flow| self.start.delivered[flow] > 0) {
            return format!("its data arrived during the warm-up ({})", self.warmup);
        }
        if described.start >= self.end_at {
            return format!("it starts {} after the beginning", described.start);
        }
        let mut recorded = own.map(|flow| &self.state.flows[flow]);
        if recorded.all(|flow| flow.recorder.is_some() && flow.application.first_write.is_none()) {
            return format!(
                "its application wrote nothing before the end ({})",
                self.end_at
            );
        }
        let paths = described.paths.iter();
        let mut hops: Vec<usize> = paths
            .flat_map(|&path| self.scenario.paths[path].hops.clone())
            .filter(|&hop| {
                self.end.links[hop].sent_packets + self.end.links[hop].dropped_packets > 0
            })
            .collect();
        hops.sort_unstable();
        hops.dedup();
        let counted = hops.iter().take(SHOWN).map(|&hop| {
            let name = &self.scenario.links[hop].name;
            packets_of_link(name, &self.end.links[hop])
        });
        let counted: Vec<String> = counted.collect();
        match counted.is_empty() {
            true => "no data arrived before the end".to_owned(),
            false => format!("no data arrived before the end; {}", counted.join("; ")),
        }
    }
}

/// Describes the packets of a link in the whole run: `link wifi: 3 packets sent, 3 lost, 0 dropped, 0
/// delivered`.
#[must_use]
pub fn packets_of_link(name: &str, counters: &Counters) -> String {
    format!(
        "link {name}: {} packets sent, {} lost, {} dropped, {} delivered",
        counters.sent_packets,
        counters.lost_packets,
        counters.dropped_packets,
        counters.delivered_packets
    )
}
