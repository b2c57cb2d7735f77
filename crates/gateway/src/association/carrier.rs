//! Carrier of an association: a task that reads its connection and a task that writes it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ropewalk_quantities::{Rate, Time};
use ropewalk_striping::{CarrierConfig, CarrierId, ProtocolError, Terms};
use ropewalk_wire::gateway::Frame;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::debug;

use super::congestion::{Congestion, CongestionSwitch};
use super::{Association, CarrierEntry, SharedAssociation};
use crate::handshake::Established;
use crate::record::{Decoder, Encoder, RecordError};
use crate::sockets::set_unsent_bound;
use crate::tcp_info::tcp_info;

/// Least size of one write, in bytes. The bytes that may be unsent, or twice the first frame, replace it if
/// smaller; [`MAX_BATCH`] is the limit. Small batches defer scheduling decisions until more is known.
const MIN_BATCH: usize = 16 << 10;
const MAX_BATCH: usize = 64 << 10;

/// Bounds and initial value of the bytes that may be unsent in the socket. The target is the bytes sent in 10
/// ms, but at least two frames. With the initial value, each of the first frames is a record of its own.
const INITIAL_UNSENT: u64 = 1 << 10;
const MIN_UNSENT: u64 = 4 << 10;
const MAX_UNSENT: u64 = 256 << 10;

/// The delivery rate is read once in this many writes.
const RATE_EVERY: u32 = 16;

/// Time without arrivals after which a carrier frees its read buffers.
const IDLE_TIME: Duration = Duration::from_secs(2);

const BROKEN: u32 = 0xffff_0003;

#[derive(Debug, thiserror::Error)]
pub enum CarrierEnd {
    #[error("closed by the peer")]
    Closed,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The association has ended, and the peer has been notified.
    #[error("the association has ended")]
    Over,
}

/// Carrier in use; dropping it takes the carrier down.
pub struct CarrierTask {
    shared: Arc<SharedAssociation>,
    id: CarrierId,
    suspected: watch::Receiver<bool>,
    socket: Arc<TcpStream>,
    tasks: JoinSet<CarrierEnd>,
}

impl Association {
    /// Uses a connection as a carrier. Without an RTT in `config`, the kernel's is used (Karn's algorithm).
    pub fn carry(
        &self,
        socket: TcpStream,
        mut established: Established,
        config: CarrierConfig,
        congestion: Congestion,
    ) -> CarrierTask {
        if let Some(budget) = &self.0.budget {
            established.decoder.count_in(Arc::clone(budget));
        }
        let measured = || tcp_info(&socket).ok().and_then(|info| info.round_trip);
        let rtt = config
            .rtt
            .or_else(|| measured().map(|rtt| Time::from_nanos(rtt.as_nanos() as u64)));
        let config = CarrierConfig { rtt, ..config };
        let shared = Arc::clone(&self.0);
        let socket = Arc::new(socket);
        let wake = Arc::new(Notify::new());
        let suspected = watch::Sender::new(false);
        let receiver = suspected.subscribe();
        let id = shared.step(|state, now| {
            let id = state.core.carrier_up(now, config);
            let entry = CarrierEntry {
                wake: Arc::clone(&wake),
                suspected,
                socket: Arc::clone(&socket),
            };
            state.carriers.insert(id, entry);
            id
        });
        let mut tasks = JoinSet::new();
        let carrier = CarrierIo {
            shared: Arc::clone(&shared),
            id,
            socket: Arc::clone(&socket),
        };
        tasks.spawn(carrier.clone().read(established.decoder));
        tasks.spawn(carrier.write(established.encoder, wake, congestion));
        CarrierTask {
            shared,
            id,
            suspected: receiver,
            socket,
            tasks,
        }
    }
}

impl CarrierTask {
    pub fn id(&self) -> CarrierId {
        self.id
    }

    pub async fn ended(&mut self) -> CarrierEnd {
        match self.tasks.join_next().await {
            Some(Ok(end)) => end,
            _ => CarrierEnd::Over,
        }
    }

    /// Returns the bytes put on the link in both directions so far, as [`TcpInfo::carried`]. Fails like
    /// getsockopt(2).
    ///
    /// [`TcpInfo::carried`]: super::TcpInfo::carried
    pub(crate) fn carried(&self) -> io::Result<u64> {
        let peer = self.socket.peer_addr()?.ip();
        Ok(tcp_info(&self.socket)?.carried(peer))
    }

    /// Sets the terms of both ends. Only the end that dialled may call it.
    pub(crate) fn set_terms(&self, terms: Terms) {
        self.shared
            .step(|state, _| state.core.set_terms(self.id, terms));
    }

    /// Returns the present suspicion and its changes.
    pub fn suspicion(&self) -> watch::Receiver<bool> {
        self.suspected.clone()
    }
}

impl Drop for CarrierTask {
    fn drop(&mut self) {
        self.shared.step(|state, now| {
            state.carriers.remove(&self.id);
            state.ledger.keep(&state.core, self.id);
            state.core.carrier_down(now, self.id);
        });
    }
}

#[derive(Clone)]
struct CarrierIo {
    shared: Arc<SharedAssociation>,
    id: CarrierId,
    socket: Arc<TcpStream>,
}

impl CarrierIo {
    async fn read(self, decoder: Decoder) -> CarrierEnd {
        match self.read_all(decoder).await {
            Err(CarrierEnd::Protocol(error)) => {
                debug!("protocol broken on carrier {}: {error}", self.id.0);
                self.shared.step(|state, _| state.core.close(BROKEN));
                self.shared.end(BROKEN);
                CarrierEnd::Protocol(error)
            }
            Err(end) => end,
            Ok(()) => CarrierEnd::Closed,
        }
    }

    async fn read_all(&self, mut decoder: Decoder) -> Result<(), CarrierEnd> {
        let mut frames = Vec::new();
        loop {
            self.readable(&mut decoder).await?;
            match self.socket.try_read_buf(decoder.space()) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            }
            while let Some(frame) = decoder.frame()? {
                frames.push(frame);
            }
            if !frames.is_empty() {
                self.shared.step(|state, now| {
                    let mut frames = frames.drain(..);
                    frames.try_for_each(|frame| state.core.received(now, self.id, frame))
                })?;
            }
        }
    }

    /// Waits for data. Unused read buffers are freed when none arrive for [`IDLE_TIME`].
    async fn readable(&self, decoder: &mut Decoder) -> io::Result<()> {
        while decoder.has_full() {
            match timeout(IDLE_TIME, self.socket.readable()).await {
                Ok(ready) => return ready,
                Err(_) => decoder.release_memory(),
            }
        }
        self.socket.readable().await
    }

    async fn write(
        self,
        encoder: Encoder,
        wake: Arc<Notify>,
        congestion: Congestion,
    ) -> CarrierEnd {
        let chooser = CongestionSwitch::new(&self.socket, congestion);
        match self.write_all(encoder, &wake, chooser).await {
            Err(error) => error.into(),
            Ok(()) => CarrierEnd::Over,
        }
    }

    async fn write_all(
        &self,
        mut encoder: Encoder,
        wake: &Notify,
        mut chooser: Option<CongestionSwitch>,
    ) -> io::Result<()> {
        let mut frames = Vec::new();
        let mut writes: u32 = 0;
        let mut unsent = INITIAL_UNSENT;
        set_unsent_bound(&*self.socket, unsent)?;
        loop {
            let (is_over, statistics) = self.shared.step(|state, now| {
                let mut most = MIN_BATCH.min(unsent as usize);
                let mut len = 0;
                while len < most
                    && let Some(frame) = state.core.poll_transmit(now, self.id)
                {
                    let payload = match &frame {
                        Frame::Data { payload, .. } => payload.len(),
                        _ => 0,
                    };
                    len += frame.header_len() + payload;
                    most = most.max(2 * payload).min(MAX_BATCH);
                    frames.push(frame);
                }
                let statistics = match writes % RATE_EVERY {
                    0 => state.core.carrier_statistics(self.id),
                    _ => None,
                };
                (state.core.is_closed(), statistics)
            });
            if frames.is_empty() {
                if is_over {
                    return Ok(());
                }
                wake.notified().await;
                continue;
            }
            writes = writes.wrapping_add(1);
            if let Some(statistics) = statistics {
                if let Some(rate) = statistics.rate {
                    self.adapt_unsent(&mut unsent, rate)?;
                }
                if let Some(of_link) = &mut chooser
                    && !of_link.check(&self.socket, &statistics)
                {
                    chooser = None;
                }
            }
            for frame in frames.drain(..) {
                encoder.push(&frame);
            }
            encoder.finish();
            self.drain(&mut encoder).await?;
        }
    }

    async fn drain(&self, encoder: &mut Encoder) -> io::Result<()> {
        let mut is_blocked = false;
        while !encoder.is_written() {
            match encoder.write(|slices| self.socket.try_write_vectored(slices)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !is_blocked {
                        is_blocked = true;
                        self.shared.step(|state, _| state.core.blocked(self.id));
                    }
                    self.socket.writable().await?;
                }
                Err(error) => return Err(error),
            }
        }
        if is_blocked {
            self.shared.step(|state, _| state.core.writable(self.id));
        }
        Ok(())
    }

    /// Keeps about two frames unsent in the socket; a frame's size follows the rate.
    fn adapt_unsent(&self, unsent: &mut u64, rate: Rate) -> io::Result<()> {
        let wanted = (rate.as_bps() / 8 / 100).clamp(MIN_UNSENT, MAX_UNSENT);
        if wanted.abs_diff(*unsent) > *unsent / 4 {
            *unsent = wanted;
            set_unsent_bound(&*self.socket, wanted)?;
        }
        Ok(())
    }
}
