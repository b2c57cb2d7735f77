//! Selection of the links that are worth their delay.
//!
//! Packets of a connection arrive in step with the slowest link in use: that link's round trip becomes the
//! connection's, and determines how fast its window grows and recovers. So a link of low rate and long delay
//! may cost more than it contributes. Links are compared as sets, from the fastest on. The score is the
//! logarithm of their total rate, minus a fraction of the logarithm of the slowest one's round trip. The
//! total rate counts only up to the bytes in flight of the connections inside per round trip.
//!
//! While these grow, the best single link and all quicker ones are in use in any case, since they will be
//! filled. In slow start a slower link counts by the bytes soon in flight with it: a window doubles the later
//! the longer its round trip is. A link that is left out is tried again from time to time, while the others
//! cannot carry all data, since its rate is known only as far as it was used.

use ropewalk_quantities::{Rate, Time};

use super::demand::{InFlightTrend, MIN_DELAY};

/// Weight of the logarithm of the round trip: a tenfold round trip has to be worth a fifth more rate.
const WORTH: f64 = 0.08;
/// Links in use are replaced only by a set that is better by this fraction of the rate.
const MARGIN: f64 = 0.02;
/// A window in slow start counts as large as it will be after this time. If the time is shorter, a link with a
/// longer round trip comes into use seconds too late: the change of round trip then ends the slow start of a
/// connection inside (HyStart). If it is longer, a link with a very long round trip is used too early, and the
/// window grows slowly over it.
const SOON: Time = Time::from_secs(1);
/// Lower limit of known rates.
const MIN_RATE: Rate = Rate::from_bps(500_000);
/// A trial of a link lasts at least this long, and this many round trips.
const MIN_TRIAL: Time = Time::from_secs(1);
const TRIAL_ROUNDS: u64 = 6;
const FIRST_WAIT: Time = Time::from_secs(10);
const MAX_WAIT: Time = Time::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkEstimate {
    /// Its rate, as far as it was used.
    pub(super) rate: Rate,
    /// Its round trip, queues included.
    pub(super) delay: Time,
    pub(super) known: bool,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    left_out: bool,
    /// It is in use until then, at any rate.
    until: Time,
    next: Time,
    wait: Time,
}

#[derive(Debug, Default)]
pub(super) struct Selection {
    trials: Vec<Trial>,
    order: Vec<UsableLink>,
}

#[derive(Clone, Copy, Debug)]
struct UsableLink {
    link: usize,
    /// With the lower limit applied.
    delay: Time,
    delay_s: f64,
    rate: f64,
    known: bool,
    /// Factor by which a window in slow start grows within [`SOON`].
    grows: f64,
    cost: f64,
    alone: f64,
}

impl UsableLink {
    fn new(link: usize, estimate: LinkEstimate) -> UsableLink {
        let delay = estimate.delay.max(MIN_DELAY);
        let delay_s = delay.as_secs_f64();
        let rate = estimate.rate.max(MIN_RATE).as_bps() as f64;
        let cost = WORTH * delay_s.ln();
        UsableLink {
            link,
            delay,
            delay_s,
            rate,
            known: estimate.known,
            grows: (SOON.as_secs_f64() / delay_s).exp2(),
            cost,
            alone: rate.ln() - cost,
        }
    }

    fn place(&self) -> (Time, usize) {
        (self.delay, self.link)
    }

    /// Returns the worth of a set of links with this total rate, of which this is the slowest.
    fn worth(&self, rate: f64) -> f64 {
        rate.ln() - self.cost
    }
}

impl Selection {
    pub(super) fn add_link(&mut self) {
        self.trials.push(Trial {
            left_out: false,
            until: Time::ZERO,
            next: Time::ZERO,
            wait: FIRST_WAIT,
        });
    }

    pub(super) fn leaves_out(&self, link: usize) -> bool {
        self.trials[link].left_out
    }

    /// Updates the estimate of a link; `None` if it is not available.
    pub(super) fn note(&mut self, link: usize, could: Option<LinkEstimate>) {
        if let Some(before) = self.order.iter().position(|usable| usable.link == link) {
            self.order.remove(before);
        }
        if let Some(estimate) = could {
            let usable = UsableLink::new(link, estimate);
            let at = (self.order).partition_point(|other| other.place() < usable.place());
            self.order.insert(at, usable);
        }
    }

    #[cfg(test)]
    fn order(&self) -> Vec<(usize, Time, f64)> {
        let order = self.order.iter();
        order
            .map(|usable| (usable.link, usable.delay, usable.rate))
            .collect()
    }

    /// Selects among the available links. `busy`: there is more to send than the links in use carry.
    /// `in_flight`: bytes of the connections inside. Returns whether the selection has changed.
    pub(super) fn select(&mut self, now: Time, busy: bool, in_flight: InFlightTrend) -> bool {
        let used = self
            .order
            .iter()
            .rposition(|usable| !self.trials[usable.link].left_out);
        let alone = self.order.iter().map(|usable| usable.alone);
        let best_alone = alone.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let best_alone = best_alone.map_or(0, |(place, _)| place);
        let (mut total, mut best, mut kept) = (0.0, (f64::MIN, 0), f64::MIN);
        let mut unknown = 0;
        for (place, usable) in self.order.iter().enumerate() {
            total += usable.rate;
            let fills = match in_flight {
                InFlightTrend::Growing(_) | InFlightTrend::Doubling(_) if place <= best_alone => {
                    f64::MAX
                }
                InFlightTrend::Doubling(bytes) => {
                    bytes as f64 * usable.grows * 8.0 / usable.delay_s
                }
                InFlightTrend::Settled(bytes) | InFlightTrend::Growing(bytes) => {
                    bytes as f64 * 8.0 / usable.delay_s
                }
            };
            let worth = usable.worth(total.min(fills));
            if worth > best.0 {
                best = (worth, place);
            }
            if Some(place) == used {
                kept = worth;
            }
            // A link of unknown rate is worth trying if there is more to send.
            if !usable.known && fills > total {
                unknown = place;
            }
        }
        let unchanged = best.0 <= kept + MARGIN;
        let last = used.filter(|_| unchanged).unwrap_or(best.1);
        let last = last.max(unknown);
        let (mut tried, mut has_changed) = (busy, false);
        for (place, usable) in self.order.iter().enumerate() {
            let trial = &mut self.trials[usable.link];
            let mut left_out = place > last && now >= trial.until;
            if left_out && !trial.left_out {
                trial.next = now + trial.wait;
                trial.wait = (trial.wait * 2).min(MAX_WAIT);
            } else if left_out && tried && now >= trial.next {
                trial.until = now + (usable.delay * TRIAL_ROUNDS).max(MIN_TRIAL);
                left_out = false;
                tried = false;
            }
            has_changed |= left_out != trial.left_out;
            trial.left_out = left_out;
        }
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::demand::Demand;
    use super::*;

    fn link(mbps: u64, round_trip: u64) -> LinkEstimate {
        LinkEstimate {
            rate: Rate::from_bps(mbps * 1_000_000),
            delay: Time::from_millis(round_trip),
            known: true,
        }
    }

    /// More than any link needs.
    const PLENTY: InFlightTrend = InFlightTrend::Settled(1 << 30);

    fn selection_of(links: &[LinkEstimate]) -> Selection {
        let mut selection = Selection::default();
        for (number, link) in links.iter().enumerate() {
            selection.add_link();
            selection.note(number, Some(*link));
        }
        selection
    }

    fn used(selection: &Selection) -> Vec<bool> {
        let links = 0..selection.trials.len();
        links.map(|link| !selection.leaves_out(link)).collect()
    }

    #[test]
    fn slow_late_link_is_left_out_and_retried() {
        let links = [link(100, 10), link(1, 300), link(40, 60)];
        let mut selection = selection_of(&links);
        let mut select = |seconds, busy| {
            selection.select(Time::from_secs(seconds), busy, PLENTY);
            used(&selection)
        };
        assert_eq!(select(5, true), [true, false, true]);
        assert_eq!(select(14, true), [true, false, true]);
        assert_eq!(select(16, false), [true, false, true]);
        assert_eq!(select(16, true), [true, true, true]);
        assert_eq!(select(18, true), [true, false, true]);
        assert_eq!(select(37, true), [true, false, true]);
        assert_eq!(select(38, true), [true, true, true]);
    }

    #[test]
    fn link_of_unknown_rate_is_used() {
        let unknown = LinkEstimate {
            known: false,
            ..link(0, 300)
        };
        let links = [link(100, 10), unknown];
        let mut selection = selection_of(&links);
        let mut select = |in_flight| {
            selection.select(Time::from_secs(5), true, in_flight);
            used(&selection)
        };
        assert_eq!(select(PLENTY), [true, true]);
        // 100 Mbit/s in 300 ms are 3.75 MB: the first carries everything.
        assert_eq!(select(InFlightTrend::Settled(3_700_000)), [true, false]);
        // A set within the margin is tried in any case.
        assert_eq!(select(InFlightTrend::Settled(3_800_000)), [true, true]);
        // In a second it doubles 3 1/3 times.
        assert_eq!(select(InFlightTrend::Doubling(370_000)), [true, false]);
        assert_eq!(select(InFlightTrend::Doubling(380_000)), [true, true]);
        assert_eq!(select(InFlightTrend::Growing(380_000)), [true, false]);
    }

    #[test]
    fn growing_window_uses_best_link_and_quicker_ones() {
        let links = [link(5, 10), link(80, 60), link(30, 400)];
        let mut selection = selection_of(&links);
        let mut select = |in_flight| {
            selection.select(Time::from_secs(5), true, in_flight);
            used(&selection)
        };
        assert_eq!(select(InFlightTrend::Growing(1_000)), [true, true, false]);
        // All of it in 400 ms are 5.75 MB, and in a second a window grows by 2^(5/2).
        assert_eq!(
            select(InFlightTrend::Doubling(800_000)),
            [true, true, false]
        );
        assert_eq!(
            select(InFlightTrend::Doubling(1_020_000)),
            [true, true, true]
        );
        assert_eq!(
            select(InFlightTrend::Growing(1_020_000)),
            [true, true, false]
        );
        // A small window that has stopped growing arrives soonest by the first alone.
        assert_eq!(select(InFlightTrend::Settled(6_000)), [true, false, false]);
    }

    /// Round trips of 50 microseconds to 6 ms, mostly queueing delay, and rates of 1:1 to 1:10.
    #[test]
    fn filled_short_links_are_all_used() {
        let micros = [50, 100, 200, 500, 1000, 2000, 4000, 6000];
        for (mbps, parts, first, second) in [20, 100, 500]
            .into_iter()
            .flat_map(|mbps| (1..=10).map(move |parts| (mbps, parts)))
            .flat_map(|(mbps, parts)| micros.map(|first| (mbps, parts, first)))
            .flat_map(|(mbps, parts, first)| micros.map(|second| (mbps, parts, first, second)))
        {
            let of = |rate: u64, delay| LinkEstimate {
                rate: Rate::from_bps(rate),
                delay: Time::from_micros(delay),
                known: true,
            };
            let rates = [mbps * 1_000_000, mbps * 1_000_000 / parts];
            let mut selection = selection_of(&[of(rates[0], first), of(rates[1], second)]);
            let slowest = Time::from_micros(first.max(second));
            let (mut demand, mut now, mut taken) = (Demand::default(), Time::ZERO, 0);
            for round in 0..200 {
                now += Time::from_millis(20);
                taken += (rates[0] + rates[1]) / 8 / 50;
                demand.note(now, taken, 0, slowest);
                selection.select(now, false, demand.in_flight());
                let case = format!("{rates:?} {first} {second}, round {round}");
                assert_eq!(used(&selection), [true, true], "{case}");
            }
        }
    }

    #[test]
    fn slow_link_is_left_out_while_others_suffice() {
        let links = [link(100, 10), link(80, 200)];
        let mut selection = selection_of(&links);
        let mut select = |in_flight| {
            selection.select(Time::from_secs(5), true, in_flight);
            used(&selection)
        };
        assert_eq!(select(PLENTY), [true, true]);
        // 100 Mbit/s in 200 ms are 2.5 MB.
        assert_eq!(select(InFlightTrend::Settled(2_400_000)), [true, false]);
        assert_eq!(select(InFlightTrend::Settled(4_500_000)), [true, true]);
    }

    proptest! {
        #[test]
        fn links_stay_in_order_after_any_change(
            changes in prop::collection::vec((0_usize..6, prop::option::of((1_u64..50, 1_u64..40))), 0..60),
        ) {
            let mut selection = selection_of(&[]);
            let mut could = [None; 6];
            for (number, change) in changes {
                could[number] = change.map(|(mbps, round_trip)| link(mbps, round_trip));
                selection.note(number, could[number]);
                let usable = could.iter().enumerate();
                let usable = usable.filter_map(|(number, could)| Some(UsableLink::new(number, (*could)?)));
                let mut order: Vec<_> = usable.map(|one| (one.link, one.delay, one.rate)).collect();
                order.sort_by_key(|&(link, delay, _)| (delay, link));
                prop_assert_eq!(selection.order(), order);
            }
        }
    }

    #[test]
    fn only_link_is_used() {
        let links = [link(100, 10), link(1, 300)];
        let mut selection = selection_of(&links);
        selection.select(Time::from_secs(5), true, PLENTY);
        assert_eq!(used(&selection), [true, false]);
        selection.note(0, None);
        selection.select(Time::from_secs(6), true, PLENTY);
        assert_eq!(used(&selection), [true, true]);
    }
}
