//! One direction of a TCP connection: a socket, a window, and frames in flight.
//!
//! This TCP has no timeout except for losses of the links, and then it resets only its window.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_striping::{Frame, Payload};

use super::link::{Link, MSS};

const INITIAL_WINDOW: u64 = 10 * MSS;
/// First retransmission timeout; it doubles.
const RTO: Time = Time::from_millis(200);

struct FrameInFlight<P> {
    /// `Some` until it has arrived.
    frame: Option<Frame<P>>,
    len: u64,
}

pub struct Pipe<P> {
    socket: VecDeque<(Frame<P>, u64)>,
    unsent: u64,
    /// Counted from `acknowledged` on.
    in_flight: VecDeque<FrameInFlight<P>>,
    under_way_bytes: u64,
    window: u64,
    pub arrived: u64,
    acknowledged: u64,
    /// Losses are repaired when this number of frames is acknowledged.
    lost: u64,
    timed: bool,
    retries: u32,
    pub blocked: bool,
    /// The last acknowledgement of the other end's TCP.
    pub heard_at: Time,
}

impl<P: Payload> Pipe<P> {
    pub fn new() -> Pipe<P> {
        Pipe {
            socket: VecDeque::new(),
            unsent: 0,
            in_flight: VecDeque::new(),
            under_way_bytes: 0,
            window: INITIAL_WINDOW,
            arrived: 0,
            acknowledged: 0,
            lost: 0,
            timed: false,
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
        self.socket.push_back((frame, len));
    }

    /// Returns the next frame that the window allows to be sent: its number and length.
    pub fn transmit(&mut self) -> Option<(u64, u64)> {
        if self.under_way_bytes >= self.window {
            return None;
        }
        let (frame, len) = self.socket.pop_front()?;
        self.unsent -= len;
        self.under_way_bytes += len;
        let frame = Some(frame);
        self.in_flight.push_back(FrameInFlight { frame, len });
        Some((self.sent() - 1, len))
    }

    pub fn is_sending(&self) -> bool {
        !self.in_flight.is_empty()
    }

    pub fn arrive(&mut self, number: u64) -> Option<Frame<P>> {
        if number != self.arrived {
            return None;
        }
        self.arrived += 1;
        let flight = &mut self.in_flight[(number - self.acknowledged) as usize];
        flight.frame.take()
    }

    pub fn acknowledge(&mut self, now: Time, count: u64, link: &Link) {
        self.heard_at = now;
        while self.acknowledged < count
            && let Some(FrameInFlight { len, .. }) = self.in_flight.pop_front()
        {
            self.acknowledged += 1;
            self.under_way_bytes -= len;
            self.window = (self.window + len).min(link.window().max(INITIAL_WINDOW));
            self.retries = 0;
        }
    }

    /// Loses the last of `count` frames, or its acknowledgement, at the time `at`. Returns when the
    /// retransmission timer expires, if it was not running.
    pub fn lose(&mut self, at: Time, count: u64, link: &Link) -> Option<Time> {
        self.lost = self.lost.max(count);
        if self.timed {
            return None;
        }
        self.timed = true;
        let wait = RTO * (1 << self.retries.min(8)) + link.delay * 2;
        self.retries += 1;
        Some(at + wait)
    }

    /// Handles the retransmission timer. Returns numbers and lengths of the frames to retransmit: all that
    /// have not arrived, or else the last, to get its acknowledgement.
    pub fn time_out(&mut self) -> Vec<(u64, u64)> {
        self.timed = false;
        if self.acknowledged >= self.lost {
            return Vec::new();
        }
        self.window = INITIAL_WINDOW;
        let from = self.arrived.min(self.sent() - 1);
        let len = |number| self.in_flight[(number - self.acknowledged) as usize].len;
        let again = from..self.sent();
        again.map(|number| (number, len(number))).collect()
    }

    fn sent(&self) -> u64 {
        self.acknowledged + self.in_flight.len() as u64
    }
}
