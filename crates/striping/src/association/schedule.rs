//! Choice of the part of a stream that a carrier sends.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::scheduling::earliest_arrival::{gap_below, share};
use ropewalk_transport::scheduling::overflow::OverflowConfig;

use super::Association;
use crate::carrier::Carrier;
use crate::carrier_set::CarrierIndex;
use crate::stream::send::{Part, SendBuffer};
use crate::{Payload, StreamId};

/// Number of streams searched for a part ahead of a gap. With more streams each one's share of the gap is
/// small.
pub(super) const MAX_SEARCHED: usize = 64;

/// Least length in bytes of a part sent ahead of a gap. A shorter frame would be little more than its header.
const MIN_AHEAD: u64 = 1400;

pub(super) fn least_ahead(payload: u64) -> u64 {
    (payload / 2).min(MIN_AHEAD)
}

/// A part that another carrier has sent and this one sends as a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedCopy {
    stream: StreamId,
    start: u64,
    end: u64,
}

pub(super) struct ScheduledPart {
    pub(super) stream: StreamId,
    pub(super) part: Part,
    pub(super) copy: bool,
}

impl<P: Payload> Association<P> {
    pub(super) fn may_send(&self, at: CarrierIndex) -> bool {
        self.carriers.may_send(at)
    }

    pub(super) fn schedule(&mut self, now: Time, at: CarrierIndex) -> Option<ScheduledPart> {
        self.carriers.settle();
        match self.config.scheduling {
            SchedulerConfig::EarliestArrival(_) => {
                self.by_earliest_arrival(at, |of, enough| of.carriers.gap_below(at, enough))
            }
            SchedulerConfig::Overflow(overflow) => {
                let waiting = self.waiting();
                if !self.is_needed(overflow, at, waiting) {
                    return None;
                }
                self.by_earliest_arrival(at, |of, enough| {
                    let arrives_in = of.carriers.arrival(at).arrives_in;
                    let is_used = |other: &CarrierIndex| {
                        *other != at
                            && of.may_send(*other)
                            && of.is_needed(overflow, *other, waiting)
                    };
                    let others = of.carriers.indices().filter(is_used);
                    let arrivals = others.map(|other| of.carriers.arrival(other));
                    gap_below(arrives_in, arrivals, enough)
                })
            }
            SchedulerConfig::Redundant(_) => self.next_copy(at).or_else(|| self.head(at)),
            _ => self.by_subflow_scheduler(now, at),
        }
    }

    pub(super) fn is_redundant(&self) -> bool {
        matches!(self.config.scheduling, SchedulerConfig::Redundant(_))
    }

    fn head(&mut self, at: CarrierIndex) -> Option<ScheduledPart> {
        let id = self.drr.next(&mut self.streams)?;
        self.head_of(id, at)
    }

    pub(super) fn head_of(&mut self, id: StreamId, at: CarrierIndex) -> Option<ScheduledPart> {
        let most = self.carriers[at].payload_len() as u64;
        let send = &mut self.streams.get_mut(&id)?.send;
        let part = if send.must_send_bare_fin() {
            send.bare_fin()
        } else {
            send.part(0, most)?
        };
        Some(ScheduledPart {
            stream: id,
            part,
            copy: false,
        })
    }

    /// Returns the part that this carrier would deliver in order. `gap_below` gives the bytes that the other
    /// usable carriers deliver before it, if less than its argument.
    fn by_earliest_arrival(
        &mut self,
        at: CarrierIndex,
        gap_below: impl FnOnce(&mut Self, u64) -> Option<u64>,
    ) -> Option<ScheduledPart> {
        if self.drr.len() == 0 {
            return None;
        }
        let len = self.carriers[at].payload_len() as u64;
        // Without data behind the gap its exact size does not matter.
        let beyond = self.last_start(least_ahead(len));
        let enough = beyond.map_or(u64::MAX, |beyond| (beyond + 1).max(len / 2));
        let gap = gap_below(self, enough)?;
        if gap < len / 2 {
            return self.head(at);
        }
        self.part_behind(gap, len)
    }

    /// Returns the first part, of at most `len` bytes, behind a gap of `gap` bytes.
    pub(super) fn part_behind(&mut self, gap: u64, len: u64) -> Option<ScheduledPart> {
        let least = least_ahead(len);
        let pending = self
            .drr
            .iter()
            .take(MAX_SEARCHED)
            .filter_map(|id| self.streams.get(&id))
            .map(|stream| stream.send.pending());
        let skip = share(gap, self.drr.len(), pending);
        self.drr.iter().take(MAX_SEARCHED).find_map(|id| {
            let send = &mut self.streams.get_mut(&id)?.send;
            let part = send.part_ahead(skip, len, least)?;
            Some(ScheduledPart {
                stream: id,
                part,
                copy: false,
            })
        })
    }

    /// If only one stream has something to send, returns the number of queued bytes behind which no part of
    /// at least `least` bytes begins. The whole gap is that stream's share.
    pub(super) fn last_start(&mut self, least: u64) -> Option<u64> {
        Some(self.only_waiting()?.last_start(least))
    }

    pub(super) fn only_waiting(&mut self) -> Option<&mut SendBuffer<P>> {
        let stream = self.streams.get_mut(&self.drr.only()?)?;
        Some(&mut stream.send)
    }

    pub(super) fn waiting(&self) -> u64 {
        let streams = self.drr.iter().filter_map(|id| self.streams.get(&id));
        streams.map(|stream| stream.send.pending()).sum()
    }

    fn is_needed(&self, overflow: OverflowConfig, at: CarrierIndex, waiting: u64) -> bool {
        let rank = |carrier: &Carrier| (carrier.config.priority, carrier.config.terms.cost);
        let own = rank(&self.carriers[at]);
        let cheaper = self
            .carriers
            .indices()
            .filter(|other| rank(&self.carriers[*other]) < own && self.may_send(*other));
        let rates = cheaper.map(|other| self.carriers.arrival(other).rate);
        overflow.is_needed(waiting, rates)
    }

    fn next_copy(&mut self, at: CarrierIndex) -> Option<ScheduledPart> {
        let id = self.carriers[at].id;
        let most = self.carriers[at].payload_len() as u64;
        let copies = self.copies.of(id)?;
        while let Some(copied) = copies.front_mut() {
            let open = self.streams.get(&copied.stream);
            let Some(stream) = open.filter(|stream| !stream.send_ended) else {
                copies.pop_front();
                continue;
            };
            copied.start = copied.start.max(stream.send.base());
            if copied.start >= copied.end {
                copies.pop_front();
                continue;
            }
            return Some(ScheduledPart {
                stream: copied.stream,
                part: Part {
                    start: copied.start,
                    end: copied.end.min(copied.start + most),
                },
                copy: true,
            });
        }
        None
    }

    /// In the redundant mode, queues a sent part as a copy for the other carriers.
    pub(super) fn after_sent(
        &mut self,
        at: CarrierIndex,
        stream: StreamId,
        part: Part,
        copy: bool,
    ) {
        let id = self.carriers[at].id;
        if copy {
            if let Some(copied) = self.copies.of(id).and_then(VecDeque::front_mut) {
                copied.start = part.end;
            }
            return;
        }
        self.adapter.clear_choice_of(id);
        if !self.is_redundant() {
            return;
        }
        let (start, end) = (part.start, part.end);
        let streams = &self.streams;
        let is_old = |copied: &QueuedCopy| {
            streams
                .get(&copied.stream)
                .is_none_or(|stream| stream.send_ended || copied.end <= stream.send.base())
        };
        for other in self.carriers.indices().filter(|other| *other != at) {
            let id = self.carriers[other].id;
            let copied = QueuedCopy { stream, start, end };
            self.copies.add(id, copied, is_old);
            self.carriers.wake(other);
        }
    }
}
