//! Two ends and links between them, in virtual time.

mod link;
mod pipe;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ropewalk_network::{Advance, IDLE, Key};
use ropewalk_quantities::Time;
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Config, Event, Frame, Payload, Role, Terms,
};

pub use link::Link;
use link::{Links, SEGMENT_HEADERS, Segment, packets};
use pipe::Pipe;

pub const INITIATOR: usize = 0;
pub const RESPONDER: usize = 1;

const DIAL: Time = Time::from_millis(250);
/// Unsent bytes below which a socket takes more, as TCP_NOTSENT_LOWAT.
const LOW_WATER: u64 = 32 << 10;
/// Segments of TCP's handshake and ours: a connection is established with the last.
const HANDSHAKE: u32 = 4;

pub trait Apps<P> {
    fn on_event(&mut self, now: Time, end: usize, own: &mut Association<P>, event: Event);
    fn on_tick(&mut self, simulation: &mut Simulation<P>, token: u64);
}

/// Events at the ends; those of the links are in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EndEvent {
    Retransmission { carrier: usize, end: usize },
    Timeout(usize),
    Dial(usize),
    Down { carrier: usize, end: usize },
    Tick(u64),
}

struct Carrier<P> {
    link: usize,
    /// Its number at each end; `None` once it is down there.
    ids: [Option<CarrierId>; 2],
    pipes: [Pipe<P>; 2],
    dead: bool,
}

pub struct Simulation<P> {
    pub now: Time,
    pub ends: [Association<P>; 2],
    links: Links,
    carriers: Vec<Carrier<P>>,
    by_id: [BTreeMap<CarrierId, usize>; 2],
    current: Vec<Option<usize>>,
    dialling: Vec<bool>,
    /// Ordered together with the network's events.
    events: BinaryHeap<Reverse<(Key, EndEvent)>>,
    timeouts: [Time; 2],
    /// Hash of all frames and events with their times (FNV-1a).
    pub trace: u64,
    pub violations: Vec<String>,
}

impl<P: Payload> Simulation<P> {
    pub fn new(links: Vec<Link>, configs: [Config; 2]) -> Simulation<P> {
        let [near, far] = configs;
        let count = links.len();
        let mut simulation = Simulation {
            now: Time::ZERO,
            ends: [
                Association::new(Role::Initiator, near),
                Association::new(Role::Responder, far),
            ],
            links: Links::new(links),
            carriers: Vec::new(),
            by_id: [BTreeMap::new(), BTreeMap::new()],
            current: vec![None; count],
            dialling: vec![true; count],
            events: BinaryHeap::new(),
            timeouts: [Time::MAX; 2],
            trace: 0xcbf2_9ce4_8422_2325,
            violations: Vec::new(),
        };
        for link in 0..count {
            simulation.happen(Time::ZERO, EndEvent::Dial(link));
        }
        simulation
    }

    pub fn at(&mut self, time: Time, token: u64) {
        self.happen(time, EndEvent::Tick(token));
    }

    /// Breaks the link's connection; each end learns of it after its own delay. The link is dialled again.
    pub fn kill(&mut self, link: usize, learnt_after: [Time; 2]) {
        let Some(carrier) = self.current[link].take() else {
            return;
        };
        self.carriers[carrier].dead = true;
        for (end, after) in learnt_after.into_iter().enumerate() {
            self.happen(self.now + after, EndEvent::Down { carrier, end });
        }
        self.dial(link, learnt_after[INITIATOR]);
    }

    /// Divides the link's rate: it sends each segment `times` times.
    pub fn slow(&mut self, link: usize, times: u64) {
        self.links.list[link].slowed = times;
    }

    pub fn run(&mut self, apps: &mut impl Apps<P>, end: Time) {
        self.settle(apps);
        loop {
            let own = self.events.peek();
            let own = own.map_or(IDLE, |Reverse((key, _))| *key);
            let links = self.links.network.next().unwrap_or(IDLE);
            let next = own.min(links);
            if next == IDLE || next.time > end {
                break;
            }
            self.now = next.time;
            if links.before(&own) {
                self.move_segment();
            } else if let Some(Reverse((_, happening))) = self.events.pop() {
                self.handle(apps, happening);
            }
            self.settle(apps);
        }
        self.now = end;
    }

    fn happen(&mut self, at: Time, happening: EndEvent) {
        let order = self.links.network.next_order();
        let key = Key::new(at, order);
        self.events.push(Reverse((key, happening)));
    }

    fn handle(&mut self, apps: &mut impl Apps<P>, happening: EndEvent) {
        match happening {
            EndEvent::Retransmission { carrier, end } => self.retransmit(carrier, end),
            EndEvent::Timeout(end) => {
                if self.timeouts[end] <= self.now {
                    self.timeouts[end] = Time::MAX;
                    for carrier in &self.carriers {
                        if let Some(id) = carrier.ids[end] {
                            self.ends[end].heard(id, carrier.pipes[end].heard_at);
                        }
                    }
                    self.ends[end].handle_timeout(self.now);
                }
            }
            EndEvent::Dial(link) => self.shake_hands(link, 0),
            EndEvent::Down { carrier, end } => self.down(carrier, end),
            EndEvent::Tick(token) => apps.on_tick(self, token),
        }
    }

    fn move_segment(&mut self) {
        let Advance::Arrived(arrival) = self.links.network.advance(self.now, &mut ()) else {
            return;
        };
        match *arrival.packet {
            Segment::Handshake { link, step } if step + 1 < HANDSHAKE => {
                self.shake_hands(link, step + 1);
            }
            Segment::Handshake { link, .. } => self.connected(link),
            Segment::Data {
                carrier,
                from,
                number,
            } => self.arrive(carrier, from, number),
            Segment::Ack {
                carrier,
                from,
                count,
            } => {
                let end = 1 - from;
                let Carrier {
                    link, pipes, dead, ..
                } = &mut self.carriers[carrier];
                if !*dead {
                    pipes[end].acknowledge(self.now, count, &self.links.list[*link]);
                    self.transmit(carrier, end);
                }
            }
        }
    }

    fn arrive(&mut self, number: usize, from: usize, of: u64) {
        if self.carriers[number].dead {
            return;
        }
        let to = 1 - from;
        if let Some(frame) = self.carriers[number].pipes[from].arrive(of) {
            self.note(&frame, number, from);
            if let Some(id) = self.carriers[number].ids[to]
                && let Err(error) = self.ends[to].received(self.now, id, frame)
            {
                self.violations.push(format!("{}: {error}", self.now));
            }
        }
        let Carrier { link, pipes, .. } = &self.carriers[number];
        let (link, count) = (*link, pipes[from].arrived);
        // It is part of a data segment, if there is one.
        let bytes = if pipes[to].is_sending() {
            0
        } else {
            SEGMENT_HEADERS
        };
        let acknowledgement = Segment::Ack {
            carrier: number,
            from: to,
            count,
        };
        if let Err(at) = self
            .links
            .send(self.now, (link, to), bytes, acknowledgement)
        {
            self.lose(number, from, at, count);
        }
    }

    /// Sends frames of the socket that its window allows, and notifies the driver if it takes more again.
    fn transmit(&mut self, number: usize, end: usize) {
        while let Some((frame, len)) = self.carriers[number].pipes[end].transmit() {
            self.send(number, end, frame, len);
        }
        let carrier = &mut self.carriers[number];
        let pipe = &mut carrier.pipes[end];
        if pipe.blocked && pipe.takes(LOW_WATER) {
            pipe.blocked = false;
            if let Some(id) = carrier.ids[end] {
                self.ends[end].writable(id);
            }
        }
    }

    fn retransmit(&mut self, number: usize, end: usize) {
        if self.carriers[number].dead {
            return;
        }
        for (frame, len) in self.carriers[number].pipes[end].time_out() {
            self.send(number, end, frame, len);
        }
    }

    fn send(&mut self, carrier: usize, from: usize, number: u64, len: u64) {
        let link = self.carriers[carrier].link;
        let segment = Segment::Data {
            carrier,
            from,
            number,
        };
        let bytes = packets(len);
        if let Err(at) = self.links.send(self.now, (link, from), bytes, segment) {
            self.lose(carrier, from, at, number + 1);
        }
    }

    fn lose(&mut self, carrier: usize, end: usize, at: Time, count: u64) {
        let Carrier { link, pipes, .. } = &mut self.carriers[carrier];
        let timer = pipes[end].lose(at, count, &self.links.list[*link]);
        if let Some(timer) = timer {
            self.happen(timer, EndEvent::Retransmission { carrier, end });
        }
    }

    fn dial(&mut self, link: usize, after: Time) {
        if !self.dialling[link] {
            self.dialling[link] = true;
            self.happen(self.now + after, EndEvent::Dial(link));
        }
    }

    /// Sends the next segment of the handshake; if it is lost, the link is dialled again.
    fn shake_hands(&mut self, link: usize, step: u32) {
        let from = if step.is_multiple_of(2) {
            INITIATOR
        } else {
            RESPONDER
        };
        let segment = Segment::Handshake { link, step };
        let bytes = SEGMENT_HEADERS;
        if let Err(at) = self.links.send(self.now, (link, from), bytes, segment) {
            self.happen(at + DIAL, EndEvent::Dial(link));
        }
    }

    fn connected(&mut self, link: usize) {
        self.dialling[link] = false;
        let config = CarrierConfig {
            link: link as u32,
            rtt: Some(self.links.list[link].delay * 2),
            terms: Terms {
                cost: (link % 3) as f64,
                ..Terms::default()
            },
            ..CarrierConfig::default()
        };
        let number = self.carriers.len();
        let ids = [INITIATOR, RESPONDER].map(|end| self.ends[end].carrier_up(self.now, config));
        for end in [INITIATOR, RESPONDER] {
            self.by_id[end].insert(ids[end], number);
        }
        self.carriers.push(Carrier {
            link,
            ids: ids.map(Some),
            pipes: [Pipe::new(), Pipe::new()],
            dead: false,
        });
        if let Some(old) = self.current[link].replace(number) {
            self.carriers[old].dead = true;
            self.down(old, INITIATOR);
            self.down(old, RESPONDER);
        }
    }

    fn down(&mut self, carrier: usize, end: usize) {
        if let Some(id) = self.carriers[carrier].ids[end].take() {
            self.ends[end].carrier_down(self.now, id);
        }
    }

    fn settle(&mut self, apps: &mut impl Apps<P>) {
        loop {
            let mut quiet = true;
            for end in [INITIATOR, RESPONDER] {
                while let Some(event) = self.ends[end].poll_event() {
                    quiet = false;
                    self.on_event(apps, end, event);
                }
                while let Some(id) = self.ends[end].poll_wake(self.now) {
                    quiet = false;
                    self.pump(end, id);
                }
            }
            if quiet {
                break;
            }
        }
        for end in [INITIATOR, RESPONDER] {
            let next = self.ends[end].poll_timeout().unwrap_or(Time::MAX);
            if next < self.timeouts[end] {
                self.timeouts[end] = next;
                self.happen(next.max(self.now), EndEvent::Timeout(end));
            }
        }
    }

    fn on_event(&mut self, apps: &mut impl Apps<P>, end: usize, event: Event) {
        self.hash(&[self.now.as_nanos(), end as u64]);
        if let Event::CarrierSuspected(id) = event
            && let Some(&carrier) = self.by_id[end].get(&id)
        {
            let link = self.carriers[carrier].link;
            if end == INITIATOR && self.current[link] == Some(carrier) {
                self.dial(link, Time::ZERO);
            }
        }
        apps.on_event(self.now, end, &mut self.ends[end], event);
    }

    fn pump(&mut self, end: usize, id: CarrierId) {
        let Some(&number) = self.by_id[end].get(&id) else {
            return;
        };
        if self.carriers[number].ids[end].is_none() {
            return;
        }
        loop {
            let pipe = &mut self.carriers[number].pipes[end];
            if !pipe.takes(LOW_WATER) {
                pipe.blocked = true;
                self.ends[end].blocked(id);
                break;
            }
            let Some(frame) = self.ends[end].poll_transmit(self.now, id) else {
                break;
            };
            pipe.push(frame);
            if !self.carriers[number].dead {
                self.transmit(number, end);
            }
        }
    }

    fn note(&mut self, frame: &Frame<P>, carrier: usize, from: usize) {
        let (kind, value) = match frame {
            Frame::Data { offset, .. } => (1, *offset),
            Frame::Ack { count } => (2, *count),
            Frame::Window { limit, .. } => (3, *limit),
            Frame::Reset { final_size, .. } => (4, *final_size),
            Frame::Stop { code, .. } | Frame::Close { code } => (5, u64::from(*code)),
            Frame::Ping { token } | Frame::Pong { token } => (6, *token),
            Frame::Terms { quota, .. } => (7, quota.unwrap_or(u64::MAX)),
        };
        let (carrier, from) = (carrier as u64, from as u64);
        self.hash(&[self.now.as_nanos(), carrier, from, kind, value]);
    }

    fn hash(&mut self, words: &[u64]) {
        for word in words {
            self.trace = (self.trace ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
