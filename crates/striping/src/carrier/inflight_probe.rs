//! Limit of the bytes in flight below TCP's own window, so that no queue stands on the path.
//!
//! TCP fills the queue of the link, which adds delay and no throughput. So a carrier is *trimmed*: its
//! in-flight cap is the rate times the least round trip, and a little more. But a round trip may exceed the
//! least one without a queue of our own: jitter, a link that serves in bursts, the queue of other traffic, a
//! slow return path. Then less in flight delivers less, the measured rate falls, and the cap falls with it.
//! Only an experiment can distinguish these cases (as in PCC Vivace, Dong et al., NSDI 2018): does more in
//! flight deliver more?
//!
//! - A carrier is trimmed if start-up ends with rounds of equal rate and a growing queue. Otherwise its cap
//!   is the number of bytes in flight at that time. Once a trial with more has paid off, it is *free*: only
//!   TCP limits it. Once the rate has not grown for some rounds, less is tried: halfway down to the least
//!   justified amount, and again. A trial that costs rate is undone, and the next pause is longer.
//! - A trimmed carrier is tried with more from time to time. It becomes free again if that pays off, or if
//!   its rate falls below the rate when it was trimmed. A falling rate estimate does not reduce the bytes in
//!   flight, unless a trial with more has just failed.
//! - A single round may deliver more than the link carries: data behind a repaired loss arrive at once. So
//!   more has paid off only if each judged round shows it, and of two rounds the slower one gives the rate of
//!   a trimmed carrier.
//! - If a round delivers much more than the previous one, the earlier round trip contained no queue of our
//!   own. Its minimum is a floor for the next ones (Copa's standing round trip, Arun and Balakrishnan, NSDI
//!   2018); bursts queue within a round.

use ropewalk_quantities::Time;

use super::round::Round;

/// A trial with more has this many times the bytes in flight.
const STEP: f64 = 1.25;
/// Fraction of the step by which the rate must grow to be worth the delay. In a queue shared with another TCP
/// flow, more than half of the growth is that flow's.
const MIN_GAIN: f64 = 0.35;
/// Fraction of the rate that a trial with less may cost.
const MAX_LOSS: f64 = 0.04;
/// A trial with less ends at once if the rate falls below this fraction.
const ABORT_BELOW: f64 = 0.8;
/// Rounds of a trial that are judged, after the one in which it takes effect.
const JUDGED_ROUNDS: u32 = 2;
/// Rounds in which TCP may fill a higher cap.
const MAX_FILL_ROUNDS: u32 = 8;
/// Pause between trials, which doubles with each failed one: limits for trials with more and with less.
const PAUSES: [Time; 2] = [Time::from_millis(500), Time::from_secs(8)];
const TRIM_PAUSES: [Time; 2] = [Time::from_secs(1), Time::from_secs(32)];
/// Trials take at most one part in this many of the time.
const TRIAL_SHARE: u64 = 12;
/// A free carrier is not tried while its rate grows by this factor within this many rounds.
const GROWTH: f64 = 1.03;
const PLATEAU: u32 = 6;
/// A trimmed carrier becomes free again below this fraction of its rate when it was trimmed.
const RELEASE_BELOW: f64 = 0.9;
/// Rates of two rounds that differ by less are equal, and a queue stands if the least round trip of a round
/// is this many times the least of all.
const EQUAL_WITHIN: f64 = 0.03;
const QUEUE: f64 = 1.1;
/// A rate that grew by this factor from one round to the next was not the link's capacity.
const JUMP: f64 = 1.3;
/// A trial with less needs this many times the least justified amount in flight.
const MIN_EXCESS: f64 = 1.05;

/// Bytes allowed in flight beyond `base` seconds at the estimated rate, and the trials that determine them.
#[derive(Clone, Debug, Default)]
pub(crate) struct InflightProbe {
    /// Seconds of the rate; infinite if the carrier is free.
    pub(crate) extra_secs: f64,
    trial: Option<Trial>,
    last: [Round; 2],
    /// The highest rate, and the number of rounds since.
    peak: (f64, u32),
    /// Consecutive rounds limited by the cap; limited by the cap or by TCP.
    held: u32,
    busy: u32,
    /// Its rate when it was trimmed, or the higher rate of two successive rounds since.
    trimmed_at: f64,
    /// The last trial has shown that more in flight delivers no more.
    more_is_useless: bool,
    /// Result on this link before the carrier started up.
    found: Option<ProbeResult>,
    more: Pause,
    less: Pause,
}

/// How far a carrier could be trimmed, kept for the link's next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProbeResult {
    extra_secs: f64,
    trimmed_at: f64,
}

/// Earliest begin of the next trial of a kind, and the pause after a failed one.
#[derive(Clone, Copy, Debug, Default)]
struct Pause {
    length: Time,
    until: Time,
}

impl Pause {
    /// Doubles the pause after a failed trial that took this long.
    fn lengthen(&mut self, now: Time, took: Time, [least, most]: [Time; 2]) {
        self.length = (self.length * 2).clamp(least, most);
        self.until = now + self.length.max(took * TRIAL_SHARE);
    }
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    is_more: bool,
    began: Time,
    extra_before: f64,
    rate_before: f64,
    /// The highest and the lowest rate of its judged rounds, and their number.
    rate: f64,
    least_rate: f64,
    rounds: u32,
    /// Rounds so far, including those before it took effect.
    waited: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimates {
    /// Least seconds of the rate that must be in flight.
    pub(crate) base: f64,
    /// The gain on the least round trip that is contained in `base`.
    pub(crate) gain: f64,
    /// Least round trip, in seconds.
    pub(crate) min_rtt: f64,
    /// Estimated rate in bytes per second, once start-up is over.
    pub(crate) rate: Option<f64>,
}

impl InflightProbe {
    /// Begins start-up, with an earlier result of its link.
    pub(crate) fn starting(found: Option<ProbeResult>) -> InflightProbe {
        InflightProbe {
            found,
            ..InflightProbe::default()
        }
    }

    /// Returns the result, valid if the link delivers its earlier rate again.
    pub(crate) fn found(&self) -> Option<ProbeResult> {
        let extra_secs = self
            .trial
            .map_or(self.extra_secs, |trial| trial.extra_before);
        let trimmed_at = self.trimmed_at;
        extra_secs.is_finite().then_some(ProbeResult {
            extra_secs,
            trimmed_at,
        })
    }

    /// Ends start-up. `is_found_again`: the link delivers its earlier rate.
    pub(crate) fn on_full(
        &mut self,
        now: Time,
        estimates: &Estimates,
        rate: f64,
        is_found_again: bool,
    ) {
        let [before, round] = self.last;
        let is_same = (round.rate / before.rate - 1.0).abs() < EQUAL_WITHIN.max(round.error);
        self.less = Pause::default();
        if let Some(found) = self.found.take()
            && is_found_again
        {
            (self.extra_secs, self.trimmed_at) = (found.extra_secs, found.trimmed_at);
            self.more = Pause::default();
        } else if is_same && round.least > QUEUE * estimates.min_rtt {
            self.trimmed_at = round.rate;
            self.more = Pause::default();
            self.more.lengthen(now, Time::ZERO, PAUSES);
        } else {
            // TCP may be doubling its window, so that no queue would form: try more first.
            self.release(now);
            let filled = STEP * round.filled / rate;
            self.extra_secs = (filled - estimates.base).max(0.0);
        }
    }

    /// Follows the rate estimate from `old` to `new` after a round that was limited by the cap.
    pub(crate) fn on_estimate(&mut self, base: f64, old: f64, new: f64) {
        let same_in_flight = |extra_secs: f64| ((base + extra_secs) * old / new - base).max(0.0);
        let changed = |extra_secs: f64| {
            same_in_flight(extra_secs).min(if new < old { f64::MAX } else { extra_secs })
        };
        if self.extra_secs.is_infinite() || new < old && self.more_is_useless {
            return;
        }
        self.extra_secs = changed(self.extra_secs);
        if let Some(trial) = &mut self.trial
            && trial.extra_before.is_finite()
        {
            trial.extra_before = changed(trial.extra_before);
        }
    }

    pub(crate) fn on_round(&mut self, now: Time, estimates: &Estimates, round: &Round) {
        let before = self.last[1];
        if before.rate > 0.0 && round.rate > JUMP * before.rate {
            self.extra_secs = self
                .extra_secs
                .max(estimates.gain * (before.least - estimates.min_rtt));
        }
        self.last = [before, *round];
        self.held = if round.held { self.held + 1 } else { 0 };
        self.busy = if round.busy { self.busy + 1 } else { 0 };
        let Some(estimate) = estimates.rate else {
            return;
        };
        let (peak, rounds) = (self.peak.0.min(estimate), self.peak.1);
        self.peak = if round.rate > GROWTH * peak {
            (round.rate, 0)
        } else {
            (peak, rounds + 1)
        };
        let rate = round.rate.max(before.rate);
        let whole = estimates.base + self.extra_secs;
        if let Some(trial) = self.trial {
            self.judge(now, estimates.base, trial, round);
        } else if self.held >= 2 && self.extra_secs.is_finite() {
            self.trimmed_at = self.trimmed_at.max(round.rate.min(before.rate));
            if rate < RELEASE_BELOW * self.trimmed_at {
                self.release(now);
            } else if now >= self.more.until {
                self.begin(now, true, whole * STEP - estimates.base, rate);
            } else if self.more_is_useless
                && self.extra_secs > 0.0
                && self.is_trial_of_less_due(now)
            {
                self.begin_trial_with_less(now, estimates.base, self.extra_secs, rate);
            }
        } else if self.busy >= 2 && self.is_trial_of_less_due(now) {
            // Start from TCP's bytes in flight, which may be less than the cap.
            let filled = (round.filled / estimate).min(whole);
            if filled > MIN_EXCESS * estimates.base {
                self.begin_trial_with_less(now, estimates.base, filled - estimates.base, rate);
            }
        }
    }

    fn is_trial_of_less_due(&self, now: Time) -> bool {
        self.peak.1 >= PLATEAU && now >= self.less.until
    }

    fn judge(&mut self, now: Time, base: f64, mut trial: Trial, round: &Round) {
        trial.waited += 1;
        if round.held {
            trial.rounds += 1;
            if trial.rounds > 1 {
                trial.rate = trial.rate.max(round.rate);
                trial.least_rate = trial.least_rate.min(round.rate);
            }
        }
        self.trial = Some(trial);
        let gain = trial.rate / trial.rate_before;
        if !round.held {
            if trial.waited > MAX_FILL_ROUNDS {
                // TCP does not fill the cap, so the effect of more is unknown.
                self.trial = None;
                if !trial.is_more {
                    self.undo(now, trial);
                }
            }
        } else if trial.is_more && trial.rounds > JUDGED_ROUNDS {
            self.trial = None;
            if trial.least_rate >= trial.rate_before * (1.0 + MIN_GAIN * (STEP - 1.0)) {
                self.release(now);
            } else {
                self.extra_secs = trial.extra_before;
                self.more_is_useless = true;
                let took = now.saturating_sub(trial.began);
                self.more.lengthen(now, took, PAUSES);
            }
        } else if !trial.is_more
            && (trial.rounds > JUDGED_ROUNDS || trial.rounds > 1 && gain < ABORT_BELOW)
        {
            self.trial = None;
            if gain < 1.0 - MAX_LOSS {
                self.undo(now, trial);
                return;
            }
            self.trimmed_at = trial.rate_before;
            if self.extra_secs > 0.0 {
                self.begin_trial_with_less(now, base, self.extra_secs, trial.rate_before);
            } else {
                self.more.until = now + self.more.length.max(PAUSES[0]);
            }
        }
    }

    fn release(&mut self, now: Time) {
        self.extra_secs = f64::INFINITY;
        self.more_is_useless = false;
        self.trimmed_at = 0.0;
        self.more = Pause::default();
        self.less.lengthen(now, Time::ZERO, TRIM_PAUSES);
    }

    fn undo(&mut self, now: Time, trial: Trial) {
        self.extra_secs = trial.extra_before;
        self.more_is_useless = false;
        let took = now.saturating_sub(trial.began);
        self.less.lengthen(now, took, TRIM_PAUSES);
    }

    /// Begins a trial halfway down from `filled`.
    fn begin_trial_with_less(&mut self, now: Time, base: f64, filled: f64, rate: f64) {
        let half = filled / 2.0;
        let worth = (MIN_EXCESS - 1.0) * 2.0 * base;
        self.begin(now, false, if half < worth { 0.0 } else { half }, rate);
    }

    fn begin(&mut self, now: Time, is_more: bool, extra_secs: f64, rate_before: f64) {
        let extra_before = std::mem::replace(&mut self.extra_secs, extra_secs);
        self.trial = Some(Trial {
            is_more,
            began: now,
            extra_before,
            rate_before,
            rate: 0.0,
            least_rate: f64::INFINITY,
            rounds: 0,
            waited: 0,
        });
    }
}

#[cfg(test)]
mod tests;
