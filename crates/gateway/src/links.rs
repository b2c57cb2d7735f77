//! Links of this machine, and sockets bound to them.

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::net::netdevice::name_to_index;
use rustix::net::sockopt::{ip_mtu, ipv6_mtu};
use socket2::{Domain, Protocol, Socket, Type};

use crate::name_servers::interface;
use crate::quota_policy::QuotaPolicy;
use interface::existing;

mod interface;
mod text;

/// Name of the link of a client's tunnel whose datagrams use the TCP carriers.
pub(crate) const OVER_TCP: &str = "over-tcp";

/// Link, as `NAME=INTERFACE|ADDRESS[,cost=1][,quota=5GB][,priority=1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Letters, digits, `.`, `_`, `-`; at most 64.
    pub name: String,
    /// Interface or address from which its packets leave the machine.
    pub egress: Egress,
    /// Cost of a byte, in any unit, if given.
    pub cost: Option<f64>,
    /// Quota: `,quota=SIZE,period=month|30d,start_day=1..31,pace=even|priced,daily=SIZE,at_cap=stop|512kbit`.
    pub quota_policy: QuotaPolicy,
    /// Order among the links in use, for schedulers that consider it: lower first, 0 by default.
    pub priority: u8,
    /// Condition of its use.
    pub rank: Rank,
    /// Name servers (`,dns=ADDRESS`, repeatable) for a tunnel's relay over this link; empty: the system's.
    pub dns: Vec<IpAddr>,
    /// Firewall mark of its sockets (SO_MARK, socket(7)); requires CAP_NET_ADMIN. Not in the text form.
    pub mark: Option<u32>,
    /// Address that it uses for the relay, in place of the relay's own: that of a tunnel inside another protocol,
    /// used only while no other link is alive. Not in the text form.
    pub relay: Option<SocketAddr>,
}

/// Condition of a link's use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// Always.
    #[default]
    Primary,
    /// While no primary link is alive.
    Backup,
    /// Never: only listed.
    Never,
}

/// Point where a link's packets leave the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Egress {
    /// The interface of this name (SO_BINDTODEVICE), with its address. With `*` at the end, the first by name
    /// that exists, such as `wwan0` for `wwan*`.
    Interface(String),
    /// This address; routing rules (ip-rule(8)) choose the interface.
    Address(IpAddr),
}

/// Route of packets from a link to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Index of the interface, which identifies it better than its name; 0 for a link given by address.
    pub interface: u32,
    /// The local address.
    pub address: IpAddr,
}

impl Link {
    /// Creates a link with default settings.
    #[must_use]
    pub fn new(name: impl Into<String>, egress: Egress) -> Link {
        Link {
            name: name.into(),
            egress,
            cost: None,
            quota_policy: QuotaPolicy::default(),
            priority: 0,
            rank: Rank::Primary,
            dns: Vec::new(),
            mark: None,
            relay: None,
        }
    }

    /// Returns its cost for schedulers: 1 by default.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.cost.unwrap_or(1.0)
    }

    /// Creates a non-blocking, unconnected TCP socket bound to the link.
    ///
    /// # Errors
    /// ENODEV without the interface, EADDRNOTAVAIL without the address, EPERM if binding to an interface
    /// needs a capability (before Linux 5.7), EAFNOSUPPORT if the link's address and the peer's differ in
    /// family.
    pub fn tcp_socket(&self, peer: SocketAddr) -> io::Result<Socket> {
        self.socket(peer, Type::STREAM, Protocol::TCP)
    }

    /// Creates a non-blocking, unconnected UDP socket bound to the link.
    ///
    /// # Errors
    /// As [`Link::tcp_socket`].
    pub fn udp_socket(&self, peer: SocketAddr) -> io::Result<Socket> {
        self.socket(peer, Type::DGRAM, Protocol::UDP)
    }

    /// Whether the link can reach the peer's address family.
    #[must_use]
    pub fn reaches(&self, peer: SocketAddr) -> bool {
        match self.egress {
            Egress::Address(own) => own.is_ipv4() == peer.is_ipv4(),
            Egress::Interface(_) => true,
        }
    }

    /// Whether the link is the interface of a zone ([`interface`]).
    pub(crate) fn is_interface(&self, zone: &str) -> bool {
        match &self.egress {
            Egress::Interface(name) => existing(name).is_ok_and(|name| {
                name == zone || interface(&name).is_some_and(|own| interface(zone) == Some(own))
            }),
            Egress::Address(_) => false,
        }
    }

    /// Returns the index of its interface, if it is given by an interface that exists.
    pub(crate) fn interface_index(&self) -> Option<u32> {
        match &self.egress {
            Egress::Interface(name) => interface(&existing(name).ok()?),
            Egress::Address(_) => None,
        }
    }

    /// Whether its interface or address exists.
    ///
    /// # Errors
    /// As [`Link::tcp_socket`].
    pub fn is_there(&self) -> io::Result<()> {
        let family = match self.egress {
            Egress::Address(IpAddr::V6(_)) => IpAddr::V6(Ipv6Addr::LOCALHOST),
            _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        self.udp_socket(SocketAddr::new(family, 9)).map(drop)
    }

    /// Returns the route that packets from the link to the peer would take now.
    ///
    /// # Errors
    /// As [`Link::tcp_socket`], and ENETUNREACH if there is no route.
    pub fn route_to(&self, peer: SocketAddr) -> io::Result<Route> {
        let socket = self.udp_socket(peer)?;
        // Nothing is sent: the kernel looks up the route and selects the source address.
        socket.connect(&peer.into())?;
        let interface = match &self.egress {
            Egress::Interface(name) => name_to_index(&socket, &existing(name)?)?,
            Egress::Address(_) => 0,
        };
        let address = socket.local_addr()?.as_socket();
        let address = address.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        Ok(Route {
            interface,
            address: address.ip(),
        })
    }

    /// Returns the MTU of that route. Fails like [`Link::route_to`].
    pub(crate) fn mtu_to(&self, peer: SocketAddr) -> io::Result<u32> {
        let socket = self.udp_socket(peer)?;
        socket.connect(&peer.into())?;
        let mtu = match peer.is_ipv4() {
            true => ip_mtu(&socket),
            false => ipv6_mtu(&socket),
        };
        Ok(mtu?)
    }

    fn socket(&self, peer: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
        let socket = Socket::new(
            Domain::for_address(peer),
            kind.nonblocking(),
            Some(protocol),
        )?;
        if let Some(mark) = self.mark {
            socket.set_mark(mark)?;
        }
        match &self.egress {
            Egress::Interface(name) => socket.bind_device(Some(existing(name)?.as_bytes()))?,
            Egress::Address(address) => {
                if !self.reaches(peer) {
                    return Err(io::Error::from(rustix::io::Errno::AFNOSUPPORT));
                }
                socket.bind(&SocketAddr::new(*address, 0).into())?;
            }
        }
        Ok(socket)
    }
}

/// Checks that all names of links differ. Errors: the first duplicate name, for the user.
pub(crate) fn check_names(links: &[Link]) -> Result<(), String> {
    let mut names = HashSet::new();
    match links.iter().find(|link| !names.insert(&link.name)) {
        Some(link) => Err(format!(
            "--link {link}: two links of one name; allowed: a name of its own for each"
        )),
        None => Ok(()),
    }
}

/// Orders addresses so that IPv4 and IPv6 alternate (RFC 8305, section 4), from the family of the first.
#[must_use]
pub fn families_in_turn(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let Some(first) = addresses.first().map(SocketAddr::is_ipv4) else {
        return addresses;
    };
    let count = addresses.len();
    let (one, other): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|address| address.is_ipv4() == first);
    let (mut one, mut other) = (one.into_iter(), other.into_iter());
    let turns = std::iter::repeat_with(|| [one.next(), other.next()]);
    turns.take(count).flatten().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_the_links_address() {
        let link = Link::new("a", Egress::Address(Ipv4Addr::new(127, 0, 0, 7).into()));
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        for socket in [link.tcp_socket(peer), link.udp_socket(peer)] {
            let local = socket.unwrap().local_addr().unwrap().as_socket().unwrap();
            assert_eq!(local.ip(), Ipv4Addr::new(127, 0, 0, 7));
        }
        let six = "[::1]:9".parse().unwrap();
        let error = link.tcp_socket(six).unwrap_err();
        assert_eq!(
            error.raw_os_error(),
            Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
        );
        let gone = Link::new("b", Egress::Interface("no-such-device".to_owned()));
        assert!(gone.tcp_socket(peer).is_err());
    }
}
