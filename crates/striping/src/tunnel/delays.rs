//! Delays of a link: its own, and those of a queue of our own.

use std::cmp::Reverse;

use ropewalk_quantities::Time;

use super::link_receiver::REPORT_INTERVAL;
use super::link_sender::FeedbackReport;
use super::windowed::Windowed;

const MEMORY: Time = Time::from_secs(10);
/// A mean of round trips takes at least this many samples, and this time.
const MIN_SAMPLES: u64 = 4;
const MIN_MEAN: Time = Time::from_millis(40);
const UNKNOWN: Time = Time::from_millis(100);

#[derive(Clone, Debug)]
pub(super) struct LinkDelays {
    least_round_trip: Windowed<Reverse<Time>>,
    least_one_way: Windowed<Reverse<i64>>,
    /// As in RFC 6298, section 2.
    pub(super) srtt: Option<Time>,
    rttvar: Time,
    /// Lowest recent one-way delay: jitter and bursts of the link leave it small, a queue does not.
    recent_one_way: Windowed<Reverse<i64>>,
    pub(super) queueing: Time,
    /// Excess of delays over the minimum without a queue of our own.
    noise: Time,
    /// The lowest recent mean.
    floor: Windowed<Reverse<Time>>,
    mean: Mean,
    typical: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    since: Time,
    sum: Time,
    count: u64,
}

impl Default for LinkDelays {
    fn default() -> LinkDelays {
        LinkDelays {
            least_round_trip: Windowed::new(MEMORY),
            least_one_way: Windowed::new(MEMORY),
            srtt: None,
            rttvar: Time::ZERO,
            recent_one_way: Windowed::new(REPORT_INTERVAL),
            queueing: Time::ZERO,
            noise: Time::ZERO,
            floor: Windowed::new(MEMORY),
            mean: Mean::default(),
            typical: None,
        }
    }
}

impl LinkDelays {
    /// Adds a report from feedback. A queue raises all delays of an eighth of a round trip. On a short link
    /// the floor does not rise: every mean includes the queue that the window allows there.
    pub(super) fn note(&mut self, now: Time, report: &FeedbackReport, is_short: bool) {
        let round_trip = report.round_trip;
        self.least_round_trip.insert(now, Reverse(round_trip));
        self.least_one_way.insert(now, Reverse(report.one_way));
        let span = self.round_trip() / 8;
        self.recent_one_way.set_span(span.max(REPORT_INTERVAL));
        self.recent_one_way.insert(now, Reverse(report.one_way));
        let recent = self.recent_one_way.best().map_or(0, |Reverse(least)| least);
        let above = recent - self.least_one_way();
        self.queueing = Time::from_micros(above.max(0) as u64);
        self.note_mean(now, round_trip, is_short);
        match self.srtt {
            None => {
                self.srtt = Some(round_trip);
                self.rttvar = round_trip / 2;
            }
            Some(srtt) => {
                let off = srtt.max(round_trip) - srtt.min(round_trip);
                self.rttvar = (self.rttvar * 3 + off) / 4;
                self.srtt = Some((srtt * 7 + round_trip) / 8);
            }
        }
    }

    /// Adds to a mean over at least a round trip, so that it includes all variation within one.
    fn note_mean(&mut self, now: Time, round_trip: Time, is_short: bool) {
        let mean = &mut self.mean;
        if mean.count == 0 {
            mean.since = now;
        }
        mean.sum += round_trip;
        mean.count += 1;
        let taken = mean.sum / mean.count;
        if mean.count >= MIN_SAMPLES && now >= mean.since + taken.max(MIN_MEAN) {
            *mean = Mean::default();
            let floor = match self.floor.best() {
                Some(Reverse(floor)) if is_short => floor.min(taken),
                _ => taken,
            };
            self.floor.insert(now, Reverse(floor));
            let typical = self.typical.map(|typical| (typical * 3 + taken) / 4);
            self.typical = typical.or(Some(taken));
        }
    }

    /// Returns the lowest recent one-way delay, in microseconds; only differences are meaningful.
    pub(super) fn least_one_way(&self) -> i64 {
        self.least_one_way.best().map_or(0, |Reverse(least)| least)
    }

    /// Notes that a burst of our own explains `own` of the queueing delay; the rest is noise of the link.
    pub(super) fn note_noise(&mut self, own: Time) {
        self.noise = self.noise.max(self.queueing.saturating_sub(own));
    }

    /// Whether the queueing delay exceeds `short` and the noise.
    pub(super) fn is_queueing(&self, short: Time) -> bool {
        self.queueing > short.max(self.noise * 5 / 4)
    }

    pub(super) fn round_trip(&self) -> Time {
        let least = self.least_round_trip.best();
        least.map_or(UNKNOWN, |Reverse(least)| least)
    }

    /// Returns the lowest recent mean round trip, over a round trip or more: without a queue of our own, but
    /// with all variation.
    pub(super) fn floor(&self) -> Time {
        let floor = self.floor.best();
        floor.map_or(self.round_trip(), |Reverse(floor)| floor)
    }

    pub(super) fn typical(&self) -> Time {
        self.typical.unwrap_or(self.round_trip())
    }

    /// Returns the smoothed round trip plus four times its variation, as in a retransmission timeout.
    pub(super) fn varied(&self) -> Option<Time> {
        self.srtt.map(|srtt| srtt + self.rttvar * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(round_trip: u64, one_way: i64) -> FeedbackReport {
        FeedbackReport {
            round_trip: Time::from_millis(round_trip),
            one_way,
            rate: None,
            gone: 0,
            datagrams: 1,
            lost: 0,
        }
    }

    #[test]
    fn queue_needs_an_eighth_of_a_round_trip() {
        let queueing = |standing: u64| {
            let mut delays = LinkDelays::default();
            for ms in 0..200 {
                let waits = if ms < 200 - standing { 0 } else { 12 };
                let report = report(80 + waits, waits as i64 * 1000);
                delays.note(Time::from_millis(ms), &report, false);
            }
            delays.queueing
        };
        assert_eq!(queueing(5), Time::ZERO);
        assert_eq!(queueing(20), Time::from_millis(12));
    }

    #[test]
    fn the_floor_is_the_least_mean_and_not_the_least_round_trip() {
        let mut delays = LinkDelays::default();
        assert_eq!(delays.floor(), UNKNOWN);
        for number in 0..200 {
            let round_trip = if number % 2 == 0 { 30 } else { 50 };
            let now = Time::from_millis(number * 5);
            delays.note(now, &report(round_trip, 0), false);
        }
        assert_eq!(delays.round_trip(), Time::from_millis(30));
        let floor = delays.floor().as_nanos();
        assert!((38_000_000..=42_000_000).contains(&floor), "{floor}");
    }

    /// An idle link of 0.2 ms, and for 30 s a queue of 5 ms.
    #[test]
    fn the_floor_of_a_short_link_does_not_rise_with_its_own_queue() {
        for (is_short, expected) in [(true, 200), (false, 5_200)] {
            let mut delays = LinkDelays::default();
            for number in 0..6_100 {
                let queue = if number < 100 { 0 } else { 5_000 };
                let report = FeedbackReport {
                    round_trip: Time::from_micros(200 + queue),
                    ..report(0, queue as i64)
                };
                delays.note(Time::from_millis(number * 5), &report, is_short);
            }
            assert_eq!(delays.floor(), Time::from_micros(expected));
        }
    }
}
