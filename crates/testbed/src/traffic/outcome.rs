//! Results of a connection from the observations of both ends.

use ropewalk_quantities::Time;
use ropewalk_simulator::{ApplicationSummary, DelayBin, DelaySummary, SubflowTimeline};

use super::connection_plan::{ConnectionPlan, SocketProtocol};
use super::end_report::{ClientReport, ServerReport};
use super::error::TrafficError;
use super::sampler::Row;
use super::session::Session;
use super::tcp_info::SubflowState;

/// Results of one connection; keys are those of the JSON contract.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TrafficOutcome {
    /// Goodput: bytes received in order by the application, from the first write (or the end of the
    /// warm-up) to the completion or the end of the run; 10^6 bit/s.
    pub goodput_mbps: f64,
    /// Bytes received in order by the application in the measured time.
    pub delivered_bytes: u64,
    /// From the first write to the last delivery of a completed finite transfer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_s: Option<f64>,
    /// Length of the run, warm-up included.
    pub duration_s: f64,
    /// From the application's write to delivery in order; absent without deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<DelaySummary>,
    /// The application's own results, such as a player's.
    #[serde(flatten)]
    pub application: ApplicationSummary,
    /// Longest gap between deliveries after the warm-up and the first delivery, including the end
    /// of an incomplete run; absent without deliveries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_gap_s: Option<f64>,
    /// This machine's lateness in writing messages to a socket with space, a part of `delay_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_lateness_ms: Option<DelaySummary>,
    /// In the order of the plan's paths.
    pub subflows: Vec<Subflow>,
    /// Caveats of the results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// State at regular steps, if the plan requests it.
    #[serde(skip)]
    pub timeline: Option<Timeline>,
    /// Delay from the application's write to delivery in order.
    #[serde(skip)]
    pub delays: Vec<DelayBin>,
}

/// One subflow over the measured time: counters of the client's kernel, and the goodput from the
/// server's.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Subflow {
    /// Name of its path; the client's address if no path has it.
    pub link: String,
    /// Bytes received in subflow order; 10^6 bit/s. Unlike in the simulator, data that another
    /// subflow delivered before are included: the kernel does not distinguish them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_mbps: Option<f64>,
    /// Share of all subflows' received bytes; 0 if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Data segments sent, including retransmissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments_sent: Option<u64>,
    /// Segments retransmitted on the same subflow, including SYNs of an added subflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmissions: Option<u64>,
    /// Number of retransmission timeouts (Linux 6.7 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeouts: Option<u64>,
    /// Retransmissions of segments that the receiver had, by its D-SACKs: none without SACK, and
    /// lost acknowledgements are missing (Linux 4.19 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spurious_retransmissions: Option<u64>,
    /// Payload that an aggregator retransmitted on another carrier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resent_bytes: Option<u64>,
    /// Smoothed RTT at the end; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_ms: Option<f64>,
}

/// State of the connection at regular steps, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Timeline {
    /// One row per step and subflow, with the simulator's columns. The goodput is
    /// [`Subflow::goodput_mbps`], NaN if the kernel does not report it.
    pub subflows: SubflowTimeline,
    /// One row per step.
    pub connection: ConnectionTimeline,
}

/// One row per step.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ConnectionTimeline {
    /// End of the step.
    pub time_s: Vec<f64>,
    /// FlowResult in order in the step; 10^6 bit/s.
    pub goodput_mbps: Vec<f64>,
}

/// Combines the results of [`run_client`](super::run_client) and [`run_server`](super::run_server).
/// Error: the error of the end that failed first.
pub fn outcome(
    session: &Session,
    client: Result<ClientReport, TrafficError>,
    server: Result<ServerReport, TrafficError>,
) -> Result<TrafficOutcome, TrafficError> {
    let (client, server) = match (client, server) {
        (Ok(client), Ok(server)) => (client, server),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => return Err(error),
        (Err(client), Err(server)) if client.is_consequence() => return Err(server),
        (Err(client), Err(_)) => return Err(client),
    };
    let plan = session.plan();
    let order = SubflowOrder::of(plan, &client, &server);
    let end = server.complete.unwrap_or(plan.duration);
    let span = end.saturating_sub(plan.warmup).as_secs_f64();
    let [before, all] = server.bytes;
    let complete = server.complete.filter(|_| plan.size() == Some(all));
    Ok(TrafficOutcome {
        goodput_mbps: mbps(all - before, span),
        delivered_bytes: all - before,
        completion_s: complete.map(Time::as_secs_f64),
        duration_s: end.as_secs_f64(),
        delay_ms: server.delays.summary(),
        application: server.application,
        longest_gap_s: server.longest_gap.map(Time::as_secs_f64),
        write_lateness_ms: client.lateness.summary(),
        subflows: order.subflows(plan, &client, &server, span),
        warnings: warnings(plan, &client, &order),
        timeline: plan.step.map(|_| order.timeline(&client, &server)),
        delays: server.delays.bins(),
    })
}

/// Subflows in path order, with their indices in the samples of both ends.
struct SubflowOrder(Vec<SubflowEnds>);

struct SubflowEnds {
    path: Option<usize>,
    link: String,
    client: usize,
    server: Option<usize>,
}

impl SubflowOrder {
    fn of(plan: &ConnectionPlan, client: &ClientReport, server: &ServerReport) -> SubflowOrder {
        let subflows = client.measured.addresses.iter().enumerate();
        let mut subflows: Vec<SubflowEnds> = subflows
            .map(|(number, ends)| {
                let local = ends.local.ip();
                let path = plan.paths.iter().position(|path| path.client == local);
                let mut others = server.measured.addresses.iter();
                SubflowEnds {
                    path,
                    link: path.map_or_else(|| local.to_string(), |at| plan.paths[at].name.clone()),
                    client: number,
                    server: others
                        .position(|other| (other.local, other.remote) == (ends.remote, ends.local)),
                }
            })
            .collect();
        subflows.sort_by_key(|subflow| (subflow.path.unwrap_or(usize::MAX), subflow.client));
        SubflowOrder(subflows)
    }

    fn subflows(
        &self,
        plan: &ConnectionPlan,
        client: &ClientReport,
        server: &ServerReport,
        span: f64,
    ) -> Vec<Subflow> {
        let nothing = Row::default();
        let baseline = |of: &Option<Row>, end: &Row| of.clone().unwrap_or_else(|| end.clone());
        let (sent, received) = (&client.measured, &server.measured);
        let sent_before = baseline(&sent.baseline, &sent.end);
        // The first bytes may have arrived before the server's first sample.
        let received_before = match plan.warmup {
            Time::ZERO => nothing,
            _ => baseline(&received.baseline, &received.end),
        };
        let subflows = self.0.iter().map(|subflow| {
            let state = subflow.sent(&sent.end);
            let before = subflow.sent(&sent_before);
            let bytes = subflow.received_between(&received_before, &received.end);
            Subflow {
                link: subflow.link.clone(),
                goodput_mbps: bytes.map(|bytes| mbps(bytes, span)),
                share: None,
                segments_sent: increase(state.data_segments, before.data_segments),
                retransmissions: increase(
                    Some(state.retransmissions),
                    Some(before.retransmissions),
                ),
                timeouts: increase(state.timeouts, before.timeouts),
                spurious_retransmissions: increase(state.dsack_duplicates, before.dsack_duplicates),
                resent_bytes: None,
                srtt_ms: state.srtt.map(Time::as_millis_f64),
            }
        });
        subflows.collect()
    }

    fn timeline(&self, client: &ClientReport, server: &ServerReport) -> Timeline {
        let mut timeline = Timeline::default();
        let mut received = server.measured.rows.iter().peekable();
        let start = Row::default();
        let mut previous = &start;
        for sent in &client.measured.rows {
            while received.next_if(|row| row.due < sent.due).is_some() {}
            let Some(row) = received.next_if(|row| row.due == sent.due) else {
                continue;
            };
            let span = row.at.saturating_sub(previous.at).as_secs_f64();
            let time_s = row.at.as_secs_f64();
            let connection = &mut timeline.connection;
            connection.time_s.push(time_s);
            connection
                .goodput_mbps
                .push(mbps(row.bytes - previous.bytes, span));
            let rows = &mut timeline.subflows;
            for (number, subflow) in self.0.iter().enumerate() {
                let Some(state) = sent.subflows.get(subflow.client) else {
                    continue;
                };
                let bytes = subflow.received_between(previous, row);
                rows.time_s.push(time_s);
                rows.subflow.push(number as u32);
                rows.goodput_mbps
                    .push(bytes.map_or(f64::NAN, |bytes| mbps(bytes, span)));
                rows.cwnd_bytes.push(state.cwnd);
                let ssthresh = state.ssthresh.map_or(f64::NAN, |bytes| bytes as f64);
                rows.ssthresh_bytes.push(ssthresh);
                rows.in_flight_bytes.push(state.in_flight);
                rows.srtt_ms
                    .push(state.srtt.map_or(f64::NAN, Time::as_millis_f64));
            }
            previous = row;
        }
        timeline
    }
}

impl SubflowEnds {
    fn sent(&self, row: &Row) -> SubflowState {
        row.subflows.get(self.client).copied().unwrap_or_default()
    }

    /// Bytes received between two rows; `None` if the server's kernel does not report them.
    fn received_between(&self, from: &Row, to: &Row) -> Option<u64> {
        let received = |row: &Row| match row.subflows.get(self.server?) {
            Some(state) => state.received,
            None => Some(0),
        };
        increase(received(to), received(from))
    }
}

fn warnings(plan: &ConnectionPlan, client: &ClientReport, order: &SubflowOrder) -> Vec<String> {
    let mut warnings = Vec::new();
    if client.began >= LATE {
        let late = client.began.as_millis_f64();
        warnings.push(format!(
            "the client began {late:.1} ms late: the machine is busy"
        ));
    }
    if client.connected.is_none() {
        warnings.push("the connection was never open".to_owned());
    } else if plan.protocol == SocketProtocol::Mptcp {
        let missing = plan.paths.iter().enumerate();
        let missing = missing.filter(|(path, _)| order.0.iter().all(|of| of.path != Some(*path)));
        warnings.extend(missing.map(|(_, path)| format!("no subflow came up on {:?}", path.name)));
    }
    warnings
}

/// Sets each subflow's share of all received bytes, if all are known.
pub(crate) fn share_out(subflows: &mut [Subflow]) {
    let all: Option<f64> = subflows.iter().map(|subflow| subflow.goodput_mbps).sum();
    for subflow in subflows {
        let part = |all: f64| Some(subflow.goodput_mbps? / if all > 0.0 { all } else { 1.0 });
        subflow.share = all.and_then(part);
    }
}

/// A client that begins later than this causes a warning.
const LATE: Time = Time::from_millis(10);

pub(crate) fn increase(to: Option<u64>, from: Option<u64>) -> Option<u64> {
    Some(to?.saturating_sub(from.unwrap_or(0)))
}

pub(crate) fn mbps(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds / 1e6
    } else {
        0.0
    }
}
