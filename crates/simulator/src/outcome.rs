//! Results of a run: a summary, and optionally a timeline and reordering metrics.

use crate::timeline::{CompetitorTimeline, Timeline};

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
    /// write (or the end of the warm-up) to the last delivery; 10^6 bit/s.
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

/// Statistics of a distribution of delays, in the unit given by the key's name.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct DelaySummary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
}

/// Application-level results, by kind of traffic; none for bulk.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct ApplicationSummary {
    /// For messages with a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessagesSummary>,
    /// For a video.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoSummary>,
    /// For adaptive streaming.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<ChunksSummary>,
    /// For request-response traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestsSummary>,
    /// For web pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebSummary>,
}

/// Results of adaptive streaming.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ChunksSummary {
    /// Chunks that arrived in the measured time.
    pub count: u64,
    /// Mean rate of the requested qualities; 10^6 bit/s.
    pub rate_mbps: f64,
    /// Changes of quality between consecutive chunks.
    pub switches: u64,
    /// Chunks that arrived after the player's deadline or never, in percent.
    pub late_percent: f64,
    /// Their bytes.
    pub late_bytes: u64,
    /// Time from the request of a chunk to its arrival; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
    /// Stalls of the player.
    pub stall: Stall,
}

/// Results of request-response traffic.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RequestsSummary {
    /// Responses to requests of the measured time.
    pub count: u64,
    /// Time from request to response; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
    /// Responses that arrived after their deadline or never, in percent; if there is a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_percent: Option<f64>,
    /// Their bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_bytes: Option<u64>,
}

/// Results of page loads.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WebSummary {
    /// Pages that were begun in the measured time and loaded completely.
    pub pages: u64,
    /// Their objects.
    pub objects: u64,
    /// Time from the request of a page to the arrival of all its objects; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_load_s: Option<DelaySummary>,
    /// Time from the request of an object to its arrival; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
}

/// Timeliness of messages.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MessagesSummary {
    /// Messages that were written in the measured time, and whose deadline has passed.
    pub count: u64,
    /// Those of them that arrived late or never, in percent.
    pub late_percent: f64,
    /// Their bytes.
    pub late_bytes: u64,
}

/// Timeliness of a video.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct VideoSummary {
    /// Frames that were written in the measured time, and whose deadline has passed.
    pub frames: u64,
    /// Those of them that arrived late or never, in percent.
    pub late_percent: f64,
    /// Their bytes.
    pub late_bytes: u64,
    /// Time from the write of a frame to its delivery, of delivered frames; ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_delay_ms: Option<DelaySummary>,
    /// Stalls of the player, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
}

/// Stalls of a player.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Stall {
    /// Number of stalls after the start.
    pub count: u64,
    /// Their duration in seconds.
    pub total_s: f64,
    /// Fraction of the time since playing began.
    pub share: f64,
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

/// One link over the measured time, forward direction.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkSummary {
    /// Its name.
    pub name: String,
    /// Packets sent by the link, without those dropped by the queue.
    pub sent_packets: u64,
    /// Packets lost in transit, by loss or outage.
    pub lost_packets: u64,
    /// Packets dropped at a full queue.
    pub dropped_packets: u64,
    /// Bytes of IP packets delivered at the far end.
    pub delivered_bytes: u64,
    /// Bits sent, as a fraction of what its rate or trace allowed; absent if it is unlimited or wireless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Data frames sent, retransmissions included; of a wireless link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// Fraction of them that the receiver did not decode: noise, collisions, configured losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_error_ratio: Option<f64>,
    /// Packets dropped after the last retry, which are among the lost ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops_tries: Option<u64>,
    /// Each flow's share of it, if there are several flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<LinkShare>,
}

/// An 802.11 channel over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ChannelSummary {
    /// Its name.
    pub name: String,
    /// Fraction of time with a frame on the air.
    pub busy_ratio: f64,
    /// Fraction of data and RTS frames lost at their receivers in collisions; 0 without any frame.
    pub collision_ratio: f64,
    /// Mean airtime shares of its radios.
    pub airtime: AirtimeShares,
}

/// Fractions of time, which sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct AirtimeShares {
    /// Transmitting data for the first time.
    pub data: f64,
    /// Retransmitting data.
    pub retries: f64,
    /// Transmitting ACKs.
    pub ack: f64,
    /// Transmitting RTS and CTS.
    pub rts: f64,
    /// With something to send, but not transmitting: back-off, medium busy, waiting for responses.
    pub defer: f64,
    /// With nothing to send.
    pub idle: f64,
}

/// A node with radios over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub name: String,
    /// x, y and z, m.
    pub at: [f64; 3],
    /// Mean packets in its radios' queues, those being transmitted included.
    pub queue_mean: f64,
    /// Most packets in the queue of one of its radios, warm-up included.
    pub queue_max: u32,
}

/// A radio over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RadioSummary {
    /// Its node.
    pub node: String,
    /// Its channel.
    pub channel: String,
    /// Data frames sent, retransmissions included.
    pub frames: u64,
    /// Those of them that were retransmissions.
    pub retries: u64,
    /// Packets dropped after the last retry.
    pub drops_tries: u64,
    /// Packets dropped at a full queue.
    pub drops_queue: u64,
    /// Packets dropped at the end of their lifetime.
    pub drops_lifetime: u64,
    /// Its data and RTS frames that were lost at their receiver in collisions.
    pub collisions: u64,
    /// Fraction of time that it transmitted.
    pub airtime_ratio: f64,
    /// Airtime shares.
    pub airtime: AirtimeShares,
}

/// A flow's share of a link.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkShare {
    /// The flow's name.
    pub name: String,
    /// Bytes of its IP packets that passed the link and reached the end of their path, over all its
    /// connections.
    pub delivered_bytes: u64,
    /// Fraction of the same of all flows; 0 if there are none.
    pub share: f64,
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

/// A bin of the delay histogram.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct DelayBin {
    /// Upper edge, in milliseconds.
    pub up_to_ms: f64,
    /// Packets (or messages) in it.
    pub count: u64,
}
