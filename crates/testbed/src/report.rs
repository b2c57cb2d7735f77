//! Results of a run, with the keys shared by all engines.

use std::collections::BTreeMap;

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{
    CompetitorSummary, DelayBin, FlowSummary, LinkSummary, QuotaSummary, cost_per_gb,
    packets_of_link,
};

use crate::competitors::FlowResult;
use crate::emulator::{EmulatorResult, LatenessSummary};
use crate::fairness;
use crate::machine::MachineSummary;
use crate::sysctl;
use crate::traffic::{Timeline, TrafficOutcome, share_out};

/// Lateness of a packet, in milliseconds, above which the largest delays show a pause of the
/// machine.
const LONG_PAUSE_MS: f64 = 10.0;
/// Steal time, in seconds, above which delays may show a pause even without late packets.
const LONG_THEFT: f64 = 0.05;

/// Results of a run.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Report {
    /// `"testbed"`.
    pub engine: &'static str,
    /// Title of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// Measurements of both ends.
    #[serde(flatten)]
    pub traffic: TrafficOutcome,
    /// Each link's price times the Mbit/s of delivered IP packets, summed. Absent with netem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Each link with a quota for the whole run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quota: Vec<QuotaSummary>,
    /// Cost of 10^9 bytes received by the application, at the same price; absent if it received
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_gb: Option<f64>,
    /// Each link of the scenario, forward direction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSummary>,
    /// Each competitor of the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<CompetitorSummary>,
    /// All flows, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSummary>,
    /// Jain's fairness index of all goodputs, if there are several flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_index: Option<f64>,
    /// Accuracy of the emulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulator: Option<EmulatorSummary>,
    /// Processor time withheld from the run.
    pub machine: MachineSummary,
    /// Commands of `tc`, with netem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tc: Option<PerEnd<Vec<String>>>,
    /// Kernel with its counters.
    pub kernel: KernelSummary,
    /// Captured packets, if there is a capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_packets: Option<u64>,
    /// Caveats of the results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// State at regular steps, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// Histogram of delays, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<Vec<DelayBin>>,
}

/// Accuracy of the emulation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct EmulatorSummary {
    /// Delivery time minus due time; absent without packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lateness_ms: Option<LatenessSummary>,
    /// False if the p99 is above 1 ms.
    pub trusted: bool,
    /// Packets delivered in both directions.
    pub packets: u64,
    /// Whether the emulator's thread had a real-time priority.
    pub real_time: bool,
    /// CPU time of the emulator's thread, including the receiving kernel's part, in seconds.
    pub cpu_s: f64,
}

/// Kernel with its counters.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct KernelSummary {
    /// Kernel version.
    pub release: String,
    /// Congestion control by the kernel's name; none for datagrams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Increase of its counters, by nstat's names.
    pub counters: PerEnd<BTreeMap<String, u64>>,
}

/// A value for each end.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PerEnd<T> {
    /// Sending end.
    pub client: T,
    /// Receiving end.
    pub server: T,
}

pub(crate) struct RunMeasurements {
    pub(crate) traffic: TrafficOutcome,
    pub(crate) others: Vec<FlowResult>,
    pub(crate) carried: Option<EmulatorResult>,
    pub(crate) tc: Option<[Vec<String>; 2]>,
    pub(crate) counters: PerEnd<BTreeMap<String, u64>>,
    pub(crate) drops: u64,
    pub(crate) machine: MachineSummary,
    pub(crate) congestion: Option<String>,
    pub(crate) histogram: bool,
}

impl Report {
    pub(crate) fn new(scenario: &Scenario, seed: u64, measured: RunMeasurements) -> Report {
        let mut traffic = measured.traffic;
        share_out(&mut traffic.subflows);
        let mut warnings = scenario.warnings.clone();
        warnings.append(&mut traffic.warnings);
        let timeline = traffic.timeline.take();
        let delays = std::mem::take(&mut traffic.delays);
        let (mut links, mut cost, mut quota) = (Vec::new(), None, Vec::new());
        if let Some(carried) = &measured.carried {
            let stolen = measured.machine.stolen_s;
            warnings.extend(emulator_warnings(carried, measured.drops, stolen));
            (links, cost) = self::links(scenario, carried);
            quota = quotas(scenario, carried);
        }
        warnings.extend(no_delivery_warning(
            scenario,
            &traffic,
            measured.carried.as_ref(),
        ));
        if let Some(lost) = measured.counters.server.get("UdpRcvbufErrors") {
            warnings.push(format!(
                "not to be trusted: {lost} datagrams found no room at the server's socket"
            ));
        }
        let (flows, jain_index) = fairness::flows(scenario, &traffic, &measured.others);
        let per_gb = |cost| cost_per_gb(cost, traffic.goodput_mbps);
        let cost_per_gb = cost.and_then(per_gb);
        Report {
            engine: "testbed",
            scenario: scenario.title.clone(),
            seed,
            traffic,
            cost,
            quota,
            cost_per_gb,
            links,
            competitors: fairness::competitors(scenario, &measured.others),
            flows,
            jain_index,
            captured_packets: measured
                .carried
                .as_ref()
                .and_then(|carried| carried.captured),
            emulator: measured.carried.map(|carried| EmulatorSummary {
                lateness_ms: carried.lateness.summary(),
                trusted: carried.lateness.is_trusted(),
                packets: carried.packets,
                real_time: carried.real_time,
                cpu_s: carried.cpu_s,
            }),
            machine: measured.machine,
            tc: measured
                .tc
                .map(|[client, server]| PerEnd { client, server }),
            kernel: KernelSummary {
                release: sysctl::get("kernel.osrelease").unwrap_or_default(),
                congestion: measured.congestion,
                counters: measured.counters,
            },
            warnings,
            timeline,
            delays: measured.histogram.then_some(delays),
        }
    }
}

/// A warning with the reason if the first flow delivered nothing in the measured time.
fn no_delivery_warning(
    scenario: &Scenario,
    traffic: &TrafficOutcome,
    carried: Option<&EmulatorResult>,
) -> Option<String> {
    if traffic.delivered_bytes > 0 {
        return None;
    }
    let carried = carried.map_or(&[][..], |carried| &carried.links);
    let ways = scenario.links.iter().zip(carried);
    let counted: Vec<String> = ways
        .map(|(link, [hop, _])| packets_of_link(&link.name, &hop.after))
        .collect();
    let is_early = carried
        .iter()
        .any(|[hop, _]| hop.before.delivered_bytes > 0);
    let reason = match traffic.completion_s {
        Some(_) if is_early => {
            format!("its data arrived during the warm-up ({})", scenario.warmup)
        }
        _ => ["no data arrived before the end".to_owned()]
            .into_iter()
            .chain(counted)
            .collect::<Vec<_>>()
            .join("; "),
    };
    Some(format!("nothing was delivered: {reason}"))
}

fn quotas(scenario: &Scenario, carried: &EmulatorResult) -> Vec<QuotaSummary> {
    let links = scenario.links.iter().zip(&carried.links).enumerate();
    let quotas = links.filter_map(|(number, (link, ways))| {
        let quota = scenario.quota(number)?;
        let used = ways.iter().map(|way| way.after.sent_bytes).sum();
        quota.period.is_none().then(|| QuotaSummary {
            link: link.name.clone(),
            used,
            left: quota.size.as_u64().saturating_sub(used),
        })
    });
    quotas.collect()
}

fn links(scenario: &Scenario, carried: &EmulatorResult) -> (Vec<LinkSummary>, Option<f64>) {
    let measured = carried.duration.saturating_sub(scenario.warmup);
    let mut cost = None;
    let links = scenario.links.iter().zip(&carried.links);
    let links = links.map(|(link, [hop, _])| {
        let (from, to) = (hop.before, hop.after);
        let delivered_bytes = to.delivered_bytes - from.delivered_bytes;
        if let Some(price) = link.cost {
            let cost = cost.get_or_insert(0.0);
            if measured > Time::ZERO {
                *cost += price * delivered_bytes as f64 * 8.0 / measured.as_secs_f64() / 1e6;
            }
        }
        let capacity = hop.capacity.map(|bytes| bytes.as_u64());
        LinkSummary {
            name: link.name.clone(),
            sent_packets: to.sent_packets - from.sent_packets,
            lost_packets: to.lost_packets - from.lost_packets,
            dropped_packets: to.dropped_packets - from.dropped_packets,
            delivered_bytes,
            utilization: capacity
                .filter(|&bytes| bytes > 0)
                .map(|bytes| hop.transmitted as f64 / bytes as f64),
            // The emulator does not know the flows of packets.
            attempts: None,
            frame_error_ratio: None,
            drops_tries: None,
            flows: Vec::new(),
        }
    });
    (links.collect(), cost)
}

fn emulator_warnings(carried: &EmulatorResult, drops: u64, stolen: Option<f64>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(LatenessSummary { p99, max, .. }) = carried.lateness.summary() {
        let mut why = String::new();
        let stolen = stolen.unwrap_or(0.0);
        if !carried.real_time {
            why += "; it had no real-time priority";
        }
        if stolen > 0.0 {
            why += &format!("; a hypervisor kept {stolen:.2} s from the processors meanwhile");
        }
        if !carried.lateness.is_trusted() {
            warnings.push(format!(
                "not to be trusted: the link emulator handed packets on {p99:.1} ms late at p99, more than 1 ms{why}"
            ));
        } else if max > LONG_PAUSE_MS {
            warnings.push(format!(
                "the link emulator handed packets on up to {max:.0} ms late: the greatest delays are the machine's, not the links'{why}"
            ));
        } else if stolen > LONG_THEFT {
            warnings.push(format!(
                "a hypervisor kept {stolen:.2} s from the processors: the greatest delays may be the machine's, not the links'"
            ));
        }
    }
    if drops > 0 {
        warnings.push(format!(
            "not to be trusted: {drops} packets were dropped before the link emulator took them"
        ));
    }
    if carried.refused > 0 {
        warnings.push(format!(
            "not to be trusted: the kernel took {} packets from the link emulator no more",
            carried.refused
        ));
    }
    warnings
}
