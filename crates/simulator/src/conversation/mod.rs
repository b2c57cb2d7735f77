//! What the end that reads asks for over a connection, and what the other end answers.
//!
//! A reader (a player, a program that thinks, a browser) decides what is asked for and when, and learns
//! when an answer is there whole. Requests are bytes of the connection, towards the end that writes, and so
//! pay its round trip, its losses and its queues. The writer answers in the order of urgency, and of the
//! requests; what is in the connection's buffer can no longer be overtaken. It is the way in which a server
//! of HTTP/2 sends responses that are of no use in parts (RFC 9218, 10).
//!
//! Both ends know who asked for what: the bytes need not say it, in virtual time or over sockets. Whoever
//! carries them calls what happens at an end.

mod browser;
mod chunk_sizes;
mod page;
mod player;
mod requester;

use std::collections::{BTreeMap, VecDeque};

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Asked, Think, Thinking};
use ropewalk_transport::Deadline;

use crate::draws::exponential;
use crate::flow::Late;
use crate::metrics::Histogram;
use crate::outcome::{ApplicationSummary, DelaySummary};
use crate::sink::Sink;
use browser::Browser;
use player::Player;
use requester::Requester;

/// Bytes of a request: that of HTTP/2 for one more object of a site, its header fields compressed (RFC 7541).
pub const REQUEST: u64 = 64;

/// Both ends of what is asked and answered over one connection.
#[derive(Debug)]
pub struct Conversation {
    reader: Reader,
    /// Requests that the reader has made and the writer has not read whole, the oldest first.
    requests: VecDeque<Request>,
    /// Bytes of requests that the reader's end of the connection has not taken.
    unsent: u64,
    /// Bytes that the writer has of a request which is not whole.
    heard: u64,
    /// Requests that the writer has read.
    numbered: u64,
    /// What the writer has yet to write, by urgency and number.
    answers: BTreeMap<(u8, u64), Answer>,
    /// Bytes that it has written, and where in them answers end that are not there yet.
    written: u64,
    ends: VecDeque<(u64, Answer)>,
    /// Answers that are there and were not taken.
    arrived: VecDeque<Arrived>,
    measured: Measured,
}

/// What a reader wants.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ask {
    /// What the reader calls it.
    tag: u32,
    /// Bytes of the answer.
    size: u64,
    /// From 0, the most urgent, to 7 (RFC 9218, 4.1).
    urgency: u8,
    /// How long after the request has reached the writer the answer is late, if it can be.
    span: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    ask: Ask,
    at: Time,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    request: Request,
    /// When the request had reached the writer.
    begun: Time,
    due: Option<Deadline>,
    left: u64,
}

/// An answer that is there whole.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Bytes.
    pub size: u64,
    /// When the writer had the request.
    pub written: Time,
}

/// From the end of the warm-up on.
#[derive(Debug)]
struct Measured {
    from: Time,
    /// Whether anybody takes what has arrived.
    logged: bool,
    /// From the request to the answer, by the reader's clock.
    responses: Histogram,
    late: Late,
}

/// All answers to what was asked for in the measured time.
#[derive(Debug)]
struct Answers {
    count: u64,
    response_s: Option<DelaySummary>,
    late: Late,
}

/// The end that reads, as far as it decides what comes.
#[derive(Debug)]
enum Reader {
    Player(Box<Player>),
    Requester(Requester),
    Browser(Box<Browser>),
}

impl Reader {
    /// When it asks next by itself.
    fn next(&self) -> Option<Time> {
        match self {
            Reader::Player(player) => player.next(),
            Reader::Requester(requester) => requester.next(),
            Reader::Browser(browser) => browser.next(),
        }
    }

    /// What it asks for now, if there is anything; to be called until there is not.
    fn ask(&mut self, now: Time) -> Option<Ask> {
        match self {
            Reader::Player(player) => player.ask(now),
            Reader::Requester(requester) => requester.ask(now),
            Reader::Browser(browser) => browser.ask(now),
        }
    }

    /// What it asked for is there.
    fn answered(&mut self, now: Time, ask: &Ask) {
        match self {
            Reader::Player(player) => player.answered(now),
            Reader::Requester(requester) => requester.answered(now, ask.tag),
            Reader::Browser(browser) => browser.answered(now, ask.tag),
        }
    }
}

impl Conversation {
    /// Begins at `start`, ends at `end` at the latest, and is measured from `warmup` on; `logged` keeps what has
    /// arrived until it is taken.
    pub fn new(
        asked: &Asked,
        [start, warmup, end]: [Time; 3],
        random: Pcg64Mcg,
        logged: bool,
    ) -> Conversation {
        let lasts = end.saturating_sub(start);
        Conversation {
            reader: match asked {
                Asked::Chunks(chunks) => Reader::Player(Box::new(Player::new(
                    chunks,
                    [start, warmup],
                    lasts,
                    random,
                ))),
                Asked::Requests(requests) => {
                    Reader::Requester(Requester::new(requests, start, random))
                }
                Asked::Web(web) => {
                    Reader::Browser(Box::new(Browser::new(web, [start, warmup], random)))
                }
            },
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

    /// When the reader asks next by itself.
    pub fn next(&self) -> Option<Time> {
        self.reader.next()
    }

    /// The reader asks for what it wants now.
    pub fn ask(&mut self, now: Time) {
        while let Some(ask) = self.reader.ask(now) {
            self.requests.push_back(Request { ask, at: now });
            self.unsent += REQUEST;
        }
    }

    /// Bytes of requests that wait to be sent.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// So many of them were taken by the reader's end of the connection.
    pub fn sent(&mut self, bytes: u64) {
        self.unsent -= bytes;
    }

    /// Bytes of requests have reached the writer.
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

    /// The writer writes what its end of the connection has room for.
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

    /// Whether the writer has something to write.
    pub fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// All bytes before `end` have reached the reader, which may ask for more.
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

    /// The oldest answer that is there and was not taken.
    pub fn take_arrived(&mut self) -> Option<Arrived> {
        self.arrived.pop_front()
    }

    /// Seconds that the reader's player can go on with what it holds, if there is one.
    pub fn held(&mut self, now: Time) -> Option<Time> {
        match &mut self.reader {
            Reader::Player(player) => Some(player.held(now)),
            Reader::Requester(_) | Reader::Browser(_) => None,
        }
    }

    /// What readers of traffic that is alike make of it, at the end of the run.
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

    /// Answers that can be late and whose time is over, those that did not come included.
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

/// How long somebody thinks now.
fn thought(think: Think, random: &mut Pcg64Mcg) -> Time {
    match think.thinking {
        Thinking::Fixed => think.time,
        Thinking::Exponential => {
            Time::from_nanos((exponential(random) * think.time.as_nanos() as f64) as u64)
        }
    }
}
