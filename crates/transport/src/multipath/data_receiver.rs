use ropewalk_quantities::Time;

use crate::Config;
use crate::multipath::receive_autotuning::{FIRST_BUFFER, ReceiveAutotuning};
use crate::range_set::RangeSet;

/// Receiver of the connection's stream: reassembly, and the window that all subflows share.
#[derive(Clone, Debug)]
pub(crate) struct DataReceiver {
    pub(crate) nxt: u64,
    waiting: RangeSet,
    /// `waiting`, plus data that subflows hold behind their own gaps; each byte once. Maintained only while
    /// `held_differs`.
    held: RangeSet,
    held_differs: bool,
    read: u64,
    fin: Option<u64>,
    /// The part of the buffer that may be advertised.
    pub(crate) capacity: u64,
    capacity_max: u64,
    autotuning: Option<ReceiveAutotuning>,
    /// Arrival of the last data, while the buffer grows.
    arrived_at: Time,
    /// Data behind a gap reduce the window a second time.
    charge_waiting: bool,
    /// Data out of order beyond the window are dropped, although their subflow has acknowledged them.
    drops_beyond: bool,
    /// Highest right edge of the window ever advertised; it never moves back.
    pub(crate) edge: u64,
    pub(crate) last_window: u64,
    /// Window scale (RFC 7323, 2.2), if negotiated.
    pub(crate) scale: Option<u8>,
    /// Part of a window that the scale cannot represent.
    below_scale: u16,
}

/// Largest receive buffer that a program may set (net.core.rmem_max of Linux 6.18).
const RMEM_MAX: u64 = 4 << 20;
/// Maximum window scale (RFC 7323, 2.3).
const MAX_SCALE: u32 = 14;

impl DataReceiver {
    pub(crate) fn new(config: &Config) -> DataReceiver {
        let buffer = config.receive_buffer.size.as_u64() as f64;
        let share = (buffer * config.receive_buffer.window_share) as u64;
        let as_linux = config.multipath && config.subflows.linux_window;
        // The smallest scale that can represent the whole buffer, or any that a program may set, as in Linux
        // (`tcp_select_initial_window`).
        let least = match as_linux {
            true => RMEM_MAX,
            false => 1,
        };
        let bits = config.receive_buffer.size.as_u64().max(least).ilog2();
        let scale = bits.saturating_sub(15).min(MAX_SCALE);
        let capacity_max = share.min(u64::from(u16::MAX) << scale);
        let first = (FIRST_BUFFER as f64 * config.receive_buffer.window_share) as u64;
        let capacity = match as_linux {
            true => first.min(capacity_max),
            false => capacity_max,
        };
        DataReceiver {
            nxt: 0,
            waiting: RangeSet::default(),
            held: RangeSet::default(),
            held_differs: false,
            read: 0,
            fin: None,
            capacity,
            capacity_max,
            autotuning: (capacity < capacity_max)
                .then(|| ReceiveAutotuning::new(config.segment.as_u64())),
            charge_waiting: config.receive_buffer.charge_reordered,
            arrived_at: Time::ZERO,
            drops_beyond: as_linux,
            last_window: 0,
            edge: capacity,
            scale: Some(scale as u8),
            below_scale: (1 << scale) - 1,
        }
    }

    pub(crate) fn forgo_scale(&mut self) {
        self.scale = None;
        self.below_scale = 0;
        self.capacity_max = self.capacity_max.min(u64::from(u16::MAX));
        self.capacity = self.capacity.min(self.capacity_max);
        self.edge = self.edge.min(self.capacity);
    }

    /// Bytes received behind a gap, here or within a subflow.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        match self.held_differs {
            true => self.held.covered(),
            false => self.waiting.covered(),
        }
    }

    /// Handles data that are in order on a subflow: returns the number of new bytes, and whether all of them
    /// are behind a gap.
    #[inline(always)]
    pub(crate) fn take(&mut self, start: u64, len: u64) -> (u64, bool) {
        if start == self.nxt && self.waiting.is_empty() && !self.held_differs {
            self.nxt += len;
            return (len, false);
        }
        self.take_partially_new(start, len)
    }

    #[inline(never)]
    fn take_partially_new(&mut self, start: u64, len: u64) -> (u64, bool) {
        let in_order = self.nxt;
        let new = self.on_data(start, len);
        let waits = new > 0 && self.nxt == in_order;
        if waits {
            self.hold(start, len);
        }
        (new, waits)
    }

    /// Prepares for data that a subflow may hold, or that release such data.
    pub(crate) fn begin_hold(&mut self) {
        if !self.held_differs {
            self.held_differs = true;
            self.held.copy_from(&self.waiting);
        }
    }

    /// Sets the bytes behind a gap of a connection whose only subflow holds them in its own order.
    #[inline]
    pub(crate) fn set_held(&mut self, bytes: u64) {
        self.held.set_to(bytes);
        self.held_differs = bytes > 0;
    }

    pub(crate) fn hold(&mut self, start: u64, len: u64) {
        if self.held_differs {
            self.held.insert(start.max(self.nxt), start + len);
        }
    }

    /// Follows such data: if subflows hold nothing else, a single set suffices.
    pub(crate) fn end_hold(&mut self) {
        self.held_differs = self.held != self.waiting;
    }

    pub(crate) fn release_memory(&mut self) {
        self.waiting.release_memory();
        self.held.release_memory();
    }

    #[inline]
    pub(crate) fn readable(&self) -> u64 {
        self.nxt - self.read
    }

    #[inline]
    pub(crate) fn finished(&self) -> bool {
        self.fin == Some(self.nxt)
    }

    pub(crate) fn on_fin(&mut self, end: u64) {
        self.fin = Some(end);
    }

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
            if self.held_differs {
                self.held.remove_below(self.nxt);
            }
            self.edge = self.edge.max(self.nxt);
            return new;
        }
        if self.drops_beyond && end > self.edge {
            return 0;
        }
        self.waiting.insert(start, end)
    }

    pub(crate) fn read(&mut self, most: u64) -> u64 {
        let taken = most.min(self.readable());
        self.read += taken;
        taken
    }

    /// The window to advertise now, relative to `nxt`: a multiple of the scale. Its edge never moves back: if
    /// the scale cannot represent the edge, slightly more is advertised (RFC 7323, 2.4; as in Linux).
    #[inline]
    pub(crate) fn window(&mut self, multipath: bool) -> u64 {
        let below = u64::from(self.below_scale);
        let open = self.edge - self.nxt;
        let room = self.room(multipath) & !below;
        let window = room.max((open + below) & !below);
        self.edge = self.nxt + window;
        window
    }

    #[inline]
    pub(crate) fn grows(&self) -> bool {
        self.autotuning.is_some()
    }

    #[inline]
    pub(crate) fn note_arrival(&mut self, now: Time) {
        self.arrived_at = now;
    }

    /// Whether the buffer may grow now; see [`grow`](DataReceiver::grow).
    #[inline]
    pub(crate) fn may_grow(&self) -> bool {
        let now = self.arrived_at;
        self.autotuning.is_some_and(|tuning| tuning.is_due(now))
    }

    /// Grows the buffer with the data read in a round trip, the longest of the subflows'.
    pub(crate) fn grow(&mut self, round_trip: Time) {
        let (now, read) = (self.arrived_at, self.read);
        let tuning = self.autotuning.as_mut();
        if let Some(window) = tuning.and_then(|tuning| tuning.measure(now, read, round_trip)) {
            self.capacity = self.capacity.max(window.min(self.capacity_max));
            if self.capacity == self.capacity_max {
                self.autotuning = None;
            }
        }
    }

    #[inline]
    pub(crate) fn room(&self, multipath: bool) -> u64 {
        self.right_edge(multipath).saturating_sub(self.nxt)
    }

    /// Free part of the buffer as rounded by Linux (`__tcp_select_window`): 0 below a sixteenth, down below a
    /// half, and up above.
    fn rounded_room(&self) -> u64 {
        let (room, below) = (self.room(true), u64::from(self.below_scale));
        if room >= self.capacity / 2 {
            (room + below) & !below
        } else if room < self.capacity / 16 {
            0
        } else {
            room & !below
        }
    }

    /// Window to advertise now, as in Linux (`mptcp_set_rwin`): where the edge stays in place, the window is
    /// rounded down to the scale.
    #[inline]
    pub(crate) fn shared_window(&mut self) -> u64 {
        self.edge = self.edge.max(self.nxt + self.rounded_room());
        self.last_window = self.edge - self.nxt;
        self.last_window
    }

    /// Window rounded to the scale.
    #[inline]
    pub(crate) fn scaled(&self, window: u64) -> u32 {
        (window & !u64::from(self.below_scale)) as u32
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
        let is_small = self.edge - self.nxt < mss;
        let opened = || self.right_edge(multipath).saturating_sub(self.edge);
        is_small && opened() >= mss.min(self.capacity / 2).max(1)
    }

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
        let mut receiver = DataReceiver::new(
            &Config::profile(Profile::Rfc)
                .with(|config| config.receive_buffer.size = Bytes::new(1 << 20)),
        );
        assert!(receiver.scale.is_some());
        assert!(receiver.window(false) > u64::from(u16::MAX));
        receiver.forgo_scale();
        assert_eq!(receiver.scale, None);
        assert_eq!(receiver.window(false), u64::from(u16::MAX));
    }

    fn linux() -> DataReceiver {
        DataReceiver::new(&Config::profile(Profile::Linux).with(|config| {
            config.receive_buffer.size = Bytes::new(100_000);
            config.receive_buffer.window_share = 0.5;
        }))
    }

    #[test]
    fn data_beyond_window_are_accepted_only_in_order() {
        let mut rx = linux();
        assert_eq!(rx.edge, 50_000);
        assert_eq!(rx.on_data(49_000, 1000), 1000);
        assert_eq!(rx.on_data(49_500, 1000), 0);
        assert_eq!(rx.on_data(0, 49_000), 49_000);
        assert_eq!(rx.nxt, 50_000);
        assert_eq!(rx.on_data(50_000, 1000), 1000);
        assert_eq!((rx.nxt, rx.edge), (51_000, 51_000));
    }

    #[test]
    fn the_window_is_rounded_as_in_linux() {
        // Programs may set 4 MiB: multiples of 128.
        let mut rx = linux();
        assert_eq!(rx.scale, Some(7));
        let window = rx.shared_window();
        assert_eq!((window, rx.scaled(window)), (50_048, 50_048));
        // Data behind a gap leave less than a half; the edge stays.
        rx.on_data(1000, 29_000);
        rx.on_data(0, 500);
        rx.read(500);
        let window = rx.shared_window();
        assert_eq!((window, rx.scaled(window)), (49_548, 49_536));
        assert_eq!(rx.edge, 50_048);
        let mut rx = linux();
        rx.on_data(0, 48_000);
        assert_eq!(rx.shared_window(), 2000);
        rx.on_data(48_000, 2000);
        rx.read(1000);
        assert_eq!(rx.shared_window(), 0);
    }
}
