//! Copies of data that would miss their deadline, sent on a second carrier if the scheduler asks for it.
//!
//! A scheduler that weighs deadlines against prices leaves data on a cheap carrier as long as they arrive in
//! time. For such a scheduler a late frame alone (`failover.rs`) does not justify a paid copy. A deadline
//! that is about to be missed does, even before the frame counts as late.

use ropewalk_quantities::Time;
use ropewalk_transport::Deadline;
use ropewalk_transport::scheduling::{CopyDecision, InFlightData, Scheduler};

use super::Association;
use crate::Payload;
use crate::carrier::in_flight::Content;
use crate::carrier_set::CarrierIndex;

/// Interval at which frames in flight are checked against their deadlines.
const CHECK_INTERVAL: Time = Time::from_millis(5);

impl<P: Payload> Association<P> {
    /// Returns the deadline of a frame's data, if the scheduler takes deadlines into account.
    pub(super) fn deadline_of_content(&self, content: &Content) -> Option<Deadline> {
        let Content::Data { stream, start, .. } = *content else {
            return None;
        };
        let send = &self.streams.get(&stream)?.send;
        send.deadline_of(start).filter(|_| self.adapter.copies_late)
    }

    pub(super) fn schedule_deadline_check(&mut self, now: Time, content: &Content) {
        if self.adapter.copies_late
            && self.adapter.check_at.is_none()
            && self.deadline_of_content(content).is_some()
        {
            self.adapter.check_at = Some(now + CHECK_INTERVAL);
            self.due = None;
        }
    }

    /// Queues frames that would miss their deadline for other carriers, if a check is due.
    pub(super) fn copy_late_frames(&mut self, now: Time) {
        if self.adapter.check_at.is_none_or(|at| at > now) {
            return;
        }
        self.carriers.settle();
        self.fill_rows(now);
        let mut next = None;
        for on in self.carriers.indices() {
            while let Some((to, due)) = self.first_late(now, on, &mut next) {
                self.requeue_where(on, |sent| sent.content == due);
                let stream = match due {
                    Content::Data { stream, .. } => stream,
                    Content::Control(_) => continue,
                };
                // The data are now at the front of their stream's queue.
                self.adapter.chosen = Some((self.carriers[to].id, stream));
                self.carriers.wake(to);
            }
        }
        self.adapter.check_at = next.map(|next: Time| next.max(now + Time::from_nanos(1)));
        self.due = None;
    }

    /// Returns the first frame of a carrier to copy, and the carrier for the copy. Lowers `next`, the time of
    /// the next check, where needed.
    fn first_late(
        &mut self,
        now: Time,
        on: CarrierIndex,
        next: &mut Option<Time>,
    ) -> Option<(CarrierIndex, Content)> {
        let mut ahead = 0;
        let mut check_at = |time: Time| *next = Some(next.map_or(time, |next| next.min(time)));
        let scheduler = self.adapter.scheduler.as_mut()?;
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
                on: on.0,
            };
            match scheduler.decide_copy(&flying, &self.adapter.rows) {
                CopyDecision::To(to) => return Some((CarrierIndex(to), sent.content)),
                CopyDecision::NotYet => check_at(now + CHECK_INTERVAL),
                CopyDecision::NotBefore(time) => {
                    check_at(time);
                    break;
                }
                CopyDecision::Never => {
                    self.adapter.copies_late = false;
                    break;
                }
            }
        }
        None
    }
}
