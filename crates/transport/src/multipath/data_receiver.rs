use crate::Config;
use crate::range_set::RangeSet;

/// Receiving at data level: reassembly, and the window that all subflows share.
#[derive(Clone, Debug)]
pub(crate) struct DataReceiver {
    /// Next data offset expected.
    nxt: u64,
    /// Data behind a gap.
    waiting: RangeSet,
    /// The same, plus data that subflows hold behind their own gaps; each byte once. Maintained only while
    /// that may differ, or `apart`.
    held: RangeSet,
    apart: bool,
    /// Bytes read by the application.
    read: u64,
    /// End of the stream, once a DATA_FIN or FIN gave it.
    fin: Option<u64>,
    capacity: u64,
    /// Data behind a gap reduce the window a second time.
    charge_waiting: bool,
    /// Highest right edge of the window ever advertised; it never moves back.
    edge: u64,
    /// Window scale (RFC 7323, 2.2), if negotiated.
    scale: Option<u8>,
    /// The bits of a window that the scale cannot represent.
    below_scale: u16,
}

/// Maximum window scale (RFC 7323, 2.3).
const MAX_SCALE: u32 = 14;

impl DataReceiver {
    pub(crate) fn new(config: &Config) -> DataReceiver {
        let buffer = config.receive_buffer.as_u64() as f64;
        let share = (buffer * config.receive_window_share) as u64;
        // The smallest scale that can represent the whole buffer, as in Linux.
        let bits = config.receive_buffer.as_u64().max(1).ilog2();
        let scale = bits.saturating_sub(15).min(MAX_SCALE);
        let capacity = share.min(u64::from(u16::MAX) << scale);
        DataReceiver {
            nxt: 0,
            waiting: RangeSet::default(),
            held: RangeSet::default(),
            apart: false,
            read: 0,
            fin: None,
            capacity,
            charge_waiting: config.charge_reordered,
            edge: capacity,
            scale: Some(scale as u8),
            below_scale: (1 << scale) - 1,
        }
    }

    /// Window scale, offered or negotiated.
    pub(crate) fn scale(&self) -> Option<u8> {
        self.scale
    }

    /// The peer does not support window scaling, so it is not used.
    pub(crate) fn forgo_scale(&mut self) {
        self.scale = None;
        self.below_scale = 0;
        self.capacity = self.capacity.min(u64::from(u16::MAX));
        self.edge = self.edge.min(self.capacity);
    }

    /// Next data offset expected.
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Bytes received behind a gap, here or within a subflow.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        match self.apart {
            true => self.held.covered(),
            false => self.waiting.covered(),
        }
    }

    /// Data arrived in order on a subflow: returns the number of new bytes, and whether all of them are
    /// behind a gap.
    #[inline(always)]
    pub(crate) fn take(&mut self, start: u64, len: u64) -> (u64, bool) {
        if start == self.nxt && self.waiting.is_empty() && !self.apart {
            self.nxt += len;
            return (len, false);
        }
        self.take_among_others(start, len)
    }

    #[inline(never)]
    fn take_among_others(&mut self, start: u64, len: u64) -> (u64, bool) {
        let in_order = self.nxt;
        let new = self.on_data(start, len);
        let waits = new > 0 && self.nxt == in_order;
        if waits {
            self.hold(start, len);
        }
        (new, waits)
    }

    /// To be called before data arrive that may be held by a subflow, or release such data.
    pub(crate) fn hold_apart(&mut self) {
        if !self.apart {
            self.apart = true;
            self.held.copy_from(&self.waiting);
        }
    }

    /// Data arrived that cannot be delivered yet.
    pub(crate) fn hold(&mut self, start: u64, len: u64) {
        if self.apart {
            self.held.insert(start.max(self.nxt), start + len);
        }
    }

    /// To be called after such data arrived: if subflows hold nothing else, a single set suffices.
    pub(crate) fn hold_together(&mut self) {
        self.apart = self.held != self.waiting;
    }

    /// Frees unused memory.
    pub(crate) fn give_back(&mut self) {
        self.waiting.give_back();
        self.held.give_back();
    }

    /// First offset beyond the window.
    #[inline]
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Bytes in order that the application has not read.
    #[inline]
    pub(crate) fn readable(&self) -> u64 {
        self.nxt - self.read
    }

    /// Whether the end of the stream was received (though it may not be read).
    #[inline]
    pub(crate) fn finished(&self) -> bool {
        self.fin == Some(self.nxt)
    }

    pub(crate) fn on_fin(&mut self, end: u64) {
        self.fin = Some(end);
    }

    /// Data arrived; returns how many bytes are new.
    #[inline]
    pub(crate) fn on_data(&mut self, start: u64, len: u64) -> u64 {
        let end = start + len;
        if end <= self.nxt {
            return 0;
        }
        if start <= self.nxt {
            let new;
            if self.waiting.is_empty() {
                new = end - self.nxt;
                self.nxt = end;
            } else {
                new = self.waiting.insert(self.nxt, end);
                if let Some((_, first_end)) = self.waiting.first() {
                    self.nxt = first_end;
                    self.waiting.remove_below(first_end);
                }
            }
            if self.apart {
                self.held.remove_below(self.nxt);
            }
            return new;
        }
        self.waiting.insert(start, end)
    }

    /// The application reads up to `most` bytes; returns how many it got.
    pub(crate) fn read(&mut self, most: u64) -> u64 {
        let taken = most.min(self.readable());
        self.read += taken;
        taken
    }

    /// The window to advertise now, relative to `nxt`: a multiple of the scale.
    ///
    /// It grows with the available room as far as the scale can represent it, and its edge never moves back:
    /// if the scale cannot represent the edge, slightly more is advertised (RFC 7323, 2.4; as in Linux).
    #[inline]
    pub(crate) fn window(&mut self, multipath: bool) -> u64 {
        let below = u64::from(self.below_scale);
        let open = self.edge - self.nxt;
        let room = self.right_edge(multipath).saturating_sub(self.nxt);
        let window = (room & !below).max((open + below) & !below);
        self.edge = self.nxt + window;
        window
    }

    /// The window of a SYN, which is never scaled (RFC 7323, 2.2).
    pub(crate) fn syn_window(&self, multipath: bool) -> u32 {
        let room = self.right_edge(multipath).saturating_sub(self.nxt);
        room.min(u64::from(u16::MAX)) as u32
    }

    /// Whether reading has opened the window enough for an update (RFC 1122, 4.2.3.3: by a segment or by half
    /// the buffer, whichever is less).
    #[inline]
    pub(crate) fn update_due(&self, mss: u64, multipath: bool) -> bool {
        let shut = self.edge - self.nxt < mss;
        let opened = || self.right_edge(multipath).saturating_sub(self.edge);
        shut && opened() >= mss.min(self.capacity / 2).max(1)
    }

    /// The possible right edge of the window now.
    #[inline]
    fn right_edge(&self, multipath: bool) -> u64 {
        let waiting = if self.charge_waiting {
            self.charged(multipath)
        } else {
            0
        };
        self.read + self.capacity.saturating_sub(waiting)
    }

    /// The data behind a gap that reduce the window: with MPTCP, data held by subflows are charged to the
    /// subflows (as in Linux); with TCP there are no others.
    #[inline]
    fn charged(&self, multipath: bool) -> u64 {
        if multipath {
            self.waiting.covered()
        } else {
            self.held()
        }
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Bytes;

    use super::*;
    use crate::Profile;

    #[test]
    fn without_a_scale_the_window_fits_its_field() {
        let mut receiver = DataReceiver::new(&Config {
            receive_buffer: Bytes::new(1 << 20),
            ..Config::profile(Profile::Rfc)
        });
        assert!(receiver.scale().is_some());
        assert!(receiver.window(false) > u64::from(u16::MAX));
        receiver.forgo_scale();
        assert_eq!(receiver.scale(), None);
        assert_eq!(receiver.window(false), u64::from(u16::MAX));
    }
}
