//! One direction of a TCP connection: a socket, a window, and what is under way.

use std::collections::VecDeque;

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::{Frame, Payload};

const MSS: u64 = 1448;
/// IPv4, TCP and its timestamps, on each segment.
const SEGMENT_HEADERS: u64 = 52;
const INITIAL_WINDOW: u64 = 10 * MSS;
/// First retransmission timeout; it doubles.
const RTO: Time = Time::from_millis(200);

/// A link that several connections may share; each direction is a queue of its own, which never
/// drops.
#[derive(Clone, Debug)]
pub struct Link {
    pub rate: Rate,
    /// One way.
    pub delay: Time,
    /// Nothing passes, and nobody is told.
    pub silent: bool,
    /// The rate is divided by this.
    pub slowed: u64,
    busy_until: [Time; 2],
}

impl Link {
    pub fn new(rate: Rate, delay: Time) -> Link {
        Link {
            rate,
            delay,
            silent: false,
            slowed: 1,
            busy_until: [Time::ZERO; 2],
        }
    }

    /// When what is sent now is at the other end.
    fn carry(&mut self, now: Time, direction: usize, len: u64) -> Time {
        let wire = len + len.div_ceil(MSS) * SEGMENT_HEADERS;
        let takes = self.rate.transmission_time(Bytes::new(wire)) * self.slowed;
        let departs = self.busy_until[direction].max(now) + takes;
        self.busy_until[direction] = departs;
        departs + self.delay
    }

    /// What fills the link and a queue of as much.
    fn window(&self) -> u64 {
        (self.rate.bytes_in(self.delay * 4).as_u64()).max(INITIAL_WINDOW)
    }
}

pub struct Flight<P> {
    pub frame: Frame<P>,
    pub len: u64,
}

pub struct Pipe<P> {
    direction: usize,
    socket: VecDeque<Flight<P>>,
    unsent: u64,
    pub under_way: VecDeque<Flight<P>>,
    under_way_bytes: u64,
    window: u64,
    /// Grows when what was under way has to be sent again; what was to arrive then does not.
    pub generation: u64,
    pub stalled: bool,
    retries: u32,
    /// The driver was told that the socket is full.
    pub blocked: bool,
    /// The last acknowledgement of the other end's TCP.
    pub heard_at: Time,
}

impl<P: Payload> Pipe<P> {
    pub fn new(direction: usize) -> Pipe<P> {
        Pipe {
            direction,
            socket: VecDeque::new(),
            unsent: 0,
            under_way: VecDeque::new(),
            under_way_bytes: 0,
            window: INITIAL_WINDOW,
            generation: 0,
            stalled: false,
            retries: 0,
            blocked: false,
            heard_at: Time::ZERO,
        }
    }

    /// Whether the socket takes another frame, with a low-water mark as TCP_NOTSENT_LOWAT.
    pub fn takes(&self, low_water: u64) -> bool {
        self.unsent < low_water
    }

    pub fn push(&mut self, frame: Frame<P>) {
        let payload = match &frame {
            Frame::Data { payload, .. } => payload.len(),
            _ => 0,
        };
        let len = (frame.header_len() + payload) as u64;
        self.unsent += len;
        self.socket.push_back(Flight { frame, len });
    }

    /// Sends what the window allows; says when each frame will be there.
    pub fn transmit(&mut self, now: Time, link: &mut Link) -> Vec<Time> {
        let mut arrivals = Vec::new();
        while !self.stalled && self.under_way_bytes < self.window {
            let Some(flight) = self.socket.pop_front() else {
                break;
            };
            self.unsent -= flight.len;
            self.under_way_bytes += flight.len;
            arrivals.push(link.carry(now, self.direction, flight.len));
            self.under_way.push_back(flight);
        }
        arrivals
    }

    /// A frame arrives in silence: when its sender tries again.
    pub fn stall(&mut self, now: Time, link: &Link) -> Time {
        if !self.stalled {
            self.stalled = true;
            self.retries = 0;
            self.generation += 1;
        }
        let wait = RTO * (1 << self.retries.min(8)) + link.delay * 2;
        self.retries += 1;
        now + wait
    }

    /// All that was under way is sent again; says when each frame will be there.
    pub fn resume(&mut self, now: Time, link: &mut Link) -> Vec<Time> {
        self.stalled = false;
        self.window = INITIAL_WINDOW;
        let again = self.under_way.iter();
        again
            .map(|flight| link.carry(now, self.direction, flight.len))
            .collect()
    }

    /// The other end's TCP has so many bytes.
    pub fn acknowledged(&mut self, now: Time, len: u64, link: &Link) {
        self.heard_at = now;
        self.under_way_bytes -= len;
        self.window = (self.window + len).min(link.window());
    }
}
