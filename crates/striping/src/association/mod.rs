//! Association: streams over carriers.

mod cost;
mod deadline_copies;
mod failover;
mod link_history;
mod membership;
mod opportunistic_retransmit;
mod poll_filter;
mod receive;
mod schedule;
mod scheduler_adapter;
mod statistics;
mod streams;
#[cfg(test)]
mod tests;
mod transmit;

use std::collections::{BTreeMap, VecDeque};

use ropewalk_quantities::Time;

use crate::carrier_set::{CarrierIndex, CarrierSet};
use crate::control::ControlQueue;
use crate::copies::CopyQueues;
use crate::stream::Stream;
use crate::stream::memory_pool::MemoryPool;
use crate::stream_drr::StreamDrr;
use crate::stream_ids::Ids;
use crate::{CarrierId, Config, Event, Payload, Role, StreamId};
use link_history::LinkHistories;
use schedule::QueuedCopy;
use scheduler_adapter::SchedulerAdapter;

pub use statistics::{CarrierStatistics, StreamStatistics};

/// One end of an association: many independent streams over several carriers.
///
/// The driver owns the connections. It reports each one that comes up or goes down
/// ([`carrier_up`](Association::carrier_up), [`carrier_down`](Association::carrier_down)), passes in the
/// frames that arrive on it ([`received`](Association::received)) and takes the frames to send on it
/// ([`poll_transmit`](Association::poll_transmit)). After any call it drains
/// [`poll_event`](Association::poll_event) and [`poll_wake`](Association::poll_wake), and reads
/// [`poll_timeout`](Association::poll_timeout).
///
/// All times are of one monotonic clock.
///
/// ```
/// use bytes::Bytes;
/// use ropewalk_quantities::Time;
/// use ropewalk_striping::{Association, CarrierConfig, Config, Event, Role};
///
/// let now = Time::from_millis(1);
/// let mut near = Association::new(Role::Initiator, Config::default());
/// let mut far = Association::new(Role::Responder, Config::default());
/// let here = near.carrier_up(now, CarrierConfig::default());
/// let there = far.carrier_up(now, CarrierConfig::default());
///
/// let stream = near.open().unwrap();
/// let mut hello = Bytes::from("hello");
/// assert_eq!(near.write(stream, &mut hello), 5);
/// near.finish(stream);
/// while let Some(frame) = near.poll_transmit(now, here) {
///     far.received(now, there, frame).unwrap();
/// }
/// let opened = std::iter::from_fn(|| far.poll_event()).find(|event| *event == Event::StreamOpened(stream));
/// assert!(opened.is_some());
/// assert_eq!(far.read(now, stream), Some(Bytes::from("hello")));
/// ```
#[derive(Debug)]
pub struct Association<P> {
    role: Role,
    config: Config,
    carriers: CarrierSet,
    next_carrier: u32,
    streams: BTreeMap<StreamId, Stream<P>>,
    ids: Ids,
    drr: StreamDrr,
    control: ControlQueue,
    memory: MemoryPool,
    send_memory: MemoryPool,
    events: VecDeque<Event>,
    adapter: SchedulerAdapter,
    copies: CopyQueues<CarrierId, QueuedCopy>,
    /// Since when no carrier has been up.
    without_carriers_since: Option<Time>,
    links: LinkHistories,
    next_token: u64,
    closed: Option<u32>,
    streams_cost: u64,
    resent_bytes: u64,
    due: Option<Option<Time>>,
}

impl<P: Payload> Association<P> {
    /// Creates an end without carriers or streams.
    #[must_use]
    pub fn new(role: Role, config: Config) -> Association<P> {
        Association {
            role,
            carriers: CarrierSet::new(config.keepalive.min(config.idle_keepalive)),
            next_carrier: 0,
            streams: BTreeMap::new(),
            ids: Ids::default(),
            drr: StreamDrr::default(),
            control: ControlQueue::default(),
            memory: MemoryPool::new(config.memory.as_u64()),
            send_memory: MemoryPool::new(config.memory.as_u64()),
            events: VecDeque::new(),
            adapter: SchedulerAdapter::new(&config),
            copies: CopyQueues::default(),
            without_carriers_since: None,
            links: LinkHistories::default(),
            next_token: 0,
            closed: None,
            streams_cost: 0,
            resent_bytes: 0,
            due: None,
            config,
        }
    }

    /// Returns the oldest event. It may change after any call.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether there is no event to take and no carrier to poll.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.events.is_empty() && !self.carriers.is_any_ready()
    }

    /// Ends the association: drops the streams, and announces the end with a last frame on each carrier. The
    /// driver closes the connections once [`poll_transmit`](Association::poll_transmit) returns `None`.
    pub fn close(&mut self, code: u32) {
        self.due = None;
        if self.closed.is_none() {
            self.closed = Some(code);
            self.streams.clear();
            self.streams_cost = 0;
            self.control = ControlQueue::default();
            self.copies.clear();
            self.wake_all();
        }
    }

    /// Whether either end has ended it.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// Iterates over the streams that are open in at least one direction.
    pub fn streams(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.streams.keys().copied()
    }

    /// Iterates over the carriers that are up, suspected ones included.
    pub fn carriers(&self) -> impl Iterator<Item = CarrierId> + '_ {
        self.carriers.iter().map(|carrier| carrier.id)
    }

    fn position(&self, id: CarrierId) -> Option<CarrierIndex> {
        self.carriers.position(id)
    }

    fn wake_all(&mut self) {
        self.carriers.wake_all();
    }
}
