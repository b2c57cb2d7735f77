//! What a run gives: a summary, and on request a timeline and reordering metrics.

use crate::timeline::{CompetitorTimeline, Timeline};

/// Everything that one run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The numbers that every run gives.
    pub summary: Summary,
    /// State at regular steps, where [`Options::timeline_step`](crate::Options) asked for it.
    pub timeline: Option<Timeline>,
    /// Delay from the application's write to delivery in order.
    pub delays: Vec<DelayBin>,
    /// The same of the flows after the first, as far as they are recorded.
    pub others: Vec<FlowOutcome>,
    /// What competitors got at regular steps, where a timeline was asked for and there are any.
    pub competitors: Option<CompetitorTimeline>,
}

/// What was recorded of a flow after the first.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOutcome {
    /// Its name; with a number behind it where an entry of the scenario stands for several.
    pub name: String,
    /// The path of each of its subflows (with `striped-tcp`, of each stripe).
    pub links: Vec<String>,
    /// State at regular steps, where it was asked for.
    pub timeline: Option<Timeline>,
    /// Delay from the application's write to delivery in order.
    pub delays: Vec<DelayBin>,
}

/// What a link with a quota has carried in the period at the end of the run, warm-up included.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct QuotaSummary {
    /// The link's name.
    pub link: String,
    /// Bytes of IP packets, both ways, of all flows.
    pub used: u64,
    /// Bytes that the quota leaves.
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
    /// What 10^9 bytes cost that the application got, by the same price of a Mbit; absent when it got none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_per_gb: Option<f64>,
    /// Of each link with a quota; absent when none has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quota: Vec<QuotaSummary>,
    /// Application's write to delivery in order; absent when nothing was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<DelaySummary>,
    /// What its application makes of it.
    #[serde(flatten)]
    pub application: ApplicationSummary,
    /// Order of arrival on the data level.
    pub reordering: Reordering,
    /// What the papers of the ns-3 module measure, of the first flow where it has profile
    /// `mptcp-ns3`.
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
    /// All flows beside each other, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSummary>,
    /// Jain, Chiu and Hawe's index of fairness over the goodputs of all flows, from 1/n to 1 (DEC
    /// TR-301, 1984); where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain_index: Option<f64>,
    /// "Read this before trusting the numbers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What the run took.
    pub stats: Stats,
}

/// Of a mesh that was drawn.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MeshSummary {
    /// How many nodes.
    pub nodes: usize,
    /// How many pairs of them are in the range of routes.
    pub links: usize,
    /// The node that sends.
    pub source: String,
    /// The node that receives.
    pub destination: String,
    /// How many deployments were drawn until one was as required, that one included.
    pub draws: u64,
    /// How many routes there are.
    pub routes: DisjointRoutes,
}

/// How many routes between source and destination each routing finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DisjointRoutes {
    /// That share no link.
    pub link: usize,
    /// That share no inner node.
    pub node: usize,
    /// That share no zone.
    pub zone: usize,
}

/// Of a distribution of delays, in the unit that the name of the key has.
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

/// What those who use an application would say of a run, by the kind of its traffic; none of bulk.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct ApplicationSummary {
    /// Of messages with a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessagesSummary>,
    /// Of a video.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoSummary>,
    /// Of adaptive streaming.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<ChunksSummary>,
    /// Of responses that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestsSummary>,
    /// Of pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebSummary>,
}

/// How a video came that its player asked for in chunks.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ChunksSummary {
    /// Chunks that came in the measured time.
    pub count: u64,
    /// The rate of the quality that was asked for, in the mean of the chunks; 10^6 bit/s.
    pub rate_mbps: f64,
    /// How often the quality changed from one chunk to the next.
    pub switches: u64,
    /// Chunks that came later than their player had set or never, in percent.
    pub late_percent: f64,
    /// Their bytes.
    pub late_bytes: u64,
    /// From asking for a chunk to having it; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
    /// How it played.
    pub stall: Stall,
}

/// How responses came.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RequestsSummary {
    /// Responses to what was asked for in the measured time.
    pub count: u64,
    /// From asking to having the response; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
    /// Responses that came later than their deadline or never, in percent; where they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_percent: Option<f64>,
    /// Their bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_bytes: Option<u64>,
}

/// How pages came.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WebSummary {
    /// Pages that were begun in the measured time and are there whole.
    pub pages: u64,
    /// Their objects.
    pub objects: u64,
    /// From asking for a page to having all of its objects; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_load_s: Option<DelaySummary>,
    /// From asking for an object to having it; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
}

/// How many messages came before their deadlines.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MessagesSummary {
    /// Those that were written in the measured time, and whose time is over.
    pub count: u64,
    /// Of them those that came later than their deadline or never, in percent.
    pub late_percent: f64,
    /// Their bytes.
    pub late_bytes: u64,
}

/// How a video came.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct VideoSummary {
    /// Frames that were written in the measured time, and whose time is over.
    pub frames: u64,
    /// Of them those that came later than their deadline or never, in percent.
    pub late_percent: f64,
    /// Their bytes.
    pub late_bytes: u64,
    /// From the write of a frame to its delivery, of those that came; ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_delay_ms: Option<DelaySummary>,
    /// How it played, if there was a player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
}

/// How often a player had nothing to show.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Stall {
    /// Times, after it had started.
    pub count: u64,
    /// Seconds of that.
    pub total_s: f64,
    /// Of the time from the start of playing.
    pub share: f64,
}

/// Order of arrival at the receiver.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Reordering {
    /// Share of the data packets that had to wait for another before them (data sequence).
    pub out_of_order_ratio: f64,
    /// Most bytes that waited in the receive buffer for a gap to close.
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
    /// Packets that the link sent (those dropped by the queue are not among them).
    pub sent_packets: u64,
    /// Packets lost on the way, by loss or outage.
    pub lost_packets: u64,
    /// Packets that found the queue full.
    pub dropped_packets: u64,
    /// IP bytes that came out at the far end.
    pub delivered_bytes: u64,
    /// Sent bits over what its rate or trace could have sent; absent where it is unlimited, or in the
    /// air.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Data frames sent, those sent again included; of a link through the air.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// The share of them that the receiver did not get: noise, collisions, losses set by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_error_ratio: Option<f64>,
    /// Packets given up after the last try, among the lost ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops_tries: Option<u64>,
    /// Who got how much of it, where there are several flows: those that use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<LinkShare>,
}

/// An 802.11 channel over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ChannelSummary {
    /// Its name.
    pub name: String,
    /// The share of time with a frame on the air.
    pub busy_ratio: f64,
    /// The share of data and RTS frames that their receivers lost to other frames; 0 without any.
    pub collision_ratio: f64,
    /// What its radios did, in the mean.
    pub airtime: AirtimeShares,
}

/// Shares of time that sum up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct AirtimeShares {
    /// Sending data for the first time.
    pub data: f64,
    /// Sending data again.
    pub retries: f64,
    /// Sending ACKs.
    pub ack: f64,
    /// Sending RTS and CTS.
    pub rts: f64,
    /// With something to send, and not sending: back-off, waiting for others, for answers.
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
    /// Packets in its radios' queues, those being sent included, in the mean over time.
    pub queue_mean: f64,
    /// The most that one of its radios ever had, warm-up included.
    pub queue_max: u32,
}

/// A radio over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RadioSummary {
    /// Its node.
    pub node: String,
    /// Its channel.
    pub channel: String,
    /// Data frames sent, those sent again included.
    pub frames: u64,
    /// Of them, sent again.
    pub retries: u64,
    /// Packets dropped after the last try.
    pub drops_tries: u64,
    /// Packets that found the queue full.
    pub drops_queue: u64,
    /// Packets that waited too long.
    pub drops_lifetime: u64,
    /// Of its data and RTS frames, those that their receiver lost to other frames on the air.
    pub collisions: u64,
    /// The share of time that it sent.
    pub airtime_ratio: f64,
    /// Where its time went.
    pub airtime: AirtimeShares,
}

/// A flow's part of a link.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkShare {
    /// The flow's name.
    pub name: String,
    /// IP bytes of it that came over the link to the end of their path, all of its connections'
    /// together.
    pub delivered_bytes: u64,
    /// Of such bytes of all flows; 0 where there are none.
    pub share: f64,
}

/// What alheid-2016 and its kin measure of the ns-3 module's MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MptcpNs3Summary {
    /// What the module calls its answer to reordering.
    pub reordering: &'static str,
    /// Segments that were stored out of order, of those that brought something new (OOO-R); in percent.
    pub out_of_order_percent: f64,
    /// Most segments that were stored at once, after the warm-up (OOO buffer).
    pub buffer_max_segments: usize,
    /// The same in 1024 bytes of payload.
    pub buffer_max_kib: f64,
    /// The module's gThroughput: the sum over subflows of cwnd x MSS / srtt, in the mean over
    /// acknowledgements after the warm-up; 10^6 bit/s. Not what was delivered. Absent where nothing was
    /// acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gthroughput_mbps: Option<f64>,
}

/// One entry of the scenario's flows, beside the others.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FlowSummary {
    /// Its name.
    pub name: String,
    /// What carries it, as the scenario spells it.
    pub protocol: &'static str,
    /// How many flows it stands for, where that is not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Mean goodput of one of them, over the time from its first write (or the end of the warm-up)
    /// to its last delivery, a competitor's to the end of the run; 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Its part of the bytes that all flows delivered; 0 where nothing was.
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
    /// What its application makes of it.
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
    /// Its part of the bytes that all subflows delivered; 0 where nothing was.
    pub share: f64,
    /// Data segments sent, again or for the first time.
    pub segments_sent: u64,
    /// Data segments sent again on the same subflow.
    pub retransmissions: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Times that the retransmission timer ran out.
    pub timeouts: u64,
    /// Retransmissions of segments that the receiver had.
    pub spurious_retransmissions: u64,
    /// With an answer to reordering: what was found to have been no loss.
    #[serde(flatten)]
    pub undone: Option<UndoneSummary>,
    /// Payload that it held and others were given, too, since it was silent, late or gone; with
    /// `bas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resent_bytes: Option<u64>,
    /// Smoothed round-trip time at the end; absent when none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_ms: Option<f64>,
}

/// Losses that an answer to reordering found to have been none.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct UndoneSummary {
    /// Times that windows were restored.
    pub undone: u64,
    /// Of these, after fast recoveries.
    pub spurious_fast_recoveries: u64,
    /// Of these, after timeouts.
    pub spurious_timeouts: u64,
    /// Most duplicate acknowledgements that were waited for before a segment was taken for lost, in
    /// the whole run.
    pub dupthresh_max: u32,
    /// As Linux counts them, where Linux's answer is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nstat: Option<Nstat>,
}

/// Linux's counters of undone losses and of segments that were overtaken, by the names that nstat has
/// for them.
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

/// Competitors of one entry, together.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct CompetitorSummary {
    /// The entry's name.
    pub name: String,
    /// How many flows.
    pub count: u32,
    /// Mean goodput of a flow; 10^6 bit/s.
    pub goodput_mbps: f64,
}

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Stats {
    /// Data packets that endpoints sent, competitors' included.
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
