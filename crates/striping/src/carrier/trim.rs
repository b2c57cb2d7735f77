//! How far below TCP's own window a carrier is kept, so that no queue stands on the way.
//!
//! What TCP would have in flight fills the queue of the link, which delays everything and delivers
//! nothing more. So a carrier is *trimmed*: at most the rate times the least round trip, and some more,
//! is in flight. But a round trip may be longer than the least for reasons that are not our queue:
//! jitter, a link that serves in bursts, the queue of another's traffic, a slow way back. Then less in
//! flight delivers less, the rate that is measured falls, and with it what may be in flight. An
//! observer of round trips cannot tell one from the other; a trial can (as in PCC Vivace, Dong et al.,
//! NSDI 2018): what matters is whether more in flight delivers more.
//!
//! - A carrier is trimmed where start-up ends with rounds of the same rate and a growing queue. Else it may
//!   have what it then has in flight, and is *free*, TCP alone says what is in flight, once more has proved
//!   better. Less is tried once the rate has not grown for some rounds: halfway down from what is in flight
//!   to the least there is a reason for, and on. A trial that costs rate is undone, and the next one waits
//!   longer.
//! - A trimmed carrier is tried with more now and then. It is free again if that pays, and also when it
//!   brings less than when it was trimmed. That the estimate of the rate falls does not shrink what is
//!   in flight, unless more of it was just tried for nothing.
//! - Where a round brings much more than the one before, nothing of that one's round trip was our
//!   queue's: the least of it is a floor for the next ones (the least of a round, since bursts queue
//!   within it: Copa's standing round trip, Arun and Balakrishnan, NSDI 2018).

use ropewalk_quantities::Time;

use super::round::Round;

/// More in flight by this factor is tried.
const STEP: f64 = 1.25;
/// So much of the step must be seen in the rate to be worth its delay. Of a queue that is shared with
/// another's TCP, more than half is left to that.
const PAYS: f64 = 0.35;
/// What less in flight may cost of the rate.
const COSTS: f64 = 0.04;
/// A trial of less ends at once with so little of the rate.
const TOO_LITTLE: f64 = 0.8;
/// Rounds of a trial that are judged, after one in which it takes effect.
const JUDGED: u32 = 2;
/// Rounds in which TCP may fill what it is allowed.
const WAITED: u32 = 8;
/// Time between trials, which doubles with each that fails: of more, and of less.
const PAUSES: [Time; 2] = [Time::from_millis(500), Time::from_secs(8)];
const TRIM_PAUSES: [Time; 2] = [Time::from_secs(1), Time::from_secs(32)];
/// A trial takes at most one in so many parts of the time.
const TRIALS: u64 = 12;
/// A free carrier is not tried as long as its rate grows by this factor once in so many rounds.
const GROWS: f64 = 1.03;
const PLATEAU: u32 = 6;
/// A trimmed one is free again with so little of what it brought.
const FELL: f64 = 0.9;
/// Rates of two rounds that differ by less are the same, and a queue stands where the least round trip
/// of a round is so many times the least of all.
const SAME: f64 = 0.03;
const QUEUE: f64 = 1.1;
/// A rate that grew by this factor from one round to the next was not all that the link has.
const GREW: f64 = 1.3;
/// Less in flight than this over the least there is a reason for is not worth a trial.
const EXCESS: f64 = 1.05;

/// What may be in flight beyond `base` seconds at the estimated rate, and how that is found out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trim {
    /// Seconds; infinite if the carrier is free.
    extra: f64,
    trial: Option<Trial>,
    /// The last two rounds.
    last: [Round; 2],
    /// The rate that was not surpassed for so many rounds.
    peak: (f64, u32),
    /// Rounds in a row that the cap held back; that the cap or TCP did.
    held: u32,
    busy: u32,
    /// What it brought when it was trimmed.
    trimmed_at: f64,
    /// The last trial has shown that more in flight delivers no more.
    futile: bool,
    /// What was found before the carrier started up.
    found: Option<Found>,
    more: Pause,
    less: Pause,
}

/// How far a carrier could be trimmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    extra: f64,
    trimmed_at: f64,
}

/// When the next trial of a kind may begin.
#[derive(Clone, Copy, Debug, Default)]
struct Pause {
    length: Time,
    until: Time,
}

impl Pause {
    /// A trial that took so long was for nothing.
    fn lengthen(&mut self, now: Time, took: Time, [least, most]: [Time; 2]) {
        self.length = (self.length * 2).clamp(least, most);
        self.until = now + self.length.max(took * TRIALS);
    }
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    is_more: bool,
    began: Time,
    extra_before: f64,
    rate_before: f64,
    /// The best of its rounds, and how many there were.
    rate: f64,
    rounds: u32,
    /// Rounds with those in which it had no effect.
    waited: u32,
}

/// What is known of a carrier at the end of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Seconds that are to be filled at the least.
    pub(crate) base: f64,
    /// By this factor the least round trip is in them.
    pub(crate) gain: f64,
    /// The least round trip, in seconds.
    pub(crate) min_rtt: f64,
    /// Bytes per second, once start-up is over.
    pub(crate) rate: Option<f64>,
}

impl Trim {
    /// Seconds beyond the base that may be filled.
    pub(crate) fn extra(&self) -> f64 {
        self.extra
    }

    /// One that is yet to start up, on a link of which this was found before.
    pub(crate) fn starting(found: Option<Found>) -> Trim {
        Trim {
            found,
            ..Trim::default()
        }
    }

    /// What was found, to hold where the link brings again what it did.
    pub(crate) fn found(&self) -> Option<Found> {
        let extra = self.trial.map_or(self.extra, |trial| trial.extra_before);
        let trimmed_at = self.trimmed_at;
        extra.is_finite().then_some(Found { extra, trimmed_at })
    }

    /// Start-up is over, with what the link brought before or with another rate.
    pub(crate) fn on_full(&mut self, now: Time, known: &Known, rate: f64, is_found_again: bool) {
        let [before, round] = self.last;
        let is_same = (round.rate / before.rate - 1.0).abs() < SAME.max(round.error);
        self.less = Pause::default();
        if let Some(found) = self.found.take()
            && is_found_again
        {
            (self.extra, self.trimmed_at) = (found.extra, found.trimmed_at);
            self.more = Pause::default();
        } else if is_same && round.least > QUEUE * known.min_rtt {
            self.trimmed_at = round.rate;
            self.more = Pause::default();
            self.more.lengthen(now, Time::ZERO, PAUSES);
        } else {
            // TCP may be doubling what it has in flight, which no queue would hold: more is tried first.
            self.release(now);
            let filled = STEP * round.filled / rate;
            self.extra = (filled - known.base).max(0.0);
        }
    }

    /// The estimate of the rate went from `old` to `new` in a round that the cap held back.
    pub(crate) fn on_estimate(&mut self, base: f64, old: f64, new: f64) {
        let same_in_flight = |extra: f64| ((base + extra) * old / new - base).max(0.0);
        let changed =
            |extra: f64| same_in_flight(extra).min(if new < old { f64::MAX } else { extra });
        if self.extra.is_infinite() || new < old && self.futile {
            return;
        }
        self.extra = changed(self.extra);
        if let Some(trial) = &mut self.trial
            && trial.extra_before.is_finite()
        {
            trial.extra_before = changed(trial.extra_before);
        }
    }

    /// A round is over.
    pub(crate) fn on_round(&mut self, now: Time, known: &Known, round: &Round) {
        let before = self.last[1];
        if before.rate > 0.0 && round.rate > GREW * before.rate {
            self.extra = self.extra.max(known.gain * (before.least - known.min_rtt));
        }
        self.last = [before, *round];
        self.held = if round.held { self.held + 1 } else { 0 };
        self.busy = if round.busy { self.busy + 1 } else { 0 };
        let Some(estimate) = known.rate else {
            return;
        };
        let (peak, rounds) = (self.peak.0.min(estimate), self.peak.1);
        self.peak = if round.rate > GROWS * peak {
            (round.rate, 0)
        } else {
            (peak, rounds + 1)
        };
        let rate = round.rate.max(before.rate);
        let whole = known.base + self.extra;
        if let Some(trial) = self.trial {
            self.judge(now, known.base, trial, round);
        } else if self.held >= 2 && self.extra.is_finite() {
            self.trimmed_at = self.trimmed_at.max(rate);
            if rate < FELL * self.trimmed_at {
                self.release(now);
            } else if now >= self.more.until {
                self.begin(now, true, whole * STEP - known.base, rate);
            } else if self.futile && self.extra > 0.0 && self.may_try_less(now) {
                self.begin_less(now, known.base, self.extra, rate);
            }
        } else if self.busy >= 2 && self.may_try_less(now) {
            // Of what TCP has in flight, which may be less than it is allowed.
            let filled = (round.filled / estimate).min(whole);
            if filled > EXCESS * known.base {
                self.begin_less(now, known.base, filled - known.base, rate);
            }
        }
    }

    fn may_try_less(&self, now: Time) -> bool {
        self.peak.1 >= PLATEAU && now >= self.less.until
    }

    fn judge(&mut self, now: Time, base: f64, mut trial: Trial, round: &Round) {
        trial.waited += 1;
        if round.held {
            trial.rounds += 1;
            if trial.rounds > 1 {
                trial.rate = trial.rate.max(round.rate);
            }
        }
        self.trial = Some(trial);
        let gain = trial.rate / trial.rate_before;
        if !round.held {
            if trial.waited > WAITED {
                // TCP does not fill it: what more would bring is not known.
                self.trial = None;
                if !trial.is_more {
                    self.undo(now, trial);
                }
            }
        } else if trial.is_more && trial.rounds > JUDGED {
            self.trial = None;
            if gain >= 1.0 + PAYS * (STEP - 1.0) {
                self.release(now);
            } else {
                self.extra = trial.extra_before;
                self.futile = true;
                let took = now.saturating_sub(trial.began);
                self.more.lengthen(now, took, PAUSES);
            }
        } else if !trial.is_more && (trial.rounds > JUDGED || trial.rounds > 1 && gain < TOO_LITTLE)
        {
            self.trial = None;
            if gain < 1.0 - COSTS {
                self.undo(now, trial);
                return;
            }
            self.trimmed_at = trial.rate_before;
            if self.extra > 0.0 {
                self.begin_less(now, base, self.extra, trial.rate_before);
            } else {
                self.more.until = now + self.more.length.max(PAUSES[0]);
            }
        }
    }

    /// TCP alone says what is in flight.
    fn release(&mut self, now: Time) {
        self.extra = f64::INFINITY;
        self.futile = false;
        self.trimmed_at = 0.0;
        self.more = Pause::default();
        self.less.lengthen(now, Time::ZERO, TRIM_PAUSES);
    }

    /// A trial of less was not good.
    fn undo(&mut self, now: Time, trial: Trial) {
        self.extra = trial.extra_before;
        self.futile = false;
        let took = now.saturating_sub(trial.began);
        self.less.lengthen(now, took, TRIM_PAUSES);
    }

    /// Halfway down from `filled`.
    fn begin_less(&mut self, now: Time, base: f64, filled: f64, rate: f64) {
        let half = filled / 2.0;
        let worth = (EXCESS - 1.0) * 2.0 * base;
        self.begin(now, false, if half < worth { 0.0 } else { half }, rate);
    }

    fn begin(&mut self, now: Time, is_more: bool, extra: f64, rate_before: f64) {
        let extra_before = std::mem::replace(&mut self.extra, extra);
        self.trial = Some(Trial {
            is_more,
            began: now,
            extra_before,
            rate_before,
            rate: 0.0,
            rounds: 0,
            waited: 0,
        });
    }
}

#[cfg(test)]
mod tests;
