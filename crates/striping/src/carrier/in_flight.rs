//! Frames in flight on a carrier, in the order sent.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use crate::StreamId;
use crate::control::Control;

/// The part of a frame to retransmit if the carrier fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data {
        stream: StreamId,
        start: u64,
        end: u64,
        fin: bool,
    },
    Control(Control),
}

impl Content {
    /// Whether this is, or contains, that part of a stream.
    pub(crate) fn contains(&self, part: &Content) -> bool {
        match (self, part) {
            (
                Content::Data {
                    stream,
                    start,
                    end,
                    fin,
                },
                Content::Data {
                    stream: of,
                    start: from,
                    end: to,
                    fin: ends,
                },
            ) => stream == of && start <= from && to <= end && (*fin || !ends),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) content: Content,
    /// Length in bytes, header included.
    pub(crate) wire_len: u64,
    pub(crate) at: Time,
    /// Another carrier is or will be responsible for the content: it need not be retransmitted if this
    /// carrier fails.
    pub(crate) elsewhere: bool,
    /// When its acknowledgement was expected.
    pub(crate) due: Time,
    /// State of the delivery rate when it was sent.
    pub(crate) delivered: u64,
    pub(crate) delivered_at: Time,
    pub(crate) first_sent_at: Time,
    pub(crate) app_limited: bool,
}

/// A queue: a carrier delivers in order, so an acknowledgement is a count of frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight {
    frames: VecDeque<Sent>,
    pub(crate) bytes: u64,
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
}

impl InFlight {
    pub(crate) fn push(&mut self, sent: Sent) {
        self.bytes += sent.wire_len;
        self.sent += 1;
        self.frames.push_back(sent);
    }

    /// Removes the next frame that is covered by an acknowledgement of `count` frames.
    pub(crate) fn pop_acknowledged(&mut self, count: u64) -> Option<Sent> {
        if self.acknowledged >= count {
            return None;
        }
        let sent = self.frames.pop_front()?;
        self.acknowledged += 1;
        self.bytes -= sent.wire_len;
        Some(sent)
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(crate) fn oldest(&self) -> Option<&Sent> {
        self.frames.front()
    }

    pub(crate) fn first_responsible(&self) -> Option<&Sent> {
        self.frames.iter().find(|sent| !sent.elsewhere)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.frames.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Sent> {
        self.frames.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(stream: u32, wire_len: u64) -> Sent {
        Sent {
            content: Content::Control(Control::Stop {
                stream: StreamId(stream),
                code: 0,
            }),
            wire_len,
            at: Time::ZERO,
            elsewhere: false,
            due: Time::ZERO,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            app_limited: false,
        }
    }

    #[test]
    fn acknowledged_up_to_a_count() {
        let mut in_flight = InFlight::default();
        for stream in 1..=3 {
            in_flight.push(sent(stream, 10 * u64::from(stream)));
        }
        assert_eq!((in_flight.bytes, in_flight.sent), (60, 3));
        let first = in_flight.pop_acknowledged(2).unwrap();
        assert_eq!(first.wire_len, 10);
        assert!(in_flight.pop_acknowledged(2).is_some());
        assert!(in_flight.pop_acknowledged(2).is_none());
        assert!(in_flight.pop_acknowledged(1).is_none());
        assert_eq!((in_flight.bytes, in_flight.iter_mut().count()), (30, 1));
    }
}
