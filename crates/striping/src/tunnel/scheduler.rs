//! Which link takes the next packet of the queue.

use ropewalk_quantities::Time;

use super::rate_control::RateControl;

/// How links are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// One after the other, each waited for (song-2018).
    RoundRobin,
    /// In proportion to their rates, each waited for.
    Weighted,
    /// Of those with room, the one that would deliver first.
    #[default]
    EarliestArrival,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Scheduler; 3] = [
        Scheduler::RoundRobin,
        Scheduler::Weighted,
        Scheduler::EarliestArrival,
    ];

    /// Its name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::RoundRobin => "round-robin",
            Scheduler::Weighted => "weighted",
            Scheduler::EarliestArrival => "earliest-arrival",
        }
    }
}

/// Whose turn it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    /// The link that the next packet waits for, if it does.
    waited_for: Option<usize>,
    last: usize,
    /// Each link's, in proportion to its rate (smooth weighted round robin).
    credits: Vec<i64>,
}

impl Turn {
    /// The link for a packet of so many bytes, among the `usable` of all links; `None` if it has
    /// to wait.
    pub(super) fn pick(
        &mut self,
        scheduler: Scheduler,
        now: Time,
        bytes: u64,
        usable: &[usize],
        links: &[RateControl],
    ) -> Option<usize> {
        if scheduler == Scheduler::EarliestArrival {
            let ready = usable
                .iter()
                .copied()
                .filter(|&link| links[link].has_room(now));
            return ready.min_by_key(|&link| links[link].arrival(now, bytes));
        }
        let waited_for = self.waited_for.filter(|link| usable.contains(link));
        let link = match (waited_for, scheduler) {
            (Some(link), _) => link,
            (None, Scheduler::RoundRobin) => self.next_in_turn(usable)?,
            (None, _) => self.next_by_rate(usable, links)?,
        };
        let ready = links[link].has_room(now);
        self.waited_for = (!ready).then_some(link);
        ready.then_some(link)
    }

    /// The link that the next packet waits for, whatever room others have.
    pub(super) fn waited_for(&self) -> Option<usize> {
        self.waited_for
    }

    fn next_in_turn(&mut self, usable: &[usize]) -> Option<usize> {
        let after = usable.iter().find(|&&link| link > self.last);
        self.last = *after.or(usable.first())?;
        Some(self.last)
    }

    fn next_by_rate(&mut self, usable: &[usize], links: &[RateControl]) -> Option<usize> {
        self.credits.resize(links.len(), 0);
        let mut total = 0;
        for &link in usable {
            // Links of which nothing is known yet are alike.
            let weight = (links[link].rate().as_bps() / 1000).max(100) as i64;
            self.credits[link] += weight;
            total += weight;
        }
        let best = usable
            .iter()
            .copied()
            .max_by_key(|&link| self.credits[link])?;
        self.credits[best] -= total;
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(count: usize) -> Vec<RateControl> {
        vec![RateControl::new(Time::ZERO); count]
    }

    #[test]
    fn round_robin_goes_round_those_that_may_be_used() {
        let (mut turn, links) = (Turn::default(), links(4));
        let mut pick = |usable: &[usize]| {
            turn.pick(Scheduler::RoundRobin, Time::ZERO, 1000, usable, &links)
                .unwrap()
        };
        assert_eq!([(); 4].map(|()| pick(&[0, 1, 3])), [1, 3, 0, 1]);
        assert_eq!([(); 3].map(|()| pick(&[0, 2])), [2, 0, 2]);
    }

    #[test]
    fn who_takes_turns_waits() {
        let (mut turn, mut links) = (Turn::default(), links(2));
        while links[1].has_room(Time::ZERO) {
            links[1].send(Time::ZERO, 1500);
        }
        for scheduler in [Scheduler::RoundRobin, Scheduler::Weighted] {
            let picks = [(); 2].map(|()| turn.pick(scheduler, Time::ZERO, 1000, &[0, 1], &links));
            assert!(picks.contains(&None), "{scheduler:?}: {picks:?}");
        }
        let earliest = turn.pick(
            Scheduler::EarliestArrival,
            Time::ZERO,
            1000,
            &[0, 1],
            &links,
        );
        assert_eq!(earliest, Some(0));
    }
}
