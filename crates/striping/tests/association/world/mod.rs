//! A world of two ends and links between them, in virtual time.

mod pipe;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use ropewalk_quantities::Time;
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Config, Event, Frame, Payload, Role,
};

pub use pipe::Link;
use pipe::Pipe;

/// The near end, which dials.
pub const NEAR: usize = 0;
/// The far end.
pub const FAR: usize = 1;

/// A suspected link is dialled this often.
const DIAL: Time = Time::from_millis(250);

/// What the applications at both ends do.
pub trait Apps<P> {
    fn on_event(&mut self, now: Time, end: usize, own: &mut Association<P>, event: Event);
    /// A time that was asked for with [`World::at`] has come.
    fn on_tick(&mut self, world: &mut World<P>, token: u64);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Arrival {
        carrier: usize,
        direction: usize,
        generation: u64,
    },
    TcpAck {
        carrier: usize,
        direction: usize,
        len: u64,
    },
    Retry {
        carrier: usize,
        direction: usize,
    },
    Timeout(usize),
    Dial(usize),
    Connected(usize),
    Down {
        carrier: usize,
        end: usize,
    },
    Tick(u64),
}

struct Carrier<P> {
    link: usize,
    /// Its number at each end; `None` once it is down there.
    ids: [Option<CarrierId>; 2],
    /// By the end that sends.
    pipes: [Pipe<P>; 2],
    dead: bool,
}

pub struct World<P> {
    pub now: Time,
    pub ends: [Association<P>; 2],
    pub links: Vec<Link>,
    carriers: Vec<Carrier<P>>,
    by_id: [BTreeMap<CarrierId, usize>; 2],
    /// Per link, the carrier in use.
    current: Vec<Option<usize>>,
    dialling: Vec<bool>,
    happenings: BinaryHeap<Reverse<(Time, u64, Happening)>>,
    next_number: u64,
    timeouts: [Time; 2],
    low_water: u64,
    /// Of all frames and events with their times (FNV-1a).
    pub trace: u64,
    pub violations: Vec<String>,
}

impl<P: Payload> World<P> {
    /// All links are dialled at time zero.
    pub fn new(links: Vec<Link>, configs: [Config; 2]) -> World<P> {
        let [near, far] = configs;
        let count = links.len();
        let mut world = World {
            now: Time::ZERO,
            ends: [
                Association::new(Role::Initiator, near),
                Association::new(Role::Responder, far),
            ],
            links,
            carriers: Vec::new(),
            by_id: [BTreeMap::new(), BTreeMap::new()],
            current: vec![None; count],
            dialling: vec![true; count],
            happenings: BinaryHeap::new(),
            next_number: 0,
            timeouts: [Time::MAX; 2],
            low_water: 32 << 10,
            trace: 0xcbf2_9ce4_8422_2325,
            violations: Vec::new(),
        };
        for link in 0..count {
            world.happen(Time::ZERO, Happening::Dial(link));
        }
        world
    }

    /// The applications are called at `time` with this token.
    pub fn at(&mut self, time: Time, token: u64) {
        self.happen(time, Happening::Tick(token));
    }

    /// The link's connection breaks; each end learns of it after its own while. It is dialled anew.
    pub fn kill(&mut self, link: usize, learnt_after: [Time; 2]) {
        let Some(carrier) = self.current[link].take() else {
            return;
        };
        self.carriers[carrier].dead = true;
        for (end, after) in learnt_after.into_iter().enumerate() {
            self.happen(self.now + after, Happening::Down { carrier, end });
        }
        self.dial(link, learnt_after[NEAR]);
    }

    /// Lets time pass until `end`, or until nothing will ever happen.
    pub fn run(&mut self, apps: &mut impl Apps<P>, end: Time) {
        self.settle(apps);
        while let Some(&Reverse((at, _, happening))) = self.happenings.peek() {
            if at > end {
                break;
            }
            self.happenings.pop();
            self.now = at;
            if let Happening::Tick(token) = happening {
                apps.on_tick(self, token);
            } else {
                self.handle(happening);
            }
            self.settle(apps);
        }
        self.now = end;
    }

    fn happen(&mut self, at: Time, happening: Happening) {
        self.next_number += 1;
        self.happenings
            .push(Reverse((at, self.next_number, happening)));
    }

    fn handle(&mut self, happening: Happening) {
        match happening {
            Happening::Arrival {
                carrier,
                direction,
                generation,
            } => self.arrive(carrier, direction, generation),
            Happening::TcpAck {
                carrier,
                direction,
                len,
            } => {
                let Carrier {
                    link, pipes, dead, ..
                } = &mut self.carriers[carrier];
                if *dead {
                    return;
                }
                let link = &self.links[*link];
                if link.silent {
                    let later = self.now + Time::from_millis(200);
                    self.happen(later, happening);
                } else {
                    pipes[direction].acknowledged(self.now, len, link);
                    self.transmit(carrier, direction);
                }
            }
            Happening::Retry { carrier, direction } => self.retry(carrier, direction),
            Happening::Timeout(end) => {
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
            Happening::Dial(link) => self.connect(link),
            Happening::Connected(link) => self.connected(link),
            Happening::Down { carrier, end } => self.down(carrier, end),
            Happening::Tick(_) => {}
        }
    }

    fn arrive(&mut self, number: usize, direction: usize, generation: u64) {
        let carrier = &mut self.carriers[number];
        let pipe = &mut carrier.pipes[direction];
        if carrier.dead || pipe.generation != generation {
            return;
        }
        let link = &self.links[carrier.link];
        if link.silent {
            let at = pipe.stall(self.now, link);
            self.happen(
                at,
                Happening::Retry {
                    carrier: number,
                    direction,
                },
            );
            return;
        }
        let Some(flight) = pipe.under_way.pop_front() else {
            return;
        };
        let delay = link.delay;
        let to = 1 - direction;
        self.note(&flight.frame, number, direction);
        if let Some(id) = self.carriers[number].ids[to]
            && let Err(error) = self.ends[to].received(self.now, id, flight.frame)
        {
            self.violations.push(format!("{}: {error}", self.now));
        }
        let acknowledgement = Happening::TcpAck {
            carrier: number,
            direction,
            len: flight.len,
        };
        self.happen(self.now + delay, acknowledgement);
    }

    fn retry(&mut self, number: usize, direction: usize) {
        let carrier = &mut self.carriers[number];
        if carrier.dead {
            return;
        }
        let link = &mut self.links[carrier.link];
        let pipe = &mut carrier.pipes[direction];
        if link.silent {
            let at = pipe.stall(self.now, link);
            self.happen(
                at,
                Happening::Retry {
                    carrier: number,
                    direction,
                },
            );
            return;
        }
        let arrivals = pipe.resume(self.now, link);
        self.expect(number, direction, arrivals);
    }

    fn expect(&mut self, carrier: usize, direction: usize, arrivals: Vec<Time>) {
        let generation = self.carriers[carrier].pipes[direction].generation;
        for at in arrivals {
            self.happen(
                at,
                Happening::Arrival {
                    carrier,
                    direction,
                    generation,
                },
            );
        }
    }

    /// The socket hands on what its window allows, and tells the driver if it takes more again.
    fn transmit(&mut self, number: usize, direction: usize) {
        let carrier = &mut self.carriers[number];
        let pipe = &mut carrier.pipes[direction];
        let arrivals = pipe.transmit(self.now, &mut self.links[carrier.link]);
        if pipe.blocked && pipe.takes(self.low_water) {
            pipe.blocked = false;
            if let Some(id) = carrier.ids[direction] {
                self.ends[direction].writable(id);
            }
        }
        self.expect(number, direction, arrivals);
    }

    fn dial(&mut self, link: usize, after: Time) {
        if !self.dialling[link] {
            self.dialling[link] = true;
            self.happen(self.now + after, Happening::Dial(link));
        }
    }

    fn connect(&mut self, link: usize) {
        let delay = self.links[link].delay;
        if self.links[link].silent {
            self.happen(self.now + DIAL, Happening::Dial(link));
        } else {
            // Two round trips: TCP's handshake and ours.
            self.happen(self.now + delay * 4, Happening::Connected(link));
        }
    }

    fn connected(&mut self, link: usize) {
        if self.links[link].silent {
            self.happen(self.now + DIAL, Happening::Dial(link));
            return;
        }
        self.dialling[link] = false;
        let config = CarrierConfig {
            link: link as u32,
            rtt: Some(self.links[link].delay * 2),
            ..CarrierConfig::default()
        };
        let number = self.carriers.len();
        let ids = [NEAR, FAR].map(|end| self.ends[end].carrier_up(self.now, config));
        for end in [NEAR, FAR] {
            self.by_id[end].insert(ids[end], number);
        }
        self.carriers.push(Carrier {
            link,
            ids: ids.map(Some),
            pipes: [Pipe::new(NEAR), Pipe::new(FAR)],
            dead: false,
        });
        if let Some(old) = self.current[link].replace(number) {
            self.carriers[old].dead = true;
            self.down(old, NEAR);
            self.down(old, FAR);
        }
    }

    fn down(&mut self, carrier: usize, end: usize) {
        if let Some(id) = self.carriers[carrier].ids[end].take() {
            self.ends[end].carrier_down(self.now, id);
        }
    }

    /// What a driver does after each call.
    fn settle(&mut self, apps: &mut impl Apps<P>) {
        loop {
            let mut quiet = true;
            for end in [NEAR, FAR] {
                while let Some(event) = self.ends[end].poll_event() {
                    quiet = false;
                    self.on_event(apps, end, event);
                }
            }
            if quiet {
                break;
            }
        }
        for end in [NEAR, FAR] {
            let next = self.ends[end].poll_timeout().unwrap_or(Time::MAX);
            if next < self.timeouts[end] {
                self.timeouts[end] = next;
                self.happen(next.max(self.now), Happening::Timeout(end));
            }
        }
    }

    fn on_event(&mut self, apps: &mut impl Apps<P>, end: usize, event: Event) {
        self.hash(&[self.now.as_nanos(), end as u64]);
        match event {
            Event::CarrierWake(id) => self.pump(end, id),
            Event::CarrierSuspected(id) => {
                if let Some(&carrier) = self.by_id[end].get(&id) {
                    let link = self.carriers[carrier].link;
                    if end == NEAR && self.current[link] == Some(carrier) {
                        self.dial(link, Time::ZERO);
                    }
                }
            }
            _ => {}
        }
        apps.on_event(self.now, end, &mut self.ends[end], event);
    }

    /// Asks for frames until there are none, or the socket is full.
    fn pump(&mut self, end: usize, id: CarrierId) {
        let Some(&number) = self.by_id[end].get(&id) else {
            return;
        };
        if self.carriers[number].ids[end].is_none() {
            return;
        }
        loop {
            let pipe = &mut self.carriers[number].pipes[end];
            if !pipe.takes(self.low_water) {
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

    fn note(&mut self, frame: &Frame<P>, carrier: usize, direction: usize) {
        let (kind, value) = match frame {
            Frame::Data { offset, .. } => (1, *offset),
            Frame::Ack { count } => (2, *count),
            Frame::Window { limit, .. } => (3, *limit),
            Frame::Reset { final_size, .. } => (4, *final_size),
            Frame::Stop { code, .. } | Frame::Close { code } => (5, u64::from(*code)),
            Frame::Ping { token } | Frame::Pong { token } => (6, *token),
        };
        let place = (carrier * 2 + direction) as u64;
        self.hash(&[self.now.as_nanos(), place, kind, value]);
    }

    fn hash(&mut self, words: &[u64]) {
        for word in words {
            self.trace = (self.trace ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
