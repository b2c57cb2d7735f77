//! Congestion avoidance as in Linux (`bictcp_update`, `tcp_cong_avoid_ai`): the window grows by one segment
//! per `count` acknowledged ones, so that it reaches the cubic function's value or W_est in one round trip.
//! The count is recomputed when the window has changed, or after a while.

use ropewalk_quantities::Time;

use super::super::real::{real, whole};
use super::{Epoch, GrowthInputs, seconds};

/// Validity of a count while the window does not change (`HZ / 32`).
const VALIDITY: Time = Time::from_nanos(1_000_000_000 / 32);
/// Largest and smallest count where the cubic function does not determine it.
const DEFAULT_COUNTS: u64 = 100;
const BEFORE_LOSS: u64 = 20;
const LEAST: u64 = 2;

#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Eight times the number of windows to acknowledge for each segment of W_est (`beta_scale`).
    scale: u32,
    /// Segments to acknowledge for each segment of growth (`cnt`).
    count: u32,
    window: u32,
    /// W_est, in segments (`tcp_cwnd`).
    w_est: u32,
    /// Bytes acknowledged since W_est last grew (`ack_cnt`), and since the window did (`snd_cwnd_cnt`).
    acked: u32,
    credit: u32,
    at: Time,
}

impl Growth {
    pub(super) fn new(alpha: f64) -> Growth {
        Growth {
            scale: whole(8.0 / alpha) as u32,
            count: 0,
            window: 0,
            w_est: 0,
            acked: 0,
            credit: 0,
            at: Time::ZERO,
        }
    }

    /// Discards acknowledged bytes that have not grown the window yet.
    pub(super) fn forget(&mut self) {
        self.credit = 0;
    }

    #[inline]
    pub(super) fn grow(&mut self, cwnd: u64, bytes: u64, inputs: GrowthInputs<'_>) -> u64 {
        let GrowthInputs { now, mss, .. } = inputs;
        self.acked = saturated(u64::from(self.acked) + bytes);
        let known = u64::from(self.window);
        let is_known = known * mss <= cwnd && cwnd < (known + 1) * mss;
        if inputs.epoch.is_none() || !is_known || now > self.at + VALIDITY {
            self.find_count(cwnd / mss, bytes, inputs);
        }
        let each = u64::from(self.count) * mss;
        // Credit under a longer count is worth one segment.
        let (mut credit, mut grown) = (u64::from(self.credit), cwnd);
        if credit >= each {
            credit = 0;
            grown += mss;
        }
        credit += bytes;
        if credit >= each {
            let more = credit / each;
            credit -= more * each;
            grown += more * mss;
        }
        self.credit = saturated(credit);
        grown
    }

    #[inline(never)]
    fn find_count(&mut self, window: u64, bytes: u64, inputs: GrowthInputs<'_>) {
        let GrowthInputs { now, mss, c, .. } = inputs;
        (self.window, self.at) = (saturated(window), now);
        let epoch = match inputs.epoch {
            Some(epoch) => epoch,
            none => {
                (self.w_est, self.acked) = (self.window, saturated(bytes));
                none.insert(Epoch::new(now, real(window), inputs.w_max, c))
            }
        };
        let t = seconds(now.saturating_sub(epoch.start)) + seconds(inputs.min_rtt);
        let off = t - epoch.k;
        let distance = (c * off * off * off).trunc();
        let target = whole((epoch.w_max + distance).max(0.0));
        let mut count = match target > window {
            true => window / (target - window),
            false => DEFAULT_COUNTS * window,
        };
        if inputs.w_max == 0.0 {
            count = count.min(BEFORE_LOSS);
        }
        let each = ((window * u64::from(self.scale)) >> 3).max(1) * mss;
        let acked = u64::from(self.acked);
        if acked > each {
            let more = (acked - 1) / each;
            self.acked = saturated(acked - more * each);
            self.w_est = saturated(u64::from(self.w_est) + more);
        }
        let w_est = u64::from(self.w_est);
        if w_est > window {
            count = count.min(window / (w_est - window));
        }
        self.count = saturated(count.max(LEAST));
    }
}

fn saturated(amount: u64) -> u32 {
    u32::try_from(amount).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::congestion::cubic::CubicConfig;
    use crate::congestion::testing::MSS;

    const C: f64 = 0.4;
    const SCALE: u64 = 15;
    const MIN_RTT: Time = Time::from_millis(20);

    /// Windows in segments after each acknowledgement, given as (ms since the previous one, segments).
    fn grown(window: u64, w_max: f64, acks: &[(u64, u64)]) -> Vec<u64> {
        let (mut growth, mut epoch) = (Growth::new(CubicConfig::DEFAULT.alpha()), None);
        assert_eq!(u64::from(growth.scale), SCALE);
        let (mut cwnd, mut now) = (window * MSS, Time::from_secs(1));
        let windows = acks.iter().map(|&(wait, segments)| {
            now += Time::from_millis(wait);
            let inputs = GrowthInputs {
                now,
                mss: MSS,
                min_rtt: MIN_RTT,
                srtt: MIN_RTT,
                c: C,
                epoch: &mut epoch,
                w_max,
            };
            cwnd = growth.grow(cwnd, segments * MSS, inputs);
            cwnd / MSS
        });
        windows.collect()
    }

    #[test]
    fn count_is_seven_after_loss_at_ten_segments() {
        // K is 1.957 s; the function is 7.09 after a round trip and counts as 8: a count of seven. From 8 on
        // only W_est grows the window, one segment per (8 * 15) >> 3 acknowledged. It is checked at
        // acknowledgement 8, at 24 (24 > 15: W_est is 8) and at 40 (25 > 15: 9), by when enough are
        // acknowledged for the ninth segment.
        let acks = [(2, 1); 60];
        let windows = grown(7, 10.0, &acks);
        let first = |window| {
            windows
                .iter()
                .position(|now| *now == window)
                .map(|at| at + 1)
        };
        assert_eq!((first(8), first(9)), (Some(7), Some(40)));
    }

    #[test]
    fn count_is_bounded_before_and_after_first_loss() {
        assert_eq!(grown(200, 0.0, &[(0, 20); 3]), [201, 202, 203]);
        assert_eq!(grown(200, 200.0, &[(0, 20); 3]), [200, 200, 200]);
        assert_eq!(
            grown(10, 10.0, &[(0, 1), (60_000, 2), (0, 2)]),
            [10, 11, 12]
        );
    }

    proptest! {
        /// Counts packets one by one, as the kernel's loops do.
        #[test]
        fn growth_equals_packet_by_packet_counting(
            window in 2_u64..60,
            w_max in 0_u64..80,
            acks in prop::collection::vec((0_u64..40, 1_u64..4), 1..300),
        ) {
            let k = ((w_max.max(window) - window) as f64 / C).cbrt();
            let (origin, start) = (w_max.max(window) as i64, acks[0].0);
            let (mut cwnd, mut credit, mut count, mut w_est, mut acked) = (window, 0, 0, window, 0);
            let (mut now, mut known) = (0, None);
            let mut expected = Vec::new();
            for (number, &(wait, segments)) in acks.iter().enumerate() {
                now += wait;
                acked = if number == 0 { segments } else { acked + segments };
                if known.is_none_or(|(of, at)| of != cwnd || 1000 * (now - at) > 31_250) {
                    known = Some((cwnd, now));
                    let off = (now - start) as f64 * 1e-3 + 0.02 - k;
                    let distance = (C * off.abs() * off.abs() * off.abs()) as i64;
                    let target = origin + if off < 0.0 { -distance } else { distance };
                    let ahead = target - cwnd as i64;
                    count = if ahead > 0 { cwnd / ahead as u64 } else { 100 * cwnd };
                    if w_max == 0 && count > 20 {
                        count = 20;
                    }
                    let each = (cwnd * SCALE) >> 3;
                    while acked > each {
                        acked -= each;
                        w_est += 1;
                    }
                    if w_est > cwnd {
                        count = count.min(cwnd / (w_est - cwnd));
                    }
                    count = count.max(2);
                }
                if credit >= count {
                    credit = 0;
                    cwnd += 1;
                }
                credit += segments;
                while credit >= count {
                    credit -= count;
                    cwnd += 1;
                }
                expected.push(cwnd);
            }
            prop_assert_eq!(grown(window, w_max as f64, &acks), expected);
        }
    }
}
