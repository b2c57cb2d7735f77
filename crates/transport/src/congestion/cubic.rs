//! CUBIC (RFC 9438), with HyStart if requested.
//!
//! After a loss the window is a cubic function of time around the window at the loss, and never below Reno's.
//! Inside, windows are real numbers of segments, as in the RFC, or whole numbers, as in Linux; outside, bytes. W_est
//! counts all bytes acknowledged; the cubic growth counts them as slow start does.

mod linux;

use ropewalk_quantities::Time;

use super::real::{greater, lesser, real, whole};
use super::{Acked, Congestion, HyStart, Settings, SinglePathControl, SlowStart};
use crate::SubflowState;
use crate::algorithm::algorithm;
use linux::{Course, Growth};

algorithm! {
    /// A cubic function of the time since the last loss around the window at which it happened,
    /// never below Reno's, on each subflow by itself.
    pub struct CubicConfig: "cubic", "RFC 9438", [SinglePath] {
        /// Scale of the cubic function, in segments per second cubed.
        c: number(0.001, 100.0) = 0.4, "RFC 9438, section 5.1";
        /// What of the window a loss leaves.
        beta: number(0.1, 0.95) = 0.7, "RFC 9438, section 4.6";
        /// Give room to new flows: where windows shrink from loss to loss, aim lower.
        fast_convergence: boolean() = true, "RFC 9438, section 4.7";
    }
}

impl CubicConfig {
    /// For one path.
    pub fn build(self, settings: &Settings) -> Cubic {
        Cubic {
            config: self,
            alpha: self.alpha(),
            scale: whole(8.0 / self.alpha()),
            slow_start: SlowStart {
                byte_counting: settings.byte_counting,
            },
            hystart: settings.hystart.then(HyStart::default),
            in_segments: settings.linux_cubic.then(Growth::default),
            history: History {
                w_max: 0.0,
                cwnd_prior: 0.0,
                slow_start_exit: u64::MAX,
                epoch: None,
            },
            saved: None,
            fraction: 0.0,
            unlimited_since: None,
            drained_at: None,
        }
    }

    /// Reno-friendly increase, in segments per round trip (section 4.3): 3 (1 - beta) / (1 + beta).
    pub fn alpha(self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

/// CUBIC on one path.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    /// Reno-friendly increase, computed from the config, and its inverse in eighths (`beta_scale`).
    alpha: f64,
    scale: u64,
    slow_start: SlowStart,
    hystart: Option<HyStart>,
    /// Growth as in Linux, if so configured.
    in_segments: Option<Growth>,
    history: History,
    /// State to restore after spurious losses (section 4.9.2).
    saved: Option<Box<Saved>>,
    /// Growth that does not amount to a byte yet, in bytes.
    fraction: f64,
    /// Since when the window has not limited the sender.
    unlimited_since: Option<Time>,
    /// Since when nothing has been in flight.
    drained_at: Option<Time>,
}

/// Everything that a congestion event changes, directly or later.
#[derive(Clone, Copy, Debug)]
struct Saved {
    history: History,
    hystart: Option<HyStart>,
    in_segments: Option<Growth>,
    fraction: f64,
}

/// Memory of earlier losses.
#[derive(Clone, Copy, Debug)]
struct History {
    /// Window just before the last loss, in segments; zero if unknown.
    w_max: f64,
    /// cwnd when ssthresh was last set, in segments.
    cwnd_prior: f64,
    /// Window at which HyStart ended slow start, in bytes.
    slow_start_exit: u64,
    /// The current stage of congestion avoidance.
    epoch: Option<Epoch>,
}

/// One stage of congestion avoidance; windows in segments, times in seconds.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch, advanced by the time in which the window was not used.
    start: Time,
    k: f64,
    w_max: f64,
    w_est: f64,
}

impl Epoch {
    fn new(start: Time, cwnd: f64, w_max: f64, c: f64) -> Epoch {
        // Figure 2; K is 0 and W_max the present window after a timeout
        // (section 4.8), after HyStart (4.10), and where cwnd is past W_max.
        let w_max = w_max.max(cwnd);
        Epoch {
            start,
            k: ((w_max - cwnd) / c).cbrt(),
            w_max,
            w_est: cwnd,
        }
    }

    /// Figure 1: W_cubic(t) = C (t - K)^3 + W_max.
    #[inline]
    fn w_cubic(&self, t: f64, c: f64) -> f64 {
        let d = t - self.k;
        c * d * d * d + self.w_max
    }
}

impl SinglePathControl for Cubic {
    #[inline]
    fn on_ack(&mut self, acked: &Acked, state: &SubflowState) -> u64 {
        let mss = state.mss;
        let cwnd = state.cwnd.max(mss);
        if let Some(hystart) = &mut self.hystart
            && cwnd < state.ssthresh.min(self.history.slow_start_exit)
            && hystart.on_ack(acked, state)
        {
            self.history.slow_start_exit = cwnd;
            self.history.cwnd_prior = cwnd as f64 / mss as f64;
        }
        self.leave_out_unused_time(acked, state.srtt);
        if !acked.cwnd_limited {
            return cwnd;
        }
        let ssthresh = state.ssthresh.min(self.history.slow_start_exit);
        let grown = self.slow_start.grow(cwnd, ssthresh, mss, acked.bytes);
        if cwnd < ssthresh {
            self.history.epoch = None;
            self.fraction = 0.0;
        }
        if grown.left == 0 {
            return grown.cwnd;
        }
        if let Some(growth) = &mut self.in_segments {
            let course = Course {
                now: acked.now,
                mss,
                min_rtt: state.min_rtt,
                c: self.config.c,
                scale: self.scale,
                epoch: &mut self.history.epoch,
                w_max: self.history.w_max,
            };
            return growth.grow(grown.cwnd, grown.left, course);
        }
        self.avoid_congestion(grown.cwnd, grown.left, acked.now, state)
    }

    fn on_congestion(&mut self, cause: Congestion, state: &SubflowState) -> u64 {
        let cwnd = self.segments(state);
        // Section 4.7: W_max = cwnd (1 + beta) / 2 where windows shrink from loss to loss.
        let w_max = if self.config.fast_convergence && cwnd < self.history.w_max {
            let less = cwnd * (1.0 + self.config.beta) / 2.0;
            match self.in_segments {
                Some(_) => less.floor(),
                None => less,
            }
        } else {
            cwnd
        };
        self.history = History {
            // Section 4.8: the stage after a timeout starts from its own window.
            w_max: if cause == Congestion::Timeout {
                0.0
            } else {
                w_max
            },
            cwnd_prior: cwnd,
            slow_start_exit: u64::MAX,
            epoch: None,
        };
        self.fraction = 0.0;
        if let Some(growth) = &mut self.in_segments {
            growth.forget();
        }
        if cause == Congestion::Timeout && self.hystart.is_some() {
            self.hystart = Some(HyStart::default());
        }
        // Figure 5: ssthresh = max(flight_size * beta, 2).
        let ssthresh = (state.in_flight.min(state.cwnd) as f64 * self.config.beta) as u64;
        ssthresh.max(2 * state.mss)
    }

    fn save(&mut self) {
        self.saved = Some(Box::new(Saved {
            history: self.history,
            hystart: self.hystart,
            in_segments: self.in_segments,
            fraction: self.fraction,
        }));
    }

    /// Section 4.9.2.
    fn restore(&mut self) {
        if let Some(saved) = &self.saved {
            self.history = saved.history;
            self.hystart = saved.hystart;
            self.in_segments = saved.in_segments;
            self.fraction = saved.fraction;
        }
    }
}

impl Cubic {
    /// The window in segments; in whole ones, as in Linux, if so configured.
    fn segments(&self, state: &SubflowState) -> f64 {
        match self.in_segments {
            Some(_) => (state.cwnd / state.mss) as f64,
            None => state.cwnd as f64 / state.mss as f64,
        }
    }

    #[inline]
    fn avoid_congestion(&mut self, cwnd: u64, bytes: u64, now: Time, state: &SubflowState) -> u64 {
        // Two divisions in all: they are what this costs.
        let mss = real(state.mss);
        let per_mss = 1.0 / mss;
        let window = (real(cwnd) + self.fraction) * per_mss;
        let per_window = 1.0 / window;
        let segments = real(bytes) * per_mss;
        let w_max = self.history.w_max;
        let c = self.config.c;
        let epoch = self
            .history
            .epoch
            .get_or_insert_with(|| Epoch::new(now, window, w_max, c));

        // Figure 4: W_est += alpha * segments_acked / cwnd, with alpha = 1 from cwnd_prior on.
        let alpha = if epoch.w_est < self.history.cwnd_prior {
            self.alpha
        } else {
            1.0
        };
        epoch.w_est += alpha * segments * per_window;

        let t = real(now.saturating_sub(epoch.start).as_nanos()) * 1e-9;
        // Section 4.3, the Reno-friendly region: cwnd = W_est, but growing no faster than slow start, in case
        // the sender has cut cwnd (after idling, or as a penalty).
        let friendly = epoch.w_est.clamp(window, window + segments);
        let counted = real(self.slow_start.counted(bytes, state.mss)) * per_mss;
        // Sections 4.2, 4.4 and 4.5: (target - cwnd) / cwnd for each segment acknowledged.
        let towards =
            |target: f64| lesser(window + (target - window) * per_window * counted, target);
        let next = if epoch.w_cubic(t, c) < epoch.w_est {
            friendly
        } else {
            towards(
                epoch
                    .w_cubic(t + seconds(state.srtt), c)
                    .clamp(window, 1.5 * window),
            )
        };
        let exact = greater(next * mss, real(cwnd));
        let cwnd = whole(exact);
        self.fraction = exact - real(cwnd);
        cwnd
    }

    /// Section 4.2, last rule: t excludes the time in which cwnd was not updated since it did not limit the
    /// sender, and idle time beyond a round trip.
    #[inline]
    fn leave_out_unused_time(&mut self, acked: &Acked, srtt: Time) {
        let mut unused = Time::ZERO;
        if let Some(drained) = self.drained_at.take() {
            unused = acked.now.saturating_sub(drained).saturating_sub(srtt);
        }
        if acked.cwnd_limited {
            if let Some(since) = self.unlimited_since.take() {
                unused = acked.now.saturating_sub(since);
            }
        } else if self.unlimited_since.is_none() {
            self.unlimited_since = Some(acked.now.saturating_sub(unused));
        }
        if acked.snd_una >= acked.snd_nxt {
            self.drained_at = Some(acked.now);
        }
        if acked.cwnd_limited
            && let Some(epoch) = &mut self.history.epoch
        {
            epoch.start = epoch.start.saturating_add(unused);
        }
    }
}

/// As [`Time::as_secs_f64`], without a division.
#[inline]
fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 * 1e-9
}

#[cfg(test)]
mod tests;
