//! Application data of a connection: bulk data, messages at their times, or responses to requests.

use std::collections::VecDeque;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::Traffic;
use ropewalk_transport::Deadline;

use crate::message_schedule::MessageSchedule;
use crate::request_response::{ArrivedResponse, RequestResponse};
use crate::sink::Sink;

#[derive(Debug)]
pub(crate) struct Application {
    source: Source,
    /// Bytes written by the application and not yet taken by the send buffer.
    backlog: u64,
    /// End of the data written so far.
    written: u64,
    /// Writes not yet delivered (end offset and time), if delays are recorded.
    log: VecDeque<(u64, Time)>,
    /// End of the last message removed from the log.
    taken: u64,
    /// Time after its write from which a message counts as late.
    deadline: Option<Time>,
    /// Bytes of each message in the backlog, with its deadline, if messages have deadlines.
    due: VecDeque<(u64, Deadline)>,
    measured: bool,
    pub(crate) first_write: Option<Time>,
    closed: bool,
}

#[derive(Debug)]
enum Source {
    Bulk { left: Option<u64> },
    Messages(Box<MessageSchedule>),
    Requested(Box<RequestResponse>),
}

impl Application {
    /// Creates an application that starts at `start`; measurements begin at `warmup`, and the run ends at
    /// `end`.
    pub(crate) fn new(
        traffic: &Traffic,
        [start, warmup, end]: [Time; 3],
        random: Pcg64Mcg,
        measured: bool,
    ) -> Application {
        let source = match *traffic {
            Traffic::Bulk { size } => Source::Bulk {
                left: size.map(|bytes| bytes.as_u64()),
            },
            Traffic::Messages { .. } | Traffic::Video(_) => {
                let schedule = MessageSchedule::new(traffic, start, end, random);
                Source::Messages(Box::new(schedule.expect("messages are due at some time")))
            }
            Traffic::Requested(ref requested) => {
                let times = [start, warmup, end];
                Source::Requested(Box::new(RequestResponse::new(
                    requested, times, random, measured,
                )))
            }
        };
        Application {
            source,
            backlog: 0,
            written: 0,
            log: VecDeque::new(),
            taken: 0,
            deadline: traffic.deadline(),
            due: VecDeque::new(),
            measured,
            first_write: None,
            closed: false,
        }
    }

    /// Returns whether it writes messages, whose delays are measured. The delay of a bulk transfer is
    /// measured per full segment.
    #[inline]
    pub(crate) fn has_messages(&self) -> bool {
        !matches!(self.source, Source::Bulk { .. })
    }

    #[inline]
    pub(crate) fn requests_mut(&mut self) -> Option<&mut RequestResponse> {
        match &mut self.source {
            Source::Requested(requests) => Some(requests),
            Source::Bulk { .. } | Source::Messages(_) => None,
        }
    }

    pub(crate) fn requests(&self) -> Option<&RequestResponse> {
        match &self.source {
            Source::Requested(requests) => Some(requests),
            Source::Bulk { .. } | Source::Messages(_) => None,
        }
    }

    #[inline]
    pub(crate) fn send_requests(&mut self, sink: &mut impl Sink) {
        if let Source::Requested(requests) = &mut self.source
            && requests.unsent() > 0
        {
            let taken = sink.write(requests.unsent());
            requests.sent(taken);
        }
    }

    /// Removes and returns the oldest message (size and time of its write) if it ends at or before `end`.
    #[inline]
    pub(crate) fn take_message(&mut self, end: u64) -> Option<(u64, Time)> {
        if let Source::Requested(requests) = &mut self.source {
            let ArrivedResponse { size, written } = requests.take_arrived()?;
            return Some((size, written));
        }
        let &(message_end, written) = self.log.front().filter(|(of, _)| *of <= end)?;
        self.log.pop_front();
        let size = message_end - std::mem::replace(&mut self.taken, message_end);
        Some((size, written))
    }

    /// Returns the messages written and not removed (size and time), oldest first.
    pub(crate) fn undelivered(&self) -> impl Iterator<Item = (u64, Time)> + '_ {
        let mut start = self.taken;
        self.log
            .iter()
            .map(move |&(end, written)| (end - std::mem::replace(&mut start, end), written))
    }

    pub(crate) fn next(&self) -> Option<Time> {
        match &self.source {
            Source::Bulk { .. } => None,
            Source::Messages(schedule) => Some(schedule.next()),
            Source::Requested(requests) => requests.next(),
        }
    }

    pub(crate) fn is_endless(&self) -> bool {
        matches!(self.source, Source::Bulk { left: None })
    }

    /// Returns the total bytes that it writes, once known.
    pub(crate) fn total(&self) -> Option<u64> {
        self.closed.then_some(self.written)
    }

    /// Writes the messages that are due, or makes the requests that are due; called at its time, with an
    /// open connection.
    pub(crate) fn produce(&mut self, now: Time) {
        if let Source::Requested(requests) = &mut self.source {
            requests.make_requests(now);
            self.first_write.get_or_insert(now);
        }
        while let Source::Messages(schedule) = &mut self.source
            && schedule.next() <= now
        {
            self.backlog += schedule.message();
            self.written += schedule.message();
            if self.measured {
                self.log.push_back((self.written, schedule.next()));
            }
            if let Some(deadline) = self.deadline {
                let due = Deadline {
                    at: schedule.next() + deadline,
                    span: deadline,
                };
                self.due.push_back((schedule.message(), due));
            }
            self.first_write.get_or_insert(schedule.next());
            schedule.advance();
        }
    }

    #[inline]
    pub(crate) fn fill(&mut self, now: Time, sink: &mut impl Sink) {
        let Source::Bulk { left } = &mut self.source else {
            return self.fill_with_messages(sink);
        };
        if self.closed {
            return;
        }
        let taken = sink.write(left.unwrap_or(u64::MAX));
        if taken > 0 {
            self.written += taken;
            if self.measured {
                self.log.push_back((self.written, now));
            }
            self.first_write.get_or_insert(now);
        }
        if let Some(left) = left {
            *left -= taken;
            if *left == 0 {
                self.closed = true;
                sink.close();
            }
        }
    }

    #[inline(never)]
    fn fill_with_messages(&mut self, sink: &mut impl Sink) {
        match &mut self.source {
            Source::Bulk { .. } => {}
            Source::Requested(requests) => requests.write_responses(sink),
            Source::Messages(_) if self.deadline.is_some() => {
                while let Some((bytes, due)) = self.due.front_mut() {
                    let taken = sink.write_by(*bytes, *due);
                    self.backlog -= taken;
                    *bytes -= taken;
                    if *bytes > 0 {
                        break;
                    }
                    self.due.pop_front();
                }
            }
            Source::Messages(_) => {
                if self.backlog > 0 {
                    self.backlog -= sink.write(self.backlog);
                }
            }
        }
    }

    /// Returns when the byte before `end` was written. Later calls must not ask for earlier bytes.
    #[inline]
    pub(crate) fn written_at(&mut self, end: u64) -> Option<Time> {
        while let Some(&(write_end, time)) = self.log.front() {
            if write_end >= end {
                return Some(time);
            }
            self.log.pop_front();
        }
        None
    }

    /// Releases the memory of the log, since all data was delivered.
    pub(crate) fn release_memory(&mut self) {
        self.log = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;

    use super::*;

    fn bulk() -> Application {
        let times = [0, 0, 9].map(Time::from_secs);
        Application::new(&Traffic::Bulk { size: None }, times, stream(1, "x"), true)
    }

    #[test]
    fn undelivered_messages_follow_the_last_taken_one() {
        let mut application = bulk();
        let at = [1, 2, 3].map(Time::from_secs);
        application
            .log
            .extend([1000, 2500, 4500].into_iter().zip(at));
        let sizes = |of: &Application| of.undelivered().collect::<Vec<_>>();
        assert_eq!(
            sizes(&application),
            [(1000, at[0]), (1500, at[1]), (2000, at[2])]
        );
        assert_eq!(application.take_message(999), None);
        assert_eq!(application.take_message(1000), Some((1000, at[0])));
        assert_eq!(sizes(&application), [(1500, at[1]), (2000, at[2])]);
    }

    #[test]
    fn complete_delivery_releases_the_log() {
        let mut application = bulk();
        application
            .log
            .extend([(1000, Time::ZERO), (2000, Time::ZERO)]);
        application.release_memory();
        assert_eq!(application.log.capacity(), 0);
    }
}
