//! Random adversaries as the peer of an association, in virtual time.

use bytes::Bytes;
use ropewalk_quantities::{Bytes as Amount, Time};
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Config, Event, Frame, ProtocolError, Role,
};

use crate::draw::Draw;
use crate::memory::held;

pub const BOUND: u64 = 16 << 20;
const CHANGE_INTERVAL: u64 = 2_000;
/// Longest queue of carriers at the driver: it polls no more frames until the peer reads.
const QUEUE: u64 = 64 << 10;

#[derive(Debug, Default)]
pub struct Outcome {
    /// Most memory above that of an idle association, and the rest of it once the peer has gone.
    pub most: usize,
    pub left: usize,
    /// The parameters that took the most memory.
    pub greedy: String,
    /// The protocol error that ended the association.
    pub refused: Option<ProtocolError>,
    /// Its memory by its own count at that time.
    pub counted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Parameters {
    carriers: u64,
    streams: u64,
    len: u64,
    offsets: Offsets,
    /// Interval of frames other than data, in frames.
    others: u64,
    /// How often the peer acknowledges, reads its connections, and the application here reads.
    acknowledges: u64,
    accepts: u64,
    reads: u64,
    /// Bytes that the application here writes with each frame.
    writes: u64,
    wait: u64,
}

#[derive(Clone, Copy, Debug)]
enum Offsets {
    Next,
    EverySecond,
    Descending,
    Any,
}

impl Parameters {
    fn new(draw: &mut Draw) -> Parameters {
        Parameters {
            carriers: draw.one(&[1, 2, 8]),
            streams: draw.one(&[1, 10, 1000, 4096]),
            len: draw.one(&[1, 1, 100, 1400, 60_000]),
            offsets: draw.one(&[
                Offsets::Next,
                Offsets::EverySecond,
                Offsets::Descending,
                Offsets::Any,
            ]),
            others: draw.one(&[1, 2, 100]),
            acknowledges: draw.one(&[1, 100, 1_000_000]),
            accepts: draw.one(&[1, 100, 1_000_000]),
            reads: draw.one(&[1, 100, 1_000_000]),
            writes: draw.one(&[0, 0, 100, 10_000]),
            wait: draw.one(&[1, 100, 10_000]),
        }
    }
}

struct Run {
    draw: Draw,
    parameters: Parameters,
    own: Association<Bytes>,
    carriers: Vec<CarrierId>,
    /// For each carrier: bytes queued in its connection, and frames sent that must be acknowledged.
    sent: Vec<(u64, u64)>,
    number: u64,
}

pub fn run(seed: u64, frames: u64) -> Outcome {
    let mut draw = Draw::new(seed);
    let mut now = Time::from_secs(100);
    let idle = held().0;
    let mut run = Run {
        parameters: Parameters::new(&mut draw),
        draw,
        own: Association::new(
            Role::Responder,
            Config {
                memory: Amount::new(BOUND),
                ..Config::default()
            },
        ),
        carriers: Vec::new(),
        sent: vec![(0, 0); 8],
        number: 0,
    };
    for _ in 0..8 {
        run.carriers
            .push(run.own.carrier_up(now, CarrierConfig::default()));
    }
    let mut outcome = Outcome::default();
    for number in 1..=frames {
        now += Time::from_micros(1 + run.draw.below(2 * run.parameters.wait));
        outcome.refused = run.act(now).err();
        let most = held().1.saturating_sub(idle);
        if most > outcome.most {
            outcome.most = most;
            outcome.counted = run.own.cost();
            outcome.greedy = format!("{:?}", run.parameters);
        }
        if outcome.refused.is_some() {
            break;
        }
        if number % CHANGE_INTERVAL == 0 {
            run.parameters = Parameters::new(&mut run.draw);
        }
    }
    for carrier in std::mem::take(&mut run.carriers) {
        run.own.carrier_down(now, carrier);
    }
    while let Some(due) = run.own.poll_timeout() {
        run.own.handle_timeout(due);
    }
    while run.own.poll_event().is_some() {}
    drop(run.carriers);
    outcome.left = held().0.saturating_sub(idle);
    outcome
}

impl Run {
    fn act(&mut self, now: Time) -> Result<(), ProtocolError> {
        let carrier = self.draw.below(self.parameters.carriers) as usize;
        let frame = self.frame(carrier);
        self.own.received(now, self.carriers[carrier], frame)?;
        if self.own.poll_timeout().is_some_and(|at| at <= now) {
            self.own.handle_timeout(now);
        }
        if self.draw.once_in(self.parameters.accepts) {
            self.sent.iter_mut().for_each(|(waiting, _)| *waiting = 0);
        }
        for number in 0..self.carriers.len() {
            while self.sent[number].0 < QUEUE
                && let Some(frame) = self.own.poll_transmit(now, self.carriers[number])
            {
                self.sent[number].0 += 32;
                self.sent[number].1 += u64::from(is_acknowledged(&frame));
                if let Frame::Data { payload, .. } = frame {
                    self.sent[number].0 += payload.len() as u64;
                }
            }
        }
        let reads = self.draw.once_in(self.parameters.reads);
        while let Some(event) = self.own.poll_event() {
            match event {
                Event::StreamOpened(stream) | Event::Readable(stream) if reads => {
                    while self.own.read(now, stream).is_some() {}
                }
                Event::StreamOpened(stream) if self.parameters.writes > 0 => {
                    let mut payload = Bytes::from(vec![0; self.parameters.writes as usize]);
                    let _ = self.own.write(stream, &mut payload);
                }
                _ => {}
            }
        }
        let cost = self.own.cost();
        self.own.set_short(cost > BOUND / 2);
        if cost > BOUND {
            self.own.free_memory(cost - BOUND);
        }
        Ok(())
    }

    fn frame(&mut self, carrier: usize) -> Frame<Bytes> {
        self.number += 1;
        let parameters = self.parameters;
        let stream = 1 + 2 * self.draw.below(parameters.streams) as u32;
        if self.draw.once_in(parameters.acknowledges) {
            let count = self.sent[carrier].1;
            return Frame::Ack { count };
        }
        if !self.draw.once_in(parameters.others) {
            return self.data(stream);
        }
        let code = self.number as u32;
        match self.draw.below(7) {
            0 => Frame::Ping { token: self.number },
            1 => Frame::Window {
                stream,
                limit: self.draw.magnitude(40),
            },
            2 => Frame::Stop { stream, code },
            3 => Frame::Pong { token: self.number },
            4 => Frame::Reset {
                stream,
                code,
                final_size: 4 << 20,
            },
            5 => Frame::Terms {
                cost: code,
                quota: self.draw.once_in(2).then_some(self.number),
                rate: Some(1 + self.draw.magnitude(40)),
            },
            _ => self.data(stream),
        }
    }

    fn data(&mut self, stream: u32) -> Frame<Bytes> {
        const WINDOW: u64 = 64 << 10;
        let len = self.parameters.len;
        // More pieces of a stream are refused.
        const PIECES: u64 = 4000;
        let places = (WINDOW / len).min(PIECES);
        let offset = match self.parameters.offsets {
            Offsets::Next => self.number % places * len,
            Offsets::EverySecond => self.number % places.div_ceil(2) * 2 * len,
            Offsets::Descending => (places - 1 - self.number % places) * len,
            Offsets::Any => self.draw.below(places) * len,
        };
        Frame::Data {
            stream,
            offset: offset.min(WINDOW - len),
            fin: false,
            payload: Bytes::from(vec![0; len as usize]),
        }
    }
}

fn is_acknowledged(frame: &Frame<Bytes>) -> bool {
    matches!(
        frame,
        Frame::Data { .. } | Frame::Window { .. } | Frame::Reset { .. } | Frame::Stop { .. }
    )
}
