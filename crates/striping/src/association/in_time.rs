//! What a carrier holds and would deliver too late goes over another as well, where the scheduler says so.
//!
//! A scheduler that goes by deadlines and prices leaves data to a cheap carrier as long as they come in time
//! there. So that a frame is missed on its carrier (`failure.rs`) is no reason to pay for it again: its deadline is,
//! and it may be one before the frame is missed.

use ropewalk_quantities::Time;
use ropewalk_transport::Deadline;
use ropewalk_transport::scheduling::{Flying, Rescue, Scheduler};

use super::Association;
use crate::Payload;
use crate::carrier::in_flight::Content;

/// Between two looks for what will miss its deadline.
const BETWEEN_LOOKS: Time = Time::from_millis(5);

impl<P: Payload> Association<P> {
    /// By when what a frame carries is to be delivered, where the scheduler judges by that.
    pub(super) fn judged_by(&self, content: &Content) -> Option<Deadline> {
        let Content::Data { stream, start, .. } = *content else {
            return None;
        };
        let send = &self.streams.get(&stream)?.send;
        send.deadline_of(start).filter(|_| self.rescues)
    }

    /// A frame went out: if it has a deadline, it is looked after from now on.
    pub(super) fn look_after(&mut self, now: Time, content: &Content) {
        if self.rescues && self.look_at.is_none() && self.judged_by(content).is_some() {
            self.look_at = Some(now + BETWEEN_LOOKS);
            self.due = None;
        }
    }

    /// Gives up to others what would come too late, if the time to look has come.
    pub(super) fn rescue_late(&mut self, now: Time) {
        if self.look_at.is_none_or(|at| at > now) {
            return;
        }
        self.carriers.settle();
        self.table.clear();
        for number in 0..self.carriers.len() {
            let row = self.row(now, number);
            self.table.push(row);
        }
        let mut next = None;
        for on in 0..self.carriers.len() {
            while let Some((to, due)) = self.first_late(now, on, &mut next) {
                self.give_up_one(on, due);
                let stream = match due {
                    Content::Data { stream, .. } => stream,
                    Content::Control(_) => continue,
                };
                // It is the first of its stream that waits.
                self.chosen = Some((self.carriers[to].id, stream));
                self.carriers.wake(to);
            }
        }
        self.look_at = next.map(|next: Time| next.max(now + Time::from_nanos(1)));
        self.due = None;
    }

    /// The first frame of a carrier that another is to carry, too, and which; when to look again, if that is sooner
    /// than `next`.
    fn first_late(
        &mut self,
        now: Time,
        on: usize,
        next: &mut Option<Time>,
    ) -> Option<(usize, Content)> {
        let mut ahead = 0;
        let mut look_at = |time: Time| *next = Some(next.map_or(time, |next| next.min(time)));
        let scheduler = self.scheduler.as_mut()?;
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
            let flying = Flying {
                now,
                deadline,
                sent: sent.at,
                ahead,
                on,
            };
            match scheduler.rescue(&flying, &self.table) {
                Rescue::On(to) => return Some((to, sent.content)),
                Rescue::Left => look_at(now + BETWEEN_LOOKS),
                Rescue::NotBefore(time) => {
                    look_at(time);
                    break;
                }
                Rescue::Never => {
                    self.rescues = false;
                    break;
                }
            }
        }
        None
    }
}
