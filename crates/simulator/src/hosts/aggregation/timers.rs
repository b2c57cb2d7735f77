//! Expiry times of the connections' timers, and the earliest of them.

use ropewalk_quantities::Time;

/// Those of one end, by index of the connection; [`Time::MAX`] for a timer that is not set.
#[derive(Debug, Default)]
pub(super) struct Timers {
    of_each: Vec<Time>,
    /// Index of the earliest; `None` if it has to be searched.
    first: Option<usize>,
}

impl Timers {
    /// For this many connections, without a timer set.
    pub(super) fn of(connections: usize) -> Timers {
        Timers {
            of_each: vec![Time::MAX; connections],
            first: None,
        }
    }

    #[inline]
    pub(super) fn at(&self, place: usize) -> Time {
        self.of_each[place]
    }

    /// Only if the earliest timer is put off, the earliest has to be searched again.
    #[inline]
    pub(super) fn set(&mut self, place: usize, time: Time) {
        let before = std::mem::replace(&mut self.of_each[place], time);
        match self.first {
            Some(first) if first == place && time > before => self.first = None,
            Some(first) if time < self.of_each[first] => self.first = Some(place),
            _ => {}
        }
    }

    /// The earliest expiry, or [`Time::MAX`].
    #[inline]
    pub(super) fn earliest(&mut self) -> Time {
        if self.first.is_none() {
            self.find();
        }
        self.first.map_or(Time::MAX, |first| self.of_each[first])
    }

    /// The first from this index on that has expired, if it is below `other`; else that one.
    pub(super) fn next_due(&self, now: Time, from: usize, other: Option<usize>) -> Option<usize> {
        let to = other.unwrap_or(self.of_each.len());
        let mut between = self.of_each.get(from..to)?.iter();
        let found = between.position(|time| *time <= now);
        found.map(|at| from + at).or(other)
    }

    fn find(&mut self) {
        let timers = self.of_each.iter().enumerate();
        self.first = timers.min_by_key(|(_, time)| **time).map(|(at, _)| at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_earliest_is_the_least(
            connections in 1_usize..20,
            changes in prop::collection::vec((0_usize..20, 0_u64..30, any::<bool>()), 0..100),
        ) {
            let mut timers = Timers::of(connections);
            for (place, time, asks) in changes {
                timers.set(place % connections, Time::from_millis(time));
                if asks {
                    let least = timers.of_each.iter().min().copied();
                    prop_assert_eq!(Some(timers.earliest()), least);
                    let now = Time::from_millis(time);
                    let mut due = (place..connections).filter(|at| timers.at(*at) <= now);
                    let next = due.next().filter(|at| *at < connections - 1);
                    let last = (place < connections).then_some(connections - 1);
                    prop_assert_eq!(timers.next_due(now, place, last), next.or(last));
                }
            }
        }
    }
}
