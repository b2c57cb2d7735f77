//! NewReno (RFC 5681; what RFC 6582 adds is loss recovery, the sender's work).
//!
//! One segment more each round trip, half of the data in flight at a loss.

use super::{Acked, SlowStart};
use crate::SubflowState;

/// Makes a [`NewReno`].
#[derive(Clone, Copy, Debug)]
pub struct NewRenoConfig {
    /// Grow by bytes acknowledged (RFC 3465), not by acknowledgements (RFC 5681, equation 3).
    pub byte_counting: bool,
}

impl NewRenoConfig {
    /// For one path.
    pub fn build(self) -> NewReno {
        NewReno {
            slow_start: SlowStart {
                byte_counting: self.byte_counting,
            },
            bytes_acked: 0,
            saved: 0,
        }
    }
}

/// NewReno on one path.
#[derive(Clone, Debug)]
pub struct NewReno {
    slow_start: SlowStart,
    /// Acknowledged since the window last grew (RFC 3465, section 2.1).
    bytes_acked: u64,
    /// The same as it was before a loss.
    saved: u64,
}

impl NewReno {
    /// New cwnd after an acknowledgement, in bytes.
    #[inline]
    #[must_use]
    pub fn on_ack(&mut self, acked: &Acked, state: &SubflowState) -> u64 {
        let mss = state.mss;
        let mut cwnd = state.cwnd.max(mss);
        if !acked.cwnd_limited {
            return cwnd;
        }
        let grown = self.slow_start.grow(cwnd, state.ssthresh, mss, acked.bytes);
        cwnd = grown.cwnd;
        if self.slow_start.byte_counting {
            // RFC 3465, section 2.1: one SMSS for each cwnd of bytes acknowledged. What was
            // gathered under a larger window is worth one segment at most.
            self.bytes_acked = self.bytes_acked.min(cwnd) + grown.left;
            while self.bytes_acked >= cwnd {
                self.bytes_acked -= cwnd;
                cwnd += mss;
            }
        } else if grown.left > 0 {
            // RFC 5681, equation (3): cwnd += SMSS * SMSS / cwnd, at least one byte.
            cwnd += (mss * mss / cwnd).max(1);
        }
        cwnd
    }

    /// New ssthresh after a loss, in bytes.
    #[must_use]
    pub fn on_congestion(&mut self, state: &SubflowState) -> u64 {
        self.bytes_acked = 0;
        // RFC 5681, equation (4): ssthresh = max(FlightSize / 2, 2 * SMSS). Not cwnd, which an
        // application may have left unused; and no more than cwnd, which recovery may have cut.
        (state.in_flight.min(state.cwnd) / 2).max(2 * state.mss)
    }

    /// Keeps what a loss changes.
    pub fn save(&mut self) {
        self.saved = self.bytes_acked;
    }

    /// The losses since [`save`](NewReno::save) were none.
    pub fn restore(&mut self) {
        self.bytes_acked = self.saved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{MSS, acked, subflow};

    #[test]
    fn byte_counting_adds_one_segment_a_window() {
        let mut reno = NewRenoConfig {
            byte_counting: true,
        }
        .build();
        let mut state = subflow(10.0, 0.1);
        for _ in 0..9 {
            state.cwnd = reno.on_ack(&acked(MSS), &state);
            assert_eq!(state.cwnd, 10 * MSS);
        }
        state.cwnd = reno.on_ack(&acked(MSS), &state);
        assert_eq!(state.cwnd, 11 * MSS);
        // Two segments an acknowledgement: the same growth from half as many.
        for _ in 0..5 {
            state.cwnd = reno.on_ack(&acked(2 * MSS), &state);
        }
        assert_eq!(state.cwnd, 11 * MSS);
        state.cwnd = reno.on_ack(&acked(2 * MSS), &state);
        assert_eq!(state.cwnd, 12 * MSS);
    }

    #[test]
    fn ack_counting_follows_equation_3() {
        let mut reno = NewRenoConfig {
            byte_counting: false,
        }
        .build();
        let mut state = subflow(10.0, 0.1);
        state.cwnd = reno.on_ack(&acked(2 * MSS), &state);
        assert_eq!(state.cwnd, 10 * MSS + MSS / 10);
        state.cwnd = 2 * MSS * MSS;
        state.ssthresh = 0;
        assert_eq!(reno.on_ack(&acked(MSS), &state), state.cwnd + 1);
    }

    #[test]
    fn does_not_grow_unless_the_window_was_the_limit() {
        let mut reno = NewRenoConfig {
            byte_counting: true,
        }
        .build();
        let mut state = subflow(10.0, 0.1);
        state.ssthresh = u64::MAX;
        let mut idle = acked(10 * MSS);
        idle.cwnd_limited = false;
        assert_eq!(reno.on_ack(&idle, &state), 10 * MSS);
        assert_eq!(reno.on_ack(&acked(10 * MSS), &state), 20 * MSS);
    }

    #[test]
    fn halves_what_is_in_flight() {
        let mut reno = NewRenoConfig {
            byte_counting: true,
        }
        .build();
        let mut state = subflow(20.0, 0.1);
        assert_eq!(reno.on_congestion(&state), 10 * MSS);
        // Held back by the application: the unused window does not survive.
        state.in_flight = 6 * MSS;
        assert_eq!(reno.on_congestion(&state), 3 * MSS);
        // RFC 3042 may have sent two segments beyond the window.
        state.in_flight = 22 * MSS;
        assert_eq!(reno.on_congestion(&state), 10 * MSS);
        state.in_flight = MSS;
        assert_eq!(reno.on_congestion(&state), 2 * MSS);
    }
}
