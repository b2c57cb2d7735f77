//! Messages at a constant rate from the initiator to the responder, alone or next to a bulk transfer.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_striping::{Association, Event, Length, StreamId};

use crate::bulk::fill;
use crate::simulation::{Apps, INITIATOR, RESPONDER, Simulation};

pub struct Messages {
    len: usize,
    every: Time,
    beside_bulk: bool,
    stream: Option<StreamId>,
    bulk: Option<StreamId>,
    written: VecDeque<Time>,
    partly: usize,
    /// When each was written, and how long after that it was read.
    pub delays: Vec<(Time, Time)>,
}

impl Messages {
    pub fn new(len: usize, every: Time, beside_bulk: bool) -> Messages {
        Messages {
            len,
            every,
            beside_bulk,
            stream: None,
            bulk: None,
            written: VecDeque::new(),
            partly: 0,
            delays: Vec::new(),
        }
    }

    fn fill(&self, own: &mut Association<Length>) {
        if let Some(stream) = self.bulk {
            fill(own, stream);
        }
    }
}

impl Apps<Length> for Messages {
    fn on_event(&mut self, now: Time, end: usize, own: &mut Association<Length>, event: Event) {
        match event {
            Event::Writable(_) if end == INITIATOR => self.fill(own),
            Event::Readable(stream) if end == RESPONDER => {
                while let Some(piece) = own.read(now, stream) {
                    if Some(stream) == self.stream {
                        self.partly += piece.0;
                    }
                }
                while self.partly >= self.len {
                    self.partly -= self.len;
                    let written = self.written.pop_front().expect("none comes twice");
                    self.delays.push((written, now - written));
                }
            }
            _ => {}
        }
    }

    fn on_tick(&mut self, simulation: &mut Simulation<Length>, token: u64) {
        let now = simulation.now;
        let near = &mut simulation.ends[INITIATOR];
        if self.stream.is_none() {
            self.stream = near.open();
            if self.beside_bulk {
                self.bulk = near.open();
                self.fill(near);
            }
        }
        if let Some(stream) = self.stream {
            assert_eq!(near.write(stream, &mut Length(self.len)), self.len);
            self.written.push_back(now);
        }
        simulation.at(now + self.every, token);
    }
}
