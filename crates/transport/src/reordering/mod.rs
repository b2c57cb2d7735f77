//! Reordering policies: reactions to signs that a loss was spurious. Reordered segments look like losses. A
//! policy observes one subflow in both directions for any of these signs:
//!
//! | sign | input | used by |
//! | --- | --- | --- |
//! | a segment is reported to have arrived twice (D-SACK, RFC 2883) | [`AckInfo::duplicate_report`] | RFC 3708, Linux |
//! | an acknowledgement echoes a time before the retransmission that it follows | [`AckInfo::echo`], [`Retransmission::now`] | Eifel, RFC 3522 |
//! | after a timeout, data are acknowledged that were never retransmitted | [`AckInfo::original`], [`Loss`] | F-RTO, RFC 5682 |
//! | an acknowledgement was overtaken by a later one | [`AckInfo::out_of_order`] | TCP-DOOR (Wang and Zhang 2002) |
//! | a data segment was overtaken, here or at the peer | [`DataInfo`], [`AckInfo::peer_reported_out_of_order`] | TCP-DOOR |
//! | how far a segment was overtaken | [`AckInfo::late`], [`AckInfo::highest_sacked`], [`AckInfo::duplicates`] | RFC 4653, Linux |
//!
//! It returns [`Actions`], which the sender carries out: undo, another threshold, a freeze, new data first.

pub mod dsack;
pub mod eifel;
pub mod evidence;
pub mod f_rto;
pub mod linux;
pub mod ncr;
pub mod none;
pub mod remark;
mod restore;
pub mod tcp_door;

use std::fmt;

use ropewalk_quantities::Time;

use crate::algorithm::{Custom, registry};
use crate::congestion::{Congestion, Window};
use crate::initial_window::InitialWindow;

pub use crate::recovery::{Before, Phase};
pub use evidence::{Evidence, ReorderingSign};
pub use remark::{FrtoStep, Ignored, Remark};

registry! {
    ($)
    /// Config of a reordering policy.
    config ReorderingConfig by build;
    /// A reordering policy of a subflow; the built-in ones use static dispatch.
    #[derive(Debug)]
    built Policy by each_policy;
    settings Settings;
    algorithms {
        /// `none`
        None(none::NoneConfig => none::NoPolicy),
        /// `dsack`
        Dsack(dsack::DsackConfig => dsack::Dsack),
        /// `eifel`
        Eifel(eifel::EifelConfig => eifel::Eifel),
        /// `f-rto`
        Frto(f_rto::FrtoConfig => f_rto::Frto),
        /// `linux`
        Linux(linux::LinuxConfig => linux::Linux),
        /// `ncr`
        Ncr(ncr::NcrConfig => ncr::Ncr),
        /// `tcp-door`
        TcpDoor(tcp_door::TcpDoorConfig => tcp_door::TcpDoor),
        /// A user's own policy.
        Custom(CustomReordering => Box<dyn ReorderingPolicy + Send>),
    }
}

/// A user's own policy, one for each subflow ([`Custom::new`]).
pub type CustomReordering = Custom<Settings, Box<dyn ReorderingPolicy + Send>>;

/// The settings of an endpoint that policies use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// SACK was negotiated.
    pub sack: bool,
    /// Timestamps were negotiated.
    pub timestamps: bool,
    /// With SACK, losses are detected by time (RFC 8985), not by counting duplicates.
    pub rack: bool,
    /// The initial window.
    pub initial_window: InitialWindow,
}

/// A policy that observes a subflow for signs of spurious losses.
pub trait ReorderingPolicy: fmt::Debug {
    /// Handles an acknowledgement, before losses that it indicates are searched.
    fn on_ack(&mut self, signs: &AckInfo) -> Actions;

    /// Whether an acknowledgement of new data without other information, while no loss is known, would have
    /// no effect at all. Such acknowledgements and data in order are then not passed to the policy.
    fn ignores_plain_acks(&self) -> bool {
        false
    }

    /// Window and FlightSize in bytes from which a reduction is computed, if not the present ones: the data
    /// in flight before [`Actions::window`] allowed segments to be sent on duplicates.
    fn reduces_from(&self) -> Option<u64> {
        None
    }

    /// Handles the begin of recovery, or a timeout: losses are marked, and not yet retransmitted.
    fn on_loss(&mut self, _loss: &Loss) {}

    /// Handles the retransmission of a segment.
    fn on_retransmit(&mut self, _resent: &Retransmission) {}

    /// Handles a data segment that arrived here. Returns whether to report it to the peer as out of order:
    /// the next acknowledgement then has [`Flags::OUT_OF_ORDER`](crate::Flags::OUT_OF_ORDER).
    fn on_data(&mut self, _data: &DataInfo) -> bool {
        false
    }
}

/// Actions that a policy requests, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    /// The losses of this episode were spurious.
    pub undo: Option<Undo>,
    /// New duplicate-acknowledgement threshold, at least three. A timeout resets it.
    pub threshold: Option<u32>,
    /// Ignore signs of congestion for a while.
    pub freeze: Option<Freeze>,
    /// Number of new segments to send before any retransmission, until the next acknowledgement; 0 without
    /// new data.
    pub send_new: u32,
    /// Reordering was detected: RACK waits for late segments from now on (RFC 8985, 6.2, step 3).
    pub reordering_sign: Option<ReorderingSign>,
    /// Limit of the window after the acknowledgement, in bytes.
    pub limit: Option<u64>,
    /// New windows, while no loss is known and nothing is undone; the acknowledgement does not grow them
    /// further.
    pub window: Option<Window>,
    /// A remark for the recorder.
    pub remark: Option<Remark>,
}

impl Actions {
    /// No action.
    pub const NOTHING: Actions = Actions {
        undo: None,
        threshold: None,
        freeze: None,
        send_new: 0,
        reordering_sign: None,
        limit: None,
        window: None,
        remark: None,
    };

    /// Only an undo.
    pub fn undo(undo: Undo) -> Actions {
        Actions {
            undo: Some(undo),
            ..Actions::NOTHING
        }
    }

    /// Adds a lower bound of the threshold.
    #[must_use]
    pub fn raise(self, threshold: u32) -> Actions {
        Actions {
            threshold: Some(threshold),
            ..self
        }
    }

    /// Adds a limit of the window.
    #[must_use]
    pub fn limit(self, limit: u64) -> Actions {
        Actions {
            limit: Some(limit),
            ..self
        }
    }

    /// Adds a remark.
    #[must_use]
    pub fn remark(self, remark: Remark) -> Actions {
        Actions {
            remark: Some(remark),
            ..self
        }
    }

    /// Adds a freeze.
    #[must_use]
    pub fn freeze(self, freeze: Freeze) -> Actions {
        Actions {
            freeze: Some(freeze),
            ..self
        }
    }
}

/// An undo: the losses of this episode were spurious. Congestion control's state is restored, and data that
/// were to be reinjected on other subflows but not sent there stay on this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undo {
    /// New windows.
    pub window: Window,
    /// Treatment of segments that were marked lost.
    pub marks: LostMarks,
    /// The path is slower than assumed: the retransmission timer adapts to the next round trip at once (RFC
    /// 4015, section 3, steps 10 and 11).
    pub adapts_rto: bool,
    /// The evidence.
    pub evidence: Evidence,
}

impl Undo {
    /// Restores everything exactly, as Linux does by timestamps.
    pub fn exact(before: &Before) -> Undo {
        Undo {
            window: before.window,
            marks: LostMarks::Cleared,
            adapts_rto: false,
            evidence: Evidence::Late,
        }
    }
}

/// Treatment of segments that were marked lost and not retransmitted yet, at an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostMarks {
    /// Repaired, with the restored windows.
    Repaired,
    /// In flight again; no loss is searched before the next acknowledgement.
    Cleared,
    /// In flight again, and judged again with this acknowledgement.
    Reconsidered,
    /// Lost: recovery has ended, and begins again for them.
    Kept,
}

/// A time in which windows and RTO do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// End of the freeze.
    pub until: Time,
    /// Whether lost segments are still retransmitted. If not, no loss is accepted until then.
    pub retransmits: bool,
}

/// Policy input: an acknowledgement. Offsets are those of the subflow's stream, amounts are bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckInfo {
    /// Time.
    pub now: Time,
    /// Cumulative acknowledgement.
    pub ack: u64,
    /// First unacknowledged offset after the acknowledgement.
    pub una: u64,
    /// Next offset to send for the first time.
    pub nxt: u64,
    /// The recovery point.
    pub point: u64,
    /// Bytes by which the first unacknowledged offset advanced.
    pub advanced: u64,
    /// Bytes newly acknowledged selectively.
    pub sacked: u64,
    /// Some of the newly acknowledged data were sent only once.
    pub original: bool,
    /// First offset of the lowest segment that was sent only once and arrived after a later one.
    pub late: Option<u64>,
    /// Transmission number, if it has one and carries no data.
    pub number: Option<u16>,
    /// The duplicate range that the peer reports (RFC 2883).
    pub duplicate_report: Option<(u64, u64)>,
    /// The report answers a tail loss probe.
    pub answers_probe: bool,
    /// The echoed timestamp (RFC 7323), if any.
    pub echo: Option<Time>,
    /// It acknowledges less than an acknowledgement received before.
    pub out_of_order: bool,
    /// The peer's policy reports data out of order.
    pub peer_reported_out_of_order: bool,
    /// Phase of loss recovery, before any loss that the acknowledgement indicates.
    pub phase: Phase,
    /// State before the first loss of this or the last episode; `None` if there was none, if it was undone,
    /// or if windows have been reduced for another reason since.
    pub before: Option<Before>,
    /// The present windows.
    pub window: Window,
    /// Bytes sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Outstanding bytes that are estimated to be in the network (pipe, RFC 6675).
    pub pipe: u64,
    /// Outstanding bytes that are selectively acknowledged.
    pub sacked_in_all: u64,
    /// End of the highest selectively acknowledged range.
    pub highest_sacked: u64,
    /// A retransmitted segment is in flight.
    pub retransmission_in_flight: bool,
    /// Number of duplicate acknowledgements before this one.
    pub duplicates: u32,
    /// The duplicate-acknowledgement threshold.
    pub threshold: u32,
    /// Maximum payload of a segment.
    pub mss: u64,
    /// Smoothed round-trip time, before this acknowledgement's sample.
    pub srtt: Time,
}

/// Policy input: recovery begins, or the retransmission timer expired.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Time.
    pub now: Time,
    /// Cause of the reduction.
    pub cause: Congestion,
    /// First unacknowledged offset.
    pub una: u64,
    /// Next offset to send for the first time.
    pub nxt: u64,
    /// Bytes of retransmissions, probes included, that are estimated to be in the network.
    pub copies_in_flight: u64,
    /// Maximum payload of a segment.
    pub mss: u64,
    /// State before the first loss of this episode.
    pub before: Option<Before>,
}

impl Loss {
    /// Whether it begins an episode.
    pub fn is_first(&self) -> bool {
        self.before.is_some_and(|before| before.time == self.now)
    }
}

/// Policy input: a segment is retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// Time, also the segment's timestamp.
    pub now: Time,
    /// First offset.
    pub seq: u64,
    /// Offset after its last.
    pub end: u64,
}

/// Policy input: a data segment that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataInfo {
    /// Time.
    pub now: Time,
    /// First offset.
    pub seq: u64,
    /// Offset after its last.
    pub end: u64,
    /// Time of transmission, by its timestamp, if it has one.
    pub sent: Option<Time>,
    /// Transmission number, if any.
    pub number: Option<u16>,
    /// Next offset expected.
    pub expected: u64,
    /// Highest offset that had arrived before.
    pub highest: u64,
}

impl Policy {
    #[inline]
    pub(crate) fn ignores_plain_acks(&self) -> bool {
        each_policy!(self, policy => policy.ignores_plain_acks())
    }

    /// TCP-DOOR, if it is the policy: it numbers segments and examines received numbers.
    #[inline(always)]
    pub(crate) fn tcp_door(&mut self) -> Option<&mut tcp_door::TcpDoor> {
        match self {
            Policy::TcpDoor(door) => Some(door),
            _ => None,
        }
    }

    /// Whether the policy, while it rests, may also skip acknowledgements in data segments.
    #[inline]
    pub(crate) fn skips_data_acks(&self) -> bool {
        // TCP-DOOR reads the numbers of all segments, and NCR acknowledgements without news.
        !matches!(
            self,
            Policy::TcpDoor(_) | Policy::Ncr(_) | Policy::Custom(_)
        )
    }

    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self, Policy::None(_))
    }
}

impl ReorderingPolicy for Policy {
    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        each_policy!(self, policy => policy.on_ack(signs))
    }

    fn reduces_from(&self) -> Option<u64> {
        each_policy!(self, policy => policy.reduces_from())
    }

    fn on_loss(&mut self, loss: &Loss) {
        each_policy!(self, policy => policy.on_loss(loss));
    }

    #[inline]
    fn on_retransmit(&mut self, retransmitted: &Retransmission) {
        each_policy!(self, policy => policy.on_retransmit(retransmitted));
    }

    fn on_data(&mut self, data: &DataInfo) -> bool {
        each_policy!(self, policy => policy.on_data(data))
    }
}
