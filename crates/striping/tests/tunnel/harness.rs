//! Two ends, and links that carry datagrams after their delay, or lose them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{
    Class, DatagramLengths, Feedback, Flow, LinkTerms, Ping, Receiver, ReceiverConfig, Scheduler,
    Sender, SenderConfig, Sequencing,
};

pub const CLIENT: usize = 0;
pub const RELAY: usize = 1;

#[derive(Clone, Debug)]
struct Datagram {
    to: usize,
    link: usize,
    sequence: u64,
    bytes: u32,
    sent: Time,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Packet(Sequencing, u32),
    Feedback(Feedback),
    Ping(u32),
    Pong(u32),
}

struct End {
    sender: Sender<u32>,
    receiver: Receiver<u32>,
}

/// A link: its one-way delay, whether it is down, its random losses per 1000 datagrams, and the longest
/// datagram that it carries in one piece, by the end that sends it.
pub struct Link {
    pub delay: Time,
    pub is_down: bool,
    pub lost_of_1000: u32,
    pub mtu: [u32; 2],
    pub drops_fragments: bool,
    pub bytes: [u64; 2],
}

pub struct Harness {
    pub now: Time,
    ends: [End; 2],
    /// Packets may arrive twice.
    has_copies: bool,
    pub links: Vec<Link>,
    under_way: BTreeMap<(Reverse<Time>, Reverse<u64>), Datagram>,
    next: u64,
    /// State of the generator of losses (xorshift).
    random: u32,
    pub delivered: Vec<(usize, u32, Time)>,
}

const LENGTHS: fn() -> DatagramLengths = || DatagramLengths::behind(28);

impl Harness {
    /// A tunnel over links of these delays, whose client has just connected.
    pub fn new(delays: &[u64]) -> Harness {
        Harness::scheduled(delays, Scheduler::default())
    }

    pub fn scheduled(delays: &[u64], scheduler: Scheduler) -> Harness {
        let end = |keepalive| {
            let config = SenderConfig {
                keepalive,
                scheduler,
                ..SenderConfig::default()
            };
            End {
                sender: Sender::new(config),
                receiver: Receiver::new(ReceiverConfig::default()),
            }
        };
        let keepalive = SenderConfig::default().keepalive;
        let mut harness = Harness {
            now: Time::from_secs(1),
            ends: [end(keepalive), end(keepalive * 2)],
            has_copies: scheduler == Scheduler::Redundant,
            links: Vec::new(),
            under_way: BTreeMap::new(),
            next: 0,
            random: 1,
            delivered: Vec::new(),
        };
        for delay in delays {
            harness.links.push(Link {
                delay: Time::from_millis(*delay),
                is_down: false,
                lost_of_1000: 0,
                mtu: [u32::MAX; 2],
                drops_fragments: false,
                bytes: [0; 2],
            });
            for end in &mut harness.ends {
                end.sender.add_link(harness.now);
            }
        }
        for link in 0..delays.len() {
            harness.ping(CLIENT, Ping::keepalive(link));
        }
        harness
    }

    pub fn suspicions(&self, end: usize, link: usize) -> (u64, bool) {
        let link = self.ends[end].sender.link(link);
        (link.suspicions, link.suspected)
    }

    /// Sets the terms of a link at an end; a link that returns is pinged at once.
    pub fn set_terms(&mut self, end: usize, link: usize, terms: LinkTerms) {
        let sender = &mut self.ends[end].sender;
        let comes_back = sender.terms(link).standby && !terms.standby;
        sender.set_terms(self.now, link, terms);
        if comes_back {
            self.ping(end, Ping::keepalive(link));
        }
        self.drive(end);
    }

    pub fn is_on_standby(&self, link: usize) -> bool {
        let mut ends = self.ends.iter();
        ends.all(|end| end.sender.terms(link).standby)
    }

    pub fn repaired(&self, end: usize) -> u64 {
        self.ends[end].sender.counters().repaired
    }

    pub fn path_mtu(&self, end: usize, link: usize) -> u32 {
        self.ends[end].sender.link(link).path_mtu
    }

    pub fn waiting(&self, end: usize) -> u64 {
        self.ends[end].sender.backlog().0
    }

    /// Accepts duplicates, since suspected links are back.
    pub fn expect_copies(&mut self) {
        self.has_copies = true;
    }

    pub fn enqueue(&mut self, end: usize, packet: u32, bytes: u32) {
        self.enqueue_of(Class::Thin, end, packet, bytes);
    }

    pub fn enqueue_of(&mut self, class: Class, end: usize, packet: u32, bytes: u32) {
        let flow = Flow { lane: 1, class };
        let taken = self.ends[end].sender.enqueue(self.now, packet, bytes, flow);
        assert!(taken);
        self.drive(end);
    }

    pub fn run_until(&mut self, until: Time) {
        loop {
            let due = self.ends.iter_mut().filter_map(|end| {
                [end.sender.poll_timeout(), end.receiver.poll_timeout()]
                    .into_iter()
                    .flatten()
                    .min()
            });
            let arrival = self
                .under_way
                .last_key_value()
                .map(|((Reverse(at), _), _)| *at);
            let next = due.chain(arrival).min().filter(|at| *at <= until);
            let Some(next) = next else {
                self.now = until;
                return;
            };
            self.now = self.now.max(next);
            let is_now = |at: Option<Time>| at.is_some_and(|at| at <= self.now);
            if is_now(arrival) {
                let (_, datagram) = self.under_way.pop_last().unwrap();
                self.arrive(datagram);
            }
            (0..2).for_each(|end| self.drive(end));
        }
    }

    fn arrive(&mut self, datagram: Datagram) {
        let Datagram {
            to,
            link,
            sequence,
            bytes,
            sent,
            content,
        } = datagram;
        let now = self.now;
        let end = &mut self.ends[to];
        let clock = (sent.as_nanos() / 1000) as u32;
        assert!(end.receiver.take(now, link as u8, sequence, bytes, clock));
        end.sender.on_heard(now, link);
        let is_news = matches!(content, Content::Packet(..) | Content::Ping(_));
        if is_news || end.sender.is_busy(now) {
            end.receiver.answer(now, link as u8);
        }
        match content {
            Content::Packet(sequencing, packet) => {
                let passes = end.receiver.passes(now, sequencing);
                if !end.receiver.is_copy() {
                    end.sender.on_packet(now, bytes);
                }
                if passes {
                    self.delivered.push((to, packet, now));
                } else {
                    let dropped = end.receiver.hold(sequencing, packet, bytes);
                    assert!(dropped.is_none() || self.has_copies);
                }
            }
            Content::Feedback(feedback) => {
                end.sender.on_feedback(now, &feedback);
                end.receiver.leave_out(feedback.left_out);
                end.receiver.expect_repairs(end.sender.repair_time());
            }
            Content::Ping(0) => {}
            Content::Ping(token) => {
                let bytes = LENGTHS().ping();
                self.send(to, link, bytes, Content::Pong(token));
            }
            Content::Pong(token) => end.sender.on_pong(now, link, token),
        }
    }

    fn drive(&mut self, number: usize) {
        let now = self.now;
        let end = &mut self.ends[number];
        if end.sender.poll_timeout().is_some_and(|at| at <= now) {
            for ping in end.sender.handle_timeout(now) {
                self.ping(number, ping);
            }
        }
        let end = &mut self.ends[number];
        while let Some(packet) = end.receiver.poll_deliver(now) {
            self.delivered.push((number, packet, now));
        }
        while let Some(mut feedback) = self.ends[number].receiver.poll_feedback(now) {
            feedback.left_out = self.ends[number].sender.left_out();
            let links = self.ends[number].sender.feedback_links(now, feedback.link);
            let links: BTreeSet<usize> = links.collect();
            for link in links {
                let bytes = LENGTHS().feedback(&feedback);
                self.send(number, link, bytes, Content::Feedback(feedback));
            }
        }
        while let Some(packet) = self.ends[number].sender.poll_transmit(now) {
            let bytes = LENGTHS().packet(packet.bytes);
            let content = Content::Packet(packet.sequencing, packet.packet);
            self.send(number, packet.link, bytes, content);
        }
    }

    fn ping(&mut self, end: usize, ping: Ping) {
        let bytes = ping.bytes.unwrap_or_else(|| LENGTHS().ping());
        self.send(end, ping.link, bytes, Content::Ping(ping.token));
    }

    fn send(&mut self, from: usize, link: usize, bytes: u32, content: Content) {
        let sender = &mut self.ends[from].sender;
        let sequence = match content {
            Content::Packet(..) | Content::Ping(_) => sender.send(self.now, link, bytes),
            Content::Feedback(_) | Content::Pong(_) => sender.send_answer(self.now, link, bytes),
        };
        let is_cut =
            matches!(content, Content::Packet(..)) && bytes > sender.max_unfragmented(link);
        let datagram = Datagram {
            to: 1 - from,
            link,
            sequence,
            bytes,
            sent: self.now,
            content,
        };
        let link = &mut self.links[link];
        link.bytes[from] += u64::from(bytes);
        for shift in [13, -17, 5_i32] {
            self.random ^= match shift > 0 {
                true => self.random << shift,
                false => self.random >> -shift,
            };
        }
        let fits = bytes <= link.mtu[from] || is_cut && !link.drops_fragments;
        if !link.is_down && fits && self.random % 1000 >= link.lost_of_1000 {
            self.next += 1;
            let at = self.now + link.delay;
            self.under_way
                .insert((Reverse(at), Reverse(self.next)), datagram);
        }
    }
}
