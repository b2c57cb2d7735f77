//! An association driven by sockets and the clock.
//!
//! The protocol is [`striping::Association`]. Here are the tasks that read and write its carriers
//! ([`carrier`]), its streams ([`stream`]), and its timer. All of them share it behind a lock that is held
//! for one step of the state machine, never for a system call or for encryption. Tasks that can go on after a
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
use crate::tcp_info::tcp_info;

pub use crate::tcp_info::TcpInfo;
pub use carrier::{CarrierEnd, CarrierTask};
pub use congestion::Congestion;
pub use stream::{Stream, StreamError};

/// Memory of frames in flight or to be sent for which an association without data is ended when its budget is
/// used up.
const MOST_FRAMES: u64 = 1 << 20;

/// One end of an association. Clones refer to the same one.
#[derive(Clone)]
pub struct Association(Arc<Shared>);

/// Streams that the other end opens.
pub struct Incoming {
    association: Association,
    opened: mpsc::UnboundedReceiver<StreamId>,
}

struct Shared {
    start: Instant,
    config: Config,
    state: Mutex<State>,
    /// The memory that it shares with others, if that is bounded.
    budget: Option<Arc<Budget>>,
    /// Wakes the timer's task to look again.
    timer: Notify,
    /// Why the association has ended.
    closed: watch::Sender<Option<u32>>,
}

struct State {
    core: striping::Association<Bytes>,
    streams: HashMap<StreamId, Entry>,
    carriers: HashMap<CarrierId, CarrierEntry>,
    /// Streams opened by the other end, bounded by [`Config::streams`].
    opened: mpsc::UnboundedSender<StreamId>,
    /// When the timer's task wakes by itself.
    armed: Option<Time>,
    /// Memory that the budget has counted.
    counted: u64,
    /// Counters of carriers that have ended.
    ledger: status::Ledger,
}

/// State of a stream that is in use here.
struct Entry {
    began: Instant,
    /// Where it leads, once that is known.
    target: Option<String>,
    /// Deadline of what is written here.
    urgency: Urgency,
    /// Bytes that were written here.
    written: u64,
    readable: Arc<Notify>,
    writable: Arc<Notify>,
    /// The peer's end: finished (`Ok`) or reset.
    read_end: Option<Result<(), u32>>,
    /// The other end reads no more.
    stopped: Option<u32>,
}

impl Entry {
    fn new() -> Entry {
        Entry {
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
    /// Without carriers. Needs a tokio runtime, in which its timer runs.
    #[must_use]
    pub fn new(role: Role, config: Config) -> (Association, Incoming) {
        Association::within(role, config, None)
    }

    /// As [`new`](Association::new), within a budget of memory that it may share with others. Beyond the
    /// budget its streams are reset, the largest holders first.
    #[must_use]
    pub(crate) fn within(
        role: Role,
        config: Config,
        budget: Option<Arc<Budget>>,
    ) -> (Association, Incoming) {
        let (sender, opened) = mpsc::unbounded_channel();
        let association = Association(Arc::new(Shared {
            start: Instant::now(),
            config: config.clone(),
            state: Mutex::new(State {
                core: striping::Association::new(role, config),
                streams: HashMap::new(),
                carriers: HashMap::new(),
                opened: sender,
                armed: None,
                counted: 0,
                ledger: status::Ledger::default(),
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

    /// A new stream; `None` if the association has ended.
    #[must_use]
    pub fn open(&self) -> Option<Stream> {
        let id = self.0.step(|state, _| {
            let id = state.core.open()?;
            state.streams.insert(id, Entry::new());
            state.ledger.opened_streams += 1;
            Some(id)
        })?;
        Some(Stream::new(self.clone(), id))
    }

    /// Ends it; carriers close when they have said so.
    pub fn close(&self, code: u32) {
        self.0.step(|state, _| state.core.close(code));
        self.0.end(code);
    }

    /// Waits until it has ended, and says why.
    pub async fn closed(&self) -> u32 {
        let mut closed = self.0.closed.subscribe();
        match closed.wait_for(Option::is_some).await {
            Ok(code) => code.unwrap_or_default(),
            Err(_) => 0,
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end().is_some()
    }

    /// Why it has ended; `None` if it has not.
    #[must_use]
    pub fn end(&self) -> Option<u32> {
        *self.0.closed.borrow()
    }

    /// Looks at the state machine, such as for statistics.
    pub fn look<T>(&self, look: impl FnOnce(&striping::Association<Bytes>) -> T) -> T {
        look(&self.0.lock().core)
    }

    /// Streams that somebody here has.
    #[must_use]
    pub fn stream_count(&self) -> usize {
        self.0.lock().streams.len()
    }

    /// The address here of one of the carriers.
    pub(crate) fn carrier_address(&self) -> Option<SocketAddr> {
        let state = self.0.lock();
        let mut addresses = state.carriers.values();
        addresses.find_map(|carrier| carrier.socket.local_addr().ok())
    }

    /// What is known of each carrier that lives, by its association and by the kernel.
    #[must_use]
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

    /// Whether a carrier lives that is not suspected.
    pub(crate) fn hears(&self) -> bool {
        let state = self.0.lock();
        let mut carriers = state.carriers.values();
        carriers.any(|carrier| !*carrier.suspected.borrow())
    }

    /// Carriers that live.
    #[must_use]
    pub fn carrier_count(&self) -> usize {
        self.0.lock().carriers.len()
    }
}

impl Incoming {
    /// The next stream that the other end opened; `None` when the association has ended.
    pub async fn next(&mut self) -> Option<Stream> {
        let association = self.association.clone();
        tokio::select! {
            id = self.opened.recv() => Some(Stream::new(association, id?)),
            _ = self.association.closed() => None,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        let nanos = self.start.elapsed().as_nanos();
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// A step of the state machine; then wakes whoever it concerns.
    fn step<T>(&self, step: impl FnOnce(&mut State, Time) -> T) -> T {
        let mut wakes = Vec::new();
        let mut ended = None;
        let (result, is_sooner) = {
            let mut state = self.lock();
            let now = self.now();
            let result = step(&mut state, now);
            if let Some(budget) = &self.budget
                && !state.keep_within(budget)
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

    /// Everybody who waits for a stream learns that there will be nothing.
    fn end(&self, code: u32) {
        // Before they ask why.
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

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            let state = self.state.get_mut();
            let state = state.unwrap_or_else(PoisonError::into_inner);
            budget.change(state.counted, 0);
        }
    }
}

impl State {
    /// Counts what the association takes, and frees memory if it has grown beyond the budget. Returns whether
    /// that helped.
    fn keep_within(&mut self, budget: &Budget) -> bool {
        let before = self.count(budget);
        self.core.set_short(budget.is_short());
        let excess = budget.excess();
        if excess == 0 || self.counted <= before {
            return true;
        }
        let is_free = self.core.free_memory(excess);
        self.count(budget);
        is_free || self.core.is_closed() || self.counted <= MOST_FRAMES
    }

    /// Reports the association's memory to the budget; returns the memory reported before.
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
                    self.streams.insert(id, Entry::new());
                    self.ledger.opened_streams += 1;
                    // Nobody takes streams any more once the association has ended.
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
                // Whoever has it lets it go by itself.
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
