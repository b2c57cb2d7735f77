//! A bulk transfer from the initiator to the responder.

use ropewalk_quantities::Time;
use ropewalk_striping::{Association, Event, Length, StreamId};

use crate::simulation::{Apps, INITIATOR, RESPONDER, Simulation};

#[derive(Default)]
pub struct Bulk {
    stream: Option<StreamId>,
    pub read: u64,
    read_at: Time,
    /// The longest time without a byte, of the gaps that end from `from` on.
    from: Time,
    pub longest: Time,
}

impl Bulk {
    pub fn timed_from(from: Time) -> Bulk {
        Bulk {
            from,
            ..Bulk::default()
        }
    }

    fn fill(&self, own: &mut Association<Length>) {
        if let Some(stream) = self.stream {
            fill(own, stream);
        }
    }
}

pub fn fill(own: &mut Association<Length>, stream: StreamId) {
    while own.write(stream, &mut Length(64 << 10)) == 64 << 10 {}
}

impl Apps<Length> for Bulk {
    fn on_event(&mut self, now: Time, end: usize, own: &mut Association<Length>, event: Event) {
        match event {
            Event::Writable(_) if end == INITIATOR => self.fill(own),
            Event::Readable(stream) if end == RESPONDER => {
                while let Some(piece) = own.read(now, stream) {
                    self.read += piece.0 as u64;
                    if now >= self.from {
                        self.longest = self.longest.max(now - self.read_at);
                    }
                    self.read_at = now;
                }
            }
            _ => {}
        }
    }

    fn on_tick(&mut self, simulation: &mut Simulation<Length>, _token: u64) {
        self.stream = simulation.ends[INITIATOR].open();
        self.fill(&mut simulation.ends[INITIATOR]);
    }
}
