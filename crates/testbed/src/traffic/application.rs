//! Writes of the client's application.

use ropewalk_quantities::Time;
use ropewalk_simulator::{Histogram, MessageSchedule};

use super::connection_plan::ConnectionPlan;
use super::pattern::Pattern;

pub(crate) struct Application {
    /// Due times of messages; `None` for a bulk transfer.
    schedule: Option<MessageSchedule>,
    size: Option<u64>,
    due: u64,
    pub(crate) written: u64,
    /// Write times minus due times of messages, while the socket has space.
    pub(crate) lateness: Histogram,
}

impl Application {
    pub(crate) fn new(plan: &ConnectionPlan) -> Application {
        Application {
            schedule: plan.schedule(),
            size: plan.size(),
            due: 0,
            written: 0,
            lateness: Histogram::new(),
        }
    }

    pub(crate) fn is_bulk(&self) -> bool {
        self.schedule.is_none()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.size == Some(self.written)
    }

    /// Makes due messages writable; `blocked`: earlier ones still wait for space in the socket.
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

    pub(crate) fn next(&self) -> Option<Time> {
        self.schedule.as_ref().map(MessageSchedule::next)
    }

    pub(crate) fn writable(&self) -> u64 {
        match (&self.schedule, self.size) {
            (Some(_), _) => self.due - self.written,
            (None, Some(size)) => size - self.written,
            (None, None) => u64::MAX,
        }
    }
}

pub(crate) struct Chunk {
    pattern: Pattern,
    bytes: Box<[u8]>,
    offset: u64,
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

    /// The stream's bytes from this offset: at least one and at most `most`.
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

/// Largest write: fits the second-level cache, together with the kernel's data.
const CHUNK: usize = 128 << 10;
