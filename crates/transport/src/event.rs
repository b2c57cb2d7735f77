//! Events of an endpoint: typed values that are passed to a recorder.
//!
//! A recorder is an argument of the methods that [`Endpoint::recorded_by`](crate::Endpoint::recorded_by)
//! returns. So the type of an endpoint does not depend on the recorder, recording can start and stop at any
//! time, and no queue is needed. The plain methods pass `()`, for which the creation of events is compiled
//! away.

use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::congestion::{Congestion, Window};
use crate::reordering::{Evidence, Remark};

/// Receives the events of an endpoint; `()` ignores them and costs nothing.
pub trait Recorder {
    /// Whether events are recorded; if not, none is created.
    const ENABLED: bool = true;

    /// Records an event.
    fn record(&mut self, recorded: &TraceRecord);
}

impl Recorder for () {
    const ENABLED: bool = false;

    #[inline(always)]
    fn record(&mut self, _: &TraceRecord) {}
}

impl Recorder for Vec<TraceRecord> {
    fn record(&mut self, recorded: &TraceRecord) {
        self.push(*recorded);
    }
}

impl<R: Recorder> Recorder for &mut R {
    const ENABLED: bool = R::ENABLED;

    #[inline(always)]
    fn record(&mut self, recorded: &TraceRecord) {
        R::record(self, recorded);
    }
}

/// An event for the application or the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first subflow is established: data may be sent.
    Connected,
    /// Another subflow is established.
    SubflowEstablished(usize),
    /// A subflow was reset, or failed after too many retransmissions.
    SubflowFailed(usize),
    /// The peer has closed its side, and all of its data have arrived.
    Eof,
    /// Both sides have closed, and everything is acknowledged.
    Closed,
    /// The connection was aborted, or its last subflow failed.
    Aborted,
}

impl Event {
    /// Subflow of the event; `None` for the whole connection.
    pub fn subflow(self) -> Option<usize> {
        match self {
            Event::SubflowEstablished(subflow) | Event::SubflowFailed(subflow) => Some(subflow),
            Event::Connected | Event::Eof | Event::Closed | Event::Aborted => None,
        }
    }
}

/// An event with its time and subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceRecord {
    /// Time of the event.
    pub time: Time,
    /// Number of the subflow; 0 for the whole connection.
    pub subflow: usize,
    /// The event.
    pub event: TraceEvent,
}

/// An event. Offsets are those of the subflow's stream, amounts are bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceEvent {
    /// A segment with data, or a FIN, was sent.
    SegmentSent(SegmentSent),
    /// An acknowledgement with new information arrived.
    Acknowledged(Acknowledged),
    /// A segment in flight was marked lost.
    SegmentLost(SegmentLost),
    /// Loss recovery began: the windows were reduced.
    RecoveryEntered(RecoveryEntered),
    /// Loss recovery ended: everything in flight at its start is acknowledged.
    RecoveryLeft(RecoveryLeft),
    /// The retransmission timer expired.
    TimedOut(TimedOut),
    /// A tail loss probe was sent.
    ProbeSent(ProbeSent),
    /// The windows were reduced outside of loss recovery.
    WindowReduced(WindowReduced),
    /// Losses were found to be spurious, and the reductions were undone.
    Undone(Undone),
    /// The duplicate-acknowledgement threshold changed.
    ThresholdChanged(ThresholdChanged),
    /// Signs of congestion are ignored for a while.
    Frozen(Frozen),
    /// The reordering policy took a step, or ignored a sign.
    Remarked(Remark),
    /// The peer reported a duplicate segment (D-SACK, RFC 2883).
    DuplicateReported(DuplicateReported),
    /// A data segment without new data for the subflow arrived here.
    DuplicateArrived(DuplicateArrived),
    /// A data segment arrived here behind a gap.
    OutOfOrderArrived(OutOfOrderArrived),
    /// State of the sender when there is nothing more to send.
    SenderState(SenderState),
    /// The state of the connection or of a subflow changed.
    StateChanged(StateChanged),
}

/// A segment with data, or a FIN, was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSent {
    /// First offset.
    pub seq: u64,
    /// Payload length; zero for a FIN.
    pub len: u32,
    /// It is a retransmission on this subflow.
    pub retransmission: bool,
}

/// An acknowledgement with new information arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// First unacknowledged offset.
    pub una: u64,
    /// Bytes newly acknowledged cumulatively.
    pub bytes: u64,
    /// Bytes newly acknowledged selectively.
    pub sacked: u64,
    /// RTT sample of the acknowledgement, if any.
    pub rtt: Option<Time>,
}

/// A segment in flight was marked lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLost {
    /// First offset.
    pub seq: u64,
    /// Number of its offsets: its payload, or one for a FIN.
    pub len: u32,
    /// Evidence of the loss.
    pub sign: LossSign,
}

/// Evidence that a segment is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSign {
    /// Duplicate acknowledgements, or selective acknowledgements above it (RFC 5681, 6675).
    Duplicates,
    /// A partial acknowledgement in recovery without SACK (RFC 6582).
    PartialAcknowledgement,
    /// A segment that was sent sufficiently later has arrived (RFC 8985).
    Overtaken,
    /// The retransmission timer expired (RFC 6298).
    Timeout,
}

/// Loss recovery began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryEntered {
    /// Windows before the reduction.
    pub before: Window,
    /// Windows after the reduction; with proportional rate reduction cwnd is reduced gradually.
    pub after: Window,
    /// FlightSize, as passed to congestion control.
    pub flight_size: u64,
    /// Recovery ends when this offset is acknowledged.
    pub until: u64,
}

/// Loss recovery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryLeft {
    /// The present windows.
    pub window: Window,
    /// It had begun with a timeout.
    pub after_timeout: bool,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    /// Windows before the reduction.
    pub before: Window,
    /// Windows after it.
    pub after: Window,
    /// Consecutive timeouts, this one included.
    pub consecutive: u32,
}

/// A tail loss probe was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeSent {
    /// It is a retransmission rather than new data.
    pub retransmission: bool,
}

/// Cause of a window reduction outside of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionCause {
    /// A tail loss probe repaired a loss that was not detected otherwise (RFC 8985, 7.4).
    RepairedByProbe,
    /// Nothing was sent for longer than the retransmission timeout (RFC 5681, 4.1).
    Idle,
    /// The subflow blocks the connection (Raiciu et al., NSDI 2012).
    Penalised,
}

/// The windows were reduced outside of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowReduced {
    /// Reason.
    pub cause: ReductionCause,
    /// Windows before.
    pub before: Window,
    /// Windows after.
    pub after: Window,
}

/// Losses were found to be spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// Detection of the first of them.
    pub cause: Congestion,
    /// Windows before the undo.
    pub before: Window,
    /// Windows after it.
    pub after: Window,
    /// The evidence.
    pub evidence: Evidence,
    /// Segments that were marked lost, not retransmitted, and are in flight again.
    pub unmarked: u32,
}

/// The duplicate-acknowledgement threshold changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdChanged {
    /// New threshold.
    pub to: u32,
}

/// Signs of congestion are ignored for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frozen {
    /// End of that time.
    pub until: Time,
}

/// The peer reported a duplicate segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateReported {
    /// First offset of the duplicate range.
    pub start: u64,
    /// Offset after its last.
    pub end: u64,
}

/// A data segment without new data for the subflow arrived here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateArrived {
    /// First offset.
    pub seq: u64,
    /// Payload length.
    pub len: u32,
}

/// A data segment arrived here behind a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrderArrived {
    /// First offset.
    pub seq: u64,
    /// Payload length.
    pub len: u32,
    /// Next offset expected.
    pub expected: u64,
}

/// State of a subflow's sender when there is nothing more to send; recorded for each subflow that was ever
/// open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// Congestion window and slow-start threshold.
    pub window: Window,
    /// Bytes sent and neither acknowledged nor marked lost.
    pub in_flight: u64,
    /// Round-trip times; `None` before the first sample.
    pub rtt: Option<RoundTrip>,
}

impl SenderState {
    pub(crate) fn of(state: &SubflowState) -> SenderState {
        SenderState {
            window: Window::of(state),
            in_flight: state.in_flight,
            rtt: (state.srtt > Time::ZERO).then_some(RoundTrip {
                smoothed: state.srtt,
                deviation: state.rttvar,
                latest: state.latest_rtt,
                least: state.min_rtt,
            }),
        }
    }
}

/// Round-trip time estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Smoothed (RFC 6298).
    pub smoothed: Time,
    /// Mean deviation (RFC 6298).
    pub deviation: Time,
    /// The newest sample.
    pub latest: Time,
    /// Minimum of the samples.
    pub least: Time,
}

/// The state of the connection or of a subflow changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChanged {
    /// The same event that [`Endpoint::poll_event`](crate::Endpoint::poll_event) returns.
    pub event: Event,
}
