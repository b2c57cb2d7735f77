use ropewalk_quantities::Time;

use crate::{RtoConfig, SubflowState};

/// Retransmission timeout (RFC 6298): base value and back-off.
///
/// The smoothed values are in the [`SubflowState`], where schedulers and congestion control read them.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    base: Time,
    pub(crate) backoff: u32,
    min: Time,
    max: Time,
    min_on_variance: bool,
    /// Whether a selective acknowledgement of a segment that was sent once gives a sample.
    pub(crate) from_sack: bool,
}

impl Rto {
    pub(crate) fn new(config: RtoConfig) -> Rto {
        Rto {
            base: config.initial,
            backoff: 0,
            min: config.min,
            max: config.max,
            min_on_variance: config.min_on_variance,
            from_sack: config.from_sack,
        }
    }

    #[inline]
    pub(crate) fn current(&self) -> Time {
        self.backed_off(self.base)
    }

    /// Applies the back-off and the maximum to another base value.
    #[inline]
    pub(crate) fn backed_off(&self, base: Time) -> Time {
        if self.backoff == 0 {
            return base.min(self.max);
        }
        let factor = 1u64 << self.backoff.min(16);
        Time::from_nanos(base.as_nanos().saturating_mul(factor)).min(self.max)
    }

    /// Doubles the timeout after an expiry (5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    pub(crate) fn limit_backoff(&mut self, backoff: u32) {
        self.backoff = self.backoff.min(backoff);
    }

    #[inline]
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Adds an RTT sample (2.2, 2.3) of a segment that was sent once, or of a timestamp.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Time, state: &mut SubflowState) {
        state.latest_rtt = rtt;
        state.rtt_samples = state.rtt_samples.wrapping_add(1);
        state.rtt_sum += rtt;
        state.min_rtt = state.min_rtt.min(rtt);
        if state.srtt == Time::ZERO {
            state.srtt = rtt.max(Time::from_nanos(1));
            state.rttvar = rtt / 2;
        } else {
            let (srtt, rttvar) = (state.srtt.as_nanos(), state.rttvar.as_nanos());
            let rtt = rtt.as_nanos();
            state.rttvar = Time::from_nanos(rttvar - rttvar / 4 + srtt.abs_diff(rtt) / 4);
            state.srtt = Time::from_nanos(srtt - srtt / 8 + rtt / 8);
        }
        self.follow(state);
    }

    #[cold]
    pub(crate) fn sample_after_spurious_rto(
        &mut self,
        rtt: Time,
        spurious_rto: &SpuriousRtoState,
        state: &mut SubflowState,
    ) {
        self.sample(rtt, state);
        state.srtt = spurious_rto.srtt.max(rtt);
        state.rttvar = spurious_rto.rttvar.max(rtt / 2);
        self.follow(state);
    }

    /// RTO from SRTT and RTTVAR (2.3, 2.4).
    #[inline]
    fn follow(&mut self, state: &SubflowState) {
        let deviation = state.rttvar * 4;
        self.base = if self.min_on_variance {
            state.srtt + deviation.max(self.min)
        } else {
            (state.srtt + deviation).max(self.min)
        };
    }
}

/// Round-trip estimates before a spurious timeout. The timer was too short for the present path, so the first
/// sample after it is treated as the first ever, with these values as lower bounds (RFC 4015, section 3, step
/// 11).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpuriousRtoState {
    /// The first sample of data from this offset on is treated so.
    pub(crate) from: u64,
    pub(crate) srtt: Time,
    pub(crate) rttvar: Time,
}

impl SpuriousRtoState {
    pub(crate) const NONE: SpuriousRtoState = SpuriousRtoState {
        from: u64::MAX,
        srtt: Time::ZERO,
        rttvar: Time::ZERO,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn first_and_second_sample_as_rfc_6298_computes_them() {
        let mut rto = Rto::new(RtoConfig {
            min: MS(1),
            ..RtoConfig::RFC
        });
        let mut state = SubflowState::default();
        assert_eq!(rto.current(), Time::from_secs(1));
        rto.sample(MS(100), &mut state);
        assert_eq!(
            (state.srtt, state.rttvar, rto.current()),
            (MS(100), MS(50), MS(300))
        );
        rto.sample(MS(180), &mut state);
        // RTTVAR = 3/4 50 + 1/4 80, SRTT = 7/8 100 + 1/8 180.
        assert_eq!(
            (state.srtt, state.rttvar),
            (MS(110), Time::from_micros(57_500))
        );
        assert_eq!(rto.current(), MS(340));
    }

    #[test]
    fn first_sample_after_spurious_timeout_counts_fully() {
        let mut rto = Rto::new(RtoConfig {
            min: MS(1),
            ..RtoConfig::RFC
        });
        let mut state = SubflowState::default();
        rto.sample(MS(100), &mut state);
        let before = SpuriousRtoState {
            from: 0,
            srtt: state.srtt,
            rttvar: state.rttvar,
        };
        rto.sample_after_spurious_rto(MS(900), &before, &mut state);
        assert_eq!((state.srtt, state.rttvar), (MS(900), MS(450)));
        assert_eq!(rto.current(), MS(2700));
        rto.sample_after_spurious_rto(MS(20), &before, &mut state);
        assert_eq!((state.srtt, state.rttvar), (MS(100), MS(50)));
    }

    #[test]
    fn undo_of_timeout_restores_backoff() {
        let mut rto = Rto::new(RtoConfig::RFC);
        for _ in 0..3 {
            rto.back_off();
        }
        rto.limit_backoff(5);
        assert_eq!(rto.backoff, 3);
        rto.limit_backoff(1);
        assert_eq!(rto.current(), Time::from_secs(2));
    }

    #[test]
    fn linux_min_rto_bounds_variance_term() {
        let mut rto = Rto::new(RtoConfig::LINUX);
        let mut state = SubflowState::default();
        for _ in 0..100 {
            rto.sample(MS(100), &mut state);
        }
        assert_eq!(rto.current(), MS(300));
    }

    #[test]
    fn doubles_and_stops_at_the_maximum() {
        let mut rto = Rto::new(RtoConfig::RFC);
        rto.back_off();
        rto.back_off();
        assert_eq!(rto.current(), Time::from_secs(4));
        for _ in 0..40 {
            rto.back_off();
        }
        assert_eq!(rto.current(), Time::from_secs(60));
        rto.reset_backoff();
        assert_eq!(rto.current(), Time::from_secs(1));
    }
}
