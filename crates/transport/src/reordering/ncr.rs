//! TCP-NCR: a segment counts as lost once about a window of data has arrived after it, and new data are sent
//! meanwhile (RFC 4653). It prevents spurious retransmissions, and undoes none. Without SACK, and if losses
//! are detected by time, it does nothing.
//!
//! Letters and numbers are those of the RFC's steps. Whether an acknowledgement has SACK information is taken
//! from the scoreboard: a D-SACK alone begins nothing. FlightSizePrev is FlightSize before that
//! acknowledgement: with delayed acknowledgements it often advances too, and what it acknowledges would be
//! lost to the window. DupThresh is rounded up, which with RFC 6675's IsLost() is equivalent to RFC 3517's
//! use of the fraction. E.6 is done at the next acknowledgement, with what was sent until then, since the
//! threshold is not used before. A timeout, which RFC 4653 does not mention, reduces from FlightSizePrev too,
//! as RFC 5681, section 3.2, step 2, excludes data of limited transmit.

use super::{AckSigns, Answer, Loss, Phase, ReorderingPolicy, Settings};
use crate::algorithm::algorithm;
use crate::congestion::Window;

algorithm! {
    /// Takes a segment for lost when a window's worth of data has arrived past it, and sends new data until
    /// then; needs SACK, and losses that are told by counting duplicates (not rack).
    pub struct NcrConfig: "ncr", "RFC 4653", [] {
        /// Send a new segment for each that arrives past a gap (Aggressive Limited Transmit), not for
        /// every second (Careful Limited Transmit).
        aggressive: boolean() = false, "RFC 4653, section 3, which leaves the choice open; the careful one is like RFC 6675 in what it sends";
    }
}

impl NcrConfig {
    /// For one subflow.
    pub fn build(self, settings: &Settings) -> Ncr {
        Ncr {
            is_off: !settings.sack || settings.rack,
            is_aggressive: self.aggressive,
            may_begin: true,
            extended: None,
        }
    }
}

/// Tracks the flight while segments are missing.
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
    /// FlightSizePrev, bytes.
    flight_size: u64,
    /// Data sent from this offset on count for Skipped.
    sent_from: u64,
}

impl Ncr {
    /// LT_F * (FlightSize / SMSS); the sender uses at least three.
    fn threshold(&self, signs: &AckSigns) -> u32 {
        let threshold = match self.is_aggressive {
            true => signs.outstanding.div_ceil(2 * signs.mss),
            false => (2 * signs.outstanding).div_ceil(3 * signs.mss),
        };
        u32::try_from(threshold).unwrap_or(u32::MAX)
    }

    /// E.1 to E.5, with as many bytes as T.3 allows: the window with which exactly that is sent.
    fn window(&self, extended: &Extended, let_out: u64, signs: &AckSigns) -> u64 {
        let mss = signs.mss;
        let pipe = signs.pipe + let_out;
        // Each segment sent increases the sum of (1) by its length, and by what is skipped.
        let (skipped, step) = match self.is_aggressive {
            true => (0, mss),
            false => (signs.nxt.saturating_sub(extended.sent_from), 2 * mss),
        };
        let room = extended.flight_size.checked_sub(mss + pipe + skipped);
        pipe + room.map_or(0, |room| (room / step + 1) * mss)
    }

    /// T.1 and T.2.
    fn terminate(extended: &Extended, signs: &AckSigns) -> Window {
        Window {
            cwnd: (signs.outstanding + signs.mss).min(extended.flight_size),
            ssthresh: extended.flight_size,
        }
    }

    /// What the acknowledgement begins, ends or continues, while no loss is known.
    fn follow(&mut self, signs: &AckSigns) -> Answer {
        let has_sack = signs.sacked_in_all > 0;
        let begins = Extended {
            flight_size: signs.outstanding + signs.advanced,
            sent_from: signs.nxt,
        };
        let mut window = signs.window;
        let (extended, let_out) = match self.extended {
            // 3.1
            None if self.may_begin && has_sack => (begins, 0),
            None => return Answer::NOTHING,
            Some(extended) if signs.advanced == 0 => (extended, 0),
            // 3.2
            Some(extended) => {
                window = Ncr::terminate(&extended, signs);
                if !has_sack {
                    self.extended = None;
                    return Answer {
                        window: Some(window),
                        ..Answer::NOTHING
                    };
                }
                // T.3, whose segment T.4 does not count.
                let fits = signs.outstanding + signs.mss <= window.cwnd;
                let let_out = if fits { signs.mss } else { 0 };
                let sent_from = signs.nxt + let_out;
                (
                    Extended {
                        sent_from,
                        ..extended
                    },
                    let_out,
                )
            }
        };
        self.extended = Some(extended);
        window.cwnd = self.window(&extended, let_out, signs);
        Answer {
            window: Some(window),
            ..Answer::NOTHING.raise(self.threshold(signs))
        }
    }
}

impl ReorderingPolicy for Ncr {
    fn rests(&self) -> bool {
        self.is_off || self.may_begin && self.extended.is_none()
    }

    fn on_ack(&mut self, signs: &AckSigns) -> Answer {
        if self.is_off {
            return Answer::NOTHING;
        }
        // In recovery the threshold does not change (3.4).
        let answer = match signs.phase {
            Phase::Open => self.follow(signs),
            Phase::Recovery | Phase::Loss => Answer::NOTHING,
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
