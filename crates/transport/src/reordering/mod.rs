//! Answers to reordering: what a sign that a loss was none leads to.
//!
//! Segments that overtake each other look like losses. A policy watches one subflow, both what it
//! sends and what it receives, wherever a sign can be seen:
//!
//! | sign | where | who uses it |
//! | --- | --- | --- |
//! | a segment is reported to have arrived twice (D-SACK, RFC 2883) | [`AckSigns::duplicate_report`] | RFC 3708, Linux |
//! | an acknowledgement echoes a time before the retransmission that it follows | [`AckSigns::echo`], [`Resent::now`] | Eifel, RFC 3522 |
//! | after a timeout, data is acknowledged that was never sent again | [`AckSigns::original`], [`Loss`] | F-RTO, RFC 5682 |
//! | an acknowledgement was overtaken by a later one | [`AckSigns::out_of_order`] | TCP-DOOR (Wang and Zhang 2002) |
//! | a data segment was overtaken, here or at the peer | [`DataSigns`], [`AckSigns::peer_saw_out_of_order`] | TCP-DOOR |
//! | how far a segment was overtaken | [`AckSigns::late`], [`AckSigns::highest_sacked`], [`AckSigns::duplicates`] | RFC 4653, Linux |
//!
//! It answers with an [`Answer`]: nothing, undo, another threshold, a freeze, new data first. The
//! sender does it; a policy holds no window. Each is a file of its own, with its config beside it.

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

use crate::algorithm::{Own, registry};
use crate::congestion::Congestion;
use crate::event::Window;
use crate::initial_window::InitialWindow;

pub use crate::recovery::{Before, Phase};
pub use evidence::{Evidence, Sighting};
pub use remark::{FrtoStep, Ignored, Remark};

registry! {
    ($)
    /// The answer to signs of spurious loss.
    config ReorderingConfig by build;
    /// The policy of a subflow; the built-in ones are called without a virtual call.
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
        Door(tcp_door::DoorConfig => tcp_door::Door),
        /// A user's own.
        Own(OwnReordering => Box<dyn ReorderingPolicy + Send>),
    }
}

/// A user's own policy, one for each subflow ([`Own::new`]).
pub type OwnReordering = Own<Settings, Box<dyn ReorderingPolicy + Send>>;

/// What of an endpoint's settings policies go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Both sides may send selective acknowledgements.
    pub sack: bool,
    /// Both sides may send timestamps.
    pub timestamps: bool,
    /// With SACK, losses are told by time (RFC 8985), not by counting duplicates.
    pub rack: bool,
    /// How much may leave before the first acknowledgement.
    pub initial_window: InitialWindow,
}

/// Watches a subflow for signs that losses were none.
pub trait ReorderingPolicy: fmt::Debug {
    /// An acknowledgement arrived; losses that it tells of are not yet looked for.
    fn on_ack(&mut self, signs: &AckSigns) -> Answer;

    /// Whether an acknowledgement of new data that tells of nothing else, while no loss is known, would
    /// be answered by nothing, and change nothing here; it is then not shown. Nor is data that comes
    /// in order.
    fn rests(&self) -> bool {
        false
    }

    /// What a reduction takes for window and FlightSize, bytes, if not what they are: what was in
    /// flight before segments left on duplicates by [`Answer::window`].
    fn reduces_from(&self) -> Option<u64> {
        None
    }

    /// Recovery begins, or the retransmission timer ran out: what is lost is marked, and not yet
    /// sent again.
    fn on_loss(&mut self, _loss: &Loss) {}

    /// A segment is sent again.
    fn on_retransmit(&mut self, _resent: &Resent) {}

    /// A data segment arrived at this end. Says whether the peer should be told that it was out of order: the next
    /// acknowledgement has [`Flags::OUT_OF_ORDER`](crate::Flags::OUT_OF_ORDER).
    fn on_data(&mut self, _data: &DataSigns) -> bool {
        false
    }
}

/// What a policy wants done; all of it at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The losses of this episode were none.
    pub undo: Option<Undo>,
    /// So many duplicate acknowledgements tell of a loss from now on; at least three. A timeout sets it
    /// back.
    pub threshold: Option<u32>,
    /// For a while nothing is a sign of congestion.
    pub freeze: Option<Freeze>,
    /// Until the next acknowledgement, so many new segments leave before any is sent again; if
    /// there are none to send, it is as if this were 0.
    pub send_new: u32,
    /// Segments overtake each other, which was seen so: RACK waits for late ones from now on (RFC 8985,
    /// 6.2, step 3).
    pub saw_reordering: Option<Sighting>,
    /// The window is at most this after the acknowledgement, bytes.
    pub limit: Option<u64>,
    /// The windows from now on, while no loss is known and nothing is undone; the acknowledgement
    /// opens them no further.
    pub window: Option<Window>,
    /// What it has to say to who listens.
    pub remark: Option<Remark>,
}

impl Answer {
    /// Every sign of loss is believed.
    pub const NOTHING: Answer = Answer {
        undo: None,
        threshold: None,
        freeze: None,
        send_new: 0,
        saw_reordering: None,
        limit: None,
        window: None,
        remark: None,
    };

    /// Undo.
    pub fn undo(undo: Undo) -> Answer {
        Answer {
            undo: Some(undo),
            ..Answer::NOTHING
        }
    }

    /// Raise the threshold, as well.
    #[must_use]
    pub fn raise(self, threshold: u32) -> Answer {
        Answer {
            threshold: Some(threshold),
            ..self
        }
    }

    /// A window of no more than this, as well.
    #[must_use]
    pub fn limit(self, limit: u64) -> Answer {
        Answer {
            limit: Some(limit),
            ..self
        }
    }

    /// Say so, as well.
    #[must_use]
    pub fn remark(self, remark: Remark) -> Answer {
        Answer {
            remark: Some(remark),
            ..self
        }
    }

    /// Freeze, as well.
    #[must_use]
    pub fn freeze(self, freeze: Freeze) -> Answer {
        Answer {
            freeze: Some(freeze),
            ..self
        }
    }
}

/// The losses of this episode were none: the state of congestion control is restored, and
/// what was handed to other subflows and has not left there stays here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The windows from now on.
    pub window: Window,
    /// What becomes of segments that were found lost.
    pub marks: Marks,
    /// The path is slower than was known: the retransmission timer follows the next round trip at once
    /// (RFC 4015, section 3, steps 10 and 11).
    pub renews_timeout: bool,
    /// What told it.
    pub evidence: Evidence,
}

impl Undo {
    /// Exactly as before, as a timestamp would tell.
    pub fn exact(before: &Before) -> Undo {
        Undo {
            window: before.window,
            marks: Marks::Cleared,
            renews_timeout: false,
            evidence: Evidence::Late,
        }
    }
}

/// What an undo makes of segments that were found lost, and are not yet sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// They are repaired as before, under the windows that were restored.
    Repaired,
    /// They are in flight; no loss is looked for before the next acknowledgement.
    Cleared,
    /// They are in flight, and looked at once more, with what this very acknowledgement tells.
    Reconsidered,
    /// They are lost: recovery has ended, and begins anew for them.
    Kept,
}

/// For a while windows and retransmission timeout stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// Until then.
    pub until: Time,
    /// What is found lost is sent again all the same. If not, no loss is believed until then.
    pub resends: bool,
}

/// An acknowledgement as a policy sees it. Offsets are those of the subflow's stream, amounts bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AckSigns {
    /// Now.
    pub now: Time,
    /// What it acknowledges.
    pub ack: u64,
    /// First offset not acknowledged, after it.
    pub una: u64,
    /// Next offset to send for the first time.
    pub nxt: u64,
    /// Where recovery ends.
    pub point: u64,
    /// By how much it moved the first offset not acknowledged.
    pub advanced: u64,
    /// Acknowledged selectively and not before.
    pub sacked: u64,
    /// Of what it acknowledges for the first time, some was sent just once.
    pub original: bool,
    /// First offset of the lowest segment that was sent just once and came after one that follows it.
    pub late: Option<u64>,
    /// Its transmission number, where it has one and no data.
    pub number: Option<u16>,
    /// The range that arrived twice, says the peer (RFC 2883).
    pub duplicate_report: Option<(u64, u64)>,
    /// That is the answer to a tail loss probe.
    pub answers_probe: bool,
    /// The timestamp that it echoes (RFC 7323), if there is one.
    pub echo: Option<Time>,
    /// It is older than one that came before it: it acknowledges less.
    pub out_of_order: bool,
    /// The peer's policy said so of data.
    pub peer_saw_out_of_order: bool,
    /// What is known of losses, before any that it tells of.
    pub phase: Phase,
    /// What was before the first loss of this episode, or of the last one; `None` if there was none, if it was undone, or if
    /// windows were reduced for another reason since.
    pub before: Option<Before>,
    /// The windows now.
    pub window: Window,
    /// Sent and not cumulatively acknowledged.
    pub outstanding: u64,
    /// Of that, thought to be in the network (pipe, RFC 6675).
    pub pipe: u64,
    /// Of what is outstanding, acknowledged selectively.
    pub sacked_in_all: u64,
    /// End of the highest range that was acknowledged selectively.
    pub highest_sacked: u64,
    /// A segment that was sent again is in flight.
    pub resent_in_flight: bool,
    /// Duplicate acknowledgements before it.
    pub duplicates: u32,
    /// So many tell of a loss.
    pub threshold: u32,
    /// Maximum payload of a segment.
    pub mss: u64,
    /// Smoothed round-trip time, before its sample.
    pub srtt: Time,
}

/// Recovery begins, or the retransmission timer ran out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Now.
    pub now: Time,
    /// Which of them.
    pub cause: Congestion,
    /// First offset not acknowledged.
    pub una: u64,
    /// Next offset to send for the first time.
    pub nxt: u64,
    /// Bytes that were sent again before, probes included, and are thought to be in the network.
    pub copies_in_flight: u64,
    /// Maximum payload of a segment.
    pub mss: u64,
    /// What was before the first loss of this episode.
    pub before: Option<Before>,
}

impl Loss {
    /// An episode begins with it.
    pub fn is_first(&self) -> bool {
        self.before.is_some_and(|before| before.time == self.now)
    }
}

/// A segment is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resent {
    /// Now; its timestamp, too.
    pub now: Time,
    /// Its first offset.
    pub seq: u64,
    /// Offset after its last.
    pub end: u64,
}

/// A data segment that arrived, as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSigns {
    /// Now.
    pub now: Time,
    /// Its first offset.
    pub seq: u64,
    /// Offset after its last.
    pub end: u64,
    /// When it was sent, by its timestamp, if it has one.
    pub sent: Option<Time>,
    /// Its transmission number, if it has one.
    pub number: Option<u16>,
    /// The offset that was expected.
    pub expected: u64,
    /// End of all that had arrived.
    pub highest: u64,
}

impl Policy {
    /// As [`rests`](ReorderingPolicy::rests) says.
    #[inline]
    pub(crate) fn is_resting(&self) -> bool {
        each_policy!(self, policy => policy.rests())
    }

    /// The one that numbers what leaves, and looks at the numbers of what comes.
    #[inline(always)]
    pub(crate) fn door(&mut self) -> Option<&mut tcp_door::Door> {
        match self {
            Policy::Door(door) => Some(door),
            _ => None,
        }
    }

    /// It looks at signs at all.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self, Policy::None(_))
    }
}

impl ReorderingPolicy for Policy {
    fn on_ack(&mut self, signs: &AckSigns) -> Answer {
        each_policy!(self, policy => policy.on_ack(signs))
    }

    fn reduces_from(&self) -> Option<u64> {
        each_policy!(self, policy => policy.reduces_from())
    }

    fn on_loss(&mut self, loss: &Loss) {
        each_policy!(self, policy => policy.on_loss(loss));
    }

    #[inline]
    fn on_retransmit(&mut self, resent: &Resent) {
        each_policy!(self, policy => policy.on_retransmit(resent));
    }

    fn on_data(&mut self, data: &DataSigns) -> bool {
        each_policy!(self, policy => policy.on_data(data))
    }
}
