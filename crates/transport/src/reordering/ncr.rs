//! TCP-NCR: a segment counts as lost once about a window of data has arrived after it, and new data are sent
//! meanwhile (RFC 4653). It prevents spurious retransmissions, and undoes none. Without SACK, and if losses
//! are detected by time, it has no effect.
//!
//! Letters and numbers are those of the RFC's steps. Choices where the RFC is open:
//!
//! - The scoreboard decides whether an acknowledgement has SACK information: a D-SACK alone begins nothing.
//! - FlightSizePrev is FlightSize before that acknowledgement: with delayed acknowledgements it often
//!   advances too, and the acknowledged data would be lost to the window.
//! - DupThresh is rounded up, which with RFC 6675's IsLost() is equivalent to RFC 3517's use of the fraction.
//! - E.6 is done at the next acknowledgement, since the threshold is not used before.
//! - A timeout reduces from FlightSizePrev too, as RFC 5681, section 3.2, step 2, excludes data of limited
//!   transmit.

use super::{AckInfo, Actions, Loss, Phase, ReorderingPolicy, Settings};
use crate::algorithm::algorithm;
use crate::congestion::Window;

algorithm! {
    /// TCP-NCR: marks a segment lost only when about a window of data has arrived after it, and sends new
    /// data until then. Needs SACK and loss detection by counting duplicates (`rack = false`).
    pub struct NcrConfig: "ncr", "RFC 4653", [] {
        /// Send a new segment for each segment that arrives behind a gap (Aggressive Limited Transmit),
        /// instead of for every second one (Careful Limited Transmit).
        aggressive: boolean() = false, "RFC 4653, section 3, which allows both; Careful Limited Transmit sends as much as RFC 6675";
    }
}

impl NcrConfig {
    /// Creates the policy of one subflow.
    pub fn build(self, settings: &Settings) -> Ncr {
        Ncr {
            is_off: !settings.sack || settings.rack,
            is_aggressive: self.aggressive,
            may_begin: true,
            extended: None,
        }
    }
}

/// State of TCP-NCR on one subflow.
#[derive(Clone, Copy, Debug)]
pub struct Ncr {
    is_off: bool,
    is_aggressive: bool,
    /// The last acknowledgement of new data had no SACK information (3.1).
    may_begin: bool,
    extended: Option<Extended>,
}

/// State of Extended Limited Transmit.
#[derive(Clone, Copy, Debug)]
struct Extended {
    flight_size: u64,
    /// Data sent from this offset on count for Skipped.
    sent_from: u64,
}

impl Ncr {
    /// LT_F * (FlightSize / SMSS); the sender uses at least three.
    fn threshold(&self, signs: &AckInfo) -> u32 {
        let threshold = match self.is_aggressive {
            true => signs.outstanding.div_ceil(2 * signs.mss),
            false => (2 * signs.outstanding).div_ceil(3 * signs.mss),
        };
        u32::try_from(threshold).unwrap_or(u32::MAX)
    }

    /// E.1 to E.5: the window that allows as many bytes to be sent as T.3 allows.
    fn window(&self, extended: &Extended, released: u64, signs: &AckInfo) -> u64 {
        let mss = signs.mss;
        let pipe = signs.pipe + released;
        // Each segment sent increases the sum of (1) by its length and by the skipped data.
        let (skipped, step) = match self.is_aggressive {
            true => (0, mss),
            false => (signs.nxt.saturating_sub(extended.sent_from), 2 * mss),
        };
        let room = extended.flight_size.checked_sub(mss + pipe + skipped);
        pipe + room.map_or(0, |room| (room / step + 1) * mss)
    }

    /// T.1 and T.2.
    fn terminate(extended: &Extended, signs: &AckInfo) -> Window {
        Window {
            cwnd: (signs.outstanding + signs.mss).min(extended.flight_size),
            ssthresh: extended.flight_size,
        }
    }

    /// Begins, ends or continues Extended Limited Transmit, while no loss is known.
    fn follow(&mut self, signs: &AckInfo) -> Actions {
        let has_sack = signs.sacked_in_all > 0;
        let begins = Extended {
            flight_size: signs.outstanding + signs.advanced,
            sent_from: signs.nxt,
        };
        let mut window = signs.window;
        let (extended, released) = match self.extended {
            // 3.1
            None if self.may_begin && has_sack => (begins, 0),
            None => return Actions::NOTHING,
            Some(extended) if signs.advanced == 0 => (extended, 0),
            // 3.2
            Some(extended) => {
                window = Ncr::terminate(&extended, signs);
                if !has_sack {
                    self.extended = None;
                    return Actions {
                        window: Some(window),
                        ..Actions::NOTHING
                    };
                }
                // T.3, whose segment T.4 does not count.
                let fits = signs.outstanding + signs.mss <= window.cwnd;
                let released = if fits { signs.mss } else { 0 };
                let sent_from = signs.nxt + released;
                (
                    Extended {
                        sent_from,
                        ..extended
                    },
                    released,
                )
            }
        };
        self.extended = Some(extended);
        window.cwnd = self.window(&extended, released, signs);
        Actions {
            window: Some(window),
            ..Actions::NOTHING.raise(self.threshold(signs))
        }
    }
}

impl ReorderingPolicy for Ncr {
    fn ignores_plain_acks(&self) -> bool {
        self.is_off || self.may_begin && self.extended.is_none()
    }

    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        if self.is_off {
            return Actions::NOTHING;
        }
        // In recovery the threshold does not change (3.4).
        let answer = match signs.phase {
            Phase::Open => self.follow(signs),
            Phase::Recovery | Phase::Loss => Actions::NOTHING,
        };
        if signs.sacked_in_all > 0 {
            self.may_begin = false;
        } else if signs.advanced > 0 {
            self.may_begin = true;
        }
        answer
    }

    fn reduces_from(&self) -> Option<u64> {
        self.extended.map(|extended| extended.flight_size)
    }

    fn on_loss(&mut self, _: &Loss) {
        // 3.4: loss recovery takes over.
        self.extended = None;
    }
}
