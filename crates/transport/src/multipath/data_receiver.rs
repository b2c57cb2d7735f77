use crate::Config;
use crate::range_set::RangeSet;

/// Receiving on the data level: reassembly, and the one window that all subflows share.
#[derive(Clone, Debug)]
pub(crate) struct DataReceiver {
    /// Next data offset expected.
    nxt: u64,
    /// What waits for a gap before it.
    waiting: RangeSet,
    /// The same, with what waits inside subflows for a gap there; each byte once. Kept only while
    /// that may be more, or `apart`.
    held: RangeSet,
    apart: bool,
    /// What the application has read.
    read: u64,
    /// Where the stream ends, once a DATA_FIN or FIN said so.
    fin: Option<u64>,
    capacity: u64,
    /// What waits takes room a second time.
    charge_waiting: bool,
    /// Highest right edge of the window ever advertised: it never moves back.
    edge: u64,
    /// Window scale (RFC 7323, 2.2), if it was agreed.
    scale: Option<u8>,
    /// What the scale cannot say of a window: the bits below.
    below_scale: u16,
}

/// Greatest window scale (RFC 7323, 2.3).
const MOST_SCALE: u32 = 14;

impl DataReceiver {
    pub(crate) fn new(config: &Config) -> DataReceiver {
        let buffer = config.receive_buffer.as_u64() as f64;
        let share = (buffer * config.receive_window_share) as u64;
        // The least scale that lets the whole buffer be advertised, as Linux chooses it.
        let bits = config.receive_buffer.as_u64().max(1).ilog2();
        let scale = bits.saturating_sub(15).min(MOST_SCALE);
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

    /// Window scale to offer, or that was agreed.
    pub(crate) fn scale(&self) -> Option<u8> {
        self.scale
    }

    /// The peer does not scale windows: neither do we.
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

    /// Bytes that have arrived and wait for a gap before them, here or inside a subflow.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        match self.apart {
            true => self.held.covered(),
            false => self.waiting.covered(),
        }
    }

    /// Data arrived in order on a subflow: how many bytes are new, and whether all of them wait.
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

    /// Data are about to arrive that may wait inside a subflow, or let others out of it.
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

    /// They have arrived: if what subflows hold is what waits, it is kept once.
    pub(crate) fn hold_together(&mut self) {
        self.apart = self.held != self.waiting;
    }

    /// Gives the memory back that is not in use.
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
            if self.apart {
                self.held.remove_below(self.nxt);
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

    /// The window to advertise now, relative to `nxt`: a multiple of what the scale can say.
    ///
    /// It opens by what can be said of the room there is, and never shuts: where the scale cannot
    /// say its edge, it says a little more (RFC 7323, 2.4; Linux does so, too).
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

    /// Whether reading has opened the window so far that the peer should hear of it (RFC 1122,
    /// 4.2.3.3: by a segment or by half the buffer, whichever is less).
    #[inline]
    pub(crate) fn update_due(&self, mss: u64, multipath: bool) -> bool {
        let shut = self.edge - self.nxt < mss;
        let opened = || self.right_edge(multipath).saturating_sub(self.edge);
        shut && opened() >= mss.min(self.capacity / 2).max(1)
    }

    /// Where the window could end now.
    #[inline]
    fn right_edge(&self, multipath: bool) -> u64 {
        let waiting = if self.charge_waiting {
            self.charged(multipath)
        } else {
            0
        };
        self.read + self.capacity.saturating_sub(waiting)
    }

    /// Of what waits, what takes room from the window: with MPTCP what waits inside subflows is
    /// charged to them (as Linux does), with TCP there is nothing else.
    #[inline]
    fn charged(&self, multipath: bool) -> u64 {
        if multipath {
            self.waiting.covered()
        } else {
            self.held()
        }
    }
}
