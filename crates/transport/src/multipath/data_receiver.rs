use crate::Config;
use crate::range_set::RangeSet;

/// Receiving on the data level: reassembly, and the one window that all subflows share.
#[derive(Clone, Debug)]
pub(crate) struct DataReceiver {
    /// Next data offset expected.
    nxt: u64,
    /// What waits for a gap before it.
    waiting: RangeSet,
    /// What the application has read.
    read: u64,
    /// Where the stream ends, once a DATA_FIN or FIN said so.
    fin: Option<u64>,
    capacity: u64,
    /// What waits takes room a second time.
    charge_waiting: bool,
    /// Highest right edge of the window ever advertised: it never moves back.
    edge: u64,
}

impl DataReceiver {
    pub(crate) fn new(config: &Config) -> DataReceiver {
        let buffer = config.receive_buffer.as_u64() as f64;
        let capacity = (buffer * config.receive_window_share) as u64;
        DataReceiver {
            nxt: 0,
            waiting: RangeSet::default(),
            read: 0,
            fin: None,
            capacity,
            charge_waiting: config.charge_reordered,
            edge: capacity,
        }
    }

    /// Next data offset expected.
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Bytes that wait for a gap before them.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.covered()
    }

    /// Most bytes that it holds.
    #[inline]
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
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

    /// The stream's end is reached, by the network (not yet by the application).
    #[inline]
    pub(crate) fn finished(&self) -> bool {
        self.fin == Some(self.nxt)
    }

    pub(crate) fn on_fin(&mut self, end: u64) {
        self.fin = Some(end);
    }

    /// Data arrived; says how many of its bytes are new.
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
            return new;
        }
        self.waiting.insert(start, end)
    }

    /// The application reads up to `most` bytes; says how many it got.
    pub(crate) fn read(&mut self, most: u64) -> u64 {
        let taken = most.min(self.readable());
        self.read += taken;
        taken
    }

    /// The window to advertise now, relative to `nxt`, when this much waits inside subflows.
    #[inline]
    pub(crate) fn window(&mut self, waiting_below: u64) -> u64 {
        self.edge = self.edge.max(self.right_edge(waiting_below));
        self.edge - self.nxt
    }

    /// Whether reading has opened the window so far that the peer should hear of it (RFC 1122,
    /// 4.2.3.3: by a segment or by half the buffer, whichever is less).
    pub(crate) fn update_due(&self, mss: u64, waiting_below: u64) -> bool {
        let opened = self.right_edge(waiting_below).saturating_sub(self.edge);
        let shut = self.edge - self.nxt < mss;
        opened >= mss.min(self.capacity / 2).max(1) && shut
    }

    /// Where the window could end now.
    #[inline]
    fn right_edge(&self, waiting_below: u64) -> u64 {
        let waiting = if self.charge_waiting {
            self.waiting.covered() + waiting_below
        } else {
            0
        };
        self.read + self.capacity.saturating_sub(waiting)
    }
}
