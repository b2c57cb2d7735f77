//! Sharing of an MPTCP connection's window among subflows, as in Linux.

use ropewalk_quantities::Time;

use crate::endpoint::Endpoint;
use crate::segment::Segment;

impl Endpoint {
    /// Whether subflows share the window as in Linux ([`linux_window`](crate::SubflowsConfig::linux_window)).
    #[inline]
    pub(super) fn shares_as_linux(&self) -> bool {
        self.handshake.multipath && self.config.subflows.linux_window
    }

    /// Window of the data acknowledgement in a segment; `advances`: it acknowledges new data of the subflow.
    #[inline(always)]
    pub(super) fn data_ack_window(
        &mut self,
        subflow: usize,
        segment: &Segment,
        advances: bool,
    ) -> u64 {
        let window = u64::from(segment.window);
        if !self.shares_as_linux() {
            return window;
        }
        let peer_window = &mut self.subflows[subflow].peer_window;
        peer_window.update(advances, segment.seq, window)
    }

    #[inline]
    pub(super) fn before_assigning(&mut self, now: Time, subflow: usize) {
        if self.shares_as_linux() {
            self.subflows[subflow].peer_window.raise(self.tx.window());
            self.start_data_timer(now);
        }
    }

    /// Takes a sample of the round trip from arrived data, while the receive buffer may grow.
    #[inline]
    pub(super) fn note_arrival(&mut self, now: Time, subflow: usize, segment: &Segment) {
        if self.rx.grows() {
            self.rx.note_arrival(now);
            let receiver = &mut self.subflows[subflow].receiver;
            receiver.measure_round_trip(now, segment);
        }
    }

    #[inline]
    pub(super) fn tune_receive_buffer(&mut self) {
        if self.rx.may_grow() {
            let round_trips = self.subflows.iter().map(|flow| flow.receiver.round_trip);
            self.rx.grow(round_trips.max().unwrap_or(Time::ZERO));
        }
    }

    /// Window to advertise now on this subflow, with an acknowledgement.
    #[inline(always)]
    pub(super) fn advertise(&mut self, subflow: usize) -> u32 {
        if self.shares_as_linux() {
            return self.advertise_shared(subflow);
        }
        let window = self.rx.window(self.handshake.multipath);
        self.subflows[subflow].receiver.acknowledged(window);
        window as u32
    }

    #[inline(never)]
    fn advertise_shared(&mut self, subflow: usize) -> u32 {
        let window = self.rx.shared_window();
        self.subflows[subflow].receiver.acknowledged(window);
        self.rx.scaled(window)
    }

    /// Announces a window that a read has doubled: those subflows acknowledge at once whose last
    /// acknowledgement left at most half of it (`mptcp_cleanup_rbuf`, `tcp_cleanup_rbuf`).
    #[inline]
    pub(super) fn announce_doubled_window(&mut self) {
        let room = self.rx.room(true);
        if room < 2 * self.rx.last_window || room == 0 {
            return;
        }
        for number in 0..self.subflows.len() {
            let flow = &mut self.subflows[number];
            let left = flow.receiver.window_left();
            if self.table[number].usable && room >= 2 * left && 2 * left <= self.rx.capacity {
                flow.receiver.acknowledge_now();
                self.output.acks.insert(number);
            }
        }
    }
}
