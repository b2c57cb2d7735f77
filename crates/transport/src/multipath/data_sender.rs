use ropewalk_quantities::Time;

use crate::memory::{MIN_SEND_BUFFER, send_buffer_for, sent_overhead, write_piece};
use crate::range_set::RangeSet;
use crate::{Config, Deadline, Deadlines};

/// Sender of the connection's stream: written, assigned and acknowledged data, and data to reinject.
#[derive(Clone, Debug)]
pub(crate) struct DataSender {
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    written: u64,
    /// `None` if no data were written with a deadline.
    deadlines: Option<Box<Deadlines>>,
    pub(crate) closed: bool,
    edge: u64,
    pub(crate) window_max: u64,
    capacity: u64,
    /// The buffer grows with the congestion window, and a blocked application may write again when a third of
    /// it is free (`sk_stream_is_writeable`).
    pub(crate) grows: bool,
    /// Memory overhead of sent data over their payload, in 1024ths.
    overhead: u32,
    /// Granularity of writes: a whole piece is taken if there is space for a byte.
    piece: u32,
    pub(crate) blocked: bool,
    /// Data to reinject: in flight on a failed or timed-out subflow.
    pub(crate) reinject: RangeSet,
    /// End of the data sent by opportunistic retransmission.
    pub(crate) opportunistic: u64,
    /// Time of the next DATA_FIN, or [`Time::MAX`].
    pub(crate) fin_at: Time,
    pub(crate) fin_acked: bool,
}

impl DataSender {
    pub(crate) fn new(config: &Config) -> DataSender {
        let most = config.send_buffer.size.as_u64();
        let segment = config.segment.as_u64();
        let first = send_buffer_for(0, segment).min(most);
        let grows = config.send_buffer.autotuning;
        let (capacity, overhead) = match (grows, config.multipath) {
            (true, false) => (first, sent_overhead(segment) as u32),
            // Subflows are charged for the memory of sent data.
            (true, true) => (first + MIN_SEND_BUFFER, 0),
            (false, _) => (most, 0),
        };
        DataSender {
            una: 0,
            nxt: 0,
            written: 0,
            deadlines: None,
            closed: false,
            edge: 0,
            window_max: 0,
            capacity,
            grows,
            overhead,
            piece: write_piece(config.multipath) as u32,
            blocked: false,
            reinject: RangeSet::default(),
            opportunistic: 0,
            fin_at: Time::MAX,
            fin_acked: false,
        }
    }

    #[inline]
    pub(crate) fn end(&self) -> Option<u64> {
        self.closed.then_some(self.written)
    }

    #[inline]
    pub(crate) fn all_assigned(&self) -> bool {
        self.nxt == self.written
    }

    pub(crate) fn expand(&mut self, capacity: u64) {
        self.capacity = self.capacity.max(capacity);
    }

    #[inline]
    pub(crate) fn writable(&self) -> u64 {
        if self.closed {
            return 0;
        }
        let overhead = ((self.nxt - self.una) * u64::from(self.overhead)) >> 10;
        let held = self.written - self.una + overhead;
        if self.blocked && self.grows && 3 * held > 2 * self.capacity {
            return 0;
        }
        match self.capacity.saturating_sub(held) {
            0 => 0,
            room if self.grows => {
                let end = self.written + room;
                end.next_multiple_of(u64::from(self.piece)) - self.written
            }
            room => room,
        }
    }

    pub(crate) fn write(&mut self, most: u64) -> u64 {
        let taken = most.min(self.writable());
        self.written += taken;
        self.blocked = taken < most;
        taken
    }

    pub(crate) fn write_by(&mut self, most: u64, deadline: Deadline) -> u64 {
        let start = self.written;
        let taken = self.write(most);
        let deadlines = self.deadlines.get_or_insert_default();
        deadlines.forget_before(self.una);
        deadlines.note(start, self.written, deadline);
        taken
    }

    #[inline]
    pub(crate) fn has_deadlines(&self) -> bool {
        self.deadlines.is_some()
    }

    /// Next check for data that would miss their deadline, if any data have one.
    #[inline]
    pub(crate) fn next_check(&mut self) -> Option<&mut Time> {
        Some(&mut self.deadlines.as_mut()?.next_check)
    }

    /// Deadline of the next unassigned byte, and the number of bytes from it on that share that deadline.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<(Deadline, u64)> {
        self.deadlines.as_ref()?.write_at(self.nxt)
    }

    #[inline]
    pub(crate) fn deadline_of(&self, offset: u64) -> Option<Deadline> {
        self.deadlines.as_ref()?.of(offset)
    }

    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    #[inline]
    pub(crate) fn unsent(&self) -> u64 {
        self.written - self.nxt
    }

    /// Number of unassigned bytes that the peer's window allows.
    #[inline]
    pub(crate) fn window(&self) -> u64 {
        self.edge.saturating_sub(self.nxt)
    }

    #[inline]
    pub(crate) fn window_size(&self) -> u64 {
        self.edge.saturating_sub(self.una)
    }

    #[inline]
    pub(crate) fn assign(&mut self, len: u64) -> u64 {
        let start = self.nxt;
        self.nxt += len;
        start
    }

    /// Takes back all data from this offset on, which were assigned and not sent.
    pub(crate) fn unassign(&mut self, from: u64) {
        self.nxt = from;
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.una == self.written && !self.closed
    }

    pub(crate) fn moves_window(&self, edge: u64) -> bool {
        edge > self.edge
    }

    /// Moves the right edge of the peer's window to `edge`; it never moves back.
    #[inline]
    pub(crate) fn on_window(&mut self, edge: u64) {
        self.edge = self.edge.max(edge);
    }

    /// Handles an acknowledgement of everything below `ack`, with a window of `window` bytes; returns the
    /// number of newly acknowledged bytes.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: u64, window: u64) -> u64 {
        let end = self.written + u64::from(self.closed);
        if ack > end || ack < self.una {
            return 0;
        }
        let data_ack = ack.min(self.written);
        self.fin_acked |= self.closed && ack == end;
        self.on_window(ack + window);
        self.window_max = self.window_max.max(window);
        let new = data_ack - self.una;
        if new > 0 {
            self.una = data_ack;
            if !self.reinject.is_empty() {
                self.reinject.remove_below(data_ack);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn acknowledged_data_are_not_reinjected() {
        let mut tx = DataSender::new(&Config::profile(Profile::Rfc));
        tx.write(3000);
        tx.assign(3000);
        tx.reinject.insert(0, 2000);
        assert_eq!(tx.on_ack(500, 10_000), 500);
        let left: Vec<_> = tx.reinject.iter().collect();
        assert_eq!(left, [(500, 2000)]);
    }
}
