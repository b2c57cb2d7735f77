//! FlightSize at a congestion event, which RFC 5681 halves.
//!
//! RFC 5681 (section 3.1) wants the data sent and not yet cumulatively
//! acknowledged, and warns against taking cwnd for it. The table knows cwnd and
//! RFC 6675's pipe. The pipe is less than FlightSize by what duplicate
//! acknowledgements reported as received or lost, which at a window of ten
//! segments is nearly half of it. So: while cwnd is what holds the sender back,
//! FlightSize is cwnd; otherwise (the application or the receive window holds
//! it back) the pipe is the nearer of the two, and a large unused cwnd does not
//! survive a loss. As the window grows only while it is the limit, taking cwnd
//! is what RFC 9438, section 4.6, allows too.

use super::Acked;
use crate::SubflowState;

/// Remembers whether cwnd was the limit when data was last acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlightSize {
    cwnd_limited: bool,
}

impl FlightSize {
    /// Takes note of an acknowledgement.
    #[inline]
    pub(super) fn note(&mut self, acked: &Acked) {
        self.cwnd_limited = acked.cwnd_limited;
    }

    /// FlightSize, in bytes.
    #[inline]
    pub(super) fn bytes(self, state: &SubflowState) -> u64 {
        if self.cwnd_limited {
            state.cwnd
        } else {
            state.in_flight.min(state.cwnd)
        }
    }
}
