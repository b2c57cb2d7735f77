//! Next event time of each radio of a channel.

use ropewalk_quantities::Time;

/// Next event of a radio; events at equal times are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    End,
    Timeout,
    Start,
}

/// Next event time of each radio. A channel has few radios, so the times are stored side by side: a change
/// is a store, and the earliest is searched on demand.
#[derive(Clone, Debug)]
pub(super) struct Dues {
    /// Time in nanoseconds times four, plus the kind of event.
    keys: Vec<u64>,
}

const NEVER: u64 = u64::MAX;

fn key(time: Time, due: Due) -> u64 {
    (time.as_nanos() << 2) | due as u64
}

impl Dues {
    pub(super) fn new(radios: usize) -> Dues {
        Dues {
            keys: vec![NEVER; radios],
        }
    }

    #[inline]
    pub(super) fn set(&mut self, radio: usize, time: Time, due: Due) {
        self.keys[radio] = key(time, due);
    }

    #[inline]
    pub(super) fn clear(&mut self, radio: usize) {
        self.keys[radio] = NEVER;
    }

    #[inline]
    pub(super) fn is(&self, radio: usize, time: Time, due: Due) -> bool {
        self.keys[radio] == key(time, due)
    }

    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        let least = self.least();
        (least != NEVER).then(|| Time::from_nanos(least >> 2))
    }

    /// Returns the first radio with the earliest time, with that time and event.
    #[inline]
    pub(super) fn first(&self) -> Option<(usize, Time, Due)> {
        let least = self.least();
        if least == NEVER {
            return None;
        }
        let radio = self.keys.iter().position(|key| *key == least)?;
        let due = match least & 3 {
            0 => Due::End,
            1 => Due::Timeout,
            _ => Due::Start,
        };
        Some((radio, Time::from_nanos(least >> 2), due))
    }

    #[inline]
    fn least(&self) -> u64 {
        self.keys.iter().copied().min().unwrap_or(NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_one_instant_ends_come_before_starts() {
        let (early, late) = (Time::from_micros(1), Time::from_micros(2));
        let mut dues = Dues::new(4);
        assert_eq!((dues.next(), dues.first()), (None, None));
        dues.set(0, late, Due::Start);
        dues.set(1, late, Due::End);
        dues.set(2, late, Due::Timeout);
        dues.set(3, early, Due::Start);
        for expected in [
            (3, early, Due::Start),
            (1, late, Due::End),
            (2, late, Due::Timeout),
            (0, late, Due::Start),
        ] {
            assert_eq!(dues.first(), Some(expected));
            assert!(dues.is(expected.0, expected.1, expected.2));
            dues.clear(expected.0);
        }
        assert_eq!(dues.next(), None);
    }
}
