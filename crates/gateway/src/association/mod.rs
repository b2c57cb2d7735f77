//! An association driven by sockets and the clock.
//!
//! [`striping::Association`] is the protocol. This module has the tasks that read and write the carriers
//! ([`carrier`]), the streams ([`stream`]) and the timer. They share the state behind a lock, which is held
//! for one step of the state machine, never for a system call or encryption. Tasks that can continue after a
//! step are woken when the lock is released.

mod carrier;
mod congestion;
pub(crate) mod status;
mod stream;
mod timer;

use std::collections::HashMap;
use std::mem;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use ropewalk_quantities::Time;
use ropewalk_striping as striping;
use ropewalk_striping::{CarrierId, CarrierStatistics, Config, Event, Role, StreamId};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, watch};

use crate::budget::Budget;
use crate::classes::Urgency;
use crate::lock::lock;
use crate::tcp_info::tcp_info;

pub use crate::tcp_info::TcpInfo;
pub use carrier::CarrierTask;
pub use congestion::Congestion;
pub use stream::{Stream, StreamError};

/// Memory of frames above which an association without stream data is ended when its budget is used up.
const MAX_FRAME_MEMORY: u64 = 1 << 20;

/// One end of an association. Clones refer to the same one.
#[derive(Clone)]
pub struct Association(Arc<SharedAssociation>);

/// Streams that the peer opens.
pub struct Incoming {
    association: Association,
    opened: mpsc::UnboundedReceiver<StreamId>,
}

struct SharedAssociation {
    start: Instant,
    config: Config,
    state: Mutex<State>,
    budget: Option<Arc<Budget>>,
    timer: Notify,
    closed: watch::Sender<Option<u32>>,
}

struct State {
    core: striping::Association<Bytes>,
    streams: HashMap<StreamId, StreamEntry>,
    carriers: HashMap<CarrierId, CarrierEntry>,
    /// Streams opened by the peer, at most [`Config::streams`].
    opened: mpsc::UnboundedSender<StreamId>,
    armed: Option<Time>,
    counted: u64,
    ledger: status::RetiredCounters,
}

/// State of a stream in use here.
struct StreamEntry {
    began: Instant,
    /// Destination, once known.
    target: Option<String>,
    urgency: Urgency,
    written: u64,
    readable: Arc<Notify>,
    writable: Arc<Notify>,
    read_end: Option<Result<(), u32>>,
    stopped: Option<u32>,
}

impl StreamEntry {
    fn new() -> StreamEntry {
        StreamEntry {
            began: Instant::now(),
            target: None,
            urgency: Urgency::default(),
            written: 0,
            readable: Arc::default(),
            writable: Arc::default(),
            read_end: None,
            stopped: None,
        }
    }
}

struct CarrierEntry {
    wake: Arc<Notify>,
    suspected: watch::Sender<bool>,
    socket: Arc<TcpStream>,
}

impl Association {
    /// Creates an association without carriers. Needs a tokio runtime, in which its timer runs.
    #[must_use]
    pub fn new(role: Role, config: Config) -> (Association, Incoming) {
        Association::within(role, config, None)
    }

    /// As [`new`](Association::new), within a memory budget. Beyond it, the largest streams are reset.
    pub(crate) fn within(
        role: Role,
        config: Config,
        budget: Option<Arc<Budget>>,
    ) -> (Association, Incoming) {
        let (sender, opened) = mpsc::unbounded_channel();
        let association = Association(Arc::new(SharedAssociation {
            start: Instant::now(),
            config: config.clone(),
            state: Mutex::new(State {
                core: striping::Association::new(role, config),
                streams: HashMap::new(),
                carriers: HashMap::new(),
                opened: sender,
                armed: None,
                counted: 0,
                ledger: status::RetiredCounters::default(),
            }),
            budget,
            timer: Notify::new(),
            closed: watch::Sender::new(None),
        }));
        tokio::spawn(timer::run(Arc::downgrade(&association.0)));
        let incoming = Incoming {
            association: association.clone(),
            opened,
        };
        (association, incoming)
    }

    /// Opens a stream; `None` if the association has ended.
    pub fn open(&self) -> Option<Stream> {
        let id = self.0.step(|state, _| {
            let id = state.core.open()?;
            state.streams.insert(id, StreamEntry::new());
            state.ledger.opened_streams += 1;
            Some(id)
        })?;
        Some(Stream::new(self.clone(), id))
    }

    /// Ends the association. Carriers close once they have sent the close.
    pub fn close(&self, code: u32) {
        self.0.step(|state, _| state.core.close(code));
        self.0.end(code);
    }

    /// Waits until it has ended; returns the error code.
    pub async fn closed(&self) -> u32 {
        let mut closed = self.0.closed.subscribe();
        match closed.wait_for(Option::is_some).await {
            Ok(code) => code.unwrap_or_default(),
            Err(_) => 0,
        }
    }

    pub fn is_closed(&self) -> bool {
        self.end().is_some()
    }

    /// Returns the error code with which it ended; `None` if it has not.
    pub fn end(&self) -> Option<u32> {
        *self.0.closed.borrow()
    }

    pub fn stream_count(&self) -> usize {
        self.0.lock().streams.len()
    }

    /// Returns the local address of one of the carriers.
    pub(crate) fn carrier_address(&self) -> Option<SocketAddr> {
        let state = self.0.lock();
        let mut addresses = state.carriers.values();
        addresses.find_map(|carrier| carrier.socket.local_addr().ok())
    }

    /// Returns the statistics of each carrier: the association's and the kernel's.
    pub fn carriers(&self) -> Vec<(CarrierId, CarrierStatistics, Option<TcpInfo>)> {
        let state = self.0.lock();
        let carriers = state.carriers.iter().filter_map(|(id, entry)| {
            let statistics = state.core.carrier_statistics(*id)?;
            Some((*id, statistics, Arc::clone(&entry.socket)))
        });
        let carriers: Vec<_> = carriers.collect();
        drop(state);
        let ask = |(id, statistics, socket)| (id, statistics, tcp_info(&socket).ok());
        carriers.into_iter().map(ask).collect()
    }

    /// Whether a carrier that is not suspected is up.
    pub(crate) fn has_live_carrier(&self) -> bool {
        let state = self.0.lock();
        let mut carriers = state.carriers.values();
        carriers.any(|carrier| !*carrier.suspected.borrow())
    }

    pub fn carrier_count(&self) -> usize {
        self.0.lock().carriers.len()
    }
}

impl Incoming {
    /// Returns the next stream opened by the peer; `None` when the association has ended.
    pub async fn next(&mut self) -> Option<Stream> {
        let association = self.association.clone();
        tokio::select! {
            id = self.opened.recv() => Some(Stream::new(association, id?)),
            _ = self.association.closed() => None,
        }
    }
}

impl SharedAssociation {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn now(&self) -> Time {
        let nanos = self.start.elapsed().as_nanos();
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Runs a step of the state machine, then wakes the tasks that it concerns.
    fn step<T>(&self, step: impl FnOnce(&mut State, Time) -> T) -> T {
        let mut wakes = Vec::new();
        let mut ended = None;
        let (result, is_sooner) = {
            let mut state = self.lock();
            let now = self.now();
            let result = step(&mut state, now);
            if let Some(budget) = &self.budget
                && !state.enforce_budget(budget)
            {
                state.core.close(striping::OUT_OF_MEMORY);
                ended = Some(striping::OUT_OF_MEMORY);
            }
            state.note_events(now, &mut wakes, &mut ended);
            let is_sooner = match (state.core.poll_timeout(), state.armed) {
                (Some(wanted), Some(armed)) => wanted < armed,
                (wanted, armed) => wanted.is_some() && armed.is_none(),
            };
            (result, is_sooner)
        };
        for wake in wakes {
            wake.notify_one();
        }
        if is_sooner {
            self.timer.notify_one();
        }
        if let Some(code) = ended {
            self.end(code);
        }
        result
    }

    /// Notifies all waiting tasks that the association has ended.
    fn end(&self, code: u32) {
        self.closed.send_if_modified(|closed| {
            let is_new = closed.is_none();
            closed.get_or_insert(code);
            is_new
        });
        let wakes: Vec<Arc<Notify>> = {
            let mut state = self.lock();
            let entries = state.streams.values_mut();
            let wakes = entries.flat_map(|entry| {
                entry.read_end.get_or_insert(Err(code));
                entry.stopped.get_or_insert(code);
                [Arc::clone(&entry.readable), Arc::clone(&entry.writable)]
            });
            wakes.collect()
        };
        for wake in wakes {
            wake.notify_one();
        }
    }
}

impl Drop for SharedAssociation {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            let state = self.state.get_mut();
            let state = state.unwrap_or_else(PoisonError::into_inner);
            budget.change(state.counted, 0);
        }
    }
}

impl State {
    /// Reports the association's memory, and frees some beyond the budget. Returns whether that helped.
    fn enforce_budget(&mut self, budget: &Budget) -> bool {
        let before = self.count(budget);
        self.core.set_short(budget.is_half_used());
        let excess = budget.excess();
        if excess == 0 || self.counted <= before {
            return true;
        }
        let is_free = self.core.free_memory(excess);
        self.count(budget);
        is_free || self.core.is_closed() || self.counted <= MAX_FRAME_MEMORY
    }

    /// Reports the association's memory to the budget; returns the previous value.
    fn count(&mut self, budget: &Budget) -> u64 {
        let cost = self.core.cost();
        let before = mem::replace(&mut self.counted, cost);
        budget.change(before, cost);
        before
    }

    fn note_events(&mut self, now: Time, wakes: &mut Vec<Arc<Notify>>, ended: &mut Option<u32>) {
        while let Some(event) = self.core.poll_event() {
            match event {
                Event::Readable(id) => {
                    wakes.extend(
                        self.streams
                            .get(&id)
                            .map(|entry| Arc::clone(&entry.readable)),
                    );
                }
                Event::Writable(id) => {
                    wakes.extend(
                        self.streams
                            .get(&id)
                            .map(|entry| Arc::clone(&entry.writable)),
                    );
                }
                Event::StreamOpened(id) => {
                    self.streams.insert(id, StreamEntry::new());
                    self.ledger.opened_streams += 1;
                    // After the end of the association nobody accepts streams.
                    let _ = self.opened.send(id);
                }
                Event::StreamFinished(id) => {
                    if let Some(entry) = self.streams.get_mut(&id) {
                        entry.read_end = Some(Ok(()));
                        wakes.push(Arc::clone(&entry.readable));
                    }
                }
                Event::StreamReset { stream, code } => {
                    if let Some(entry) = self.streams.get_mut(&stream) {
                        entry.read_end = Some(Err(code));
                        wakes.push(Arc::clone(&entry.readable));
                    }
                }
                Event::StreamStopped { stream, code } => {
                    if let Some(entry) = self.streams.get_mut(&stream) {
                        entry.stopped = Some(code);
                        wakes.push(Arc::clone(&entry.writable));
                    }
                }
                Event::StreamClosed(_) => {}
                Event::CarrierSuspected(id) => self.suspect(id, true),
                Event::CarrierTrusted(id) => self.suspect(id, false),
                Event::Closed { code } => *ended = Some(code),
            }
        }
        while let Some(id) = self.core.poll_wake(now) {
            wakes.extend(self.carriers.get(&id).map(|entry| Arc::clone(&entry.wake)));
        }
    }

    fn suspect(&mut self, id: CarrierId, suspected: bool) {
        if suspected {
            self.ledger.note_suspicion(&self.core, id);
        }
        if let Some(entry) = self.carriers.get(&id) {
            entry.suspected.send_replace(suspected);
        }
    }
}
