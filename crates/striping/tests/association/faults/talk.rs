//! A stream with data in both directions, and checks of its result.

use bytes::Bytes;
use ropewalk_quantities::Time;
use ropewalk_striping::{Association, StreamId};
use ropewalk_transport::Deadline;
use sha2::{Digest, Sha256};

use super::plan::Draw;

const WRITE: u64 = 40_000;

/// Limit of deadlines, from the start of the run.
const DUE_WITHIN_MS: u64 = 20_000;

#[derive(Default)]
struct Direction {
    size: u64,
    written: u64,
    sent: Sha256,
    read: Sha256,
    read_bytes: u64,
    finish_called: bool,
    finished: u32,
    /// The writer or the reader gave up: not all data need arrive.
    given_up: bool,
}

pub struct CheckedStream {
    pub opener: usize,
    pub stream: Option<StreamId>,
    /// By the end that reads.
    pub paused: [bool; 2],
    pub closed: [u32; 2],
    /// By the end that writes.
    directions: [Direction; 2],
    salt: u64,
}

impl CheckedStream {
    /// `sizes` by the end that writes.
    pub fn new(opener: usize, sizes: [u64; 2], salt: u64) -> CheckedStream {
        CheckedStream {
            opener,
            stream: None,
            paused: [false; 2],
            closed: [0; 2],
            directions: sizes.map(|size| Direction {
                size,
                ..Direction::default()
            }),
            salt,
        }
    }

    pub fn write(&mut self, end: usize, own: &mut Association<Bytes>, draw: &mut Draw) {
        let (Some(stream), salt) = (self.stream, self.salt) else {
            return;
        };
        let direction = &mut self.directions[end];
        while !direction.given_up && direction.written < direction.size {
            let most = (direction.size - direction.written).min(1 + draw.below(WRITE));
            let bytes: Vec<u8> = (direction.written..direction.written + most)
                .map(|at| byte(salt, end, at))
                .collect();
            let mut piece = Bytes::from(bytes);
            let whole = piece.clone();
            let taken = match draw.below(2) {
                0 => own.write(stream, &mut piece),
                _ => {
                    let due = Deadline {
                        at: Time::from_millis(draw.below(DUE_WITHIN_MS)),
                        span: Time::from_millis(draw.below(1000)),
                    };
                    own.write_by(stream, &mut piece, due)
                }
            };
            direction.sent.update(&whole[..taken]);
            direction.written += taken as u64;
            if taken < whole.len() {
                return;
            }
        }
        if !direction.finish_called {
            direction.finish_called = true;
            own.finish(stream);
        }
    }

    pub fn read(&mut self, now: Time, end: usize, own: &mut Association<Bytes>) -> u64 {
        let Some(stream) = self.stream.filter(|_| !self.paused[end]) else {
            return 0;
        };
        let direction = &mut self.directions[1 - end];
        let before = direction.read_bytes;
        while let Some(piece) = own.read(now, stream) {
            direction.read.update(&piece);
            direction.read_bytes += piece.len() as u64;
        }
        direction.read_bytes - before
    }

    pub fn reset(&mut self, end: usize, own: &mut Association<Bytes>) {
        if let Some(stream) = self.stream {
            self.directions[end].given_up = true;
            own.reset(stream, 1);
        }
    }

    pub fn stop(&mut self, end: usize, own: &mut Association<Bytes>) {
        if let Some(stream) = self.stream {
            self.directions[1 - end].given_up = true;
            own.stop(stream, 2);
        }
    }

    pub fn finished(&mut self, end: usize) {
        self.directions[1 - end].finished += 1;
    }

    pub fn was_reset(&mut self, end: usize) {
        if !self.directions[1 - end].given_up {
            self.directions[1 - end].finished += 100;
        }
    }

    pub fn was_stopped(&mut self, end: usize) {
        if !self.directions[end].given_up {
            self.directions[end].finished += 100;
        }
    }

    pub fn conclude(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (end, direction) in self.directions.iter().enumerate() {
            if direction.given_up {
                continue;
            }
            if (direction.written, direction.read_bytes) != (direction.size, direction.size) {
                wrong.push(format!(
                    "from end {end}: {} of {} bytes written, {} read",
                    direction.written, direction.size, direction.read_bytes
                ));
            } else if direction.sent.clone().finalize() != direction.read.clone().finalize() {
                wrong.push(format!("from end {end}: other bytes than were written"));
            }
            if direction.finished != 1 {
                wrong.push(format!(
                    "from end {end}: finished {} times",
                    direction.finished
                ));
            }
        }
        if self.closed != [1, 1] {
            wrong.push(format!("closed {:?} times", self.closed));
        }
        wrong
    }
}

/// The byte at a place of a stream: pseudo-random and reproducible (splitmix64).
fn byte(salt: u64, end: usize, at: u64) -> u8 {
    let word =
        (salt ^ (end as u64) << 63).wrapping_add((at / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (word ^ word >> 31).to_le_bytes()[(at % 8) as usize]
}
