//! NewReno congestion control (RFC 5681). Loss recovery (RFC 6582) is the sender's task.

use super::{Acked, Congestion, Settings, SinglePathControl, SlowStart};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// NewReno: the window grows by one segment per round trip; a loss halves the data in flight.
    pub struct NewRenoConfig: "newreno", "RFC 5681 with RFC 6582", [SinglePath] {
        /// Fraction of the data in flight that remains after a loss.
        beta: number(0.1, 0.95) = 0.5, "RFC 5681, equation 4";
    }
}

impl NewRenoConfig {
    /// Creates the algorithm of one path.
    pub fn build(self, settings: &Settings) -> NewReno {
        NewReno {
            slow_start: SlowStart {
                byte_counting: settings.byte_counting,
            },
            beta: self.beta,
            bytes_acked: 0,
            saved: 0,
        }
    }
}

/// State of NewReno on one path.
#[derive(Clone, Debug)]
pub struct NewReno {
    slow_start: SlowStart,
    beta: f64,
    /// Bytes acknowledged since the window last grew (RFC 3465, section 2.1).
    bytes_acked: u64,
    saved: u64,
}

impl SinglePathControl for NewReno {
    #[inline]
    fn on_ack(&mut self, acked: &Acked, state: &SubflowState) -> u64 {
        let mss = state.mss;
        let mut cwnd = state.cwnd.max(mss);
        if !acked.cwnd_limited {
            return cwnd;
        }
        let grown = self.slow_start.grow(cwnd, state.ssthresh, mss, acked.bytes);
        cwnd = grown.cwnd;
        if self.slow_start.byte_counting {
            // RFC 3465, section 2.1: one SMSS per cwnd of bytes acknowledged. The credit from a larger window
            // is limited to one segment.
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

    fn on_congestion(&mut self, _cause: Congestion, state: &SubflowState) -> u64 {
        self.bytes_acked = 0;
        // RFC 5681, equation (4): ssthresh = max(FlightSize / 2, 2 * SMSS). FlightSize, since an application
        // may have left cwnd unused, but limited by cwnd, which recovery may have cut.
        let flight_size = state.in_flight.min(state.cwnd) as f64;
        ((flight_size * self.beta) as u64).max(2 * state.mss)
    }

    fn save(&mut self) {
        self.saved = self.bytes_acked;
    }

    fn restore(&mut self) {
        self.bytes_acked = self.saved;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{BY_ACKS, BY_BYTES, MSS, acked, subflow};

    #[test]
    fn byte_counting_adds_one_segment_a_window() {
        let mut reno = NewRenoConfig::default().build(&BY_BYTES);
        let mut state = subflow(10.0, 0.1);
        for _ in 0..9 {
            state.cwnd = reno.on_ack(&acked(MSS), &state);
            assert_eq!(state.cwnd, 10 * MSS);
        }
        state.cwnd = reno.on_ack(&acked(MSS), &state);
        assert_eq!(state.cwnd, 11 * MSS);
        // Two segments per acknowledgement: the same growth from half as many.
        for _ in 0..5 {
            state.cwnd = reno.on_ack(&acked(2 * MSS), &state);
        }
        assert_eq!(state.cwnd, 11 * MSS);
        state.cwnd = reno.on_ack(&acked(2 * MSS), &state);
        assert_eq!(state.cwnd, 12 * MSS);
    }

    #[test]
    fn ack_counting_follows_equation_3() {
        let mut reno = NewRenoConfig::default().build(&BY_ACKS);
        let mut state = subflow(10.0, 0.1);
        state.cwnd = reno.on_ack(&acked(2 * MSS), &state);
        assert_eq!(state.cwnd, 10 * MSS + MSS / 10);
        state.cwnd = 2 * MSS * MSS;
        state.ssthresh = 0;
        assert_eq!(reno.on_ack(&acked(MSS), &state), state.cwnd + 1);
    }

    #[test]
    fn does_not_grow_unless_the_window_was_the_limit() {
        let mut reno = NewRenoConfig::default().build(&BY_BYTES);
        let mut state = subflow(10.0, 0.1);
        state.ssthresh = u64::MAX;
        let mut idle = acked(10 * MSS);
        idle.cwnd_limited = false;
        assert_eq!(reno.on_ack(&idle, &state), 10 * MSS);
        assert_eq!(reno.on_ack(&acked(10 * MSS), &state), 20 * MSS);
    }

    const LOSS: Congestion = Congestion::FastRetransmit;

    #[test]
    fn halves_flight_size() {
        let mut reno = NewRenoConfig::default().build(&BY_BYTES);
        let mut state = subflow(20.0, 0.1);
        assert_eq!(reno.on_congestion(LOSS, &state), 10 * MSS);
        state.in_flight = 6 * MSS;
        assert_eq!(reno.on_congestion(LOSS, &state), 3 * MSS);
        // RFC 3042 may have sent two segments beyond the window.
        state.in_flight = 22 * MSS;
        assert_eq!(reno.on_congestion(LOSS, &state), 10 * MSS);
        state.in_flight = MSS;
        assert_eq!(reno.on_congestion(LOSS, &state), 2 * MSS);
    }
}
