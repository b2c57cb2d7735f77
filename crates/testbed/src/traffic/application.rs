//! What the client's application writes, and when.

use ropewalk_quantities::Time;
use ropewalk_simulator::{Histogram, Schedule};

use super::pattern::Pattern;
use super::plan::Plan;

/// The data that the application has to write, as in the simulator.
pub(crate) struct Application {
    /// When messages are due; a bulk transfer writes as much as the socket takes.
    schedule: Option<Schedule>,
    /// The size of a finite transfer.
    size: Option<u64>,
    /// The bytes of the messages that have been due so far.
    due: u64,
    pub(crate) written: u64,
    /// The times from when messages were due to when they were written to a socket that had room.
    pub(crate) lateness: Histogram,
}

impl Application {
    pub(crate) fn new(plan: &Plan) -> Application {
        Application {
            schedule: plan.schedule(),
            size: plan.size(),
            due: 0,
            written: 0,
            lateness: Histogram::new(),
        }
    }

    /// Whether it writes as much as the socket takes.
    pub(crate) fn is_bulk(&self) -> bool {
        self.schedule.is_none()
    }

    /// Whether a finite transfer has been written completely.
    pub(crate) fn is_done(&self) -> bool {
        self.size == Some(self.written)
    }

    /// Marks the messages whose time has come as ready to be written; `blocked` is whether earlier ones still
    /// wait because the socket had no room.
    pub(crate) fn produce(&mut self, now: Time, blocked: bool) {
        while let Some(schedule) = &mut self.schedule
            && schedule.next() <= now
        {
            self.due += schedule.message();
            if !blocked {
                self.lateness.record(now - schedule.next());
            }
            schedule.advance();
        }
    }

    /// When the next message is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.schedule.as_ref().map(Schedule::next)
    }

    /// How many bytes it has to write now.
    pub(crate) fn writable(&self) -> u64 {
        match (&self.schedule, self.size) {
            (Some(_), _) => self.due - self.written,
            (None, Some(size)) => size - self.written,
            (None, None) => u64::MAX,
        }
    }
}

/// A part of the stream in memory.
pub(crate) struct Chunk {
    pattern: Pattern,
    bytes: Box<[u8]>,
    /// The offset of the first byte.
    offset: u64,
    /// How many bytes of the stream it has.
    filled: usize,
}

impl Chunk {
    pub(crate) fn new(pattern: Pattern) -> Chunk {
        Chunk {
            pattern,
            bytes: vec![0; CHUNK].into_boxed_slice(),
            offset: 0,
            filled: 0,
        }
    }

    /// Bytes of the stream from this offset on: at least one and at most this many.
    pub(crate) fn at(&mut self, offset: u64, most: u64) -> &[u8] {
        if offset >= self.offset + self.filled as u64 {
            self.offset = offset;
            self.filled = (self.bytes.len() as u64).min(most.max(1)) as usize;
            self.pattern.fill(offset, &mut self.bytes[..self.filled]);
        }
        let from = (offset - self.offset) as usize;
        let to = (from as u64).saturating_add(most).min(self.filled as u64);
        &self.bytes[from..to as usize]
    }
}

/// The largest write: it fits the second-level cache, together with what the kernel needs.
const CHUNK: usize = 128 << 10;
