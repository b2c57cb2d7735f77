//! Results of a run: a summary, and optionally a timeline and reordering metrics.

mod application;
mod delay;
mod links;

use crate::timeline::{CompetitorTimeline, Timeline};

pub use application::{
    ApplicationSummary, ChunksSummary, MessagesSummary, RequestsSummary, Stall, VideoSummary,
    WebSummary,
};
pub use delay::{DelayBin, DelaySummary};
pub use links::{AirtimeShares, ChannelSummary, LinkShare, LinkSummary, NodeSummary, RadioSummary};

/// All measurements of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The summary.
    pub summary: Summary,
    /// State at regular steps, on request ([`Options::timeline_step`](crate::Options)).
    pub timeline: Option<Timeline>,
    /// Delay from the application's write to delivery in order.
    pub delays: Vec<DelayBin>,
    /// Outcomes of the other recorded flows.
    pub others: Vec<FlowOutcome>,
    /// Goodput of competitors at regular steps, if any and on request.
    pub competitors: Option<CompetitorTimeline>,
}

/// Outcome of a flow after the first.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOutcome {
    /// Name, with a number appended if its entry has several flows.
    pub name: String,
    /// Path of each subflow (with `striped-tcp`, of each stripe).
    pub links: Vec<String>,
    /// State at regular steps, on request.
    pub timeline: Option<Timeline>,
    /// Delay from the application's write to delivery in order.
    pub delays: Vec<DelayBin>,
}

/// Use of a link's quota in the period at the end of the run, warm-up included.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct QuotaSummary {
    /// Name of the link.
    pub link: String,
    /// Bytes of IP packets of all flows, both directions.
    pub used: u64,
    /// Bytes left of the quota.
    pub left: u64,
}

/// Numbers of a run; its keys are the JSON contract.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// `"simulate"`.
    pub engine: &'static str,
    /// Title of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// Bytes delivered in order, over the time from the first write (or the end of the warm-up) to the
    /// completion (or the end of the run); 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Bytes delivered in order, in the measured time.
    pub delivered_bytes: u64,
    /// Time from the first write to the last delivery of a completed finite transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<f64>,
    /// Longest time without a delivery, after the warm-up and the first delivery; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_gap_s: Option<f64>,
    /// Virtual duration of the run, warm-up included.
    pub duration_s: f64,
    /// Whether MPTCP fell back to TCP (RFC 8684, 3.7); absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fell_back: bool,
    /// Sum of each link's price times the Mbit/s of IP packets that it delivered; absent if no link has a
    /// price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Cost of 10^9 bytes of goodput at the same prices; absent without goodput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_gb: Option<f64>,
    /// Links with a quota.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quota: Vec<QuotaSummary>,
    /// Delay from the application's write to delivery in order; absent without deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<DelaySummary>,
    /// Application-level results.
    #[serde(flatten)]
    pub application: ApplicationSummary,
    /// Order of arrival at data level.
    pub reordering: Reordering,
    /// Measurements of the papers on the ns-3 module, of the first flow if it has profile `mptcp-ns3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mptcp_ns3: Option<MptcpNs3Summary>,
    /// Links in the order of the scenario, forward direction.
    pub links: Vec<LinkSummary>,
    /// Mesh of the scenario, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshSummary>,
    /// 802.11 channels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelSummary>,
    /// Nodes with radios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeSummary>,
    /// Radios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<RadioSummary>,
    /// Subflows of the measured connection.
    pub subflows: Vec<SubflowSummary>,
    /// Competitors of the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<CompetitorSummary>,
    /// All flows, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSummary>,
    /// Fairness index over the goodputs of several flows, from 1/n to 1 (Jain, Chiu and Hawe, DEC TR-301,
    /// 1984).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_index: Option<f64>,
    /// Warnings that affect the trust in these numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Effort of the run.
    pub stats: Stats,
}

/// Mesh that was drawn.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MeshSummary {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of pairs of nodes within the range of routes.
    pub links: usize,
    /// Sending node.
    pub source: String,
    /// Receiving node.
    pub destination: String,
    /// Number of deployments drawn until one met the requirements, that one included.
    pub draws: u64,
    /// Number of disjoint routes.
    pub routes: DisjointRoutes,
}

/// Number of routes between source and destination, by kind of disjointness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DisjointRoutes {
    /// Link-disjoint routes.
    pub link: usize,
    /// Node-disjoint routes.
    pub node: usize,
    /// Zone-disjoint routes.
    pub zone: usize,
}

/// Order of arrival at the receiver.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Reordering {
    /// Fraction of the data packets that arrived behind a gap (data sequence).
    pub out_of_order_ratio: f64,
    /// Maximum bytes in the receive buffer behind a gap.
    pub buffer_max_bytes: u64,
    /// RFC 5236 and RFC 4737 metrics, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<ReorderingMetrics>,
}

/// RFC 4737 and RFC 5236 over the data packets in the order of first transmission.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ReorderingMetrics {
    /// RFC 4737, section 3.3: fraction of reordered packets.
    pub reordered_ratio: f64,
    /// RFC 4737, section 4.2: number of packets of each extent; index 0 is extent 1.
    pub extents: Vec<u64>,
    /// RFC 5236, section 4: fraction of packets at each displacement.
    pub density: Vec<(i64, f64)>,
    /// RFC 5236, section 5: fraction of arrivals at each buffer occupancy.
    pub buffer_density: Vec<f64>,
}

/// Measurements of alheid-2016 and related papers on the MPTCP of the ns-3 module.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MptcpNs3Summary {
    /// Name of the reordering response in the module.
    pub reordering: &'static str,
    /// Segments stored out of order, as a percentage of segments with new data (OOO-R).
    pub out_of_order_percent: f64,
    /// Maximum segments stored after the warm-up (OOO buffer).
    pub buffer_max_segments: usize,
    /// Maximum KiB of payload stored after the warm-up.
    pub buffer_max_kib: f64,
    /// gThroughput of the module: sum over subflows of cwnd x MSS / srtt, averaged over the ACKs after the
    /// warm-up; 10^6 bit/s. It is not goodput. Absent without ACKs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gthroughput_mbps: Option<f64>,
}

/// Flow entry of the scenario, for comparison with others.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowSummary {
    /// Its name.
    pub name: String,
    /// Protocol, as spelled in the scenario.
    pub protocol: &'static str,
    /// Number of flows of the entry, if not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Mean goodput of its flows, over the time from the first write (or the end of the warm-up) to the
    /// last delivery (of a competitor: to the end of the run); 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Fraction of the bytes delivered by all flows; 0 without any.
    pub share: f64,
    /// Bytes delivered in order, in the measured time.
    pub delivered_bytes: u64,
    /// Time from the first write to the last delivery of a completed finite transfer, the last of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<f64>,
    /// Whether MPTCP fell back to TCP, in all flows of the entry; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fell_back: bool,
    /// Delay from the application's write to delivery in order; absent for competitors and without
    /// deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<DelaySummary>,
    /// Application-level results.
    #[serde(flatten)]
    pub application: ApplicationSummary,
    /// Subflows, if the entry has one recorded flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subflows: Vec<SubflowSummary>,
}

/// Subflow over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SubflowSummary {
    /// Name of the path (of the link, if the path is one link).
    pub link: String,
    /// Bytes newly delivered at data level by this subflow; 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Fraction of the bytes delivered by all subflows; 0 without any.
    pub share: f64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Data segments retransmitted on the same subflow.
    pub retransmissions: u64,
    /// Entries into fast recovery.
    pub fast_recoveries: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Retransmissions of segments that the receiver already had.
    pub spurious_retransmissions: u64,
    /// Losses found to be spurious, with a reordering response.
    #[serde(flatten)]
    pub undone: Option<UndoneSummary>,
    /// Payload in flight that was also sent on other paths, since this one was silent, late or gone; with
    /// `aggregation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resent_bytes: Option<u64>,
    /// Smoothed round-trip time at the end; absent without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_ms: Option<f64>,
}

/// Losses that a reordering response found to be spurious.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct UndoneSummary {
    /// Restorations of the window.
    pub undone: u64,
    /// Restorations after fast recoveries.
    pub spurious_fast_recoveries: u64,
    /// Restorations after timeouts.
    pub spurious_timeouts: u64,
    /// Largest DupThresh of the whole run.
    pub dupthresh_max: u32,
    /// Counters of Linux, with its reordering response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nstat: Option<Nstat>,
}

/// Linux counters of undone losses and of reordering, under their nstat names.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[allow(
    missing_docs,
    reason = "Documentation/networking/snmp_counter.rst of the kernel"
)]
pub struct Nstat {
    #[serde(rename = "TcpExtTCPDSACKUndo")]
    pub dsack_undo: u64,
    #[serde(rename = "TcpExtTCPPartialUndo")]
    pub partial_undo: u64,
    #[serde(rename = "TcpExtTCPFullUndo")]
    pub full_undo: u64,
    #[serde(rename = "TcpExtTCPLossUndo")]
    pub loss_undo: u64,
    #[serde(rename = "TcpExtTCPSpuriousRTOs")]
    pub spurious_rtos: u64,
    #[serde(rename = "TcpExtTCPSACKReorder")]
    pub sack_reorder: u64,
    #[serde(rename = "TcpExtTCPTSReorder")]
    pub ts_reorder: u64,
    #[serde(rename = "TcpExtPAWSEstab")]
    pub paws_estab: u64,
}

/// Competitors of an entry.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CompetitorSummary {
    /// Name of the entry.
    pub name: String,
    /// Number of flows.
    pub count: u32,
    /// Mean goodput of a flow; 10^6 bit/s.
    pub goodput_mbps: f64,
}

/// Effort of a run.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Stats {
    /// Data packets sent by endpoints, competitors included.
    pub data_packets: u64,
    /// Events of the run loop.
    pub events: u64,
    /// Wall-clock time; set by a caller with a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
}
