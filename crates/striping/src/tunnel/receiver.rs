//! The receiving end of a tunnel: combines what the links deliver.

mod links;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_wire::gateway::tunnel::{Delivery, Feedback, Sequencing};

use super::duplicate_filter::DuplicateFilter;
use super::inbound::Inbound;
use super::resequencer::{Due, Head, Held, Resequencer, ResequencerCounters};
use links::Links;

/// Least interval between deliveries of packets in step, in microseconds: batches are larger for the receiver
/// of a stream, and its sender sees no train of acknowledgements (HyStart).
const STEP: i64 = 3_000;
/// Greatest time of the sender's clock, in microseconds: sums of a few times do not overflow, whatever it claims.
const MAX_CLOCK: i64 = i64::MAX / 8;

/// Configuration of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Packets are not kept in step with a link whose least delay exceeds the least of all by more than this.
    pub skew: Time,
    /// Most memory that packets may take while they wait to be put in order. When it is full, those that have
    /// waited longest are delivered.
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
/// [`answer`](Receiver::answer) if it is to be answered, and passes its packets to
/// [`passes`](Receiver::passes) and [`hold`](Receiver::hold). Then it takes the packets that are due from
/// [`poll_deliver`](Receiver::poll_deliver) until there are none, and sends what
/// [`poll_feedback`](Receiver::poll_feedback) returns on the fastest link.
#[derive(Debug)]
pub struct Receiver<P> {
    links: Links,
    resequencer: Resequencer<P>,
    /// The newest time of the sender's clock, in microseconds, extended beyond its 32 bits.
    sender_clock: Option<i64>,
    duplicates: DuplicateFilter,
    /// The current packet is a copy of one that has arrived before.
    is_copy: bool,
    /// When the current datagram was sent, and its link.
    sent: i64,
    from: usize,
    /// When the current packet arrived, in microseconds.
    arrived: i64,
    /// How long a lost packet may take to arrive again.
    repair: i64,
}

impl<P> Receiver<P> {
    /// A receiver that has received nothing.
    #[must_use]
    pub fn new(config: ReceiverConfig) -> Receiver<P> {
        Receiver {
            links: Links::new(config.skew),
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

    /// The peer sends no packets of flows on these links: nothing is kept in step with them.
    pub fn leave_out(&mut self, links: u64) {
        self.links.leave_out(links);
    }

    /// Retransmissions may arrive within this time: gaps are kept open for so long.
    pub fn expect_repairs(&mut self, within: Time) {
        self.repair = (within.as_nanos() / 1000) as i64;
    }

    /// Whether a datagram would be new: checked before it is authenticated.
    #[must_use]
    pub fn is_new(&self, link: u8, sequence: u64) -> bool {
        let link = self.links.get(usize::from(link));
        link.is_none_or(|link| link.is_new(sequence))
    }

    /// An authenticated datagram of `bytes` bytes, IP header included, with the sender's clock; returns
    /// whether it is new.
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

    /// The datagram just taken is to be answered with feedback. Those with a packet or a ping always are;
    /// others only while much passes through the tunnel ([`Sender::is_busy`](super::Sender::is_busy)), so
    /// that feedback about feedback ends.
    pub fn answer(&mut self, now: Time, link: u8) {
        self.links.answer(now, usize::from(link));
    }

    /// Whether a packet of the current datagram is to be delivered at once; if not, [`hold`](Receiver::hold)
    /// it. Afterwards, others may be due.
    #[must_use]
    pub fn passes(&mut self, now: Time, sequencing: Sequencing) -> bool {
        self.is_copy = !self.duplicates.take(sequencing);
        if self.is_copy {
            return false;
        }
        if sequencing.lane > 0 {
            let is_wire = sequencing.delivery == Delivery::AtOnce;
            self.links.set_wire(self.from, is_wire);
        }
        let due = self.due(now);
        self.arrived = due.now;
        self.resequencer.passes(sequencing, self.sent, &due)
    }

    /// Whether the packet that was last asked about is a copy of one that has arrived before.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// Holds a packet of the current datagram; one that cannot be held is returned, and is to be dropped.
    pub fn hold(&mut self, sequencing: Sequencing, packet: P, bytes: u32) -> Option<P> {
        if self.is_copy {
            return Some(packet);
        }
        let held = Held {
            packet,
            bytes,
            sent: self.sent,
            arrived: self.arrived,
            in_step: sequencing.delivery == Delivery::InStep,
        };
        self.resequencer.hold(sequencing, held)
    }

    /// The next packet that is due.
    #[must_use]
    pub fn poll_deliver(&mut self, now: Time) -> Option<P> {
        let due = self.due(now);
        self.resequencer.pop(&due)
    }

    /// The next feedback that is due.
    #[must_use]
    pub fn poll_feedback(&mut self, now: Time) -> Option<Feedback> {
        self.links.poll_report(now)
    }

    /// When a packet or feedback is due without anything having arrived. It may change after each call of the
    /// others.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let feedback = self.links.report_at();
        let delays = self.links.delays();
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

    fn due(&self, now: Time) -> Due {
        let now = (now.as_nanos() / 1000) as i64;
        let Some(delays) = self.links.delays() else {
            return Due {
                now,
                in_step: i64::MAX,
                arrived: i64::MIN,
            };
        };
        Due {
            now,
            in_step: delays
                .in_step
                .map_or(i64::MAX, |delay| now / STEP * STEP - delay),
            arrived: now - delays.greatest - self.repair,
        }
    }

    /// How long packets in step take beyond the least delay of all links.
    #[must_use]
    pub fn skew(&self, now: Time) -> Time {
        self.links.skew(now)
    }

    /// Packets held, given up, and late.
    #[must_use]
    pub fn counters(&self) -> ResequencerCounters {
        self.resequencer.counters()
    }

    /// Memory of the packets that wait to be put in order, in bytes.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.resequencer.held()
    }

    /// A link, if anything has arrived on it.
    #[must_use]
    pub fn link(&self, link: usize) -> Option<&Inbound> {
        self.links.get(link)
    }
}

/// The next time at which packets in step are delivered.
fn step_up(at: i64) -> i64 {
    (at + STEP - 1).div_euclid(STEP) * STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_about_links_that_are_all_left_out_is_due_nevertheless() {
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
