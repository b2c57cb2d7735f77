//! Sockets of an end: two for all clients (sessions and hellos, on one port), or one per link. A link's
//! socket is replaced whenever its interface or address appears or changes.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use ropewalk_quantities::Bytes;
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tracing::{info, warn};

use super::handshake::random;
use super::link_path::Path;
use super::peer::ip_udp_len;
use super::session_ids::SessionIds;
use super::socket::{KERNEL_BUFFER, ReceiveBuffers, UdpSocket};
use super::socket_filter;
use crate::Link;
use crate::links::Route;

/// All sockets; a link's socket has the link's number.
#[derive(Debug)]
pub struct TunnelSockets {
    sockets: Vec<Option<UdpSocket>>,
    /// A client's links, one per socket; empty for a relay.
    links: Vec<LinkRoute>,
    relays: Vec<SocketAddr>,
    namespace: SocketNamespace,
    /// Prefix of the sessions' identifiers.
    prefix: u16,
}

#[derive(Debug)]
struct LinkRoute {
    link: Link,
    is_removed: bool,
    /// The relay's addresses that it can reach.
    relays: Vec<SocketAddr>,
    relay: usize,
    /// The route for which its socket was created.
    route: Option<Route>,
    mtu: Option<u32>,
    unavailable_reason: Option<String>,
    /// Bytes carried since the last count, IP and UDP headers included.
    carried: Cell<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Lost,
    /// It has a new socket, which is not in epoll yet.
    Opened,
}

impl TunnelSockets {
    /// Creates the relay's two sockets: one for sessions, which have identifiers with this prefix, and one
    /// for hellos.
    #[must_use]
    pub fn for_relay(sockets: [UdpSocket; 2], prefix: u16) -> TunnelSockets {
        TunnelSockets {
            sockets: sockets.map(Some).into(),
            links: Vec::new(),
            relays: Vec::new(),
            namespace: SocketNamespace::of_thread(),
            prefix,
        }
    }

    /// Runs a function in the network namespace of the sockets. Fails if the namespace cannot be entered.
    pub fn in_namespace<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.namespace.enter(act)
    }

    /// Returns identifiers for sessions that the sockets' filters accept.
    #[must_use]
    pub fn session_ids(&self) -> SessionIds {
        SessionIds::new(self.prefix, random() as u16)
    }

    /// Creates a socket for each available link, to the first of the relay's addresses that it can reach, in
    /// the calling thread's network namespace, now and later. Fails if an existing link cannot be used.
    pub fn for_client(
        links: &[Link],
        relays: &[SocketAddr],
    ) -> Result<TunnelSockets, (String, io::Error)> {
        let mut sockets = TunnelSockets {
            sockets: Vec::new(),
            links: Vec::new(),
            relays: relays.to_vec(),
            namespace: SocketNamespace::of_thread(),
            prefix: random() as u16,
        };
        for link in links {
            sockets.add_link(link);
        }
        for (number, link) in links.iter().enumerate() {
            match sockets.ensure_socket(number) {
                Err(_) if relays.is_empty() => {}
                Err(error) if is_unavailable(&error) => {
                    warn!(
                        "link {}: not available yet: {}: {error}",
                        link.name, link.egress
                    );
                }
                Err(error) => return Err((link.name.clone(), error)),
                Ok(_) => {}
            }
        }
        Ok(sockets)
    }

    /// Adds a link; [`refresh`](TunnelSockets::refresh) creates its socket.
    pub fn add_link(&mut self, link: &Link) {
        self.links.push(LinkRoute::new(link, &self.relays));
        self.sockets.push(None);
    }

    pub fn set_link(&mut self, number: usize, link: &Link) {
        if self.links[number].link.egress != link.egress {
            self.links[number] = LinkRoute::new(link, &self.relays);
            self.sockets[number] = None;
        }
        self.links[number].link = link.clone();
    }

    /// Sets the relay's addresses that a link has resolved. A link that uses one of them keeps it. Any other
    /// link switches to the first, and keeps its old one as the last choice while it hears the relay there.
    pub fn set_relays(
        &mut self,
        number: usize,
        relays: &[SocketAddr],
        is_heard: bool,
    ) -> Option<Change> {
        let link = self.links.get_mut(number)?;
        if link.link.relay.is_some() {
            return None;
        }
        let current = link.relays.get(link.relay).copied();
        let reachable = relays
            .iter()
            .copied()
            .filter(|relay| link.link.reaches(*relay));
        let mut reachable: Vec<SocketAddr> = reachable.collect();
        if reachable.is_empty() {
            return None;
        }
        self.relays = relays.to_vec();
        let index = reachable.iter().position(|relay| Some(*relay) == current);
        reachable.extend(current.filter(|_| is_heard && index.is_none()));
        link.relays = reachable;
        link.relay = index.unwrap_or(0);
        if index.is_some() {
            return None;
        }
        let had_route = link.route.take().is_some();
        self.sockets[number] = None;
        match self.ensure_socket(number) {
            Ok(_) => Some(Change::Opened),
            Err(error) => {
                let link = &self.links[number].link;
                warn!(
                    "link {}: not available: {}: {error}",
                    link.name, link.egress
                );
                had_route.then_some(Change::Lost)
            }
        }
    }

    /// Replaces the relay's addresses on all links; [`refresh`](TunnelSockets::refresh) creates the sockets.
    pub fn replace_relays(&mut self, relays: &[SocketAddr]) {
        self.relays = relays.to_vec();
        for (route, socket) in self.links.iter_mut().zip(&mut self.sockets) {
            let carried = route.carried.take();
            *route = LinkRoute {
                is_removed: route.is_removed,
                carried: Cell::new(carried),
                ..LinkRoute::new(&route.link, relays)
            };
            *socket = None;
        }
    }

    #[must_use]
    pub fn unavailable_reason(&self, number: usize) -> Option<&str> {
        self.links.get(number)?.unavailable_reason.as_deref()
    }

    #[must_use]
    pub fn link(&self, number: usize) -> Option<&Link> {
        let link = self.links.get(number)?;
        (!link.is_removed).then_some(&link.link)
    }

    /// Removes a link; its number is not reused.
    pub fn remove_link(&mut self, number: usize) {
        self.links[number].relays.clear();
        self.links[number].is_removed = true;
        self.links[number].route = None;
        self.sockets[number] = None;
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.sockets.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, &UdpSocket)> {
        let sockets = self.sockets.iter().enumerate();
        sockets.filter_map(|(number, socket)| Some((number, socket.as_ref()?)))
    }

    #[must_use]
    pub fn get(&self, number: usize) -> Option<&UdpSocket> {
        self.sockets.get(number)?.as_ref()
    }

    #[must_use]
    pub fn relay(&self, number: usize) -> Option<SocketAddr> {
        let link = self.links.get(number)?;
        link.relays.get(link.relay).copied()
    }

    /// Returns whether a link's datagram is from the relay's address that the link uses.
    #[must_use]
    pub fn is_relay(&self, from: &Path) -> bool {
        let at = |address: SocketAddr| (address.ip().to_canonical(), address.port());
        let relay = self.relay(from.socket);
        relay.is_some_and(|relay| at(relay) == at(from.remote))
    }

    /// Sends as [`UdpSocket::send`] does; on an unavailable link everything is lost.
    pub fn send(&self, path: &Path, bytes: &[u8], segment: usize) -> bool {
        let Some(socket) = self.get(path.socket) else {
            return true;
        };
        if let Some(link) = self.links.get(path.socket) {
            let datagrams = bytes.len().div_ceil(segment.max(1)) as u64;
            link.carry(bytes.len() as u64, datagrams, &path.remote);
        }
        socket.send(path, bytes, segment)
    }

    pub fn receive(&self, number: usize, buffers: &mut ReceiveBuffers) -> io::Result<bool> {
        match self.get(number) {
            Some(socket) => socket.receive(buffers),
            None => Ok(false),
        }
    }

    pub fn count_received(&self, number: usize, from: &SocketAddr, bytes: u64) {
        if let Some(link) = self.links.get(number) {
            link.carry(bytes, 1, from);
        }
    }

    /// Returns the bytes that a link has carried in both directions since the last call, as its operator counts them.
    pub fn take_carried(&self, number: usize) -> Bytes {
        let link = self.links.get(number);
        Bytes::new(link.map_or(0, |link| link.carried.take()))
    }

    #[must_use]
    pub fn has_carried(&self) -> bool {
        self.links.iter().any(|link| link.carried.get() > 0)
    }

    /// Checks all links; returns those that have changed.
    pub fn refresh(&mut self) -> Vec<(usize, Change)> {
        let numbers = 0..self.links.len();
        numbers
            .filter_map(|number| Some((number, self.refresh_one(number)?)))
            .collect()
    }

    fn refresh_one(&mut self, number: usize) -> Option<Change> {
        let before = self.links[number].route;
        let found = self.ensure_socket(number);
        let LinkRoute {
            link, route, mtu, ..
        } = &self.links[number];
        match (before, found) {
            (Some(_), Err(error)) => {
                warn!("link {}: lost: {}: {error}", link.name, link.egress);
                Some(Change::Lost)
            }
            (_, Ok(true)) => {
                let address = route
                    .map(|route| route.address.to_string())
                    .unwrap_or_default();
                match before {
                    None => info!("link {}: available, from {address}", link.name),
                    Some(_) if before == *route => {
                        let mtu = mtu.unwrap_or_default();
                        info!("link {}: route MTU {mtu}", link.name);
                    }
                    Some(_) => info!("link {}: now from {address}", link.name),
                }
                Some(Change::Opened)
            }
            (_, Ok(false)) | (None, Err(_)) => None,
        }
    }

    /// Switches a link that cannot reach its address of the relay to another one, if it has one.
    pub fn try_another_relay(&mut self, number: usize) -> Option<Change> {
        let link = self.links.get_mut(number)?;
        if link.relays.len() < 2 {
            return None;
        }
        link.relay = (link.relay + 1) % link.relays.len();
        link.route = None;
        self.sockets[number] = None;
        match self.ensure_socket(number) {
            Ok(_) => Some(Change::Opened),
            Err(_) => Some(Change::Lost),
        }
    }

    /// Creates a link's socket if it needs a new one; returns whether it did.
    fn ensure_socket(&mut self, number: usize) -> io::Result<bool> {
        let (namespace, link, prefix) = (&self.namespace, &mut self.links[number], self.prefix);
        let found = namespace.enter(|| link.open_socket(prefix));
        link.unavailable_reason = found
            .as_ref()
            .err()
            .map(|error| format!("{}: {error}", link.link.egress));
        match found {
            Ok(None) => Ok(false),
            Ok(Some(socket)) => {
                self.sockets[number] = Some(socket);
                Ok(true)
            }
            Err(error) => {
                link.route = None;
                self.sockets[number] = None;
                Err(error)
            }
        }
    }
}

impl LinkRoute {
    fn new(link: &Link, relays: &[SocketAddr]) -> LinkRoute {
        let relays = link.relay.as_ref().map_or(relays, std::slice::from_ref);
        let usable = relays.iter().copied().filter(|relay| link.reaches(*relay));
        LinkRoute {
            link: link.clone(),
            is_removed: false,
            relays: usable.collect(),
            relay: 0,
            route: None,
            mtu: None,
            unavailable_reason: None,
            carried: Cell::new(0),
        }
    }

    fn carry(&self, bytes: u64, datagrams: u64, peer: &SocketAddr) {
        let headers = datagrams * u64::from(ip_udp_len(peer));
        self.carried.set(self.carried.get() + bytes + headers);
    }

    /// Returns a new socket if the route has changed or there was none.
    fn open_socket(&mut self, prefix: u16) -> io::Result<Option<UdpSocket>> {
        let mut first_error = Err(io::Error::from(Errno::AFNOSUPPORT));
        for ahead in 0..self.relays.len() {
            let number = (self.relay + ahead) % self.relays.len();
            let relay = self.relays[number];
            match self.link.route_to(relay) {
                Ok(route) => {
                    let mtu = self.link.mtu_to(relay).ok();
                    if (self.route, self.mtu) == (Some(route), mtu) && ahead == 0 {
                        return Ok(None);
                    }
                    let socket = self.link.udp_socket(relay)?;
                    socket_filter::accept_from_relay(&socket, relay, prefix)?;
                    let socket = UdpSocket::new(socket, KERNEL_BUFFER)?;
                    (self.relay, self.route, self.mtu) = (number, Some(route), mtu);
                    return Ok(Some(socket));
                }
                Err(error) if ahead == 0 => first_error = Err(error),
                Err(_) => {}
            }
        }
        first_error
    }
}

fn is_unavailable(error: &io::Error) -> bool {
    let absent = [
        Errno::NODEV,
        Errno::NXIO,
        Errno::ADDRNOTAVAIL,
        Errno::NETUNREACH,
        Errno::NETDOWN,
        Errno::HOSTUNREACH,
        Errno::INVAL,
    ];
    Errno::from_io_error(error).is_some_and(|errno| absent.contains(&errno))
}

/// The network namespace in which an end was opened; the end may run in a thread of another one.
#[derive(Debug)]
struct SocketNamespace(Option<File>);

impl SocketNamespace {
    fn of_thread() -> SocketNamespace {
        SocketNamespace(File::open("/proc/thread-self/ns/net").ok())
    }

    fn enter<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let (Some(own), Some(current)) = (&self.0, SocketNamespace::of_thread().0) else {
            return act();
        };
        let number = |file: &File| file.metadata().map(|data| (data.dev(), data.ino())).ok();
        if number(own) == number(&current) {
            return act();
        }
        let network = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(own.as_fd(), network)?;
        let done = act();
        move_into_link_name_space(current.as_fd(), network)?;
        done
    }
}
