//! Requests over a connection, and their responses.
//!
//! A reader (a video player, a request-response program, a browser) makes requests and is notified when a
//! response is complete. Requests are bytes of the connection towards the writer, so they have its round
//! trip, losses and queues. The writer responds in order of urgency, then of the requests; data in the
//! connection's buffer keeps its order. An HTTP/2 server does the same if parts of a response are useless
//! (RFC 9218, 10).
//!
//! Both ends share this object, so no bytes are parsed, in virtual time or over sockets. The caller, which
//! transports the bytes, calls its methods for the events at either end.

mod browser;
mod chunk_sizes;
mod page;
mod player;
mod reader;
mod request;
mod requester;

use std::collections::{BTreeMap, VecDeque};

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::Requested;
use ropewalk_transport::Deadline;

use crate::metrics::Histogram;
use crate::outcome::ApplicationSummary;
use crate::sink::Sink;
use crate::timeliness::LateCounts;
use browser::Browser;
use player::Player;
use reader::Reader;
use request::{Request, ResponseStats};

/// Length of a request: an HTTP/2 request for another object of a site, with compressed header fields (RFC
/// 7541).
pub const REQUEST: u64 = 64;

/// Both ends of the requests and responses over a connection.
#[derive(Debug)]
pub struct RequestResponse {
    reader: Reader,
    /// Requests that have not completely arrived at the writer, oldest first.
    requests: VecDeque<PendingRequest>,
    /// Bytes of requests that the reader's endpoint has not taken.
    unsent: u64,
    /// Bytes of an incomplete request at the writer.
    request_bytes: u64,
    /// Number of requests that the writer has read.
    numbered: u64,
    /// Responses that the writer has yet to write, by urgency and number.
    responses: BTreeMap<(u8, u64), Response>,
    /// Bytes that it has written, and the ends of the responses that have not completely arrived.
    written: u64,
    ends: VecDeque<(u64, Response)>,
    /// Arrived responses that were not removed.
    arrived: VecDeque<ArrivedResponse>,
    measured: Measurements,
}

#[derive(Clone, Copy, Debug)]
struct PendingRequest {
    request: Request,
    at: Time,
}

#[derive(Clone, Copy, Debug)]
struct Response {
    request: PendingRequest,
    begun: Time,
    due: Option<Deadline>,
    left: u64,
}

/// Response that has arrived completely.
#[derive(Clone, Copy, Debug)]
pub struct ArrivedResponse {
    /// Bytes of the response.
    pub size: u64,
    /// Arrival of the request at the writer.
    pub written: Time,
}

#[derive(Debug)]
struct Measurements {
    from: Time,
    /// Whether arrived responses are kept until removed one by one.
    logged: bool,
    /// Times from request to complete response, at the reader.
    responses: Histogram,
    late: LateCounts,
}

impl RequestResponse {
    /// Creates requests that begin at `start`, end at `end` at the latest, and are measured from `warmup`
    /// on. `logged`: arrived responses are kept until they are removed.
    pub fn new(
        requested: &Requested,
        [start, warmup, end]: [Time; 3],
        random: Pcg64Mcg,
        logged: bool,
    ) -> RequestResponse {
        RequestResponse {
            reader: Reader::new(requested, [start, warmup, end], random),
            requests: VecDeque::new(),
            unsent: 0,
            request_bytes: 0,
            numbered: 0,
            responses: BTreeMap::new(),
            written: 0,
            ends: VecDeque::new(),
            arrived: VecDeque::new(),
            measured: Measurements {
                from: warmup,
                logged,
                responses: Histogram::new(),
                late: LateCounts::default(),
            },
        }
    }

    /// Returns when the reader next makes a request by itself.
    pub fn next(&self) -> Option<Time> {
        self.reader.next()
    }

    /// Makes the requests that are due.
    pub fn make_requests(&mut self, now: Time) {
        while let Some(request) = self.reader.next_request(now) {
            self.requests.push_back(PendingRequest { request, at: now });
            self.unsent += REQUEST;
        }
    }

    /// Returns the bytes of requests that wait to be sent.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Records that the reader's endpoint has taken this many bytes of requests.
    pub fn sent(&mut self, bytes: u64) {
        self.unsent -= bytes;
    }

    /// Processes bytes of requests that have arrived at the writer.
    pub fn on_request_bytes(&mut self, now: Time, bytes: u64) {
        self.request_bytes += bytes;
        while self.request_bytes >= REQUEST
            && let Some(request) = self.requests.pop_front()
        {
            self.request_bytes -= REQUEST;
            let key = (request.request.urgency, self.numbered);
            self.numbered += 1;
            let due = request.request.span.map(|span| Deadline {
                at: now + span,
                span,
            });
            let response = Response {
                request,
                begun: now,
                due,
                left: request.request.size,
            };
            self.responses.insert(key, response);
        }
    }

    /// Writes responses until the writer's endpoint takes no more.
    pub fn write_responses(&mut self, sink: &mut impl Sink) {
        while let Some(mut first) = self.responses.first_entry() {
            let response = first.get_mut();
            let taken = match response.due {
                Some(due) => sink.write_by(response.left, due),
                None => sink.write(response.left),
            };
            self.written += taken;
            response.left -= taken;
            if response.left > 0 {
                return;
            }
            self.ends.push_back((self.written, first.remove()));
        }
    }

    /// Processes the delivery of all bytes before `end` to the reader, which may make further requests.
    pub fn delivered(&mut self, now: Time, end: u64) {
        while let Some(&(_, response)) = self.ends.front().filter(|(at, _)| *at <= end) {
            self.ends.pop_front();
            let PendingRequest { request, at } = response.request;
            let measured = &mut self.measured;
            if at >= measured.from {
                measured.responses.record(now - at);
                if let Some(due) = response.due {
                    let late = u64::from(now > due.at);
                    measured.late += LateCounts {
                        messages: 1,
                        late,
                        late_bytes: late * request.size,
                    };
                }
            }
            if measured.logged {
                self.arrived.push_back(ArrivedResponse {
                    size: request.size,
                    written: response.begun,
                });
            }
            self.reader.on_response(now, &request);
        }
        self.make_requests(now);
    }

    /// Removes and returns the oldest response that has arrived.
    pub fn take_arrived(&mut self) -> Option<ArrivedResponse> {
        self.arrived.pop_front()
    }

    /// Returns the playing time in the buffer of the reader's player, if it has one.
    pub fn buffered(&mut self, now: Time) -> Option<Time> {
        self.reader.buffered(now)
    }

    /// Returns the summary of readers with the same traffic, at the end of the run.
    pub fn summary(alike: &[&RequestResponse], end: Time) -> ApplicationSummary {
        let (mut responses, mut late) = (Histogram::new(), LateCounts::default());
        for exchange in alike {
            responses.merge(&exchange.measured.responses);
            late += exchange.late(end);
        }
        let responses = ResponseStats {
            count: responses.count(),
            response_s: responses.summary_s(),
            late,
        };
        let mut summary = ApplicationSummary::default();
        match alike.first().map(|first| &first.reader) {
            Some(Reader::Player(_)) => {
                let players = alike.iter().filter_map(|of| match &of.reader {
                    Reader::Player(player) => Some(&**player),
                    _ => None,
                });
                summary.chunks = Some(Player::summary(players, end, &responses));
            }
            Some(Reader::Requester(requester)) => {
                summary.requests = Some(requester.summary(&responses));
            }
            Some(Reader::Browser(_)) => {
                let browsers = alike.iter().filter_map(|of| match &of.reader {
                    Reader::Browser(browser) => Some(&**browser),
                    _ => None,
                });
                summary.web = Some(Browser::summary(browsers, &responses));
            }
            None => {}
        }
        summary
    }

    /// Counts the responses whose deadline has passed, including responses that did not arrive.
    fn late(&self, end: Time) -> LateCounts {
        let measured = &self.measured;
        let waiting = self.responses.values();
        let waiting = waiting.chain(self.ends.iter().map(|(_, response)| response));
        let never = waiting.filter(|response| {
            response.request.at >= measured.from && response.due.is_some_and(|due| due.at < end)
        });
        never.fold(measured.late, |mut late, response| {
            late += LateCounts {
                messages: 1,
                late: 1,
                late_bytes: response.request.request.size,
            };
            late
        })
    }
}
