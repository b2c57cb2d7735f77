//! Receive window of a stream: the limit of the peer's unread data.

use ropewalk_quantities::Time;

use super::memory_pool::{GUARANTEED, MemoryPool};

/// Unread bytes that every stream may always hold.
pub(crate) const INITIAL_WINDOW: u64 = GUARANTEED;

/// The receive window of one stream.
///
/// It counts distinct bytes rather than limiting the highest offset: a slow carrier may be given data far
/// ahead, and the gap before them takes no window until it is filled. The limit never exceeds the bytes read
/// by more than `size`.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    pub(crate) size: u64,
    most: u64,
    /// Distinct bytes that the peer may send in total, as announced last.
    pub(crate) limit: u64,
    /// Bytes read when the current round trip began, and when that was.
    epoch: (u64, Time),
    pub(crate) queued: bool,
}

impl ReceiveWindow {
    /// Creates a window that may grow to `most`, which is at least the initial window.
    pub(crate) fn new(most: u64) -> ReceiveWindow {
        ReceiveWindow {
            size: INITIAL_WINDOW,
            most: most.max(INITIAL_WINDOW),
            limit: INITIAL_WINDOW,
            epoch: (0, Time::ZERO),
            queued: false,
        }
    }

    pub(crate) fn close(&mut self, memory: &mut MemoryPool) {
        memory.left += self.size - INITIAL_WINDOW;
        self.size = INITIAL_WINDOW;
    }

    /// Grows the window while the reader has nothing to read and `early` bytes lie behind a gap. If these
    /// take half of the window, it doubles, as far as memory allows. Returns whether to announce a new limit.
    pub(crate) fn on_gap(&mut self, early: u64, memory: &mut MemoryPool) -> bool {
        let is_cramped = early >= self.size / 2;
        let before = self.size;
        if is_cramped {
            self.grow(memory);
        }
        self.limit += self.size - before;
        self.size > before
    }

    fn grow(&mut self, memory: &mut MemoryPool) {
        let more = self.size.min(self.most - self.size);
        if more > 0 && memory.take(more) {
            self.size += more;
        }
    }

    /// Grows the window after `read` bytes were read in total; `round_trip` is that of the slowest carrier in
    /// use. Returns whether to announce a new limit.
    ///
    /// If a third of the window is read within a round trip, the window may limit the sender, which doubles
    /// its rate in slow start. Then it doubles, as far as memory allows (as Linux sizes its receive buffer by
    /// the bytes copied in a round trip, tcp_rcv_space_adjust).
    pub(crate) fn on_read(
        &mut self,
        now: Time,
        consumed: u64,
        srtt: Time,
        memory: &mut MemoryPool,
    ) -> bool {
        let (from, since) = self.epoch;
        if from == 0 && since == Time::ZERO {
            self.epoch.1 = now;
        }
        let is_busy = consumed - from >= self.size / 3;
        if is_busy || now.saturating_sub(self.epoch.1) >= srtt {
            if is_busy {
                self.grow(memory);
            }
            self.epoch = (consumed, now);
        }
        let limit = consumed + self.size;
        let worth_telling = limit - self.limit >= self.size / 8;
        if worth_telling {
            self.limit = limit;
        }
        worth_telling
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn window_doubles_if_a_third_is_read_per_round_trip() {
        let mut memory = MemoryPool::new(1 << 20);
        let mut window = ReceiveWindow::new(256 << 10);
        assert!(window.on_read(MS(10), 20 << 10, MS(20), &mut memory));
        assert_eq!((window.size, window.limit), (64 << 10, 84 << 10));
        assert!(window.on_read(MS(15), 42 << 10, MS(20), &mut memory));
        assert_eq!((window.size, window.limit), (128 << 10, 170 << 10));
        window.on_read(MS(35), 62 << 10, MS(20), &mut memory);
        window.on_read(MS(55), 102 << 10, MS(20), &mut memory);
        assert_eq!(window.size, 128 << 10);
        window.on_read(MS(65), 202 << 10, MS(20), &mut memory);
        window.on_read(MS(75), 402 << 10, MS(20), &mut memory);
        assert_eq!(window.size, 256 << 10);
        assert_eq!(memory.left, (1 << 20) - (192 << 10));
        window.close(&mut memory);
        assert_eq!(memory.left, 1 << 20);
    }

    #[test]
    fn window_doubles_if_half_is_behind_a_gap() {
        let mut memory = MemoryPool::new(80 << 10);
        let mut window = ReceiveWindow::new(256 << 10);
        assert!(!window.on_gap((32 << 10) - 1, &mut memory));
        assert!(window.on_gap(32 << 10, &mut memory));
        assert_eq!((window.size, window.limit), (128 << 10, 128 << 10));
        // The condition must hold each time, and there must be memory.
        assert!(!window.on_gap((64 << 10) - 1, &mut memory));
        assert!(!window.on_gap(64 << 10, &mut memory));
        assert_eq!(window.size, 128 << 10);
    }

    #[test]
    fn window_stays_without_memory() {
        let mut memory = MemoryPool::new(1000);
        let mut window = ReceiveWindow::new(4 << 20);
        window.on_read(MS(1), 64 << 10, MS(20), &mut memory);
        assert_eq!(window.size, 64 << 10);
        assert_eq!(window.limit, 128 << 10);
    }

    #[test]
    fn small_changes_are_not_worth_a_frame() {
        let mut window = ReceiveWindow::new(4 << 20);
        let mut memory = MemoryPool::new(0);
        assert!(!window.on_read(MS(1), 8191, MS(20), &mut memory));
        assert!(window.on_read(MS(2), 8192, MS(20), &mut memory));
    }
}
