//! Due times of datagrams, shared by both ends.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

/// Due times, written by the client and read by the server.
#[derive(Debug, Default)]
pub(crate) struct DueTimes {
    first: u64,
    times: VecDeque<Time>,
    /// Time when the last datagram of a finite transfer was sent.
    pub(crate) closed: Option<Time>,
}

/// Number of kept due times: a datagram overtaken by more has no known delay.
const KEPT: usize = 1 << 20;

impl DueTimes {
    /// Records the due time of the next datagram before it is sent.
    pub(crate) fn sending(&mut self, due: Time) {
        if self.times.len() == KEPT {
            self.times.pop_front();
            self.first += 1;
        }
        self.times.push_back(due);
    }

    pub(crate) fn due(&self, number: u64) -> Option<Time> {
        let place = number.checked_sub(self.first)?;
        self.times.get(usize::try_from(place).ok()?).copied()
    }

    pub(crate) fn sent(&self) -> u64 {
        self.first + self.times.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_kept_for_as_long_as_a_datagram_may_be_on_its_way() {
        let mut times = DueTimes::default();
        for number in 0..KEPT as u64 + 10 {
            times.sending(Time::from_nanos(number));
        }
        assert_eq!(times.sent(), KEPT as u64 + 10);
        assert_eq!(times.due(9), None);
        assert_eq!(times.due(10), Some(Time::from_nanos(10)));
        assert_eq!(
            times.due(KEPT as u64 + 9),
            Some(Time::from_nanos(KEPT as u64 + 9))
        );
        assert_eq!(times.due(KEPT as u64 + 10), None);
    }
}
