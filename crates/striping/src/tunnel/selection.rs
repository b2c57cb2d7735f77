//! Which links are worth their delay.
//!
//! Packets of a connection arrive in step with the slowest link in use: that link's round trip becomes the
//! connection's, and determines how fast its window grows and recovers. So a link of low rate and long delay
//! may cost more than it contributes. Links are compared as sets, from the fastest on: the logarithm of their
//! total rate, minus a fraction of the logarithm of the slowest one's round trip. The total rate counts only
//! up to what the connections inside have in flight per round trip. A link that is left out is tried again
//! from time to time, while there is more to send than the others carry: its rate is known only as far as it
//! was used.

use ropewalk_quantities::{Rate, Time};

/// Weight of the logarithm of the round trip: a tenfold round trip has to be worth a fifth more rate.
const WORTH: f64 = 0.08;
/// Links in use are replaced only by a set that is better by this fraction of the rate.
const MARGIN: f64 = 0.02;
/// A link whose known rate is lower counts as this.
const MIN_RATE: Rate = Rate::from_bps(500_000);
/// Shorter delays count as this.
const MIN_DELAY: Time = Time::from_millis(5);
/// A trial of a link lasts at least this long, and this many round trips.
const MIN_TRIAL: Time = Time::from_secs(1);
const TRIAL_ROUNDS: u64 = 6;
/// Time to the next trial; it doubles each time, up to the most.
const FIRST_WAIT: Time = Time::from_secs(10);
const MAX_WAIT: Time = Time::from_secs(120);

/// Rate and delay of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkEstimate {
    /// Its rate, as far as it was used.
    pub(super) rate: Rate,
    /// Its round trip, queues included.
    pub(super) delay: Time,
    /// Whether the rate has been measured.
    pub(super) known: bool,
}

/// Trial state of a link.
#[derive(Clone, Copy, Debug)]
struct Trial {
    left_out: bool,
    /// It is in use until then, whatever it delivers.
    until: Time,
    next: Time,
    wait: Time,
}

/// Which links are left out.
#[derive(Debug, Default)]
pub(super) struct Selection {
    trials: Vec<Trial>,
    /// Usable links, by round trip.
    order: Vec<usize>,
}

impl Selection {
    /// Adds a link, which is in use.
    pub(super) fn add_link(&mut self) {
        self.trials.push(Trial {
            left_out: false,
            until: Time::ZERO,
            next: Time::ZERO,
            wait: FIRST_WAIT,
        });
    }

    /// Whether a link is left out.
    pub(super) fn leaves_out(&self, link: usize) -> bool {
        self.trials[link].left_out
    }

    /// Selects among the usable links `could`. `busy`: there is more to send than those in use carry.
    /// `in_flight`: the bytes in flight of the connections inside, where that is known.
    pub(super) fn weigh(
        &mut self,
        now: Time,
        busy: bool,
        in_flight: Option<u64>,
        could: impl Iterator<Item = usize>,
        estimate: impl Fn(usize) -> LinkEstimate,
    ) {
        let delay = |link: usize| estimate(link).delay.max(MIN_DELAY);
        self.order.clear();
        self.order.extend(could);
        self.order.sort_unstable_by_key(|&link| delay(link));
        let used = self
            .order
            .iter()
            .rposition(|&link| !self.trials[link].left_out);
        let (mut rate, mut best, mut kept) = (0.0, (f64::MIN, 0), f64::MIN);
        for (place, &link) in self.order.iter().enumerate() {
            rate += estimate(link).rate.max(MIN_RATE).as_bps() as f64;
            let delay = delay(link).as_secs_f64();
            let fills = in_flight.map_or(f64::MAX, |bytes| bytes as f64 * 8.0 / delay);
            let worth = rate.min(fills).ln() - WORTH * delay.ln();
            // A link of unknown rate is worth trying if there is more to send.
            if worth > best.0 || !estimate(link).known && fills > rate {
                best = (worth, place);
            }
            if Some(place) == used {
                kept = worth;
            }
        }
        let unchanged = best.0 <= kept + MARGIN;
        let last = used.filter(|_| unchanged).unwrap_or(best.1);
        let mut tried = busy;
        for (place, &link) in self.order.iter().enumerate() {
            let trial = &mut self.trials[link];
            let mut left_out = place > last && now >= trial.until;
            if left_out && !trial.left_out {
                trial.next = now + trial.wait;
                trial.wait = (trial.wait * 2).min(MAX_WAIT);
            } else if left_out && tried && now >= trial.next {
                trial.until = now + (delay(link) * TRIAL_ROUNDS).max(MIN_TRIAL);
                left_out = false;
                tried = false;
            }
            trial.left_out = left_out;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(mbps: u64, round_trip: u64) -> LinkEstimate {
        LinkEstimate {
            rate: Rate::from_bps(mbps * 1_000_000),
            delay: Time::from_millis(round_trip),
            known: true,
        }
    }

    fn selection(links: usize) -> Selection {
        let mut selection = Selection::default();
        (0..links).for_each(|_| selection.add_link());
        selection
    }

    fn used(selection: &Selection) -> Vec<bool> {
        let links = 0..selection.trials.len();
        links.map(|link| !selection.leaves_out(link)).collect()
    }

    #[test]
    fn a_link_that_brings_little_and_late_is_left_out_and_tried_again() {
        let links = [link(100, 10), link(1, 300), link(40, 60)];
        let mut selection = selection(3);
        let mut weigh = |seconds, busy| {
            selection.weigh(Time::from_secs(seconds), busy, None, 0..3, |link| {
                links[link]
            });
            used(&selection)
        };
        assert_eq!(weigh(5, true), [true, false, true]);
        assert_eq!(weigh(14, true), [true, false, true]);
        // Nobody needs it.
        assert_eq!(weigh(16, false), [true, false, true]);
        assert_eq!(weigh(16, true), [true, true, true]);
        assert_eq!(weigh(18, true), [true, false, true]);
        assert_eq!(weigh(37, true), [true, false, true]);
        assert_eq!(weigh(38, true), [true, true, true]);
    }

    #[test]
    fn a_link_is_used_as_long_as_nobody_knows_what_it_brings() {
        let unknown = LinkEstimate {
            known: false,
            ..link(0, 300)
        };
        let mut selection = selection(2);
        let links = [link(100, 10), unknown];
        selection.weigh(Time::from_secs(5), true, None, 0..2, |link| links[link]);
        assert_eq!(used(&selection), [true, true]);
    }

    #[test]
    fn a_slow_link_is_left_out_while_the_others_carry_all_there_is() {
        let links = [link(100, 10), link(80, 200)];
        let mut selection = selection(2);
        let mut weigh = |in_flight| {
            selection.weigh(Time::from_secs(5), true, in_flight, 0..2, |link| {
                links[link]
            });
            used(&selection)
        };
        assert_eq!(weigh(None), [true, true]);
        // 100 Mbit/s in 200 ms are 2.5 MB.
        assert_eq!(weigh(Some(2_400_000)), [true, false]);
        assert_eq!(weigh(Some(4_500_000)), [true, true]);
    }

    #[test]
    fn a_link_that_is_all_there_is_is_used() {
        let links = [link(100, 10), link(1, 300)];
        let mut selection = selection(2);
        selection.weigh(Time::from_secs(5), true, None, 0..2, |link| links[link]);
        assert_eq!(used(&selection), [true, false]);
        selection.weigh(Time::from_secs(6), true, None, 1..2, |link| links[link]);
        assert_eq!(used(&selection), [true, true]);
    }
}
