//! Next event time of each radio of a channel.

use ropewalk_quantities::Time;

/// Next event of a radio; events at equal times are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RadioEvent {
    End,
    Timeout,
    Start,
}

/// Next event time of each radio. A channel has few radios, so the times are stored side by side: a change
/// is a store, and the earliest is searched on demand.
#[derive(Clone, Debug)]
pub(super) struct NextEvents {
    /// Time in nanoseconds times four, plus the kind of event.
    keys: Vec<u64>,
}

const NEVER: u64 = u64::MAX;

fn key(time: Time, due: RadioEvent) -> u64 {
    (time.as_nanos() << 2) | due as u64
}

impl NextEvents {
    pub(super) fn new(radios: usize) -> NextEvents {
        NextEvents {
            keys: vec![NEVER; radios],
        }
    }

    #[inline]
    pub(super) fn set(&mut self, radio: usize, time: Time, due: RadioEvent) {
        self.keys[radio] = key(time, due);
    }

    #[inline]
    pub(super) fn clear(&mut self, radio: usize) {
        self.keys[radio] = NEVER;
    }

    #[inline]
    pub(super) fn is(&self, radio: usize, time: Time, due: RadioEvent) -> bool {
        self.keys[radio] == key(time, due)
    }

    #[inline]
    pub(super) fn next(&self) -> Option<Time> {
        let least = self.least();
        (least != NEVER).then(|| Time::from_nanos(least >> 2))
    }

    /// Returns the first radio with the earliest time, with that time and event.
    #[inline]
    pub(super) fn first(&self) -> Option<(usize, Time, RadioEvent)> {
        let least = self.least();
        if least == NEVER {
            return None;
        }
        let radio = self.keys.iter().position(|key| *key == least)?;
        let due = match least & 3 {
            0 => RadioEvent::End,
            1 => RadioEvent::Timeout,
            _ => RadioEvent::Start,
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
    fn ends_precede_starts_at_equal_times() {
        let (early, late) = (Time::from_micros(1), Time::from_micros(2));
        let mut next_events = NextEvents::new(4);
        assert_eq!((next_events.next(), next_events.first()), (None, None));
        next_events.set(0, late, RadioEvent::Start);
        next_events.set(1, late, RadioEvent::End);
        next_events.set(2, late, RadioEvent::Timeout);
        next_events.set(3, early, RadioEvent::Start);
        for expected in [
            (3, early, RadioEvent::Start),
            (1, late, RadioEvent::End),
            (2, late, RadioEvent::Timeout),
            (0, late, RadioEvent::Start),
        ] {
            assert_eq!(next_events.first(), Some(expected));
            assert!(next_events.is(expected.0, expected.1, expected.2));
            next_events.clear(expected.0);
        }
        assert_eq!(next_events.next(), None);
    }
}
