//! Packet trains, which measure the rate of a link before the link is used.
//!
//! Datagrams that leave at once arrive at the intervals of the bottleneck (packet dispersion: Dovrolis,
//! Ramanathan and Moore, IEEE/ACM Transactions on Networking 12(6), 2004). A start-up without a measurement
//! would give all links the same while a connection inside doubles its window: a queue would form on the
//! slowest, which ends the connection's slow start (HyStart) long before the other links are full. So a link
//! begins with the rate of its train.
//!
//! A train is no proof: jitter and the bursts of a radio spread it, and a link that releases packets together
//! hides it. Start-up continues from there.

use ropewalk_quantities::{Rate, Time};

use super::path_mtu::BASE_PLPMTU;

/// As many as TCP's initial window (RFC 6928), of a length that every link carries.
pub(super) const LENGTH: u64 = 10;
pub(super) const BYTES: u32 = BASE_PLPMTU;
/// Time since the link came up. By then the first datagrams on it have shown its delay without a queue, and
/// have left the queue.
const AFTER: Time = Time::from_millis(25);
/// Time within which the driver sends the pings of a train.
const LEAVES_WITHIN: Time = Time::from_millis(5);
/// Least useful queueing delay, since clocks count microseconds.
const MIN_WAIT: i64 = 100;

#[derive(Clone, Debug)]
pub(super) struct PacketTrain {
    stage: Stage,
    rate: Option<Rate>,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// When to send it; `None` before the link is up.
    Due(Option<Time>),
    /// When it was requested, the number of unsent packets, the first sent one, and the bytes sent on the
    /// link before it.
    Leaving {
        at: Time,
        left: u64,
        first: u64,
        before: u64,
    },
    Sent {
        first: u64,
        last: u64,
        before: u64,
    },
    Over,
}

impl Default for PacketTrain {
    fn default() -> PacketTrain {
        PacketTrain {
            stage: Stage::Due(None),
            rate: None,
        }
    }
}

impl PacketTrain {
    pub(super) fn due_at(&self) -> Option<Time> {
        match self.stage {
            Stage::Due(at) => Some(at.unwrap_or(Time::ZERO)),
            _ => None,
        }
    }

    pub(super) fn poll(&mut self, now: Time) -> bool {
        match self.stage {
            Stage::Due(None) => self.stage = Stage::Due(Some(now + AFTER)),
            Stage::Due(Some(at)) if at <= now => {
                self.stage = Stage::Leaving {
                    at: now,
                    left: LENGTH,
                    first: 0,
                    before: 0,
                };
                return true;
            }
            _ => {}
        }
        false
    }

    /// Notes a datagram, after `sent` bytes on the link. Returns whether it was the last one of the train.
    pub(super) fn on_sent(&mut self, now: Time, sequence: u64, bytes: u32, sent: u64) -> bool {
        let Stage::Leaving {
            at,
            left,
            first,
            before,
        } = &mut self.stage
        else {
            return false;
        };
        if now > *at + LEAVES_WITHIN {
            self.stage = Stage::Over;
            return false;
        }
        if bytes != BYTES {
            return false;
        }
        if *left == LENGTH {
            (*first, *before) = (sequence, sent);
        }
        *left -= 1;
        if *left > 0 {
            return false;
        }
        self.stage = Stage::Sent {
            first: *first,
            last: sequence,
            before: *before,
        };
        true
    }

    /// Processes feedback about all datagrams up to `highest`, at which `sent` bytes had been sent on the
    /// link, and which were delayed by its queue for `waited` microseconds. Returns the rate, if it is lower
    /// than the known one.
    pub(super) fn on_feedback(&mut self, highest: u64, sent: u64, waited: i64) -> Option<Rate> {
        let Stage::Sent {
            first,
            last,
            before,
        } = self.stage
        else {
            return None;
        };
        if highest >= last {
            self.stage = Stage::Over;
        }
        // Later datagrams find a shorter queue, or none.
        let tells = (first + LENGTH / 2..=last).contains(&highest) && waited >= MIN_WAIT;
        if !tells {
            return None;
        }
        let rate = Rate::from_bps((sent - before) * 8_000_000 / waited.unsigned_abs());
        let is_less = self.rate.is_none_or(|least| rate < least);
        self.rate = self.rate.filter(|_| !is_less).or(Some(rate));
        is_less.then_some(rate)
    }

    /// Whether it can give no more results.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn sent() -> PacketTrain {
        let mut train = PacketTrain::default();
        assert_eq!(train.due_at(), Some(Time::ZERO));
        assert!(!train.poll(MS(100)));
        assert_eq!(train.due_at(), Some(MS(125)));
        assert!(train.poll(MS(125)) && !train.poll(MS(125)));
        assert_eq!(train.due_at(), None);
        for number in 0..LENGTH {
            let before = 100 + number * u64::from(BYTES);
            let is_last = train.on_sent(MS(125), 1 + number, BYTES, before);
            assert_eq!(is_last, number + 1 == LENGTH);
        }
        train
    }

    /// Bytes sent up to the train's packet of this number, from one on.
    fn up_to(number: u64) -> u64 {
        100 + number * u64::from(BYTES)
    }

    /// At 8 Mbit/s a packet takes 1.2 ms.
    #[test]
    fn train_dispersion_gives_link_rate() {
        let mut train = sent();
        assert_eq!(train.on_feedback(3, up_to(3), 3_600), None);
        let eight = Rate::from_bps(8_000_000);
        assert_eq!(train.on_feedback(6, up_to(6), 7_200), Some(eight));
        // The same rate is no news, and a higher one shows less of the train.
        assert_eq!(train.on_feedback(8, up_to(8), 9_600), None);
        assert_eq!(train.on_feedback(9, up_to(9), 5_000), None);
        assert!(!train.is_over());
        let less = Rate::from_bps(6_000_000);
        assert_eq!(train.on_feedback(10, up_to(10), 16_000), Some(less));
        assert!(train.is_over());
    }

    #[test]
    fn later_datagrams_do_not_measure_train() {
        let mut train = sent();
        assert_eq!(train.on_feedback(11, up_to(10) + 50, 1_000), None);
        assert!(train.is_over());
    }

    #[test]
    fn train_without_queueing_gives_no_rate() {
        let mut train = sent();
        assert_eq!(train.on_feedback(10, up_to(10), MIN_WAIT - 1), None);
        assert_eq!(train.on_feedback(10, up_to(10), 12_000), None);
    }

    #[test]
    fn unsent_train_is_over() {
        let mut train = PacketTrain::default();
        train.poll(MS(0));
        assert!(train.poll(MS(25)));
        assert!(!train.on_sent(MS(40), 7, BYTES, 0));
        assert!(train.is_over());
    }
}
