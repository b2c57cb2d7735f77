//! The links of this machine: their description on the command line, and sockets bound to them.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ropewalk_striping::Pace;
use rustix::net::netdevice::name_to_index;
use rustix::net::sockopt::{ip_mtu, ipv6_mtu};
use socket2::{Domain, Protocol, Socket, Type};

use crate::allowance::{Allowance, AtCap, Period};
use crate::given;
use crate::keys::is_name;
use crate::name_servers::interface;

/// What a link may look like, for error messages.
const ALLOWED: &str = "NAME=INTERFACE or NAME=ADDRESS, then ,cost=NUMBER ,priority=0..255 \
     ,rank=primary|backup|never ,dns=ADDRESS ,quota=SIZE ,period=month|30d ,start_day=1..31 ,pace=free|even|priced ,daily=SIZE ,at_cap=last-resort|stop|RATE";

/// A link, as `NAME=INTERFACE|ADDRESS[,cost=1][,quota=5GB][,priority=1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Letters, digits, `.`, `_`, `-`; at most 64.
    pub name: String,
    /// Where its packets leave the machine.
    pub egress: Egress,
    /// Cost of a byte, in any unit, if given.
    pub cost: Option<f64>,
    /// Its quota:
    /// `,quota=SIZE,period=month|30d,start_day=1..31,pace=even|priced,daily=SIZE,at_cap=stop|512kbit`.
    pub allowance: Allowance,
    /// Links of a lower number are used first by schedulers that consider priorities; 0 by default. It orders
    /// the links in use; the rank determines which these are.
    pub priority: u8,
    /// When it is in use.
    pub rank: Rank,
    /// Its name servers (`,dns=ADDRESS`, as often as there are), by which a tunnel resolves the relay's name over
    /// this link; those of the system if none is given.
    pub dns: Vec<IpAddr>,
    /// Firewall mark of its sockets (SO_MARK, socket(7)), which takes CAP_NET_ADMIN. It is not part of
    /// the text form.
    pub mark: Option<u32>,
}

/// When a link is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rank {
    /// Always.
    #[default]
    Primary,
    /// While no primary link is alive.
    Backup,
    /// Never: it is only listed.
    Never,
}

/// Where a link's packets leave the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Egress {
    /// By the interface of this name (SO_BINDTODEVICE), with the address that it has.
    Interface(String),
    /// From this address; routing rules (ip-rule(8)) choose the interface.
    Address(IpAddr),
}

/// The route that packets to a peer take from a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The interface's index, which identifies it better than its name; zero if the link is given by address.
    pub interface: u32,
    /// The local address.
    pub address: IpAddr,
}

/// The text is not a valid link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {problem}; allowed: {ALLOWED}")]
pub struct LinkError {
    text: String,
    problem: String,
}

impl Link {
    /// A link with default settings.
    #[must_use]
    pub fn new(name: impl Into<String>, egress: Egress) -> Link {
        Link {
            name: name.into(),
            egress,
            cost: None,
            allowance: Allowance::default(),
            priority: 0,
            rank: Rank::Primary,
            dns: Vec::new(),
            mark: None,
        }
    }

    /// Its cost for schedulers: 1 by default.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.cost.unwrap_or(1.0)
    }

    /// A non-blocking, unconnected TCP socket whose packets leave by the link.
    ///
    /// # Errors
    /// What the system says: ENODEV if there is no such interface, EADDRNOTAVAIL if no such
    /// address, EPERM where binding to an interface needs a right (before Linux 5.7), and
    /// EAFNOSUPPORT if the link's address and the peer's are not of one family.
    pub fn tcp_socket(&self, peer: SocketAddr) -> io::Result<Socket> {
        self.socket(peer, Type::STREAM, Protocol::TCP)
    }

    /// A non-blocking, unconnected UDP socket whose packets leave by the link.
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

    /// Whether the link is the interface that a zone means ([`interface`]).
    pub(crate) fn is_interface(&self, zone: &str) -> bool {
        match &self.egress {
            Egress::Interface(name) => {
                name == zone || interface(name).is_some_and(|own| interface(zone) == Some(own))
            }
            Egress::Address(_) => false,
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

    /// The route that packets to the peer would take from the link now.
    ///
    /// # Errors
    /// As [`Link::tcp_socket`], and ENETUNREACH if there is no route.
    pub fn route_to(&self, peer: SocketAddr) -> io::Result<Route> {
        let socket = self.udp_socket(peer)?;
        // Nothing is sent: the kernel looks up the route and selects the source address.
        socket.connect(&peer.into())?;
        let interface = match &self.egress {
            Egress::Interface(name) => name_to_index(&socket, name)?,
            Egress::Address(_) => 0,
        };
        let address = socket.local_addr()?.as_socket();
        let address = address.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        Ok(Route {
            interface,
            address: address.ip(),
        })
    }

    /// The MTU of that route.
    ///
    /// # Errors
    /// As [`Link::route_to`].
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
            Egress::Interface(interface) => socket.bind_device(Some(interface.as_bytes()))?,
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

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Link, LinkError> {
        parse(text).map_err(|problem| LinkError {
            text: text.to_owned(),
            problem,
        })
    }
}

/// Checks that each link has a name of its own.
///
/// # Errors
/// The first name that another link has, for the user.
pub(crate) fn check_names(links: &[Link]) -> Result<(), String> {
    let mut names = HashSet::new();
    match links.iter().find(|link| !names.insert(&link.name)) {
        Some(link) => Err(format!(
            "--link {link}: two links of one name; allowed: a name of its own for each"
        )),
        None => Ok(()),
    }
}

/// Orders addresses so that IPv4 and IPv6 alternate (RFC 8305, section 4), beginning with the family of the
/// first.
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

fn parse(text: &str) -> Result<Link, String> {
    let mut parts = text.split(',');
    let (name, egress) = parts
        .next()
        .and_then(|first| first.split_once('='))
        .ok_or("no '=' after a name")?;
    if !is_name(name) {
        return Err(format!("name {name:?}"));
    }
    let mut link = Link::new(name, egress.parse()?);
    for part in parts {
        let allowance = &mut link.allowance;
        let Some((key, value)) = part.split_once('=') else {
            return Err(format!("{part:?}"));
        };
        let wrong = |error: &dyn fmt::Display| format!("{key}={value}: {error}");
        match key {
            "quota" => allowance.quota = Some(given::size(value).map_err(|error| wrong(&error))?),
            "daily" => allowance.daily = Some(given::size(value).map_err(|error| wrong(&error))?),
            "period" => allowance.period = value.parse().map_err(|error| wrong(&error))?,
            "pace" => allowance.pace = value.parse().map_err(|error| wrong(&error))?,
            "at_cap" => allowance.at_cap = value.parse().map_err(|error| wrong(&error))?,
            "start_day" => match value.parse() {
                Ok(day @ 1..=31) => allowance.start_day = day,
                _ => return Err(wrong(&"not from 1 to 31")),
            },
            "priority" => link.priority = value.parse().map_err(|error| wrong(&error))?,
            "rank" => {
                link.rank = match value {
                    "primary" => Rank::Primary,
                    "backup" => Rank::Backup,
                    "never" => Rank::Never,
                    _ => return Err(wrong(&"not primary, backup or never")),
                }
            }
            "dns" => match value.parse() {
                Ok(server) if given::is_of_host(server) => link.dns.push(server),
                _ => return Err(wrong(&"not the address of a host")),
            },
            "cost" => {
                let cost: f64 = value.parse().map_err(|error| wrong(&error))?;
                if !(0.0..=1e9).contains(&cost) {
                    return Err(wrong(&"not from 0 to 1e9"));
                }
                link.cost = Some(cost);
            }
            _ => return Err(format!("{key:?} is nothing that a link has")),
        }
    }
    let allowance = &link.allowance;
    let of_quota = allowance.start_day > 0 || allowance.period != Period::Month;
    if of_quota && allowance.quota.is_none() {
        return Err("period and start_day without quota".to_owned());
    }
    if allowance.pace != Pace::default() && allowance.quota.is_none() {
        return Err("pace without quota".to_owned());
    }
    if allowance.start_day > 0 && allowance.period != Period::Month {
        return Err("start_day is of period=month".to_owned());
    }
    if allowance.at_cap != AtCap::default() && !allowance.is_metered() {
        return Err("at_cap without quota or daily".to_owned());
    }
    Ok(link)
}

/// In the form that is parsed.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.egress)?;
        if let Some(cost) = self.cost {
            write!(f, ",cost={cost}")?;
        }
        let allowance = &self.allowance;
        for (key, size) in [("quota", allowance.quota), ("daily", allowance.daily)] {
            if let Some(size) = size {
                write!(f, ",{key}={}B", size.as_u64())?;
            }
        }
        if allowance.period != Period::Month {
            write!(f, ",period={}", allowance.period)?;
        }
        if allowance.start_day > 0 {
            write!(f, ",start_day={}", allowance.start_day)?;
        }
        if allowance.pace != Pace::default() {
            write!(f, ",pace={}", allowance.pace)?;
        }
        if allowance.at_cap != AtCap::default() {
            write!(f, ",at_cap={}", allowance.at_cap)?;
        }
        if self.priority > 0 {
            write!(f, ",priority={}", self.priority)?;
        }
        for server in &self.dns {
            write!(f, ",dns={server}")?;
        }
        f.write_str(match self.rank {
            Rank::Primary => "",
            Rank::Backup => ",rank=backup",
            Rank::Never => ",rank=never",
        })
    }
}

/// An address, or the name of an interface, of at most 15 bytes as in Linux.
impl FromStr for Egress {
    type Err = String;

    fn from_str(text: &str) -> Result<Egress, String> {
        if let Ok(address) = text.parse() {
            return match given::is_of_host(address) {
                true => Ok(Egress::Address(address)),
                false => Err(format!(
                    "{address} is no address that this machine can have"
                )),
            };
        }
        let is_interface = (1..=15).contains(&text.len())
            && !text
                .contains(|c: char| "/\"\\*".contains(c) || c.is_whitespace() || c.is_control())
            && text != "."
            && text != "..";
        match is_interface {
            true => Ok(Egress::Interface(text.to_owned())),
            false => Err(format!("{text:?} is neither an interface nor an address")),
        }
    }
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Egress::Interface(interface) => f.write_str(interface),
            Egress::Address(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ropewalk_quantities::Bytes;

    #[test]
    fn a_link_is_read_with_all_that_is_known_of_it() {
        let link: Link = "lte=wwan0,cost=2.5,quota=5GB,priority=1,\
                          start_day=31,pace=even,daily=1GB,at_cap=stop,rank=backup"
            .parse()
            .unwrap();
        let expected = Link {
            name: "lte".to_owned(),
            egress: Egress::Interface("wwan0".to_owned()),
            cost: Some(2.5),
            allowance: Allowance {
                quota: Some(Bytes::new(5_000_000_000)),
                daily: Some(Bytes::new(1_000_000_000)),
                period: Period::Month,
                start_day: 31,
                pace: Pace::Even,
                at_cap: AtCap::Stop,
            },
            priority: 1,
            rank: Rank::Backup,
            dns: Vec::new(),
            mark: None,
        };
        assert_eq!(link, expected);
        assert_eq!(link.to_string().parse::<Link>().unwrap(), expected);
        for text in [
            "lte=wwan0,quota=5GB,period=30d",
            "lte=wwan0,quota=5GB,pace=priced,at_cap=512kbit",
            "lte=wwan0,dns=192.0.2.1,dns=2001:db8::1",
        ] {
            let link: Link = text.parse().unwrap();
            assert_eq!(link.to_string().parse::<Link>().unwrap(), link);
        }
        let link: Link = "home=fe80::1".parse().unwrap();
        assert_eq!(
            link,
            Link::new("home", Egress::Address("fe80::1".parse().unwrap()))
        );
    }

    #[test]
    fn what_is_no_link_is_refused_in_one_line() {
        for (text, says) in [
            ("", "no '='"),
            ("eth0", "no '='"),
            ("=eth0", "name \"\""),
            ("a b=eth0", "name \"a b\""),
            ("a=", "neither an interface nor an address"),
            (
                "a=an-interface-too-long",
                "neither an interface nor an address",
            ),
            ("a=eth0,rate=20mbit", "\"rate\""),
            ("a=eth0,cost=nan", "cost=nan"),
            ("a=eth0,cost=-1", "cost=-1"),
            ("a=eth0,priority=256", "priority=256"),
            ("a=eth0,quota=1GB,period=year", "allowed: month"),
            ("a=eth0,quota=1GB,period=0d", "allowed: month"),
            ("a=eth0,quota=1GB,start_day=32", "not from 1 to 31"),
            ("a=eth0,quota=1GB,period=30d,start_day=3", "start_day is of"),
            ("a=eth0,period=30d", "without quota"),
            ("a=eth0,daily=1GB,pace=even", "pace without quota"),
            ("a=eth0,quota=1GB,pace=odd", "allowed: free, even, priced"),
            ("a=eth0,at_cap=stop", "without quota"),
            ("a=eth0,quota=1GB,at_cap=0mbit", "or a rate"),
            (
                "a=eth0,quota=1GB,at_cap=go",
                "allowed: last-resort, stop, or a rate",
            ),
            ("a=eth0,rank=first", "not primary, backup or never"),
            ("a=eth0,dns=server", "dns=server: not the address of a host"),
            ("a=eth0,dns=0.0.0.0", "dns=0.0.0.0"),
            ("a=eth0,colour=red", "\"colour\""),
            ("a=eth0,", "\"\""),
        ] {
            let error = text.parse::<Link>().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
            assert!(error.contains("allowed: NAME=INTERFACE") && !error.contains('\n'));
        }
    }

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

    proptest! {
        #[test]
        fn any_text_is_a_link_or_an_error(text in ".{0,80}") {
            let _ = text.parse::<Link>();
        }
    }
}
