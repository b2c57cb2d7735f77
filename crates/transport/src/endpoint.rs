//! An endpoint: its state, and the interface for its application.

mod close;
mod data_timer;
mod events;
mod fallback;
mod fast_path;
mod handshake;
mod pending_output;
mod persist;
mod receiving;
mod recorded;
mod reinjection;
mod reordering_counters;
mod send_buffer;
mod sending;
mod shared_window;
mod subflow_queues;
#[cfg(test)]
mod tests;
mod timers;
mod transmit;

use std::sync::Arc;

use ropewalk_quantities::Time;

use crate::congestion::{CongestionControl, Controller};
use crate::counters::Counters;
use crate::event::Event;
use crate::multipath::data_receiver::DataReceiver;
use crate::multipath::data_sender::DataSender;
use crate::multipath::keys::Keys;
use crate::scheduling::{PacketScheduler, SubflowSet};
use crate::subflow::{State, Subflow};
use crate::{Config, Deadline, SubflowState};
use events::Events;
use handshake::{Handshake, Role};
use pending_output::PendingOutput;
pub use recorded::RecordedEndpoint;
use reordering_counters::ReorderingCounters;
use subflow_queues::SubflowQueues;
use timers::Timers;

/// Twice the maximum segment lifetime, as in Linux.
const TIME_WAIT: Time = Time::from_secs(60);
/// Largest number of subflows of a connection.
pub const MAX_SUBFLOWS: usize = 64;

/// A TCP or MPTCP endpoint: one side of a connection, without input or output.
///
/// After each call that changes the endpoint, the driver calls [`poll_transmit`](Endpoint::poll_transmit)
/// until it returns `None`, then [`poll_timeout`](Endpoint::poll_timeout) and
/// [`poll_event`](Endpoint::poll_event). Payload is represented by ranges: [`write`](Endpoint::write) and
/// [`read`](Endpoint::read) count bytes, and the driver of a real network looks up the bytes of a range when
/// it builds the packet.
#[derive(Debug)]
pub struct Endpoint {
    config: Arc<Config>,
    handshake: Handshake,
    subflows: Vec<Subflow>,
    table: Vec<SubflowState>,
    /// Subflows whose state in the table may have changed since the last call of the scheduler.
    changed: SubflowSet,
    has_backups: bool,
    controller: Controller,
    scheduler: PacketScheduler,
    tx: DataSender,
    rx: DataReceiver,
    reordering_counters: ReorderingCounters,
    events: Events,
    output: PendingOutput,
    queues: SubflowQueues,
    timers: Timers,
    /// Subflows that may use the fast path; see `endpoint/fast_path.rs`.
    fast_path: SubflowSet,
}

impl Endpoint {
    /// Creates the side that opens the connection, with this many subflows (1 to 64; TCP uses one). `key` and
    /// `nonce_seed` are random; they determine MPTCP's key and the joins' nonces.
    pub fn client(config: &Arc<Config>, subflows: usize, key: u64, nonce_seed: u64) -> Endpoint {
        let mut endpoint = Endpoint::new(config, Role::Client, key, nonce_seed);
        let count = if endpoint.handshake.multipath {
            subflows.clamp(1, MAX_SUBFLOWS)
        } else {
            1
        };
        endpoint.grow_to(count, State::Closed);
        endpoint
    }

    /// Creates the side that waits for a connection.
    pub fn server(config: &Arc<Config>, key: u64, nonce_seed: u64) -> Endpoint {
        let mut endpoint = Endpoint::new(config, Role::Server, key, nonce_seed);
        endpoint.grow_to(1, State::Listen);
        endpoint
    }

    fn new(config: &Arc<Config>, role: Role, key: u64, nonce_seed: u64) -> Endpoint {
        Endpoint {
            config: Arc::clone(config),
            handshake: Handshake::new(role, config.multipath, Keys::new(key, nonce_seed)),
            subflows: Vec::new(),
            table: Vec::new(),
            changed: SubflowSet::ALL,
            has_backups: false,
            controller: config.controller(),
            scheduler: config.packet_scheduler(),
            tx: DataSender::new(config),
            rx: DataReceiver::new(config),
            reordering_counters: ReorderingCounters::default(),
            events: Events::default(),
            output: PendingOutput::default(),
            queues: SubflowQueues::EMPTY,
            timers: Timers::OFF,
            fast_path: SubflowSet::NONE,
        }
    }

    fn grow_to(&mut self, count: usize, state: State) {
        let more = count.saturating_sub(self.subflows.len());
        self.subflows.reserve_exact(more);
        self.table.reserve_exact(more);
        while self.subflows.len() < count {
            let number = self.subflows.len();
            let nonce = self.handshake.keys.nonce(number);
            self.subflows.push(Subflow::new(&self.config, nonce, state));
            self.table.push(SubflowState::default());
            self.controller.add_subflow(number);
        }
    }

    /// Opens the connection.
    pub fn connect(&mut self) {
        let fresh = !self.events.connected && !self.events.closed;
        if fresh && self.handshake.role == Role::Client && self.subflows[0].state == State::Closed {
            self.open_subflow(0);
        }
    }

    /// Bytes that the application may write now.
    #[inline]
    pub fn writable(&self) -> u64 {
        self.tx.writable()
    }

    /// Bytes written and never sent.
    #[inline]
    pub fn unsent(&self) -> u64 {
        self.tx.unsent()
    }

    /// Sets a subflow's cost and priority, for schedulers that use them: a higher priority number counts as
    /// more expensive at any cost.
    pub fn set_cost(&mut self, subflow: usize, cost: f64, priority: u8) {
        if let Some(state) = self.table.get_mut(subflow) {
            state.cost = cost;
            state.priority = priority;
        }
    }

    /// Makes a subflow a backup or a regular one. A backup carries new data only while no other subflow is
    /// usable (RFC 8684, section 3.3.8); data assigned to it are assigned again. The peer is not informed,
    /// since its own direction may differ.
    pub fn set_backup(&mut self, subflow: usize, is_backup: bool) {
        let of_subflow = self.table.get_mut(subflow);
        if let Some(state) = of_subflow.filter(|state| state.backup != is_backup) {
            state.backup = is_backup;
            self.has_backups = self.table.iter().any(|state| state.backup);
            if is_backup {
                self.release_unsent(subflow);
            }
            self.changed = SubflowSet::ALL;
            self.output.data = true;
        }
    }

    /// Writes up to `most` bytes; returns the number that the send buffer took.
    #[inline]
    pub fn write(&mut self, most: u64) -> u64 {
        let taken = self.tx.write(most);
        self.output.data |= taken > 0;
        taken
    }

    /// [`write`](Endpoint::write) of bytes that should be delivered by `deadline`. Schedulers may use it;
    /// late bytes are still delivered.
    pub fn write_by(&mut self, most: u64, deadline: Deadline) -> u64 {
        let taken = self.tx.write_by(most, deadline);
        self.output.data |= taken > 0;
        taken
    }

    /// Ends the stream after the written data.
    pub fn close(&mut self) {
        self.tx.close();
        self.output.data = true;
    }

    fn give_up(&mut self) {
        self.fast_path = SubflowSet::NONE;
        for number in 0..self.subflows.len() {
            let open = !matches!(self.subflows[number].state, State::Closed | State::Listen);
            if open {
                self.subflows[number].pending.rst = true;
                self.output.control.insert(number);
            }
        }
        self.events.aborted();
    }

    /// Bytes in order that the application has not read.
    #[inline]
    pub fn readable(&self) -> u64 {
        self.rx.readable()
    }

    /// Reads up to `most` bytes; returns the number read.
    #[inline]
    pub fn read(&mut self, most: u64) -> u64 {
        let taken = self.rx.read(most);
        if taken > 0 {
            self.tune_receive_buffer();
        }
        if self.shares_as_linux() {
            self.announce_doubled_window();
            return taken;
        }
        if taken > 0
            && self
                .rx
                .update_due(self.config.segment.as_u64(), self.handshake.multipath)
        {
            // Any usable subflow may send the window update, since all share the window. On a TCP connection
            // that has sent its FIN, the only subflow sends it.
            let usable = self.table.iter().position(|state| state.usable);
            let is_open = |flow: &Subflow| flow.state == State::Established;
            if let Some(number) = usable.or_else(|| self.subflows.iter().position(is_open)) {
                self.subflows[number].receiver.acknowledge_now();
                self.output.acks.insert(number);
            }
        }
        taken
    }

    /// Returns the next event, in order of time. It changes with
    /// [`handle_segment`](Endpoint::handle_segment), [`handle_timeout`](Endpoint::handle_timeout) and
    /// [`abort`](Endpoint::abort).
    #[inline]
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.poll()
    }

    /// Table of subflows, as passed to schedulers and congestion control.
    #[inline]
    pub fn subflow_states(&self) -> &[SubflowState] {
        &self.table
    }

    /// Whether the connection is closed or aborted.
    pub fn is_closed(&self) -> bool {
        self.events.closed
    }

    /// Key of this side of the connection (RFC 8684, 3.1).
    pub fn key(&self) -> u64 {
        self.handshake.keys.own
    }

    /// Counters of a subflow's sender.
    pub fn counters(&self, subflow: usize) -> Counters {
        self.subflows[subflow].sender.counters
    }

    /// Bytes that were new to the connection when they arrived on this subflow.
    #[inline]
    pub fn delivered_by(&self, subflow: usize) -> u64 {
        self.subflows[subflow].delivered
    }

    /// Data segments that arrived on this subflow without new data; zero before its handshake.
    pub fn duplicates(&self, subflow: usize) -> u64 {
        let flow = self.subflows.get(subflow);
        flow.map_or(0, |flow| flow.receiver.duplicates)
    }

    /// Bytes received in order, from the start of the stream.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.rx.nxt
    }

    /// Bytes received behind a gap.
    #[inline]
    pub fn reorder_buffer(&self) -> u64 {
        self.rx.held()
    }

    /// Largest number of bytes that were behind a gap at once.
    pub fn reorder_buffer_max(&self) -> u64 {
        self.reordering_counters.behind_gap_max
    }

    /// Restarts [`reorder_buffer_max`](Endpoint::reorder_buffer_max) from now on.
    pub fn restart_reorder_buffer_max(&mut self) {
        self.reordering_counters.behind_gap_max = self.rx.held();
    }

    /// Data packets with new data, and how many of them arrived behind a gap.
    pub fn packets(&self) -> (u64, u64) {
        self.reordering_counters.packets()
    }

    #[cfg(test)]
    fn written(&self) -> u64 {
        self.tx.nxt + self.tx.unsent()
    }

    /// Bytes that the peer acknowledged at connection level.
    #[inline]
    pub fn acknowledged(&self) -> u64 {
        self.tx.una
    }

    /// Whether MPTCP was negotiated.
    pub fn is_multipath(&self) -> bool {
        self.handshake.multipath
    }
}
