//! What an endpoint tells of itself while it works: typed events, to a recorder that it is handed.
//!
//! A recorder is an argument, as the time is: [`Endpoint::recorded_by`](crate::Endpoint::recorded_by)
//! gives the verbs that take one. So an endpoint's type does not depend on who listens, the same
//! endpoint may be heard at times and not at others, and events reach their hearer where they
//! happen, without a queue between them. The plain verbs hand in `()`, for which each event's making is compiled away.

use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::congestion::Congestion;
use crate::reordering::{Evidence, Remark};

/// Hears what an endpoint does; `()` hears nothing and costs nothing.
pub trait Recorder {
    /// Whether anybody listens: if not, no event is made.
    const LISTENS: bool = true;

    /// Something happened.
    fn record(&mut self, recorded: &Recorded);
}

impl Recorder for () {
    const LISTENS: bool = false;

    #[inline(always)]
    fn record(&mut self, _: &Recorded) {}
}

/// Keeps everything, in order.
impl Recorder for Vec<Recorded> {
    fn record(&mut self, recorded: &Recorded) {
        self.push(*recorded);
    }
}

impl<R: Recorder> Recorder for &mut R {
    const LISTENS: bool = R::LISTENS;

    #[inline(always)]
    fn record(&mut self, recorded: &Recorded) {
        R::record(self, recorded);
    }
}

/// What the application or the driver should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first subflow is established: data may flow.
    Connected,
    /// One more subflow is established.
    SubflowEstablished(usize),
    /// A subflow was reset, or given up after too many retransmissions.
    SubflowFailed(usize),
    /// The peer will send no more, and everything it sent has arrived.
    Eof,
    /// Both sides have closed, and all is acknowledged.
    Closed,
    /// The connection was aborted, or its last subflow failed.
    Aborted,
}

impl Event {
    /// The subflow that it tells of; `None` if of the connection.
    pub fn subflow(self) -> Option<usize> {
        match self {
            Event::SubflowEstablished(subflow) | Event::SubflowFailed(subflow) => Some(subflow),
            Event::Connected | Event::Eof | Event::Closed | Event::Aborted => None,
        }
    }
}

/// Something that happened, when, and on which subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// When.
    pub time: Time,
    /// The subflow's number; 0 for what concerns the whole connection.
    pub subflow: usize,
    /// What.
    pub happening: Happening,
}

/// What may happen. Offsets are those of the subflow's stream, amounts bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// A segment with data, or a FIN, left.
    SegmentSent(SegmentSent),
    /// An acknowledgement told of something new.
    Acknowledged(Acknowledged),
    /// A segment that was thought to be in flight is taken for lost.
    SegmentLost(SegmentLost),
    /// Loss recovery began: the windows were reduced.
    RecoveryEntered(RecoveryEntered),
    /// All that was in flight when recovery began is acknowledged.
    RecoveryLeft(RecoveryLeft),
    /// The retransmission timer ran out.
    TimedOut(TimedOut),
    /// A tail loss probe left.
    ProbeSent(ProbeSent),
    /// The windows were reduced outside of recovery.
    WindowReduced(WindowReduced),
    /// Losses were found to have been none, and what was reduced is restored.
    Undone(Undone),
    /// So many duplicate acknowledgements tell of a loss from now on.
    ThresholdChanged(ThresholdChanged),
    /// For a while nothing is taken for a sign of congestion.
    Frozen(Frozen),
    /// The answer to reordering took a step, or passed a sign over.
    Remarked(Remark),
    /// The peer says that a segment arrived twice (D-SACK, RFC 2883).
    DuplicateReported(DuplicateReported),
    /// A data segment arrived here that brought nothing new to the subflow.
    DuplicateArrived(DuplicateArrived),
    /// A data segment arrived here that waits for another before it.
    OutOfOrderArrived(OutOfOrderArrived),
    /// There is nothing more to send now, and this is how the sender stands.
    Settled(Settled),
    /// The connection or one of its subflows is in another state.
    StateChanged(StateChanged),
}

/// A segment with data, or a FIN, left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSent {
    /// Its first offset.
    pub seq: u64,
    /// Its payload; none in a FIN.
    pub len: u32,
    /// It was sent before, on this subflow.
    pub again: bool,
}

/// An acknowledgement told of something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// First offset not acknowledged.
    pub una: u64,
    /// Acknowledged cumulatively by it.
    pub bytes: u64,
    /// Acknowledged selectively by it and not before.
    pub sacked: u64,
    /// Its sample of the round-trip time, if it gave one.
    pub rtt: Option<Time>,
}

/// A segment that was thought to be in flight is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLost {
    /// Its first offset.
    pub seq: u64,
    /// How many offsets it takes: its payload, or one for a FIN.
    pub len: u32,
    /// What says so.
    pub sign: LossSign,
}

/// What says that a segment is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSign {
    /// Duplicate acknowledgements, or segments selectively acknowledged above it (RFC 5681, 6675).
    Duplicates,
    /// In recovery without SACK, an acknowledgement that ends before it (RFC 6582).
    PartialAcknowledgement,
    /// One that was sent later has arrived, and it is late (RFC 8985).
    Overtaken,
    /// The retransmission timer ran out (RFC 6298).
    Timeout,
}

/// Congestion window and slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` until the first loss.
    pub ssthresh: u64,
}

impl Window {
    pub(crate) fn of(state: &SubflowState) -> Window {
        Window {
            cwnd: state.cwnd,
            ssthresh: state.ssthresh,
        }
    }
}

/// Loss recovery began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryEntered {
    /// Before the reduction.
    pub before: Window,
    /// After it; with proportional rate reduction cwnd follows by and by.
    pub after: Window,
    /// FlightSize, as congestion control was told it.
    pub flight_size: u64,
    /// It ends when this offset is acknowledged.
    pub until: u64,
}

/// Loss recovery is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryLeft {
    /// The window now.
    pub window: Window,
    /// It was begun by a timeout.
    pub after_timeout: bool,
}

/// The retransmission timer ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    /// Before the reduction.
    pub before: Window,
    /// After it.
    pub after: Window,
    /// Timeouts in a row, this one included.
    pub in_a_row: u32,
}

/// A tail loss probe left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeSent {
    /// It is a segment sent again, not new data.
    pub again: bool,
}

/// Why windows were reduced outside of recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionCause {
    /// A tail loss probe repaired a loss that nothing else told of (RFC 8985, 7.4).
    RepairedByProbe,
    /// Nothing was sent for longer than the retransmission timeout (RFC 5681, 4.1).
    Idle,
    /// The subflow holds up the connection (Raiciu et al., NSDI 2012).
    Penalised,
}

/// The windows were reduced outside of recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowReduced {
    /// Why.
    pub cause: ReductionCause,
    /// Before.
    pub before: Window,
    /// Now.
    pub after: Window,
}

/// Losses were found to have been none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// What the first of them was found by.
    pub cause: Congestion,
    /// Before the undo.
    pub before: Window,
    /// Now.
    pub after: Window,
    /// What told it.
    pub evidence: Evidence,
    /// Segments that were marked lost, were not sent again, and are in flight as before.
    pub unmarked: u32,
}

/// So many duplicate acknowledgements tell of a loss from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdChanged {
    /// So many.
    pub to: u32,
}

/// For a while nothing is taken for a sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frozen {
    /// Until then.
    pub until: Time,
}

/// The peer says that a segment arrived twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateReported {
    /// First offset of what arrived twice.
    pub start: u64,
    /// Offset after its last.
    pub end: u64,
}

/// A data segment arrived here that brought nothing new to the subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateArrived {
    /// Its first offset.
    pub seq: u64,
    /// Its payload.
    pub len: u32,
}

/// A data segment arrived here that waits for another before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrderArrived {
    /// Its first offset.
    pub seq: u64,
    /// Its payload.
    pub len: u32,
    /// The offset that was expected.
    pub expected: u64,
}

/// How a subflow's sender stands once there is nothing more to send: told of each subflow that was
/// ever open, whether or not anything changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Congestion window and slow-start threshold.
    pub window: Window,
    /// Sent and neither acknowledged nor taken for lost.
    pub in_flight: u64,
    /// Round-trip times; none before the first sample.
    pub rtt: Option<RoundTrip>,
}

impl Settled {
    pub(crate) fn of(state: &SubflowState) -> Settled {
        Settled {
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

/// What is known of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Smoothed (RFC 6298).
    pub smoothed: Time,
    /// Mean deviation (RFC 6298).
    pub deviation: Time,
    /// The newest sample.
    pub latest: Time,
    /// The least sample.
    pub least: Time,
}

/// The connection or one of its subflows is in another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChanged {
    /// The same that [`Endpoint::poll_event`](crate::Endpoint::poll_event) gives.
    pub event: Event,
}
