//! Copies of data that would miss their deadline, sent on a second carrier if the scheduler asks for it.
//!
//! A scheduler that weighs deadlines against prices leaves data on a cheap carrier as long as they arrive in
//! time. For such a scheduler a late frame alone (`failure.rs`) does not justify a paid copy. A deadline that
//! is about to be missed does, even before the frame counts as late.

use ropewalk_quantities::Time;
use ropewalk_transport::Deadline;
use ropewalk_transport::scheduling::{CopyDecision, InFlightData, Scheduler};

use super::Association;
use crate::Payload;
use crate::carrier::in_flight::Content;

/// Interval at which frames in flight are checked against their deadlines.
const BETWEEN_LOOKS: Time = Time::from_millis(5);

impl<P: Payload> Association<P> {
    /// Returns the deadline of a frame's data, if the scheduler takes deadlines into account.
    pub(super) fn judged_by(&self, content: &Content) -> Option<Deadline> {
        let Content::Data { stream, start, .. } = *content else {
            return None;
        };
        let send = &self.streams.get(&stream)?.send;
        send.deadline_of(start).filter(|_| self.table.rescues)
    }

    pub(super) fn look_after(&mut self, now: Time, content: &Content) {
        if self.table.rescues && self.table.look_at.is_none() && self.judged_by(content).is_some() {
            self.table.look_at = Some(now + BETWEEN_LOOKS);
            self.due = None;
        }
    }

    /// Queues frames that would miss their deadline for other carriers, if a check is due.
    pub(super) fn rescue_late(&mut self, now: Time) {
        if self.table.look_at.is_none_or(|at| at > now) {
            return;
        }
        self.carriers.settle();
        self.fill_table(now);
        let mut next = None;
        for on in 0..self.carriers.len() {
            while let Some((to, due)) = self.first_late(now, on, &mut next) {
                self.give_up_one(on, due);
                let stream = match due {
                    Content::Data { stream, .. } => stream,
                    Content::Control(_) => continue,
                };
                // The data are now at the front of their stream's queue.
                self.table.chosen = Some((self.carriers[to].id, stream));
                self.carriers.wake(to);
            }
        }
        self.table.look_at = next.map(|next: Time| next.max(now + Time::from_nanos(1)));
        self.due = None;
    }

    /// Returns the first frame of a carrier to copy, and the carrier for the copy. Lowers `next`, the time of
    /// the next check, where needed.
    fn first_late(
        &mut self,
        now: Time,
        on: usize,
        next: &mut Option<Time>,
    ) -> Option<(usize, Content)> {
        let mut ahead = 0;
        let mut look_at = |time: Time| *next = Some(next.map_or(time, |next| next.min(time)));
        let scheduler = self.table.scheduler.as_mut()?;
        for sent in self.carriers[on].in_flight.iter() {
            ahead += sent.wire_len;
            let Content::Data { stream, start, .. } = sent.content else {
                continue;
            };
            let send = self.streams.get(&stream).map(|stream| &stream.send);
            let Some(deadline) = send.and_then(|send| send.deadline_of(start)) else {
                continue;
            };
            if sent.elsewhere {
                continue;
            }
            let flying = InFlightData {
                now,
                deadline,
                sent: sent.at,
                ahead,
                on,
            };
            match scheduler.decide_copy(&flying, &self.table.rows) {
                CopyDecision::To(to) => return Some((to, sent.content)),
                CopyDecision::NotYet => look_at(now + BETWEEN_LOOKS),
                CopyDecision::NotBefore(time) => {
                    look_at(time);
                    break;
                }
                CopyDecision::Never => {
                    self.table.rescues = false;
                    break;
                }
            }
        }
        None
    }
}
