//! UDP for a client: a socket whose datagrams are carried by a stream.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UdpSocket;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::clients::ClientAccount;
use super::connect::{allowed, known};
use super::registry::Relay;
use crate::association::Stream;
use crate::budget::{Budget, HeldMemory};
use crate::datagram::{self, Datagram, MAX_LEN};
use crate::fair_rate_limiter::Sender;
use crate::lock::lock;
use crate::request::{Host, Status, Target};

/// Number of peers from which datagrams are accepted: the last ones that were sent to.
const PEERS: usize = 256;

/// Maximum number of a stream's datagrams that wait for name resolution; more are dropped.
const WAITING: usize = 16;

/// Bytes of IPv4 and UDP headers, which count against the client's rate.
const HEADERS: usize = 28;

/// Maximum time, and bytes, that datagrams wait for the client's rate.
const LONGEST_WAIT: Duration = Duration::from_millis(200);
const MOST_QUEUED: usize = 256 << 10;
/// Overhead of a queued datagram, in bytes.
const QUEUED_OVERHEAD: usize = size_of::<QueuedDatagram<'_>>() + 16;

const IDLE: Duration = Duration::from_secs(300);

thread_local! {
    /// Receive buffer, used by one stream at a time.
    static PACKET: RefCell<Vec<u8>> = RefCell::new(vec![0; 1 << 16]);
}

/// Relays datagrams until the stream ends or has been idle for [`IDLE`].
pub(super) async fn serve(stream: Stream, relay: &Relay, account: &Arc<ClientAccount>) {
    let Ok(socket) = open().await else {
        let _ = stream
            .write(Bytes::from_static(&[Status::Failed as u8]))
            .await;
        return;
    };
    if stream
        .write(Bytes::from_static(&[Status::Done as u8]))
        .await
        .is_err()
    {
        return;
    }
    let relaying = Relaying {
        socket: Arc::new(socket),
        relay,
        account,
        queue: Queue::new(&account.memory),
        peers: Mutex::default(),
        used_at: Mutex::new(Instant::now()),
    };
    // The directions have separate rates: neither waits for the other.
    tokio::select! {
        () = relaying.receive_from_client(&stream) => {}
        () = relaying.send_to_peers() => {}
        () = relaying.carry_to_client(&stream) => {}
        () = relaying.idle() => {}
    }
}

struct Relaying<'a> {
    socket: Arc<UdpSocket>,
    relay: &'a Relay,
    account: &'a Arc<ClientAccount>,
    queue: Queue<'a>,
    peers: Mutex<VecDeque<SocketAddr>>,
    used_at: Mutex<Instant>,
}

impl Relaying<'_> {
    /// Moves datagrams from the stream to the queue until the stream ends.
    async fn receive_from_client(&self, stream: &Stream) {
        let (mut pieces, mut waiting) = (Vec::new(), Vec::new());
        let mut _held = self.account.memory.hold(0);
        while let Ok(true) = stream.take(0, &mut pieces).await {
            let taken = pieces.iter().map(Bytes::len).sum();
            for piece in pieces.drain(..) {
                waiting.extend_from_slice(&piece);
            }
            let mut done = 0;
            loop {
                match datagram::parse(&waiting[done..]) {
                    Ok(Some((_, len))) => {
                        self.queue.push(Instant::now(), &waiting[done..][..len]);
                        done += len;
                    }
                    Ok(None) => break,
                    Err(_) => return,
                }
            }
            waiting.drain(..done);
            if waiting.is_empty() {
                waiting = Vec::new();
            }
            // The rest of a datagram may need the whole window.
            _held = self.account.memory.hold(waiting.len() as u64);
            stream.release(taken);
            self.used();
        }
    }

    async fn send_to_peers(&self) {
        let mut sender = Sender::default();
        // Datagrams whose names are being resolved. Each returns its destination once it is sent.
        let mut lookups = JoinSet::new();
        loop {
            tokio::select! {
                () = self.queue.filled() => {}
                Some(sent) = lookups.join_next() => {
                    self.accept_from(sent.ok().flatten());
                    continue;
                }
            }
            let mut turn = self.account.rates[0].turn(&mut sender).await;
            let mut of_turn = Vec::new();
            while turn.left() > 0
                && let Some(bytes) = self.queue.pop(Instant::now())
                && let Ok(Some((datagram, _))) = datagram::parse(&bytes)
            {
                turn.take(datagram.payload.len() + HEADERS);
                of_turn.push(bytes);
            }
            drop(turn);
            for bytes in of_turn {
                if let Ok(Some((datagram, _))) = datagram::parse(&bytes) {
                    self.send(datagram, &mut lookups).await;
                }
            }
        }
    }

    /// Carries the datagrams of peers to the client at its rate, until the stream ends.
    async fn carry_to_client(&self, stream: &Stream) {
        let mut sender = Sender::default();
        loop {
            if self.socket.readable().await.is_err() {
                continue;
            }
            let mut turn = self.account.rates[1].turn(&mut sender).await;
            while turn.left() > 0
                && let Some((bytes, len)) = self.receive()
            {
                turn.take(len + HEADERS);
                // Without buffer space the datagram is lost, as on any network.
                if stream.write_now(bytes).is_err() {
                    return;
                }
                self.used();
            }
        }
    }

    /// Waits until nothing was relayed for [`IDLE`].
    async fn idle(&self) {
        loop {
            let until = *lock(&self.used_at) + IDLE;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    fn used(&self) {
        *lock(&self.used_at) = Instant::now();
    }

    async fn send(
        &self,
        Datagram { peer, payload }: Datagram<'_>,
        lookups: &mut JoinSet<Option<SocketAddr>>,
    ) {
        if let Some(found) = known(&peer, &self.relay.names) {
            let sent = match allowed(&found, peer.port, &self.relay.config().rules).first() {
                Some(to) => send(&self.socket, *to, payload).await,
                None => None,
            };
            self.accept_from(sent);
        } else if let Host::Name(name) = peer.host
            && lookups.len() < WAITING
        {
            self.look_up(name, peer.port, payload, lookups);
        }
    }

    /// Sends a datagram once the address of its name is known.
    fn look_up(
        &self,
        name: String,
        port: u16,
        payload: &[u8],
        lookups: &mut JoinSet<Option<SocketAddr>>,
    ) {
        let (socket, account) = (Arc::clone(&self.socket), Arc::clone(self.account));
        let (names, config) = (self.relay.names.clone(), self.relay.config());
        let payload = payload.to_vec();
        lookups.spawn(async move {
            let _held = account.memory.hold(payload.len() as u64);
            let found = names.resolve(&name, &account.names).await.ok()?;
            let to = *allowed(&found, port, &config.rules).first()?;
            send(&socket, to, &payload).await
        });
    }

    fn accept_from(&self, peer: Option<SocketAddr>) {
        if let Some(peer) = peer {
            let mut peers = lock(&self.peers);
            peers.retain(|known| *known != peer);
            peers.push_back(peer);
            if peers.len() > PEERS {
                peers.pop_front();
            }
        }
    }

    /// Receives the next datagram of an accepted peer in the stream's encoding, and its length.
    fn receive(&self) -> Option<(Bytes, usize)> {
        PACKET.with_borrow_mut(|packet| {
            // An ICMP error of one peer says nothing about the others.
            let (len, from) = self.socket.try_recv_from(packet).ok()?;
            let from = SocketAddr::new(from.ip().to_canonical(), from.port());
            if !lock(&self.peers).contains(&from) {
                return None;
            }
            let len = len.min(datagram::MAX_PAYLOAD);
            let mut bytes = Vec::with_capacity((len + 32).min(MAX_LEN));
            datagram::emit(&Target::from(from), &packet[..len], &mut bytes);
            Some((bytes.into(), len))
        })
    }
}

/// Queue of datagrams that wait for the client's rate, each for at most [`LONGEST_WAIT`], with at most
/// [`MOST_QUEUED`] bytes. Beyond these limits the oldest datagrams are dropped, so a flood does not delay
/// later ones.
#[derive(Debug)]
struct Queue<'a> {
    memory: &'a Budget,
    state: Mutex<Queued<'a>>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Queued<'a> {
    datagrams: VecDeque<QueuedDatagram<'a>>,
    bytes: usize,
}

#[derive(Debug)]
struct QueuedDatagram<'a> {
    arrived: Instant,
    bytes: Box<[u8]>,
    _held: HeldMemory<'a>,
}

impl<'a> Queue<'a> {
    fn new(memory: &'a Budget) -> Queue<'a> {
        Queue {
            memory,
            state: Mutex::default(),
            filled: Notify::new(),
        }
    }

    fn push(&self, arrived: Instant, bytes: &[u8]) {
        let held = self.memory.hold((bytes.len() + QUEUED_OVERHEAD) as u64);
        let mut state = lock(&self.state);
        state.bytes += bytes.len() + QUEUED_OVERHEAD;
        state.datagrams.push_back(QueuedDatagram {
            arrived,
            bytes: bytes.into(),
            _held: held,
        });
        let most = match self.memory.is_half_used() {
            true => 0,
            false => MOST_QUEUED,
        };
        while state.bytes > most && state.datagrams.len() > 1 {
            state.pop();
        }
        self.filled.notify_one();
    }

    /// Returns the next datagram that has not waited too long.
    fn pop(&self, now: Instant) -> Option<Box<[u8]>> {
        let mut state = lock(&self.state);
        loop {
            let datagram = state.pop()?;
            if now.saturating_duration_since(datagram.arrived) <= LONGEST_WAIT {
                return Some(datagram.bytes);
            }
        }
    }

    async fn filled(&self) {
        while lock(&self.state).datagrams.is_empty() {
            self.filled.notified().await;
        }
    }
}

impl<'a> Queued<'a> {
    fn pop(&mut self) -> Option<QueuedDatagram<'a>> {
        let datagram = self.datagrams.pop_front()?;
        self.bytes -= datagram.bytes.len() + QUEUED_OVERHEAD;
        if self.datagrams.is_empty() {
            self.datagrams = VecDeque::new();
        }
        Some(datagram)
    }
}

/// Opens a socket, dual-stack if IPv6 is available.
async fn open() -> io::Result<UdpSocket> {
    match UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await {
        Ok(socket) => Ok(socket),
        Err(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await,
    }
}

async fn send(socket: &UdpSocket, to: SocketAddr, payload: &[u8]) -> Option<SocketAddr> {
    let is_six = socket.local_addr().ok()?.is_ipv6();
    let address = match to {
        SocketAddr::V4(four) if is_six => {
            SocketAddr::from((four.ip().to_ipv6_mapped(), four.port()))
        }
        other => other,
    };
    socket.send_to(payload, address).await.ok()?;
    Some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_drops_old_datagrams_and_the_oldest_beyond_its_limit() {
        let memory = Budget::new(1 << 20);
        let queue = Queue::new(&memory);
        let begin = Instant::now();
        let after = |ms| begin + Duration::from_millis(ms);
        for (at, byte) in [(0, 0), (100, 1), (150, 2)] {
            queue.push(after(at), &[byte]);
        }
        assert_eq!(queue.pop(after(200)).as_deref(), Some(&[0][..]));
        assert_eq!(queue.pop(after(301)).as_deref(), Some(&[2][..]));
        assert_eq!(queue.pop(after(301)), None);
        assert_eq!(memory.used(), 0);

        for byte in 0..200 {
            queue.push(begin, &[byte; 2000]);
        }
        let oldest = queue.pop(begin).unwrap();
        assert!((60..90).contains(&oldest[0]), "{}", oldest[0]);
        assert!(memory.used() <= MOST_QUEUED as u64);
    }

    #[test]
    fn one_datagram_is_queued_when_memory_is_short() {
        let memory = Budget::new(10);
        let queue = Queue::new(&memory);
        let begin = Instant::now();
        for byte in 0..3 {
            queue.push(begin, &[byte; 100]);
        }
        assert_eq!(queue.pop(begin).as_deref(), Some(&[2; 100][..]));
        assert_eq!(queue.pop(begin), None);
    }
}
