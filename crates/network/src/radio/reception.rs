//! The frame that a radio receives, with its success probability over intervals of constant interference.

use ropewalk_quantities::Time;

use super::airtime::Header;
use super::config::{PreambleDetection, RadioConfig};
use super::frame_error::FrameError;
use super::power::{Power, from_dbm, noise_dbm};
use super::standard::DataRate;

#[derive(Clone, Debug)]
pub(super) struct Receiver {
    noise: f64,
    /// Minimum interference that counts: a tenth of the noise.
    min_interference: Power,
    pub(super) sensitivity: Power,
    detection: Option<f64>,
    /// Power at each rate from which a frame without interference has no errors.
    certain: [Power; DataRate::ALL.len()],
}

impl Receiver {
    pub(super) fn new(config: &RadioConfig, frame_error: &FrameError) -> Receiver {
        let noise = from_dbm(noise_dbm(config.noise_figure_db)) as f64;
        Receiver {
            noise,
            min_interference: (0.1 * noise) as Power,
            sensitivity: from_dbm(config.sensitivity_dbm),
            detection: config
                .preamble_detection
                .map(|detection| 10_f64.powf(detection.sinr_db / 10.0)),
            certain: DataRate::ALL.map(|rate| certain(rate, noise, frame_error)),
        }
    }
}

impl Receiver {
    pub(super) fn noise(&self) -> Power {
        self.noise as Power
    }

    /// Returns whether interference counts next to the noise.
    #[inline]
    pub(super) fn disturbed(&self, others: Power) -> bool {
        others > self.min_interference
    }
}

/// Returns the power, within a factor of 1.26, from which the success probability of the longest frame
/// rounds to 1.
fn certain(rate: DataRate, noise: f64, frame_error: &FrameError) -> Power {
    const LONGEST_BITS: f64 = 8.0 * 65_535.0;
    let mut signal = noise;
    for _ in 0..80 {
        let log = frame_error.log_success(rate, signal, noise, 0.0) * LONGEST_BITS;
        if log > -f64::EPSILON / 4.0 {
            return signal.ceil() as Power;
        }
        signal *= 1.26;
    }
    Power::MAX
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FrameShape {
    pub(super) rate: DataRate,
    pub(super) header: Header,
    pub(super) start: Time,
    pub(super) end: Time,
    /// Length of the MPDU, FCS included.
    pub(super) bytes: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub(super) from: u32,
    pub(super) signal: Power,
    /// Start at the transmitter.
    pub(super) start: Time,
    pub(super) delay: Time,
    /// Time up to which the success probability is computed.
    since: Time,
    /// Logarithms of the success probabilities of header and payload.
    header: f64,
    payload: f64,
    /// Whether the preamble has yet to be detected.
    undetected: bool,
    pub(super) overlapped: bool,
    /// Whether another frame of equal power started at the same time.
    pub(super) tied: bool,
}

/// Frame that a radio receives: the current one or a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureDecision {
    Keep,
    Take,
    /// The new one, which has a rival.
    Tied,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReceptionResult {
    Good,
    /// Error in the payload: the frame check sequence is wrong.
    BadPayload,
    BadHeader,
}

impl Reception {
    #[inline]
    pub(super) fn begin(
        from: u32,
        signal: Power,
        now: Time,
        delay: Time,
        receiver: &Receiver,
    ) -> Reception {
        Reception {
            from,
            signal,
            start: now - delay,
            since: now - delay,
            delay,
            header: 0.0,
            payload: 0.0,
            undetected: receiver.detection.is_some(),
            overlapped: false,
            tied: false,
        }
    }

    /// Returns whether a frame of this power that starts now replaces the current one: a stronger one
    /// before the preamble is detected, or by capture. Of two frames of equal power that start together
    /// neither is received correctly. The one that ends `later` is kept, so the order of processing does
    /// not matter.
    #[inline]
    pub(super) fn is_replaced_by(
        &mut self,
        power: Power,
        now: Time,
        later: bool,
        capture: Option<f64>,
    ) -> CaptureDecision {
        let now = now - self.delay;
        let open =
            now == self.start || (self.undetected && now < self.start + PreambleDetection::AFTER);
        if open && power == self.signal {
            self.tied = true;
            return if later {
                CaptureDecision::Tied
            } else {
                CaptureDecision::Keep
            };
        }
        let captured = |ratio| power as f64 >= ratio * self.signal as f64;
        if (open && power > self.signal) || capture.is_some_and(captured) {
            CaptureDecision::Take
        } else {
            CaptureDecision::Keep
        }
    }

    /// Accounts for the interference `others` since the last call. Returns whether the frame is still being
    /// received: its preamble may turn out to be undetected.
    #[inline]
    pub(super) fn passes(
        &mut self,
        now: Time,
        others: Power,
        shape: &FrameShape,
        receiver: &Receiver,
        frame_error: &FrameError,
    ) -> bool {
        let now = now - self.delay;
        self.overlapped |= receiver.disturbed(others);
        if self.undetected && now >= self.start + PreambleDetection::AFTER {
            self.undetected = false;
            if let Some(ratio) = receiver.detection
                && (self.signal as f64) < ratio * (receiver.noise + others as f64)
            {
                return false;
            }
        }
        let certain = &receiver.certain;
        if others == 0
            && self.signal >= certain[shape.rate as usize]
            && self.signal >= certain[shape.header.rate as usize]
        {
            self.since = now;
        } else {
            self.weigh(now, others, shape, receiver, frame_error);
        }
        true
    }

    #[inline(never)]
    fn weigh(
        &mut self,
        now: Time,
        others: Power,
        shape: &FrameShape,
        receiver: &Receiver,
        frame_error: &FrameError,
    ) {
        let (since, header) = (self.since, &shape.header);
        self.since = now;
        let payload_from = shape.start + header.span;
        let header_from = payload_from - header.coded;
        // Fraction of a part of the frame between the last call and this one.
        let share = |from: Time, to: Time| {
            let inside = now.min(to).saturating_sub(since.max(from));
            inside.as_nanos() as f64 / (to - from).as_nanos() as f64
        };
        let log =
            |rate| frame_error.log_success(rate, self.signal as f64, receiver.noise, others as f64);
        let header_share = share(header_from, payload_from);
        if header_share > 0.0 {
            self.header += header_share * header.bits * log(header.rate);
        }
        let payload_share = share(payload_from, shape.end);
        if payload_share > 0.0 {
            self.payload += payload_share * 8.0 * f64::from(shape.bytes) * log(shape.rate);
        }
    }

    /// Returns the result; `draw` gives a number in [0, 1), and is called only if the result is uncertain.
    #[inline]
    pub(super) fn outcome(&self, draw: impl FnOnce() -> f64) -> ReceptionResult {
        if self.tied {
            return ReceptionResult::BadHeader;
        }
        if self.header + self.payload > -f64::EPSILON / 4.0 {
            return ReceptionResult::Good;
        }
        let drawn = draw();
        if drawn < (self.header + self.payload).exp() {
            ReceptionResult::Good
        } else if drawn < self.header.exp() {
            ReceptionResult::BadPayload
        } else {
            ReceptionResult::BadHeader
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::ErrorModel;

    #[test]
    fn longest_frame_has_no_errors_at_error_free_power() {
        let frame_error = FrameError::new(&ErrorModel::Nist);
        let noise = from_dbm(noise_dbm(7.0)) as f64;
        for rate in DataRate::ALL {
            let certain = certain(rate, noise, &frame_error) as f64;
            let success = |signal| {
                let log = frame_error.log_success(rate, signal, noise, 0.0);
                (8.0 * 65_535.0 * log).exp()
            };
            assert_eq!(success(certain), 1.0, "{rate}");
            assert!(success(certain / 1.27) < 1.0, "{rate}");
        }
    }
}
