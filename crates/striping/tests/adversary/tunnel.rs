//! Random adversaries with a tunnel's keys, against one end of it, in virtual time.

use std::time::Duration;

use ropewalk_quantities::{Rate, Time};
use ropewalk_striping::tunnel::{Class, Delivery, Feedback, LinkTerms, Sequencing};
use ropewalk_wire::gateway::tunnel::Gap;

use crate::draw::Draw;
use crate::end::{End, Frame};
use crate::memory::held;

const CHANGE_INTERVAL: u64 = 4_000;
const BATCH: u64 = 256;
/// Time after the last datagram within which memory is returned.
const RETURN_WITHIN: Time = Time::from_secs(10);

#[derive(Debug, Default)]
pub struct Outcome {
    /// Most memory above that of an idle end, and the rest of it ten seconds after the last datagram.
    pub most: usize,
    pub left: usize,
    /// Processor time for all datagrams and packets, and their number.
    pub spent: (Duration, u32),
    pub slowest: Duration,
    /// The parameters that took the most memory, and the most time.
    pub greedy: String,
    pub slow: String,
}

#[derive(Clone, Copy, Debug)]
struct Parameters {
    links: u64,
    lanes: u64,
    /// Packets of a datagram, and their length.
    packets: u64,
    len: usize,
    order: Order,
    deliveries: &'static [Delivery],
    numbers: Numbers,
    clock: Clock,
    reported: FeedbackKind,
    /// Intervals of pings and changed terms, in datagrams.
    pings: u64,
    terms: u64,
    wait: u64,
    /// Packets for the peer with each datagram: number and length.
    traffic: (u64, usize),
    class: Class,
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Next,
    EverySecond,
    Far,
    Descending,
    Alternating,
    Any,
    Same,
}

#[derive(Clone, Copy, Debug)]
enum Numbers {
    Next,
    EverySecond,
    Splitting,
    Jumping,
}

#[derive(Clone, Copy, Debug)]
enum Clock {
    Right,
    Stands,
    Slows,
    Hurries,
    Jumps,
    Any,
}

#[derive(Clone, Copy, Debug)]
enum FeedbackKind {
    Nothing,
    Truth,
    NeverSettled,
    AllMissing,
    Little,
    Backwards,
    Late,
}

impl Parameters {
    fn new(draw: &mut Draw, links: u64, changes_terms: bool) -> Parameters {
        use Delivery::{AtOnce, InOrder, InStep};
        Parameters {
            links: 1 + draw.below(links),
            lanes: draw.one(&[1, 2, 255]),
            packets: draw.one(&[0, 1, 1, 1, 5, 30]),
            len: draw.one(&[20, 20, 60, 1400]),
            order: draw.one(&[
                Order::Next,
                Order::EverySecond,
                Order::EverySecond,
                Order::Far,
                Order::Descending,
                Order::Alternating,
                Order::Any,
                Order::Same,
            ]),
            deliveries: draw.one(&[
                &[InOrder][..],
                &[InStep],
                &[InOrder, InStep],
                &[AtOnce, InOrder, InStep],
            ]),
            numbers: draw.one(&[
                Numbers::Next,
                Numbers::EverySecond,
                Numbers::Splitting,
                Numbers::Jumping,
            ]),
            clock: draw.one(&[
                Clock::Right,
                Clock::Stands,
                Clock::Slows,
                Clock::Hurries,
                Clock::Jumps,
                Clock::Any,
            ]),
            reported: draw.one(&[
                FeedbackKind::Nothing,
                FeedbackKind::Truth,
                FeedbackKind::NeverSettled,
                FeedbackKind::AllMissing,
                FeedbackKind::Little,
                FeedbackKind::Backwards,
                FeedbackKind::Late,
            ]),
            pings: draw.one(&[1, 10, 1000]),
            terms: if changes_terms {
                draw.one(&[3, 1000, 100_000])
            } else {
                u64::MAX
            },
            wait: draw.one(&[1, 5, 5, 30, 300]),
            traffic: draw.one(&[(0, 0), (2, 1400), (20, 40), (3, 200)]),
            class: draw.one(&[Class::InStep, Class::Ordered, Class::Thin, Class::Opening]),
        }
    }
}

struct Adversary {
    draw: Draw,
    parameters: Parameters,
    /// Newest sequence of each lane and link, and their number.
    lanes: [(u32, u32); 256],
    links: [(u64, u64); 64],
    /// For each link, the highest reported datagram, and the number of received ones.
    reported: [(u64, u64); 64],
    clock: u32,
}

pub fn run(seed: u64, datagrams: u64) -> Outcome {
    let mut draw = Draw::new(seed);
    // As a client it may use all links and change their terms; as a relay, only the links of its client.
    let is_client = draw.once_in(2);
    let links = if is_client { 64 } else { draw.one(&[1, 2, 8]) };
    let mut now = Time::from_secs(100);
    let mut end = End::new(now, if is_client { 0 } else { links as usize });
    let mut adversary = Adversary {
        parameters: Parameters::new(&mut draw, links, is_client),
        draw,
        lanes: [(0, 0); 256],
        links: [(0, 0); 64],
        reported: [(0, 0); 64],
        clock: 0,
    };
    let idle = held().0;
    let mut outcome = Outcome::default();
    let mut before = end.spent;
    for number in 1..=datagrams {
        now += Time::from_micros(1 + adversary.draw.below(2 * adversary.parameters.wait));
        adversary.act(now, &mut end);
        if number % BATCH == 0 {
            let most = held().1 - idle;
            if most > outcome.most {
                outcome.most = most;
                outcome.greedy = format!("{:?}", adversary.parameters);
            }
            let taken = (end.spent.0 - before.0) / (end.spent.1 - before.1);
            before = end.spent;
            if taken > outcome.slowest {
                outcome.slowest = taken;
                outcome.slow = format!("{:?}", adversary.parameters);
            }
        }
        if number % CHANGE_INTERVAL == 0 {
            adversary.parameters = Parameters::new(&mut adversary.draw, links, is_client);
        }
    }
    outcome.spent = end.spent;
    let until = now + RETURN_WITHIN;
    while let Some(due) = end.due().filter(|due| *due <= until) {
        now = due.max(now + Time::from_micros(1));
        end.handle_due(now);
    }
    end.handle_due(until);
    outcome.left = held().0.saturating_sub(idle);
    outcome
}

impl Adversary {
    fn act(&mut self, now: Time, end: &mut End) {
        let parameters = self.parameters;
        let (count, len) = parameters.traffic;
        for _ in 0..count {
            let lane = 1 + self.draw.below(parameters.lanes) as u8;
            end.enqueue(now, lane, parameters.class, len);
        }
        let link = self.draw.below(parameters.links) as u8;
        let mut frames = Vec::new();
        for _ in 0..parameters.packets {
            frames.push(Frame::Packet(self.sequencing(), parameters.len));
        }
        frames.extend(self.feedback(now, end));
        if self.draw.once_in(parameters.pings) {
            frames.push(Frame::Ping(1 + self.draw.below(1000) as u32));
        }
        if self.draw.once_in(1000) {
            frames.push(Frame::Pong(self.draw.magnitude(32) as u32));
        }
        if self.draw.once_in(parameters.terms) {
            let terms = LinkTerms {
                standby: self.draw.once_in(2),
                rate: (self.draw.once_in(3)).then(|| Rate::from_bps(1 + self.draw.magnitude(40))),
                ..LinkTerms::DEFAULT
            };
            frames.push(Frame::Terms(
                self.draw.below(parameters.links) as usize,
                terms,
            ));
        }
        let (sequence, clock) = (self.number(usize::from(link)), self.clock(now));
        end.take(now, link, sequence, clock, &frames);
    }

    fn sequencing(&mut self) -> Sequencing {
        let number = 1 + self.draw.below(self.parameters.lanes) as u8;
        let (newest, made) = &mut self.lanes[usize::from(number)];
        *made = made.wrapping_add(1);
        let within = *made % 30_000;
        let sequence = match self.parameters.order {
            Order::Next => {
                *newest = newest.wrapping_add(1);
                *newest
            }
            Order::EverySecond => {
                *newest = newest.wrapping_add(2);
                *newest
            }
            Order::Far => {
                *newest = newest.wrapping_add(1);
                newest.wrapping_add(65_535)
            }
            Order::Descending => newest.wrapping_add(60_001 - 2 * within),
            Order::Alternating if *made % 2 == 0 => newest.wrapping_add(1 + within),
            Order::Alternating => newest.wrapping_add(65_535 - within),
            Order::Any => newest.wrapping_add(self.draw.magnitude(32) as u32),
            Order::Same => *newest,
        };
        if self.draw.once_in(100_000) {
            *newest = newest.wrapping_add(self.draw.magnitude(31) as u32);
        }
        Sequencing {
            lane: number,
            sequence,
            delivery: self.draw.one(self.parameters.deliveries),
        }
    }

    fn number(&mut self, link: usize) -> u64 {
        let (newest, made) = &mut self.links[link];
        *made += 1;
        match self.parameters.numbers {
            Numbers::Next => *newest += 1,
            Numbers::EverySecond => *newest += 2,
            Numbers::Jumping => *newest += 1 + self.draw.magnitude(20),
            Numbers::Splitting => {
                let split = *made % 2_000;
                if split > 0 {
                    return newest.saturating_sub(2 * split - 1);
                }
                *newest += 4_030;
            }
        }
        *newest
    }

    fn clock(&mut self, now: Time) -> u32 {
        let right = (now.as_nanos() / 1000) as u32;
        self.clock = match self.parameters.clock {
            Clock::Right => right,
            Clock::Stands => self.clock,
            Clock::Slows => self.clock.wrapping_add(1),
            Clock::Hurries => self.clock.wrapping_add(1_000),
            Clock::Jumps => self.clock.wrapping_add(i32::MAX as u32),
            Clock::Any => self.clock.wrapping_add(self.draw.magnitude(32) as u32),
        };
        self.clock
    }

    fn feedback(&mut self, now: Time, end: &End) -> Option<Frame> {
        let link = self.draw.below(end.sent.len().max(1) as u64) as usize;
        let &(count, bytes) = end.sent.get(link)?;
        let (highest, received) = self.reported[link];
        let is_news = count > highest + 1;
        let newest = match self.parameters.reported {
            FeedbackKind::Nothing => return None,
            FeedbackKind::Little => (highest + 1).min(count.checked_sub(1)?),
            _ => count.checked_sub(1)?,
        };
        let received = match self.parameters.reported {
            FeedbackKind::Truth => newest + 1,
            _ => (received + 1).min(newest + 1),
        };
        if is_news {
            self.reported[link] = (newest, received);
        }
        let clock = (now.as_nanos() / 1000) as u32;
        let mut feedback = Feedback {
            link: link as u8,
            highest: newest,
            received,
            bytes,
            clock,
            settled: match self.parameters.reported {
                FeedbackKind::Truth | FeedbackKind::Little => newest + 1,
                _ => 0,
            },
            ..Feedback::default()
        };
        match self.parameters.reported {
            FeedbackKind::AllMissing => {
                for _ in 0..8 {
                    let first = newest.saturating_sub(self.draw.magnitude(17));
                    feedback.missing.push(Gap {
                        first,
                        count: u16::MAX,
                    });
                }
            }
            FeedbackKind::Backwards => {
                feedback.clock = clock / 10_000 * 10_000 - count as u32 % 2 * 5_000
            }
            FeedbackKind::Late => feedback.delay = Time::from_micros(self.draw.magnitude(32)),
            _ => {}
        }
        if self.draw.once_in(20) {
            feedback.left_out = self.draw.one(&[0, u64::MAX, 1, 2]);
        }
        Some(Frame::Feedback(feedback))
    }
}
