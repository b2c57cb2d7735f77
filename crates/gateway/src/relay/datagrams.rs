//! UDP for a client: a socket whose datagrams are carried by a stream.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::clients::ClientAccount;
use super::connect::{allowed, known};
use super::registry::Relay;
use crate::association::Stream;
use crate::bucket::Sender;
use crate::datagram::{self, Datagram, MAX_LEN};
use crate::request::{Host, Status, Target};

/// Datagrams are accepted from this many peers: the last ones that something was sent to.
const PEERS: usize = 256;

/// Most datagrams of a stream that wait for the address of their name; more are dropped.
const WAITING: usize = 16;

/// Bytes of the headers of IPv4 and UDP, which count against the client's rate.
const HEADERS: usize = 28;

/// An idle socket is closed after this time.
const IDLE: Duration = Duration::from_secs(300);

thread_local! {
    /// Where a datagram is received, by one stream at a time.
    static PACKET: RefCell<Vec<u8>> = RefCell::new(vec![0; 1 << 16]);
}

/// Relays datagrams until the stream ends.
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
    let mut relaying = Relaying {
        socket: Arc::new(socket),
        relay,
        account,
        peers: VecDeque::new(),
        lookups: JoinSet::new(),
    };
    relaying.run(&stream).await;
}

/// A socket of a client.
struct Relaying<'a> {
    socket: Arc<UdpSocket>,
    relay: &'a Relay,
    account: &'a Arc<ClientAccount>,
    peers: VecDeque<SocketAddr>,
    /// Datagrams to names that are being resolved. Each returns its destination once it is sent.
    lookups: JoinSet<Option<SocketAddr>>,
}

enum Step {
    FromClient(bool),
    FromPeer,
    Resolved(Option<SocketAddr>),
}

impl Relaying<'_> {
    async fn run(&mut self, stream: &Stream) {
        let (mut up, mut waiting) = (Vec::new(), Vec::new());
        let mut senders = [Sender::default(), Sender::default()];
        let account = Arc::clone(self.account);
        let mut _held = account.memory.hold(0);
        loop {
            let step = async {
                let socket = &self.socket;
                tokio::select! {
                    more = stream.take(0, &mut up) => {
                        Step::FromClient(more.unwrap_or(false))
                    }
                    _ = socket.readable() => Step::FromPeer,
                    Some(sent) = self.lookups.join_next() => Step::Resolved(sent.ok().flatten()),
                }
            };
            match timeout(IDLE, step).await {
                Ok(Step::FromClient(true)) => {
                    let taken = up.iter().map(Bytes::len).sum();
                    for piece in up.drain(..) {
                        waiting.extend_from_slice(&piece);
                    }
                    // A low rate does not keep a stream that the client has reset.
                    let sent = tokio::select! {
                        sent = self.send_all(&waiting, &mut senders[0]) => sent,
                        _ = stream.reset_by_peer() => None,
                    };
                    let Some(done) = sent else {
                        return;
                    };
                    waiting.drain(..done);
                    if waiting.is_empty() {
                        // An idle stream has no buffer.
                        waiting = Vec::new();
                    }
                    // The rest of a datagram may need the whole window.
                    _held = account.memory.hold(waiting.len() as u64);
                    stream.release(taken);
                }
                Ok(Step::FromPeer) => {
                    let mut turn = account.rates[1].turn(&mut senders[1]).await;
                    while turn.left() > 0
                        && let Some((bytes, len)) = self.receive()
                    {
                        turn.take(len + HEADERS);
                        // If there is no room the datagram is lost, as on any network.
                        if stream.write_now(bytes).is_err() {
                            return;
                        }
                    }
                }
                Ok(Step::Resolved(peer)) => self.accept_from(peer),
                Ok(Step::FromClient(false)) | Err(_) => return,
            }
        }
    }

    /// Sends the datagrams at the front of `bytes`; returns their length, or `None` if one is malformed.
    async fn send_all(&mut self, bytes: &[u8], sender: &mut Sender) -> Option<usize> {
        let mut done = 0;
        let mut next = datagram::parse(bytes).ok()?;
        while next.is_some() {
            let mut turn = self.account.rates[0].turn(sender).await;
            let mut of_turn = Vec::new();
            while turn.left() > 0
                && let Some((datagram, len)) = next
            {
                turn.take(datagram.payload.len() + HEADERS);
                of_turn.push(datagram);
                done += len;
                next = datagram::parse(&bytes[done..]).ok()?;
            }
            drop(turn);
            for datagram in of_turn {
                self.send(datagram).await;
            }
        }
        Some(done)
    }

    /// Sends a datagram, now or once the address of its name is known.
    async fn send(&mut self, Datagram { peer, payload }: Datagram<'_>) {
        if let Some(found) = known(&peer, &self.relay.names) {
            let sent = match allowed(&found, peer.port, &self.relay.config().rules).first() {
                Some(to) => send(&self.socket, *to, payload).await,
                None => None,
            };
            self.accept_from(sent);
        } else if let Host::Name(name) = peer.host
            && self.lookups.len() < WAITING
        {
            self.look_up(name, peer.port, payload);
        }
    }

    /// Sends a datagram once the address of its name is known.
    fn look_up(&mut self, name: String, port: u16, payload: &[u8]) {
        let (socket, account) = (Arc::clone(&self.socket), Arc::clone(self.account));
        let (names, config) = (self.relay.names.clone(), self.relay.config());
        let payload = payload.to_vec();
        self.lookups.spawn(async move {
            let _held = account.memory.hold(payload.len() as u64);
            let found = names.resolve(&name, &account.names).await.ok()?;
            let to = *allowed(&found, port, &config.rules).first()?;
            send(&socket, to, &payload).await
        });
    }

    /// Datagrams are accepted from a peer to which one was sent.
    fn accept_from(&mut self, peer: Option<SocketAddr>) {
        if let Some(peer) = peer {
            self.peers.retain(|known| *known != peer);
            self.peers.push_back(peer);
            if self.peers.len() > PEERS {
                self.peers.pop_front();
            }
        }
    }

    /// The next datagram of an accepted peer, as it goes on the stream, and its length; `None` if there is none.
    fn receive(&self) -> Option<(Bytes, usize)> {
        PACKET.with_borrow_mut(|packet| {
            // An ICMP error of one peer says nothing about the others.
            let (len, from) = self.socket.try_recv_from(packet).ok()?;
            let from = SocketAddr::new(from.ip().to_canonical(), from.port());
            if !self.peers.contains(&from) {
                return None;
            }
            let len = len.min(datagram::MAX_PAYLOAD);
            let mut bytes = Vec::with_capacity((len + 32).min(MAX_LEN));
            datagram::emit(&Target::from(from), &packet[..len], &mut bytes);
            Some((bytes.into(), len))
        })
    }
}

/// Dual-stack where IPv6 is available.
async fn open() -> io::Result<UdpSocket> {
    match UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await {
        Ok(socket) => Ok(socket),
        Err(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await,
    }
}

/// Sends a datagram; returns its destination if that worked.
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
