//! Receiving end of a tunnel: combines the packets of all links.

mod links;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_wire::gateway::tunnel::{Delivery, Feedback, Sequencing};

use super::duplicate_filter::DuplicateFilter;
use super::link_receiver::LinkReceiver;
use super::resequencer::{DeliveryTimes, Head, HeldPacket, Resequencer, ResequencerCounters};
use links::ReceiverLinks;

/// Least interval between deliveries of packets in step, in microseconds: batches are larger for the receiver
/// of a stream, and its sender sees no train of acknowledgements (HyStart).
const STEP: i64 = 3_000;
/// Limit of the sender's clock, in microseconds, so that sums of a few times do not overflow.
const MAX_CLOCK: i64 = i64::MAX / 8;

/// Configuration of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Packets are not kept in step with a link whose least delay exceeds the least of all by more than this.
    pub skew: Time,
    /// Limit of the memory of packets held for reordering. When it is full, those held longest are delivered.
    pub most_held: Bytes,
}

impl Default for ReceiverConfig {
    fn default() -> ReceiverConfig {
        ReceiverConfig {
            skew: Time::from_millis(300),
            most_held: Bytes::from_mib(16),
        }
    }
}

/// One direction of a tunnel, at its receiving end.
///
/// The driver passes each authenticated datagram to [`take`](Receiver::take), calls
/// [`answer`](Receiver::answer) if it must be answered, and passes its packets to
/// [`passes`](Receiver::passes) and [`hold`](Receiver::hold). Then it takes the packets that are due from
/// [`poll_deliver`](Receiver::poll_deliver) until there are none, and sends the feedback of
/// [`poll_feedback`](Receiver::poll_feedback) on the fastest link.
#[derive(Debug)]
pub struct Receiver<P> {
    links: ReceiverLinks,
    resequencer: Resequencer<P>,
    /// The newest time of the sender's clock, in microseconds, extended beyond its 32 bits.
    sender_clock: Option<i64>,
    duplicates: DuplicateFilter,
    is_copy: bool,
    /// Send time of the current datagram, and its link.
    sent: i64,
    from: usize,
    /// Arrival of the current packet, in microseconds.
    arrived: i64,
    /// Time limit of a retransmission, in microseconds.
    repair: i64,
}

impl<P> Receiver<P> {
    /// Creates a receiver that has received nothing.
    #[must_use]
    pub fn new(config: ReceiverConfig) -> Receiver<P> {
        Receiver {
            links: ReceiverLinks::new(config.skew),
            resequencer: Resequencer::new(config.most_held.as_u64()),
            sender_clock: None,
            duplicates: DuplicateFilter::default(),
            is_copy: false,
            sent: 0,
            from: 0,
            arrived: 0,
            repair: 0,
        }
    }

    /// Keeps nothing in step with these links, on which the peer sends no packets of flows.
    pub fn leave_out(&mut self, links: u64) {
        self.links.leave_out(links);
    }

    /// Keeps gaps open for retransmissions for this long.
    pub fn expect_repairs(&mut self, within: Time) {
        self.repair = (within.as_nanos() / 1000) as i64;
    }

    /// Whether a datagram would be new: checked before authentication.
    #[must_use]
    pub fn is_new(&self, link: u8, sequence: u64) -> bool {
        let link = self.links.get(usize::from(link));
        link.is_none_or(|link| link.is_new(sequence))
    }

    /// Records an authenticated datagram of `bytes` bytes, IP header included, with the sender's clock;
    /// returns whether it is new.
    pub fn take(&mut self, now: Time, link: u8, sequence: u64, bytes: u32, clock: u32) -> bool {
        let newest = self.sender_clock.unwrap_or(i64::from(clock));
        let sent = newest + i64::from(clock.wrapping_sub(newest as u32) as i32);
        let sent = sent.min(MAX_CLOCK);
        let link = usize::from(link);
        if !self.links.take(now, link, sequence, bytes, sent) {
            return false;
        }
        self.sender_clock = Some(newest.max(sent));
        self.sent = sent;
        self.from = link;
        true
    }

    /// Schedules feedback about the current datagram. Datagrams with a packet or a ping are always answered.
    /// Others are answered only in a busy tunnel ([`Sender::is_busy`](super::Sender::is_busy)), so that
    /// feedback about feedback ends.
    pub fn answer(&mut self, now: Time, link: u8) {
        self.links.answer(now, usize::from(link));
    }

    /// Whether to deliver a packet of the current datagram at once; if not, [`hold`](Receiver::hold) it.
    /// Afterwards, others may be due.
    #[must_use]
    pub fn passes(&mut self, now: Time, sequencing: Sequencing) -> bool {
        self.is_copy = !self.duplicates.take(sequencing);
        if self.is_copy {
            return false;
        }
        if sequencing.lane > 0 {
            let is_passthrough = sequencing.delivery == Delivery::AtOnce;
            self.links.set_passthrough(self.from, is_passthrough);
        }
        let due = self.due(now);
        self.arrived = due.now;
        self.resequencer.passes(sequencing, self.sent, &due)
    }

    /// Whether the last packet given to [`passes`](Receiver::passes) is a duplicate.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// Holds a packet of the current datagram. Returns a packet that cannot be held and must be dropped.
    pub fn hold(&mut self, sequencing: Sequencing, packet: P, bytes: u32) -> Option<P> {
        if self.is_copy {
            return Some(packet);
        }
        let held = HeldPacket {
            packet,
            bytes,
            sent: self.sent,
            arrived: self.arrived,
            in_step: sequencing.delivery == Delivery::InStep,
        };
        self.resequencer.hold(sequencing, held)
    }

    /// Returns the next packet that is due.
    #[must_use]
    pub fn poll_deliver(&mut self, now: Time) -> Option<P> {
        let due = self.due(now);
        self.resequencer.pop(&due)
    }

    /// Returns the next feedback that is due.
    #[must_use]
    pub fn poll_feedback(&mut self, now: Time) -> Option<Feedback> {
        self.links.poll_report(now)
    }

    /// Returns when a packet or feedback is due without a new datagram. It may change after each call of the
    /// others.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let feedback = self.links.report_at();
        let delays = self.links.delays;
        let due = |head: &Head| {
            let when_sent = delays.map_or(i64::MAX, |delays| {
                let in_step = delays.in_step.filter(|_| head.in_step);
                let step = in_step.map_or(i64::MIN, |delay| step_up(head.sent + delay));
                let whole = head.sent + delays.greatest + self.repair;
                step.max(if head.misses { whole } else { i64::MIN })
            });
            Time::from_micros(when_sent.clamp(0, head.until) as u64)
        };
        let packets = self.resequencer.heads().map(due).min();
        packets.into_iter().chain(feedback).min()
    }

    fn due(&self, now: Time) -> DeliveryTimes {
        let now = (now.as_nanos() / 1000) as i64;
        let Some(delays) = self.links.delays else {
            return DeliveryTimes {
                now,
                in_step: i64::MAX,
                arrived: i64::MIN,
            };
        };
        DeliveryTimes {
            now,
            in_step: delays
                .in_step
                .map_or(i64::MAX, |delay| now / STEP * STEP - delay),
            arrived: now - delays.greatest - self.repair,
        }
    }

    /// Returns by how long packets in step exceed the least delay of all links.
    #[must_use]
    pub fn skew(&self, now: Time) -> Time {
        self.links.skew(now)
    }

    /// Returns the packets held, given up, and late.
    #[must_use]
    pub fn counters(&self) -> ResequencerCounters {
        self.resequencer.counters()
    }

    /// Returns the memory of held packets, in bytes.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.resequencer.held()
    }

    /// Returns a link, if anything has arrived on it.
    #[must_use]
    pub fn link(&self, link: usize) -> Option<&LinkReceiver> {
        self.links.get(link)
    }
}

fn step_up(at: i64) -> i64 {
    (at + STEP - 1).div_euclid(STEP) * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_is_due_if_all_links_are_left_out() {
        let mut receiver: Receiver<()> = Receiver::new(ReceiverConfig::default());
        receiver.leave_out(1);
        let now = Time::from_secs(100);
        assert!(receiver.take(now, 0, 0, 67, 0));
        receiver.answer(now, 0);
        let due = receiver.poll_timeout().unwrap();
        assert!(due < now + Time::from_millis(5), "{due:?}");
        assert!(receiver.poll_feedback(due).is_some());
    }
}
