//! What a tunnel is set to.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::tunnel::{ENVELOPE, PathMtuConfig, ReceiverConfig, Scheduler, SenderConfig};

use super::peer::ip_udp_len;
use crate::Link;
use crate::keys::{Clients, PublicKey, SecretKey};
use crate::quota::Book;

/// Either end of a tunnel.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its own key.
    pub secret: SecretKey,
    /// Which end it is.
    pub role: Role,
    /// The device whose packets it carries.
    pub interface: Interface,
    /// Longest packet that is tried on a link, IP header included: 1280 to 9000. What each carries
    /// is found out.
    pub link_mtu: u16,
    /// Which link takes the next packet.
    pub scheduler: Scheduler,
    /// Connections are kept in step with links that are slower than the quickest by up to this, one
    /// way; others carry nothing while there are quicker ones.
    pub skew: Time,
    /// Most that waits for the links, and most that waits to be put in order, each per peer.
    pub buffer: Bytes,
    /// What links with a quota have carried; of the end that calls.
    pub book: Book,
    /// Whether datagrams are sealed; if not, the handshake still is. Both ends must mean the same.
    pub sealed: bool,
}

/// Who calls, and who is called.
#[derive(Clone, Debug)]
pub enum Role {
    /// Waits at this address for clients.
    Listen {
        /// Where.
        at: SocketAddr,
        /// Who may come in.
        clients: Clients,
    },
    /// Calls a relay over its links.
    Dial {
        /// Where it listens: several addresses are tried one after the other, by each link.
        relays: Vec<SocketAddr>,
        /// Its key.
        key: PublicKey,
        /// Up to 64 of them.
        links: Vec<Link>,
    },
}

/// The network device of one end.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name; `%d` becomes the first free number.
    pub name: String,
    /// Its addresses: 1 to 16. The other end must know a client by each of them.
    pub addresses: Vec<Prefix>,
    /// The other end's address, if the device is point to point.
    pub peer: Option<IpAddr>,
    /// What is routed into it, beside its own prefixes.
    pub routes: Vec<Prefix>,
}

impl Config {
    /// The usual, with a device `ropewalk0`, or the next free number, of these addresses.
    #[must_use]
    pub fn new(secret: SecretKey, role: Role, addresses: Vec<Prefix>) -> Config {
        Config {
            secret,
            role,
            interface: Interface {
                name: "ropewalk%d".to_owned(),
                addresses,
                peer: None,
                routes: Vec::new(),
            },
            link_mtu: 1500,
            scheduler: Scheduler::default(),
            skew: SenderConfig::default().skew,
            buffer: SenderConfig::default().most_queue,
            book: Book::default(),
            sealed: true,
        }
    }

    pub(super) fn sender(&self) -> SenderConfig {
        SenderConfig {
            scheduler: self.scheduler,
            skew: self.skew,
            most_queue: self.buffer,
            path_mtu: self.path_mtu(),
            keepalive: match self.role {
                Role::Dial { .. } => SenderConfig::default().keepalive,
                // The client is nearer to the NATs on the way.
                Role::Listen { .. } => SenderConfig::default().keepalive * 2,
            },
        }
    }

    /// Of the device, if all links carry what is tried.
    pub(super) fn mtu(&self) -> u16 {
        self.link_mtu - self.beside()
    }

    /// What a datagram with one whole packet has beside it.
    fn beside(&self) -> u16 {
        let addresses = match &self.role {
            Role::Listen { at, .. } => std::slice::from_ref(at),
            Role::Dial { relays, .. } => relays,
        };
        let headers = addresses.iter().map(ip_udp_len).max();
        (headers.unwrap_or_default() + ENVELOPE) as u16
    }

    fn path_mtu(&self) -> PathMtuConfig {
        let mut addresses = self.interface.addresses.iter();
        let has_ipv6 = addresses.any(|prefix| prefix.address.is_ipv6());
        PathMtuConfig::of_device(self.link_mtu.into(), has_ipv6, self.beside().into())
    }

    pub(super) fn receiver(&self) -> ReceiverConfig {
        ReceiverConfig {
            skew: self.skew,
            most_held: self.buffer,
        }
    }
}

/// An address with the length of its network's prefix, as `10.9.0.2/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// Bits that it shares with its network.
    pub len: u8,
}

/// What is no address with a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address with a prefix; allowed: as 10.9.0.2/24 or fd00::2/64")]
pub struct PrefixError(String);

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        let parse = || {
            let (address, len) = text.split_once('/')?;
            let address: IpAddr = address.parse().ok()?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let len = len.parse().ok().filter(|&len| len <= most)?;
            Some(Prefix { address, len })
        };
        parse().ok_or_else(|| PrefixError(text.to_owned()))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_written_as_it_was_read_and_what_is_none_is_refused() {
        for text in ["10.9.0.2/24", "0.0.0.0/0", "fd00::2/128"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        for text in ["10.9.0.2", "10.9.0.2/33", "fd00::2/129", "/24", "a/8"] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
    }
}
