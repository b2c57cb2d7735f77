//! Association: streams over carriers.

mod asking;
mod carriers;
mod cost;
mod failure;
mod in_time;
mod links;
mod receive;
mod rescue;
mod schedule;
mod statistics;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod transmit;

use std::collections::{BTreeMap, VecDeque};

use ropewalk_quantities::Time;

use crate::carriers::Carriers;
use crate::control::ControlQueue;
use crate::copies::Copies;
use crate::stream::Stream;
use crate::stream::memory::Memory;
use crate::stream_ids::Ids;
use crate::turns::Turns;
use crate::{CarrierId, Config, Event, Payload, Role, StreamId};
use links::Links;
use schedule::Copied;
use table::Table;

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
    carriers: Carriers,
    next_carrier: u32,
    streams: BTreeMap<u32, Stream<P>>,
    ids: Ids,
    turns: Turns,
    control: ControlQueue,
    memory: Memory,
    send_memory: Memory,
    events: VecDeque<Event>,
    table: Table,
    copies: Copies<CarrierId, Copied>,
    /// Since when no carrier has been up.
    alone_since: Option<Time>,
    links: Links,
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
            carriers: Carriers::new(config.keepalive.min(config.idle_keepalive)),
            next_carrier: 0,
            streams: BTreeMap::new(),
            ids: Ids::default(),
            turns: Turns::default(),
            control: ControlQueue::default(),
            memory: Memory::new(config.memory.as_u64()),
            send_memory: Memory::new(config.memory.as_u64()),
            events: VecDeque::new(),
            table: Table::new(&config),
            copies: Copies::default(),
            alone_since: None,
            links: Links::default(),
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
        self.events.is_empty() && !self.carriers.is_any_awake()
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
        self.streams.keys().map(|number| StreamId(*number))
    }

    /// Iterates over the carriers that are up, suspected ones included.
    pub fn carriers(&self) -> impl Iterator<Item = CarrierId> + '_ {
        self.carriers.iter().map(|carrier| carrier.id)
    }

    fn position(&self, id: CarrierId) -> Option<usize> {
        self.carriers.position(id)
    }

    fn wake_all(&mut self) {
        self.carriers.wake_all();
    }
}
