//! CUBIC (RFC 9438), with HyStart if requested. Windows are real numbers of segments, as in the RFC, or
//! integers, as in Linux; callers see bytes. W_est counts all bytes acknowledged; the cubic growth counts
//! them as slow start does.

mod linux;
mod rfc;

use ropewalk_quantities::Time;

use super::{Acked, Congestion, HyStart, Settings, SinglePathControl, SlowStart};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// CUBIC: after a loss, the window follows a cubic function of time whose plateau is the window at the
    /// loss, but is never below Reno's.
    pub struct CubicConfig: "cubic", "RFC 9438", [SinglePath] {
        /// Scale of the cubic function, in segments/s^3.
        c: number(0.001, 100.0) = 0.4, "RFC 9438, section 5.1";
        /// Fraction of the window that remains after a loss.
        beta: number(0.1, 0.95) = 0.7, "RFC 9438, section 4.6";
        /// Set the plateau below the window at the loss if the window was smaller than at the loss before, to
        /// release bandwidth to new flows.
        fast_convergence: boolean() = true, "RFC 9438, section 4.7";
    }
}

impl CubicConfig {
    /// Creates the algorithm of one path.
    pub fn build(self, settings: &Settings) -> Cubic {
        Cubic {
            config: self,
            slow_start: SlowStart {
                byte_counting: settings.byte_counting,
            },
            hystart: settings.hystart.then(HyStart::default),
            growth: match settings.linux_cubic {
                true => Growth::InSegments(linux::Growth::new(self.alpha())),
                false => Growth::Real(rfc::Growth::new(self.alpha())),
            },
            history: History {
                w_max: 0.0,
                slow_start_exit: u64::MAX,
                epoch: None,
            },
            saved: None,
            unlimited_since: None,
            drained_at: None,
        }
    }

    /// Reno-friendly increase, in segments per round trip (section 4.3): 3 (1 - beta) / (1 + beta).
    pub fn alpha(self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

/// State of CUBIC on one path.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    slow_start: SlowStart,
    hystart: Option<HyStart>,
    growth: Growth,
    history: History,
    /// State to restore after spurious losses (section 4.9.2).
    saved: Option<Box<Saved>>,
    unlimited_since: Option<Time>,
    drained_at: Option<Time>,
}

/// State that a congestion event changes.
#[derive(Clone, Copy, Debug)]
struct Saved {
    history: History,
    hystart: Option<HyStart>,
    growth: Growth,
}

#[derive(Clone, Copy, Debug)]
enum Growth {
    InSegments(linux::Growth),
    Real(rfc::Growth),
}

/// Inputs of one congestion-avoidance update.
struct GrowthInputs<'a> {
    now: Time,
    mss: u64,
    min_rtt: Time,
    srtt: Time,
    c: f64,
    epoch: &'a mut Option<Epoch>,
    w_max: f64,
}

#[derive(Clone, Copy, Debug)]
struct History {
    /// Window just before the last loss, in segments; zero if unknown.
    w_max: f64,
    /// Window at which HyStart ended slow start, in bytes.
    slow_start_exit: u64,
    epoch: Option<Epoch>,
}

/// An epoch of congestion avoidance; windows in segments, times in seconds.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch, advanced by the time in which the window was not used.
    start: Time,
    k: f64,
    w_max: f64,
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
            self.note_prior(cwnd as f64 / mss as f64);
        }
        self.exclude_unused_time(acked, state.srtt);
        if !acked.cwnd_limited {
            return cwnd;
        }
        let ssthresh = state.ssthresh.min(self.history.slow_start_exit);
        let grown = self.slow_start.grow(cwnd, ssthresh, mss, acked.bytes);
        if cwnd < ssthresh {
            self.history.epoch = None;
            if let Growth::Real(growth) = &mut self.growth {
                growth.forget();
            }
        }
        if grown.left == 0 {
            return grown.cwnd;
        }
        let inputs = GrowthInputs {
            now: acked.now,
            mss,
            min_rtt: state.min_rtt,
            srtt: state.srtt,
            c: self.config.c,
            epoch: &mut self.history.epoch,
            w_max: self.history.w_max,
        };
        match &mut self.growth {
            Growth::InSegments(growth) => growth.grow(grown.cwnd, grown.left, inputs),
            Growth::Real(growth) => {
                let counted = self.slow_start.counted(grown.left, mss);
                growth.grow(grown.cwnd, grown.left, counted, inputs)
            }
        }
    }

    fn on_congestion(&mut self, cause: Congestion, state: &SubflowState) -> u64 {
        let cwnd = self.segments(state);
        // Section 4.7: W_max = cwnd (1 + beta) / 2 if windows shrink from loss to loss.
        let w_max = if self.config.fast_convergence && cwnd < self.history.w_max {
            let less = cwnd * (1.0 + self.config.beta) / 2.0;
            match self.growth {
                Growth::InSegments(_) => less.floor(),
                Growth::Real(_) => less,
            }
        } else {
            cwnd
        };
        self.history = History {
            // Section 4.8: the epoch after a timeout starts from its own window.
            w_max: if cause == Congestion::Timeout {
                0.0
            } else {
                w_max
            },
            slow_start_exit: u64::MAX,
            epoch: None,
        };
        self.note_prior(cwnd);
        match &mut self.growth {
            Growth::InSegments(growth) => growth.forget(),
            Growth::Real(growth) => growth.forget(),
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
            growth: self.growth,
        }));
    }

    /// Section 4.9.2.
    fn restore(&mut self) {
        if let Some(saved) = &self.saved {
            self.history = saved.history;
            self.hystart = saved.hystart;
            self.growth = saved.growth;
        }
    }
}

impl Cubic {
    /// The window in segments: an integer if configured as in Linux.
    fn segments(&self, state: &SubflowState) -> f64 {
        match self.growth {
            Growth::InSegments(_) => (state.cwnd / state.mss) as f64,
            Growth::Real(_) => state.cwnd as f64 / state.mss as f64,
        }
    }

    fn note_prior(&mut self, cwnd: f64) {
        if let Growth::Real(growth) = &mut self.growth {
            growth.cwnd_prior = cwnd;
        }
    }

    /// Section 4.2, last rule: t excludes the time in which cwnd was not updated because it did not limit the
    /// sender, and idle time beyond a round trip.
    #[inline]
    fn exclude_unused_time(&mut self, acked: &Acked, srtt: Time) {
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

/// [`Time::as_secs_f64`] without a division.
#[inline]
fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 * 1e-9
}

#[cfg(test)]
mod tests;
