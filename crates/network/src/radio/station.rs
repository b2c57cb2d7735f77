//! State of a radio: queue, activity, and use of time.

use std::collections::VecDeque;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;

use super::airtime::Timing;
use super::config::{QueueOrder, RadioConfig};
use super::contention::Contention;
use super::reception::{FrameShape, Receiver, Reception};
use super::round_robin::RoundRobin;
use super::standard::DataRate;
use super::stats::{Airtime, RadioStats};
use crate::medium::MediumPacket;

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Data frame with a packet.
    Data,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
}

/// Frame on the air, or to be transmitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) to: u32,
    pub(super) duration: Time,
    pub(super) retry: bool,
    /// Whether its receiver has missed it because of other frames, or its own.
    pub(super) missed: bool,
    pub(super) shape: FrameShape,
}

impl Frame {
    pub(super) fn ends_after(&self, other: &Frame) -> bool {
        self.shape.end > other.shape.end
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RadioState {
    Contending,
    Sending,
    /// Transmitting a frame after SIFS, in any state of the medium.
    Responding,
    /// Waiting for a response of this kind.
    Awaiting(FrameKind),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedPacket<P> {
    pub(super) carried: MediumPacket<P>,
    /// Index of its hop on the channel; and of its receiver.
    pub(super) hop: u32,
    pub(super) to: u32,
    pub(super) since: Time,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeadAttempts {
    /// Short and long retry count: failed attempts of its RTS (or of itself without one), and of itself
    /// after an RTS.
    pub(super) short: u8,
    pub(super) long: u8,
    /// Whether a data frame was transmitted before.
    pub(super) sent: bool,
    /// Whether the receiver has it, although the ACK was lost.
    pub(super) delivered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUse {
    Data,
    Retry,
    Ack,
    Control,
    Defer,
    Idle,
}

#[derive(Clone, Debug)]
pub(super) struct Station<P> {
    pub(super) contention: Contention,
    pub(super) state: RadioState,
    pub(super) reception: Option<Reception>,
    /// Deadline for the start of a response.
    pub(super) deadline: Time,
    /// Whether a response that started in time is being received.
    pub(super) response_started: bool,
    pub(super) response: Option<Frame>,
    pub(super) head: HeadAttempts,
    pub(super) queue: VecDeque<QueuedPacket<P>>,
    /// Round robin over neighbours, if used.
    pub(super) round_robin: Option<RoundRobin>,
    pub(super) receiver: Receiver,
    pub(super) timing: Timing,
    pub(super) basic_rates: Box<[DataRate]>,
    pub(super) tries: u8,
    pub(super) long_tries: u8,
    pub(super) rts: u32,
    pub(super) queue_packets: usize,
    pub(super) lifetime: Time,
    /// Whether a frame with missed preamble or header is noise, rather than an error that causes EIFS.
    pub(super) missed_is_noise: bool,
    pub(super) errors: Pcg64Mcg,
    /// Sequence number of the last data frame, 12 bits.
    pub(super) sequence: u16,
    pub(super) stats: RadioStats,
    account: Account,
}

/// Time per category, and queue length over time.
#[derive(Clone, Copy, Debug)]
struct Account {
    spent: [u64; 6],
    using: TimeUse,
    since: Time,
    queue_since: Time,
}

impl<P> Station<P> {
    pub(super) fn new(
        config: &RadioConfig,
        contention: Contention,
        receiver: Receiver,
        errors: Pcg64Mcg,
    ) -> Station<P> {
        Station {
            contention,
            state: RadioState::Contending,
            reception: None,
            deadline: Time::ZERO,
            response_started: false,
            response: None,
            head: HeadAttempts::default(),
            queue: VecDeque::new(),
            round_robin: match config.queue_order {
                QueueOrder::Fifo => None,
                QueueOrder::RoundRobin => Some(RoundRobin::default()),
            },
            receiver,
            timing: Timing::new(config),
            basic_rates: config.basic_rates.clone().into(),
            tries: config.tries,
            long_tries: config.long_tries,
            rts: config.rts.unwrap_or(u32::MAX),
            queue_packets: config.queue_packets as usize,
            lifetime: config.lifetime.unwrap_or(Time::MAX),
            missed_is_noise: config.preamble_detection.is_some(),
            errors,
            sequence: 0,
            stats: RadioStats::default(),
            account: Account {
                spent: [0; 6],
                using: TimeUse::Idle,
                since: Time::ZERO,
                queue_since: Time::ZERO,
            },
        }
    }

    /// Sets the category of time from now on.
    #[inline]
    pub(super) fn set_time_use(&mut self, now: Time, using: TimeUse) {
        let account = &mut self.account;
        account.spent[account.using as usize] += (now - account.since).as_nanos();
        account.since = now;
        account.using = using;
    }

    /// Sets the category of time while not transmitting: deferring if the queue has packets, otherwise
    /// idle.
    #[inline]
    pub(super) fn set_not_transmitting(&mut self, now: Time) {
        let using = if self.queue.is_empty() {
            TimeUse::Idle
        } else {
            TimeUse::Defer
        };
        self.set_time_use(now, using);
    }

    #[inline]
    pub(super) fn enqueue(&mut self, now: Time, packet: QueuedPacket<P>) {
        self.queue_changes(now);
        if let Some(round_robin) = &mut self.round_robin {
            round_robin.enqueue(packet.to);
        }
        self.queue.push_back(packet);
        self.stats.queue_max = self.stats.queue_max.max(self.queue.len() as u32);
    }

    /// Removes the packet at the head of the queue.
    #[inline]
    pub(super) fn dequeue_head(&mut self, now: Time) {
        self.queue_changes(now);
        let left = self.queue.pop_front();
        self.head = HeadAttempts::default();
        if let (Some(round_robin), Some(left)) = (&mut self.round_robin, left) {
            round_robin.dequeue(left.to);
            if let Some(next) = round_robin.next() {
                let place = self.queue.iter().position(|waiting| waiting.to == next);
                if let Some(first) = place.and_then(|place| self.queue.remove(place)) {
                    self.queue.push_front(first);
                }
            }
        }
    }

    /// Integrates the queue length; called before the queue changes.
    #[inline]
    fn queue_changes(&mut self, now: Time) {
        let span = (now - self.account.queue_since).as_nanos();
        self.stats.queue_packet_ns += u128::from(span) * self.queue.len() as u128;
        self.account.queue_since = now;
    }

    pub(super) fn stats(&self, now: Time) -> RadioStats {
        let mut spent = self.account.spent;
        spent[self.account.using as usize] += (now - self.account.since).as_nanos();
        let of = |using: TimeUse| Time::from_nanos(spent[using as usize]);
        let queued =
            u128::from((now - self.account.queue_since).as_nanos()) * self.queue.len() as u128;
        RadioStats {
            airtime: Airtime {
                data: of(TimeUse::Data),
                retries: of(TimeUse::Retry),
                ack: of(TimeUse::Ack),
                control: of(TimeUse::Control),
                defer: of(TimeUse::Defer),
                idle: of(TimeUse::Idle),
            },
            queue_packet_ns: self.stats.queue_packet_ns + queued,
            ..self.stats
        }
    }
}
