//! Datagrams (RFC 768), without congestion control, ACKs or retransmissions.
//!
//! Each message is sent as a datagram when it is written. A bulk sender keeps its first hop busy without
//! filling its queue. Over a wired link, the next datagram leaves when the one before has been transmitted.
//! In a medium two are in progress, one queued and one in transmission.

use ropewalk_network::Offer;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Flow, Traffic};
use ropewalk_transport::{Counters, Segment, SubflowState};

use super::sending_host::{CLIENT, Delivered, FirstHop, Incoming, Outgoing, SendingHost};
use crate::application::Application;
use crate::event_recorders::EventRecorders;
use crate::sink::Sink;

/// Datagrams that a bulk sender has in a medium at once.
const IN_MEDIUM: u32 = 2;
/// Time after which a bulk sender retries when the queue of its medium is full.
const RETRY_INTERVAL: Time = Time::from_millis(1);

#[derive(Debug)]
pub(crate) struct Datagrams {
    headers: u32,
    /// Payload of a full datagram; with messages, of one message.
    payload: u64,
    pace: Pace,
    unsent: u64,
    closed: bool,
    sent: u64,
    offset: u64,
    /// Accepted datagrams that have neither arrived nor been dropped.
    in_network: u64,
    received: u64,
    delivered: u64,
    overtaken: u64,
    /// Highest end of a datagram that arrived.
    furthest: u64,
    /// Times of the writes of datagrams that arrived, until they are recorded.
    writes: Vec<Time>,
    /// Constant state, since the sender has no window.
    state: SubflowState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Messages,
    At(Time),
    /// When fewer than [`IN_MEDIUM`] are in the medium, and one has left since it was full.
    InMedium {
        count: u32,
        full: bool,
    },
}

impl Datagrams {
    pub(crate) fn new(flow: &Flow) -> Datagrams {
        let (payload, pace) = match flow.traffic {
            // Scenarios have no such flows, since a frame is longer than a datagram.
            Traffic::Video(_) | Traffic::Requested(_) => (flow.payload(), Pace::Messages),
            Traffic::Bulk { .. } => (flow.payload(), Pace::At(Time::ZERO)),
            Traffic::Messages { message, .. } => (message, Pace::Messages),
        };
        Datagrams {
            headers: flow.datagram_headers(),
            payload: payload.as_u64(),
            pace,
            unsent: 0,
            closed: false,
            sent: 0,
            offset: 0,
            in_network: 0,
            received: 0,
            delivered: 0,
            overtaken: 0,
            furthest: 0,
            writes: Vec::new(),
            state: SubflowState::default(),
        }
    }

    pub(crate) fn start(&mut self, _: Time) {}

    pub(crate) fn handle_packet<R: EventRecorders>(
        &mut self,
        _: Time,
        packet: &Incoming<'_>,
        _: &mut R,
    ) -> Delivered {
        self.in_network -= 1;
        Delivered {
            bytes: self.take(packet.segment),
        }
    }

    pub(crate) fn drop_packet(&mut self) {
        self.in_network -= 1;
    }

    /// Counts a datagram that left the medium it had entered first.
    pub(crate) fn on_first_hop_exit(&mut self) {
        if let Pace::InMedium { count, full } = &mut self.pace {
            *count -= 1;
            *full = false;
        }
    }

    /// Returns whether a finite transfer is over: all was sent, and has arrived or was dropped.
    pub(crate) fn is_over(&self) -> bool {
        self.has_sent_everything() && self.in_network == 0
    }

    /// Returns the times of the writes of datagrams that arrived since the last call.
    pub(crate) fn take_writes(&mut self) -> impl Iterator<Item = Time> + '_ {
        self.writes.drain(..)
    }

    /// Returns whether everything was written, and passed on.
    pub(crate) fn has_sent_everything(&self) -> bool {
        self.closed && self.unsent == 0
    }

    /// Handles a datagram that arrived; returns its bytes.
    pub(crate) fn take(&mut self, segment: &Segment) -> u64 {
        let delivered = u64::from(segment.len);
        self.received += 1;
        self.delivered += delivered;
        self.overtaken += u64::from(segment.seq < self.furthest);
        self.furthest = self.furthest.max(segment.end());
        self.writes.push(segment.ts_val);
        delivered
    }

    /// Writes the next datagram to `segment`; returns its length, headers included.
    pub(crate) fn next(&mut self, now: Time, segment: &mut Segment) -> Option<u32> {
        if self.unsent == 0 {
            return None;
        }
        let len = self.unsent.min(self.payload) as u32;
        *segment = Segment {
            seq: self.offset,
            data_seq: self.offset,
            ts_val: now,
            len,
            ..Segment::EMPTY
        };
        self.unsent -= u64::from(len);
        self.offset += u64::from(len);
        self.sent += 1;
        Some(self.headers + len)
    }

    /// Returns the bytes that were passed on.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn key(&self, _: usize) -> u64 {
        0
    }

    pub(crate) fn subflows(&self) -> usize {
        0
    }

    pub(crate) fn state(&self, _: usize) -> &SubflowState {
        &self.state
    }

    pub(crate) fn counters(&self, _: usize) -> Counters {
        Counters::default()
    }

    pub(crate) fn duplicates(&self, _: usize) -> u64 {
        0
    }

    pub(crate) fn delivered_by(&self, _: usize) -> u64 {
        self.delivered
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(crate) fn reorder_buffer(&self) -> u64 {
        0
    }

    pub(crate) fn reorder_buffer_max(&self) -> u64 {
        0
    }

    pub(crate) fn restart_reorder_buffer_max(&mut self) {}

    pub(crate) fn packets(&self) -> (u64, u64) {
        (self.received, self.overtaken)
    }

    pub(crate) fn is_closed(&self) -> bool {
        true
    }

    fn may_send(&self, now: Time) -> bool {
        match self.pace {
            Pace::Messages => true,
            Pace::At(time) => time <= now,
            Pace::InMedium { count, full } => count < IN_MEDIUM && !full,
        }
    }
}

impl Sink for Datagrams {
    fn write(&mut self, most: u64) -> u64 {
        let taken = match self.pace {
            Pace::Messages => most,
            Pace::At(_) | Pace::InMedium { .. } => most.min(self.payload),
        };
        self.unsent += taken;
        taken
    }

    fn close(&mut self) {
        self.closed = true;
    }
}

impl SendingHost for Datagrams {
    const NEEDS_FIRST_HOP: bool = true;

    fn poll_application(&mut self, now: Time, _: usize, application: &mut Application) {
        if self.unsent == 0 && !self.closed && self.may_send(now) {
            application.fill(now, self);
        }
    }

    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        _: usize,
        segment: &mut Segment,
        _: &mut R,
    ) -> Option<Outgoing> {
        let size = self.next(now, segment)?;
        Some(Outgoing {
            end: CLIENT,
            route: 0,
            subflow: 0,
            generation: 0,
            slot: 0,
            size,
        })
    }

    fn on_first_hop(&mut self, now: Time, first_hop: FirstHop) {
        let accepted = first_hop.offer == Offer::Accepted;
        self.in_network += u64::from(accepted);
        let before = match (self.pace, first_hop.next_offer) {
            (Pace::Messages, _) => return,
            (_, Some(time)) => {
                self.pace = Pace::At(time);
                return;
            }
            (Pace::At(_), None) => 0,
            (Pace::InMedium { count, .. }, None) => count,
        };
        let count = before + u32::from(accepted);
        self.pace = match count {
            0 => Pace::At(now + RETRY_INTERVAL),
            _ => Pace::InMedium {
                count,
                full: !accepted,
            },
        };
    }

    fn needs_poll(&self, now: Time) -> bool {
        self.pace != Pace::Messages && !self.closed && self.may_send(now)
    }

    fn poll_timeouts(&mut self, _: usize) -> [Option<Time>; 2] {
        match self.pace {
            Pace::At(time) if !self.closed => [Some(time), None],
            _ => [None, None],
        }
    }
}
