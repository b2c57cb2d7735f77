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

/// Everything that one run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The summary.
    pub summary: Summary,
    /// State at regular steps, where [`Options::timeline_step`](crate::Options) asked for it.
    pub timeline: Option<Timeline>,
    /// Delay from the application's write to delivery in order.
    pub delays: Vec<DelayBin>,
    /// Outcomes of the flows after the first, as far as they are recorded.
    pub others: Vec<FlowOutcome>,
    /// Goodput of competitors at regular steps, if a timeline was requested and there are any.
    pub competitors: Option<CompetitorTimeline>,
}

/// Outcome of a flow after the first.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOutcome {
    /// Its name; with a number appended if its entry stands for several flows.
    pub name: String,
    /// The path of each of its subflows (with `striped-tcp`, of each stripe).
    pub links: Vec<String>,
    /// State at regular steps, where it was asked for.
    pub timeline: Option<Timeline>,
    /// Delay from the application's write to delivery in order.
    pub delays: Vec<DelayBin>,
}

/// Use of a link with a quota in the period at the end of the run, warm-up included.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct QuotaSummary {
    /// The link's name.
    pub link: String,
    /// Bytes of IP packets, both ways, of all flows.
    pub used: u64,
    /// Bytes left of the quota.
    pub left: u64,
}

/// The numbers of one run; its keys are the JSON contract.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// `"simulate"`.
    pub engine: &'static str,
    /// The scenario's title.
    pub scenario: String,
    /// The run's seed.
    pub seed: u64,
    /// Bytes that the application got in order, over the time from the first
    /// write (or the end of the warm-up) to the completion, or the end of the
    /// run; 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Bytes that the application got in order, in the measured time.
    pub delivered_bytes: u64,
    /// First write to last delivery of a finite transfer that was completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<f64>,
    /// The longest time without a delivery, after the warm-up and the first one; absent when
    /// nothing was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_gap_s: Option<f64>,
    /// How long the run lasted in virtual time, warm-up included.
    pub duration_s: f64,
    /// Each link's price times the Mbit/s of IP packets that it delivered, summed; absent when no
    /// link has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Cost of 10^9 bytes of goodput, at the same prices; absent without goodput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_gb: Option<f64>,
    /// Of each link with a quota; absent when none has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quota: Vec<QuotaSummary>,
    /// Application's write to delivery in order; absent when nothing was delivered.
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
    /// Per link, as in the scenario; forward direction.
    pub links: Vec<LinkSummary>,
    /// The mesh, where the scenario has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshSummary>,
    /// Per 802.11 channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelSummary>,
    /// Per node with a radio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeSummary>,
    /// Per radio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<RadioSummary>,
    /// Per subflow of the measured connection.
    pub subflows: Vec<SubflowSummary>,
    /// Per competitor of the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<CompetitorSummary>,
    /// All flows, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSummary>,
    /// Jain, Chiu and Hawe's fairness index over the goodputs of all flows, from 1/n to 1 (DEC TR-301, 1984);
    /// if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_index: Option<f64>,
    /// "Read this before trusting the numbers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Effort of the run.
    pub stats: Stats,
}

/// A mesh that was drawn.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MeshSummary {
    /// How many nodes.
    pub nodes: usize,
    /// Number of pairs of nodes within the range of routes.
    pub links: usize,
    /// The node that sends.
    pub source: String,
    /// The node that receives.
    pub destination: String,
    /// Number of deployments that were drawn until one met the requirements, that one included.
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
    /// Most bytes in the receive buffer behind a gap.
    pub buffer_max_bytes: u64,
    /// RFC 5236 and RFC 4737, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<ReorderingMetrics>,
}

/// RFC 4737 and RFC 5236 over the data packets in the order in which they were first sent.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ReorderingMetrics {
    /// RFC 4737, section 3.3: share of reordered packets.
    pub reordered_ratio: f64,
    /// RFC 4737, section 4.2: how many packets have each extent; index 0 is extent 1.
    pub extents: Vec<u64>,
    /// RFC 5236, section 4: share of packets at each displacement.
    pub density: Vec<(i64, f64)>,
    /// RFC 5236, section 5: share of arrivals that found each buffer occupancy.
    pub buffer_density: Vec<f64>,
}

/// Measurements of alheid-2016 and related papers of the ns-3 module's MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MptcpNs3Summary {
    /// The module's name of its answer to reordering.
    pub reordering: &'static str,
    /// Segments stored out of order, as a fraction of those with new data (OOO-R); in percent.
    pub out_of_order_percent: f64,
    /// Most segments stored at once after the warm-up (OOO buffer).
    pub buffer_max_segments: usize,
    /// The same in KiB of payload.
    pub buffer_max_kib: f64,
    /// The module's gThroughput: the sum over subflows of cwnd x MSS / srtt, averaged over the
    /// acknowledgements after the warm-up; 10^6 bit/s. It is not goodput. Absent if nothing was acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gthroughput_mbps: Option<f64>,
}

/// A flow entry of the scenario, as compared with the others.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowSummary {
    /// Its name.
    pub name: String,
    /// Its protocol, as spelled in the scenario.
    pub protocol: &'static str,
    /// Number of flows that it stands for, if not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Mean goodput of one of them, over the time from its first write (or the end of the warm-up)
    /// to its last delivery, a competitor's to the end of the run; 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Its fraction of the bytes delivered by all flows; 0 if there are none.
    pub share: f64,
    /// Bytes that its applications got in order, in the measured time.
    pub delivered_bytes: u64,
    /// First write to last delivery of a finite transfer that was completed, the last of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<f64>,
    /// Application's write to delivery in order; absent of competitors, and when nothing was
    /// delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<DelaySummary>,
    /// Application-level results.
    #[serde(flatten)]
    pub application: ApplicationSummary,
    /// Per subflow, where the entry stands for one recorded flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subflows: Vec<SubflowSummary>,
}

/// One subflow over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SubflowSummary {
    /// Its path's name (the link's, where a path is one link).
    pub link: String,
    /// Bytes newly delivered on the data level by this subflow; 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Its fraction of the bytes delivered by all subflows; 0 if there are none.
    pub share: f64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Data segments retransmitted on the same subflow.
    pub retransmissions: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Retransmissions of segments that the receiver had already.
    pub spurious_retransmissions: u64,
    /// With an answer to reordering: losses that were found to be spurious.
    #[serde(flatten)]
    pub undone: Option<UndoneSummary>,
    /// Payload in flight on it that was also sent on others, since it was silent, late or gone; with `bas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resent_bytes: Option<u64>,
    /// Smoothed round-trip time at the end; absent when none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_ms: Option<f64>,
}

/// Losses that an answer to reordering found to be spurious.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct UndoneSummary {
    /// Number of times that windows were restored.
    pub undone: u64,
    /// Of these, after fast recoveries.
    pub spurious_fast_recoveries: u64,
    /// Of these, after timeouts.
    pub spurious_timeouts: u64,
    /// Largest duplicate-acknowledgement threshold of the whole run.
    pub dupthresh_max: u32,
    /// Linux's counters, with Linux's answer to reordering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nstat: Option<Nstat>,
}

/// Linux's counters of undone losses and of reordering, under the names of nstat.
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

/// The competitors of an entry together.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CompetitorSummary {
    /// The entry's name.
    pub name: String,
    /// How many flows.
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
    /// Wall-clock time; set by whoever has a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
}
