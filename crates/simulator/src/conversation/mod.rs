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

mod ask;
mod browser;
mod chunk_sizes;
mod page;
mod player;
mod reader;
mod requester;

use std::collections::{BTreeMap, VecDeque};

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::Requested;
use ropewalk_transport::Deadline;

use crate::metrics::Histogram;
use crate::outcome::ApplicationSummary;
use crate::sink::Sink;
use crate::timeliness::Late;
use ask::{Answers, Ask};
use browser::Browser;
use player::Player;
use reader::Reader;

/// Length of a request: an HTTP/2 request for another object of a site, with compressed header fields (RFC
/// 7541).
pub const REQUEST: u64 = 64;

/// Both ends of the requests and responses over a connection.
#[derive(Debug)]
pub struct Conversation {
    reader: Reader,
    /// Requests that have not completely arrived at the writer, oldest first.
    requests: VecDeque<Request>,
    /// Bytes of requests that the reader's endpoint has not taken.
    unsent: u64,
    /// Bytes of an incomplete request at the writer.
    heard: u64,
    /// Number of requests that the writer has read.
    numbered: u64,
    /// Responses that the writer has yet to write, by urgency and number.
    answers: BTreeMap<(u8, u64), Answer>,
    /// Bytes that it has written, and the ends of the responses that have not completely arrived.
    written: u64,
    ends: VecDeque<(u64, Answer)>,
    /// Arrived responses that were not removed.
    arrived: VecDeque<Arrived>,
    measured: Measured,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    ask: Ask,
    at: Time,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    request: Request,
    begun: Time,
    due: Option<Deadline>,
    left: u64,
}

/// Response that has arrived completely.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Bytes of the response.
    pub size: u64,
    /// Arrival of the request at the writer.
    pub written: Time,
}

#[derive(Debug)]
struct Measured {
    from: Time,
    /// Whether arrived responses are kept until removed one by one.
    logged: bool,
    /// Times from request to complete response, at the reader.
    responses: Histogram,
    late: Late,
}

impl Conversation {
    /// Creates requests that begin at `start`, end at `end` at the latest, and are measured from `warmup`
    /// on. `logged`: arrived responses are kept until they are removed.
    pub fn new(
        requested: &Requested,
        [start, warmup, end]: [Time; 3],
        random: Pcg64Mcg,
        logged: bool,
    ) -> Conversation {
        Conversation {
            reader: Reader::new(requested, [start, warmup, end], random),
            requests: VecDeque::new(),
            unsent: 0,
            heard: 0,
            numbered: 0,
            answers: BTreeMap::new(),
            written: 0,
            ends: VecDeque::new(),
            arrived: VecDeque::new(),
            measured: Measured {
                from: warmup,
                logged,
                responses: Histogram::new(),
                late: Late::default(),
            },
        }
    }

    /// Returns when the reader next makes a request by itself.
    pub fn next(&self) -> Option<Time> {
        self.reader.next()
    }

    /// Makes the requests that are due.
    pub fn ask(&mut self, now: Time) {
        while let Some(ask) = self.reader.ask(now) {
            self.requests.push_back(Request { ask, at: now });
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
    pub fn heard(&mut self, now: Time, bytes: u64) {
        self.heard += bytes;
        while self.heard >= REQUEST
            && let Some(request) = self.requests.pop_front()
        {
            self.heard -= REQUEST;
            let key = (request.ask.urgency, self.numbered);
            self.numbered += 1;
            let due = request.ask.span.map(|span| Deadline {
                at: now + span,
                span,
            });
            let answer = Answer {
                request,
                begun: now,
                due,
                left: request.ask.size,
            };
            self.answers.insert(key, answer);
        }
    }

    /// Writes responses until the writer's endpoint takes no more.
    pub fn answer(&mut self, sink: &mut impl Sink) {
        while let Some(mut first) = self.answers.first_entry() {
            let answer = first.get_mut();
            let taken = match answer.due {
                Some(due) => sink.write_by(answer.left, due),
                None => sink.write(answer.left),
            };
            self.written += taken;
            answer.left -= taken;
            if answer.left > 0 {
                return;
            }
            self.ends.push_back((self.written, first.remove()));
        }
    }

    /// Processes the delivery of all bytes before `end` to the reader, which may make further requests.
    pub fn delivered(&mut self, now: Time, end: u64) {
        while let Some(&(_, answer)) = self.ends.front().filter(|(at, _)| *at <= end) {
            self.ends.pop_front();
            let Request { ask, at } = answer.request;
            let measured = &mut self.measured;
            if at >= measured.from {
                measured.responses.record(now - at);
                if let Some(due) = answer.due {
                    let late = u64::from(now > due.at);
                    measured.late += Late {
                        messages: 1,
                        late,
                        late_bytes: late * ask.size,
                    };
                }
            }
            if measured.logged {
                self.arrived.push_back(Arrived {
                    size: ask.size,
                    written: answer.begun,
                });
            }
            self.reader.answered(now, &ask);
        }
        self.ask(now);
    }

    /// Removes and returns the oldest response that has arrived.
    pub fn take_arrived(&mut self) -> Option<Arrived> {
        self.arrived.pop_front()
    }

    /// Returns the playing time in the buffer of the reader's player, if it has one.
    pub fn held(&mut self, now: Time) -> Option<Time> {
        self.reader.held(now)
    }

    /// Returns the summary of readers with the same traffic, at the end of the run.
    pub fn summary(alike: &[&Conversation], end: Time) -> ApplicationSummary {
        let (mut responses, mut late) = (Histogram::new(), Late::default());
        for conversation in alike {
            responses.merge(&conversation.measured.responses);
            late += conversation.late(end);
        }
        let answers = Answers {
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
                summary.chunks = Some(Player::summary(players, end, &answers));
            }
            Some(Reader::Requester(requester)) => {
                summary.requests = Some(requester.summary(&answers));
            }
            Some(Reader::Browser(_)) => {
                let browsers = alike.iter().filter_map(|of| match &of.reader {
                    Reader::Browser(browser) => Some(&**browser),
                    _ => None,
                });
                summary.web = Some(Browser::summary(browsers, &answers));
            }
            None => {}
        }
        summary
    }

    /// Counts the responses whose deadline has passed, including those that did not arrive.
    fn late(&self, end: Time) -> Late {
        let measured = &self.measured;
        let waiting = self.answers.values();
        let waiting = waiting.chain(self.ends.iter().map(|(_, answer)| answer));
        let never = waiting.filter(|answer| {
            answer.request.at >= measured.from && answer.due.is_some_and(|due| due.at < end)
        });
        never.fold(measured.late, |mut late, answer| {
            late += Late {
                messages: 1,
                late: 1,
                late_bytes: answer.request.ask.size,
            };
            late
        })
    }
}
