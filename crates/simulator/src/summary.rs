//! From counters to the numbers that every run prints.

use ropewalk_network::{Direction, LinkId};
use ropewalk_quantities::Time;
use ropewalk_scenario::{Origin, Scenario};

use crate::observer::Observer;
use crate::outcome::{
    CompetitorSummary, LinkSummary, Outcome, Reordering, Stats, SubflowSummary, Summary,
};
use crate::recorder::Baseline;
use crate::run::Run;

/// What a run has measured; it takes the timeline with it.
pub(crate) fn summarise<O: Observer>(
    scenario: &Scenario,
    seed: u64,
    run: &mut Run<'_, O>,
) -> Outcome {
    let end = Baseline::take(run.now, &mut run.world);
    let timeline = run.recorder.timeline.take();
    let recorder = &run.recorder;
    let mut start = recorder.baseline.clone();
    if start.links.is_empty() {
        // It ended within the warm-up: nothing was measured.
        start = end.clone();
    }
    let world = &run.world;
    let flow = &world.flows[0];

    let first_write = flow.application.first_write().unwrap_or(Time::ZERO);
    let from = first_write.max(recorder.warmup);
    let span = recorder.last_delivery.saturating_sub(from).as_secs_f64();
    let mbps = |bytes: u64, seconds: f64| {
        if seconds > 0.0 {
            bytes as f64 * 8.0 / seconds / 1e6
        } else {
            0.0
        }
    };
    let measured = run.now.saturating_sub(recorder.warmup);

    let delivered_bytes = end.delivered[0] - start.delivered[0];
    let (packets, out_of_order) = (
        end.packets.0 - start.packets.0,
        end.packets.1 - start.packets.1,
    );
    let mut cost = None;
    let links = scenario
        .links
        .iter()
        .enumerate()
        .map(|(index, link)| {
            let (from, to) = (&start.links[index], &end.links[index]);
            let delivered_bytes = to.delivered_bytes - from.delivered_bytes;
            if let Some(price) = link.cost {
                *cost.get_or_insert(0.0) += price * mbps(delivered_bytes, measured.as_secs_f64());
            }
            let forward = world.network.link(LinkId::new(index), Direction::Forward);
            let capacity = forward.capacity_between(recorder.warmup.min(run.now), run.now);
            let sent = end.transmitted[index] - start.transmitted[index];
            LinkSummary {
                name: link.name.clone(),
                sent_packets: to.sent_packets - from.sent_packets,
                lost_packets: to.lost_packets - from.lost_packets,
                dropped_packets: to.dropped_packets - from.dropped_packets,
                delivered_bytes,
                utilization: capacity
                    .filter(|capacity| capacity.as_u64() > 0)
                    .map(|capacity| sent as f64 / capacity.as_u64() as f64),
            }
        })
        .collect();
    let subflows = (0..end.subflows.len())
        .map(|subflow| {
            let (from, to) = (&start.subflows[subflow], &end.subflows[subflow]);
            let state = flow.carrier.state(subflow);
            SubflowSummary {
                link: scenario.paths[flow.paths[subflow]].name.clone(),
                goodput_mbps: mbps(to.delivered - from.delivered, span),
                segments_sent: to.counters.segments_sent - from.counters.segments_sent,
                retransmissions: to.counters.retransmissions - from.counters.retransmissions,
                fast_recoveries: to.counters.fast_recoveries - from.counters.fast_recoveries,
                timeouts: to.counters.timeouts - from.counters.timeouts,
                spurious_retransmissions: to.duplicates - from.duplicates,
                resent_bytes: to.resent.map(|to| to - from.resent.unwrap_or(0)),
                srtt_ms: (state.srtt > Time::ZERO).then(|| state.srtt.as_millis_f64()),
            }
        })
        .collect();
    let before = scenario.flows.iter();
    let before = before.take_while(|flow| flow.origin != Origin::Competitor);
    let mut next = before.map(|flow| flow.count as usize).sum::<usize>();
    let competitors = scenario
        .competitors()
        .map(|competitor| {
            let flows = next..next + competitor.count as usize;
            next = flows.end;
            let seconds = run
                .now
                .saturating_sub(competitor.start.max(recorder.warmup))
                .as_secs_f64();
            let bytes: u64 = flows
                .map(|flow| end.delivered[flow] - start.delivered[flow])
                .sum();
            CompetitorSummary {
                name: competitor.name.clone(),
                count: competitor.count,
                goodput_mbps: mbps(bytes, seconds) / f64::from(competitor.count.max(1)),
            }
        })
        .collect();
    Outcome {
        summary: Summary {
            engine: "simulate",
            scenario: scenario.title.clone(),
            seed,
            goodput_mbps: mbps(delivered_bytes, span),
            delivered_bytes,
            completion_s: recorder
                .complete
                .then(|| (recorder.last_delivery - first_write).as_secs_f64()),
            longest_gap_s: recorder.longest_gap(run.now).map(Time::as_secs_f64),
            duration_s: run.now.as_secs_f64(),
            cost,
            delay_ms: recorder.delays.summary(),
            reordering: Reordering {
                out_of_order_ratio: if packets > 0 {
                    out_of_order as f64 / packets as f64
                } else {
                    0.0
                },
                buffer_max_bytes: flow.carrier.reorder_buffer_max(),
                metrics: recorder.reorder.as_ref().map(|reorder| reorder.metrics()),
            },
            links,
            subflows,
            competitors,
            warnings: scenario.warnings.clone(),
            stats: Stats {
                data_packets: end.data_packets,
                events: run.events,
                wall_s: None,
            },
        },
        timeline,
        delays: recorder.delays.bins(),
    }
}
