//! Phases of loss recovery, and the state before the first loss.

use ropewalk_quantities::Time;

use crate::congestion::{Congestion, Window};

/// Phase of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No known loss.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until the data in flight at that time are acknowledged.
    Loss,
}

/// Effect of a reordering policy's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restored {
    /// There was no undo.
    Nothing,
    /// No undo, but the windows were set; the acknowledgement does not grow them further.
    WindowsSet,
    /// An undo restored the windows; segments marked lost are still repaired, or judged again at once.
    Windows,
    /// An undo restored everything: no loss is known, and none is searched before the next acknowledgement.
    All,
}

impl Restored {
    #[inline(always)]
    pub(crate) fn is_any(self) -> bool {
        matches!(self, Restored::Windows | Restored::All)
    }

    #[inline(always)]
    pub(crate) fn sets_windows(self) -> bool {
        self != Restored::Nothing
    }
}

/// A sender's state before the first loss of an episode; an episode lasts until no loss is known any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// Detection of that loss.
    pub cause: Congestion,
    /// Time of the detection.
    pub time: Time,
    /// The windows before it.
    pub window: Window,
    /// FlightSize, as passed to congestion control.
    pub flight_size: u64,
    /// First unacknowledged offset.
    pub una: u64,
    /// Next offset to send for the first time.
    pub nxt: u64,
    /// Smoothed round-trip time.
    pub srtt: Time,
    /// Mean deviation of the round-trip time.
    pub rttvar: Time,
    pub(crate) backoff: u32,
    pub(crate) acked_since_loss: u64,
    pub(crate) acked_between_losses: u64,
}
