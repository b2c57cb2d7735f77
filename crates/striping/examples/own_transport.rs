//! An association over a transport of your own: 2 MB over two byte pipes. One pipe breaks.
//!
//!     cargo run -p ropewalk-striping --example own_transport
//!
//! An association needs carriers: reliable byte streams in order, such as TCP connections, QUIC streams or
//! serial lines. Here they are [`Pipe`]s with a rate and a delay, in virtual time. The driver has five duties:
//!
//! 1. report carriers (`carrier_up`, `carrier_down`);
//! 2. poll each carrier for frames and write them to its pipe (`poll_transmit`);
//! 3. report a pipe that takes no more (`blocked`) and one that does again (`writable`);
//! 4. hand over frames that arrive (`received`) and timers that expire (`handle_timeout`);
//! 5. take events (`poll_event`) and act on them: write, read, finish.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use ropewalk_quantities::{self as quantities, Rate, Time};
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Config, Event, Frame, ProtocolError, Role, StreamId,
};

/// Rate in Mbit/s and one-way delay in milliseconds of each pipe.
const PIPES: [(f64, u64); 2] = [(16.0, 15), (12.0, 40)];
const BREAKS_AT: Time = Time::from_millis(400);
/// A pipe that needs longer than this for the bytes given to it takes no more.
const FULL: Time = Time::from_millis(20);
const TRANSFER: usize = 2_000_000;

struct Pipe {
    rate: Rate,
    delay: Time,
    /// When all bytes given to it have left.
    busy_until: Time,
    is_full: bool,
    /// Bytes in flight with their times of arrival.
    in_flight: VecDeque<(Time, Bytes)>,
}

impl Pipe {
    fn write(&mut self, now: Time, bytes: Bytes) {
        let len = quantities::Bytes::new(bytes.len() as u64);
        self.busy_until = self.busy_until.max(now) + self.rate.transmission_time(len);
        self.is_full = self.busy_until > now + FULL;
        let arrival = self.busy_until + self.delay;
        self.in_flight.push_back((arrival, bytes));
    }

    /// The next piece that has arrived by `now`.
    fn arrived(&mut self, now: Time) -> Option<Bytes> {
        let (arrival, _) = self.in_flight.front()?;
        if *arrival > now {
            return None;
        }
        self.in_flight.pop_front().map(|(_, bytes)| bytes)
    }

    /// Returns the time of the next arrival, or when it takes more.
    fn next(&self) -> Option<Time> {
        let arrival = self.in_flight.front().map(|(arrival, _)| *arrival);
        let room = self.is_full.then_some(self.busy_until);
        arrival.into_iter().chain(room).min()
    }
}

struct End {
    association: Association<Bytes>,
    carriers: Vec<(CarrierId, Pipe)>,
}

impl End {
    fn new(role: Role) -> End {
        let mut association = Association::new(role, Config::default());
        let pipe = |(number, (mbps, delay)): (usize, (f64, u64))| {
            let config = CarrierConfig {
                link: number as u32,
                ..CarrierConfig::default()
            };
            let pipe = Pipe {
                rate: Rate::from_mbps(mbps),
                delay: Time::from_millis(delay),
                busy_until: Time::ZERO,
                is_full: false,
                in_flight: VecDeque::new(),
            };
            (association.carrier_up(Time::ZERO, config), pipe)
        };
        let carriers = PIPES.into_iter().enumerate().map(pipe).collect();
        End {
            association,
            carriers,
        }
    }

    /// Writes all frames that the association has now to the pipes, as bytes.
    fn transmit(&mut self, now: Time) {
        for (id, pipe) in &mut self.carriers {
            while let Some(frame) = self.association.poll_transmit(now, *id) {
                let empty = Bytes::new();
                let payload = match &frame {
                    Frame::Data { payload, .. } => payload,
                    _ => &empty,
                };
                let mut bytes = BytesMut::zeroed(frame.header_len());
                frame.emit_header(payload.len(), &mut bytes);
                bytes.extend_from_slice(payload);
                pipe.write(now, bytes.freeze());
                if pipe.is_full {
                    self.association.blocked(*id);
                }
            }
        }
    }

    /// Hands over one frame that has arrived on a carrier. A real driver cuts frames out of a byte stream;
    /// here each piece is one frame.
    fn receive(
        &mut self,
        now: Time,
        carrier: usize,
        mut piece: Bytes,
    ) -> Result<(), ProtocolError> {
        let (frame, header_len) = Frame::parse(&piece)
            .expect("the other end is this program")
            .expect("a piece has a whole frame");
        let payload = piece.split_off(header_len);
        let id = self.carriers[carrier].0;
        let frame = frame.map(|len| payload.slice(..len));
        self.association.received(now, id, frame)
    }
}

struct Transferred {
    received: Vec<u8>,
    took: Time,
    resent: u64,
}

/// Sends `content` on one stream; returns the data read at the other end.
fn transfer(content: &[u8], breaks_at: Time) -> Result<Transferred, ProtocolError> {
    let mut ends = [End::new(Role::Initiator), End::new(Role::Responder)];
    let mut unwritten = Bytes::copy_from_slice(content);
    let mut received = Vec::new();
    let mut now = Time::ZERO;
    let mut is_broken = false;
    let stream = ends[0].association.open().expect("numbers are left");
    write(&mut ends[0].association, stream, &mut unwritten);
    loop {
        while let Some(event) = ends[0].association.poll_event() {
            if event == Event::Writable(stream) {
                write(&mut ends[0].association, stream, &mut unwritten);
            }
        }
        let reader = &mut ends[1].association;
        while let Some(event) = reader.poll_event() {
            match event {
                Event::StreamOpened(stream) | Event::Readable(stream) => {
                    while let Some(piece) = reader.read(now, stream) {
                        received.extend_from_slice(&piece);
                    }
                }
                Event::StreamFinished(_) => {
                    let resent = ends[0].association.resent().as_u64();
                    return Ok(Transferred {
                        received,
                        took: now,
                        resent,
                    });
                }
                _ => {}
            }
        }
        for end in &mut ends {
            end.transmit(now);
        }
        let pipes = ends.iter().flat_map(|end| &end.carriers);
        let next = pipes.filter_map(|(_, pipe)| pipe.next()).min();
        let timers = ends.iter_mut().map(|end| end.association.poll_timeout());
        let breaks = (!is_broken).then_some(breaks_at);
        let next = timers.chain([next, breaks]).flatten().min();
        now = now.max(next.expect("an association with an open stream has a timer"));
        if !is_broken && now >= breaks_at {
            is_broken = true;
            for end in &mut ends {
                if let Some((id, _)) = end.carriers.pop() {
                    end.association.carrier_down(now, id);
                }
            }
        }
        move_bytes(&mut ends, now)?;
    }
}

/// Writes as much as the stream has space for; finishes it after the last byte.
fn write(association: &mut Association<Bytes>, stream: StreamId, unwritten: &mut Bytes) {
    association.write(stream, unwritten);
    if unwritten.is_empty() {
        association.finish(stream);
    }
}

/// Delivers pieces that arrive by `now`, fills pipes that have room, and runs timers that expired.
fn move_bytes(ends: &mut [End; 2], now: Time) -> Result<(), ProtocolError> {
    for sender in 0..2 {
        for carrier in 0..ends[sender].carriers.len() {
            let (id, pipe) = &mut ends[sender].carriers[carrier];
            if pipe.is_full && pipe.busy_until <= now {
                pipe.is_full = false;
                ends[sender].association.writable(*id);
            }
            while let Some(piece) = ends[sender].carriers[carrier].1.arrived(now) {
                ends[1 - sender].receive(now, carrier, piece)?;
            }
        }
        let association = &mut ends[sender].association;
        if association.poll_timeout().is_some_and(|at| at <= now) {
            association.handle_timeout(now);
        }
    }
    Ok(())
}

fn content() -> Vec<u8> {
    (0..TRANSFER).map(|at| (at % 251) as u8).collect()
}

fn main() -> Result<(), ProtocolError> {
    let content = content();
    for (name, breaks_at) in [("both pipes", Time::MAX), ("one breaks", BREAKS_AT)] {
        let done = transfer(&content, breaks_at)?;
        println!(
            "{name}: {} bytes in {}, {} bytes retransmitted",
            done.received.len(),
            done.took,
            done.resent
        );
    }
    Ok(())
}

#[test]
fn the_stream_arrives_in_order_over_both_pipes() {
    let content = content();
    let done = transfer(&content, Time::MAX).unwrap();
    assert!(done.received == content);
    // The faster pipe alone, at 16 Mbit/s, takes 1 s.
    assert!(done.took < Time::from_millis(900), "{}", done.took);
}

#[test]
fn a_broken_pipe_loses_nothing() {
    let content = content();
    let done = transfer(&content, BREAKS_AT).unwrap();
    assert!(done.received == content);
    assert!(done.resent > 0);
    assert!(done.took > Time::from_millis(750), "{}", done.took);
}
