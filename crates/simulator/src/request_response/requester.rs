//! Request-response programs: each sends a request, waits for the response, thinks, and sends the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::Requests;

use super::request::{Request, ResponseStats, think_time};
use crate::outcome::RequestsSummary;
use crate::random::{log_normal, normal};
use crate::timeliness::LateCounts;

/// Default HTTP priority (RFC 9218, 4.1).
const URGENCY: u8 = 3;

#[derive(Debug)]
pub(super) struct Requester {
    requests: Requests,
    /// Programs that think, with the end of their think time.
    thinking: BinaryHeap<Reverse<(Time, u32)>>,
    random: Pcg64Mcg,
}

impl Requester {
    /// Creates programs that all send their first request at `start`.
    pub(super) fn new(requests: &Requests, start: Time, random: Pcg64Mcg) -> Requester {
        Requester {
            thinking: (0..requests.parallel)
                .map(|number| Reverse((start, number)))
                .collect(),
            requests: requests.clone(),
            random,
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.thinking.peek().map(|Reverse((at, _))| *at)
    }

    pub(super) fn next_request(&mut self, now: Time) -> Option<Request> {
        let &Reverse((_, tag)) = self.thinking.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.thinking.pop();
        let mut size = self.requests.size.as_u64() as f64;
        if self.requests.spread > 0.0 {
            size *= log_normal(self.requests.spread, normal(&mut self.random));
        }
        Some(Request {
            tag,
            size: (size.round() as u64).max(1),
            urgency: URGENCY,
            span: self.requests.deadline,
        })
    }

    pub(super) fn on_response(&mut self, now: Time, tag: u32) {
        let until = now + think_time(self.requests.think, &mut self.random);
        self.thinking.push(Reverse((until, tag)));
    }

    /// Returns the summary of the responses to all programs.
    pub(super) fn summary(&self, responses: &ResponseStats) -> RequestsSummary {
        let late = self.requests.deadline.map(|_| responses.late);
        RequestsSummary {
            count: responses.count,
            response_s: responses.response_s,
            late_percent: late.map(LateCounts::percent),
            late_bytes: late.map(|late| late.late_bytes),
        }
    }
}
