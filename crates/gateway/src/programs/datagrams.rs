//! UDP sockets of programs: each has a port of loopback here, and a socket at the relay.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::net::sockopt::{socket_cookie, socket_protocol};
use rustix::net::{getsockname, ipproto};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, consume_budget};
use tracing::debug;

use super::connector::{Connector, DatagramChannel};
use super::endpoint_socket::EndpointSocket;
use super::endpoints::{Endpoint, Endpoints};
use super::socket_watch::SocketWatch;
use crate::lock::lock;
use crate::request::Target;
use ropewalk_preload_protocol::Reason;

/// Maximum number of programs' sockets.
const SOCKETS: usize = 1024;

/// Maximum number of a socket's channels: one for all targets by address, and one for each name. The relay
/// answers from an address that only it knows, so the channel shows which name it belongs to.
const CHANNELS: usize = 16;

/// UDP sockets of programs by their cookies.
#[derive(Debug)]
pub struct DatagramSockets {
    watch: SocketWatch,
    sockets: Mutex<HashMap<u64, Arc<Socket>>>,
}

/// A program's socket, from the first datagram until no process has it open.
#[derive(Debug)]
struct Socket {
    local: EndpointSocket,
    endpoints: Mutex<Endpoints>,
    ended: Notify,
}

/// New socket, whose datagrams must be carried. Dropping it forgets the socket.
pub struct NewSocket<'a> {
    all: &'a DatagramSockets,
    cookie: u64,
    socket: Arc<Socket>,
}

impl DatagramSockets {
    /// Creates the table without sockets. Fails like `SocketWatch::new`.
    pub fn new() -> io::Result<DatagramSockets> {
        Ok(DatagramSockets {
            watch: SocketWatch::new()?,
            sockets: Mutex::default(),
        })
    }

    /// Returns the address for the program's datagrams to the target, and the socket if it is new.
    pub fn endpoint(
        &self,
        program: OwnedFd,
        given: SocketAddr,
        target: Target,
    ) -> Result<(SocketAddr, Option<NewSocket<'_>>), Reason> {
        let (cookie, address) = identify(&program).ok_or(Reason::NetworkUnreachable)?;
        let mut sockets = lock(&self.sockets);
        let known = sockets.get(&cookie);
        // A program that dissolves a connection gets another port (connect(2), AF_UNSPEC).
        let known = known.filter(|known| known.local.program() == address);
        let (socket, new) = match known {
            Some(known) => (Arc::clone(known), None),
            None => {
                if sockets.len() >= SOCKETS {
                    self.forget_closed(&mut sockets);
                }
                if sockets.len() >= SOCKETS {
                    return Err(Reason::NoRoom);
                }
                let opened = self.open(program, cookie, address);
                let socket = Arc::new(opened.map_err(|_| Reason::NoRoom)?);
                if let Some(replaced) = sockets.insert(cookie, Arc::clone(&socket)) {
                    replaced.ended.notify_one();
                }
                let new = NewSocket {
                    all: self,
                    cookie,
                    socket: Arc::clone(&socket),
                };
                (socket, Some(new))
            }
        };
        drop(sockets);
        let at = lock(&socket.endpoints).add(given, target);
        Ok(((at, socket.local.port()).into(), new))
    }

    /// Returns the target under an address, as the program gave it.
    pub fn sender(&self, cookie: u64, at: SocketAddr) -> Option<SocketAddr> {
        let socket = lock(&self.sockets).get(&cookie).cloned()?;
        match at.ip() {
            IpAddr::V4(ip) if at.port() == socket.local.port() => {
                let endpoint = lock(&socket.endpoints).at(ip);
                endpoint.map(|endpoint| endpoint.given)
            }
            _ => None,
        }
    }

    fn open(&self, program: OwnedFd, cookie: u64, address: SocketAddr) -> io::Result<Socket> {
        let local = EndpointSocket::open(address)?;
        self.watch.add(program.as_fd(), cookie)?;
        Ok(Socket {
            local,
            endpoints: Mutex::default(),
            ended: Notify::new(),
        })
    }

    fn forget_closed(&self, sockets: &mut HashMap<u64, Arc<Socket>>) {
        let mut age = Duration::ZERO;
        sockets.retain(|&cookie, socket| {
            let is_open = self.watch.is_open(cookie, age);
            age = Duration::MAX;
            if !is_open {
                socket.ended.notify_one();
            }
            is_open
        });
    }
}

impl NewSocket<'_> {
    /// Carries datagrams until no process has the socket open.
    pub async fn carry(self, connector: &impl Connector) {
        tokio::select! {
            _ = self.socket.relay(connector) => {}
            () = self.socket.ended.notified() => {}
            () = self.all.watch.closed(self.cookie) => {}
        }
    }
}

impl Drop for NewSocket<'_> {
    fn drop(&mut self) {
        let mut sockets = lock(&self.all.sockets);
        let own = sockets.get(&self.cookie);
        if own.is_some_and(|own| Arc::ptr_eq(own, &self.socket)) {
            sockets.remove(&self.cookie);
        }
    }
}

impl Socket {
    async fn relay<C: Connector>(self: &Arc<Socket>, connector: &C) -> io::Result<()> {
        let mut channels = VecDeque::new();
        let mut datagrams = Vec::new();
        loop {
            let each = |at, payload: &[u8]| {
                if let Some(endpoint) = lock(&self.endpoints).at(at) {
                    datagrams.push((endpoint, payload.to_vec()));
                }
            };
            self.local.receive(each).await?;
            // A program that sends without a pause leaves the thread to others.
            consume_budget().await;
            for (endpoint, payload) in datagrams.drain(..) {
                match self.channel(connector, &mut channels, &endpoint).await {
                    Ok(channel) => channel.send(&endpoint.target, &payload).await,
                    Err(reason) => {
                        debug!("datagram to {}: {reason:?}", endpoint.target);
                        // Datagrams that waited meanwhile are as old as this one.
                        self.local.discard();
                    }
                }
            }
        }
    }

    /// Returns the channel for the target, which is opened if there is none or it has ended: the relay ends
    /// one that is idle.
    async fn channel<C: Connector>(
        self: &Arc<Socket>,
        connector: &C,
        channels: &mut VecDeque<Channel<C::Datagrams>>,
        endpoint: &Endpoint,
    ) -> Result<Arc<C::Datagrams>, Reason> {
        let name = endpoint.is_name().then_some(endpoint.at);
        channels.retain(|channel| !channel.receiving.is_finished());
        if let Some(channel) = channels.iter().find(|channel| channel.name == name) {
            return Ok(Arc::clone(&channel.ends));
        }
        let ends = Arc::new(connector.open_datagrams().await?);
        if channels.len() == CHANNELS {
            channels.pop_front();
        }
        let (socket, receiving) = (Arc::clone(self), Arc::clone(&ends));
        let receiving = tokio::spawn(async move {
            let deliver = |from, payload: &[u8]| socket.deliver(name, from, payload);
            receiving.receive(deliver).await;
        });
        channels.push_back(Channel {
            name,
            ends: Arc::clone(&ends),
            receiving,
        });
        Ok(ends)
    }

    /// Passes a datagram to the program, if it has sent to its source.
    fn deliver(&self, name: Option<Ipv4Addr>, from: SocketAddr, payload: &[u8]) {
        if let Some(at) = name.or_else(|| lock(&self.endpoints).of(from)) {
            self.local.send(at, payload);
        }
    }
}

struct Channel<D> {
    name: Option<Ipv4Addr>,
    ends: Arc<D>,
    receiving: JoinHandle<()>,
}

impl<D> Drop for Channel<D> {
    fn drop(&mut self) {
        self.receiving.abort();
    }
}

/// Returns the cookie of a UDP socket, and the address from which its datagrams to loopback come. `None` if
/// it cannot send there.
fn identify(program: &OwnedFd) -> Option<(u64, SocketAddr)> {
    if socket_protocol(program).ok()? != Some(ipproto::UDP) {
        return None;
    }
    let own: SocketAddr = getsockname(program).ok()?.try_into().ok()?;
    let ip = match own.ip().to_canonical() {
        IpAddr::V4(ip) if !ip.is_unspecified() => ip,
        ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST,
        _ => return None,
    };
    (own.port() != 0).then_some(())?;
    Some((socket_cookie(program).ok()?, (ip, own.port()).into()))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::super::LocalConnector;
    use super::*;

    fn target(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    fn endpoint<'a>(
        all: &'a DatagramSockets,
        program: &UdpSocket,
        port: u16,
    ) -> (SocketAddr, Option<NewSocket<'a>>) {
        let passed = program.try_clone().unwrap().into();
        all.endpoint(passed, target(port), target(port).into())
            .unwrap()
    }

    #[tokio::test]
    async fn socket_has_one_port_and_an_address_for_each_target() {
        let all = DatagramSockets::new().unwrap();
        let program = UdpSocket::bind("0.0.0.0:0").unwrap();
        let (first, new) = endpoint(&all, &program, 1);
        assert!(new.is_some());
        let (second, none) = endpoint(&all, &program, 2);
        assert!(none.is_none());
        assert_eq!(first.port(), second.port());
        assert_ne!(first.ip(), second.ip());
        let cookie = socket_cookie(&program).unwrap();
        assert_eq!(all.sender(cookie, first), Some(target(1)));
        assert_eq!(all.sender(cookie, second), Some(target(2)));
        assert_eq!(all.sender(cookie + 1, first), None);
        assert_eq!(all.sender(cookie, target(1)), None);
        drop(new);
        assert_eq!(all.sender(cookie, first), None);
    }

    #[tokio::test]
    async fn socket_is_served_until_the_program_closes_it() {
        let all = DatagramSockets::new().unwrap();
        let program = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (_, new) = endpoint(&all, &program, 1);
        let connector = LocalConnector::default();
        let mut carried = std::pin::pin!(new.unwrap().carry(&connector));
        let waited = tokio::time::timeout(Duration::from_millis(1), &mut carried).await;
        assert!(waited.is_err());
        drop(program);
        carried.await;
    }

    #[tokio::test]
    async fn socket_with_another_port_is_a_new_one() {
        let all = DatagramSockets::new().unwrap();
        let program = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (_, first) = endpoint(&all, &program, 1);
        // As after connect() to AF_UNSPEC: the same socket, elsewhere.
        let cookie = socket_cookie(&program).unwrap();
        let moved = EndpointSocket::open("127.0.0.1:1".parse().unwrap()).unwrap();
        let moved = Arc::new(Socket {
            local: moved,
            endpoints: Mutex::default(),
            ended: Notify::new(),
        });
        lock(&all.sockets).insert(cookie, Arc::clone(&moved));
        drop(first);
        let (_, second) = endpoint(&all, &program, 1);
        assert!(second.is_some());
        moved.ended.notified().await;
    }

    #[tokio::test]
    async fn closed_sockets_make_place_for_others() {
        let all = DatagramSockets::new().unwrap();
        let closed: Vec<_> = (0..2)
            .map(|_| UdpSocket::bind("127.0.0.1:0").unwrap())
            .collect();
        let program = UdpSocket::bind("127.0.0.1:0").unwrap();
        let _new: Vec<_> = closed
            .iter()
            .chain([&program])
            .map(|program| endpoint(&all, program, 1))
            .collect();
        drop(closed);
        all.forget_closed(&mut lock(&all.sockets));
        let cookies: Vec<u64> = lock(&all.sockets).keys().copied().collect();
        assert_eq!(cookies, [socket_cookie(&program).unwrap()]);
    }

    #[tokio::test]
    async fn sockets_that_cannot_reach_loopback_are_refused() {
        let all = DatagramSockets::new().unwrap();
        let stream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let unbound = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None);
        let mut refused: Vec<OwnedFd> = vec![stream.into(), unbound.unwrap().into()];
        if let Ok(six) = UdpSocket::bind("[::1]:0") {
            refused.push(six.into());
        }
        for program in refused {
            let answer = all.endpoint(program, target(1), target(1).into());
            assert_eq!(answer.err(), Some(Reason::NetworkUnreachable));
        }
    }
}
