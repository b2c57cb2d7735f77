//! What is known of losses, and what was before the first of them.

use ropewalk_quantities::Time;

use crate::congestion::Congestion;
use crate::event::Window;

/// What is known of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss known.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was then in flight is acknowledged.
    Loss,
}

/// What an answer to reordering did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restored {
    /// There was no undo.
    Nothing,
    /// Nor here, but the windows are what it says, and the acknowledgement opens them no further.
    WindowsSet,
    /// An undo restored the windows; what was found lost is still repaired, or looked for anew at once.
    Windows,
    /// It restored all: no loss is known any more, and none is looked for before the next acknowledgement.
    All,
}

impl Restored {
    /// There was an undo.
    #[inline(always)]
    pub(crate) fn is_any(self) -> bool {
        matches!(self, Restored::Windows | Restored::All)
    }

    /// The windows are the answer's.
    #[inline(always)]
    pub(crate) fn sets_windows(self) -> bool {
        self != Restored::Nothing
    }
}

/// A sender before the first loss of an episode; an episode lasts until no loss is known any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// What that loss was found by.
    pub cause: Congestion,
    /// When it was found.
    pub time: Time,
    /// The windows before it.
    pub window: Window,
    /// FlightSize, as congestion control was told it.
    pub flight_size: u64,
    /// First offset that was not acknowledged.
    pub una: u64,
    /// Next offset to send for the first time.
    pub nxt: u64,
    /// Smoothed round-trip time, and its mean deviation.
    pub srtt: Time,
    /// Its mean deviation.
    pub rttvar: Time,
    pub(crate) backoff: u32,
    pub(crate) acked_since_loss: u64,
    pub(crate) acked_between_losses: u64,
}
