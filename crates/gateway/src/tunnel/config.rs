//! Configuration of a tunnel.

use std::net::{IpAddr, SocketAddr};

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::tunnel::{
    IPV6_MIN_MTU, PathMtuConfig, ReceiverConfig, SINGLE_PACKET_OVERHEAD, Scheduler, SenderConfig,
};

use super::peer::ip_udp_len;
use crate::Link;
use crate::keys::{Clients, PublicKey, SecretKey};
use crate::prefix::Prefix;
use crate::quota::UsageStore;
use crate::relay_name::RelayName;

/// Configuration of an end of a tunnel.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its static key.
    pub secret: SecretKey,
    /// Which end this is.
    pub role: Role,
    /// The network device.
    pub interface: Interface,
    /// Longest packet to try on a link, in bytes with its IP header: 1280 to 9000. The tunnel discovers the
    /// path MTU of each link.
    pub link_mtu: u16,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Whether this end is the virtual device of song-2018: each packet leaves at once on the next link in
    /// turn, and is delivered as it arrives. Packets are reordered, and `scheduler`, `skew` and `buffer` have
    /// no effect. Both ends must agree.
    pub naive: bool,
    /// Whether the device of a client has a carrier only while the relay is reached. Otherwise it keeps the
    /// carrier after the first answer.
    pub follows_relay: bool,
    /// Largest difference in one-way delay to the fastest link. Slower links carry no data while a faster one is up.
    pub skew: Time,
    /// Rate up to which urgent packets are also sent on a second link, for each peer.
    pub copies: Rate,
    /// Largest send queue, and largest reordering buffer, for each peer.
    pub buffer: Bytes,
    /// Usage of a client's links with a quota.
    pub usage: UsageStore,
    /// Name of the relay, for a client: each link resolves it at the start, and again while it receives
    /// nothing from the relay.
    pub relay_name: Option<RelayName>,
    /// Other relays of a client, for [`Control::use_relay`](super::Control::use_relay).
    pub other_relays: Vec<RelayEndpoint>,
    /// Whether datagrams are encrypted; the handshake always is. Both ends must agree.
    pub sealed: bool,
}

/// An end's role, with the settings that only this role has.
#[derive(Clone, Debug)]
pub enum Role {
    /// The relay: listens for clients.
    Listen {
        /// The address to listen on.
        at: SocketAddr,
        /// The clients that may connect.
        clients: Clients,
    },
    /// A client: connects to a relay over its links.
    Dial {
        /// The relay's addresses; each link tries one after the other. May be empty if the relay has a
        /// [name](Config::relay_name).
        relays: Vec<SocketAddr>,
        /// The relay's public key.
        key: PublicKey,
        /// The links: 1 to 64.
        links: Vec<Link>,
    },
}

/// A relay, as a client knows it.
#[derive(Clone, Debug)]
pub struct RelayEndpoint {
    /// Its public key.
    pub key: PublicKey,
    /// Its addresses; may be empty if it has a name.
    pub addresses: Vec<SocketAddr>,
    /// Its name, which each link resolves.
    pub name: Option<RelayName>,
}

/// The network device of an end.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name; `%d` becomes the first free number.
    pub name: String,
    /// Longest packet of the device, if the links carry more.
    pub mtu: Option<u16>,
    /// Its addresses: 1 to 16. The relay's list of clients must contain each address of a client.
    pub addresses: Vec<Prefix>,
    /// The peer's address, if the device is point-to-point.
    pub peer: Option<IpAddr>,
    /// Routes into the device, in addition to its own prefixes.
    pub routes: Vec<Prefix>,
}

impl Config {
    /// Creates a configuration with defaults, and a device `ropewalk0` (or the next free number) with these
    /// addresses.
    #[must_use]
    pub fn new(secret: SecretKey, role: Role, addresses: Vec<Prefix>) -> Config {
        Config {
            secret,
            role,
            interface: Interface {
                name: "ropewalk%d".to_owned(),
                mtu: None,
                addresses,
                peer: None,
                routes: Vec::new(),
            },
            link_mtu: 1500,
            scheduler: Scheduler::default(),
            naive: false,
            follows_relay: false,
            skew: SenderConfig::default().skew,
            copies: SenderConfig::default().copies,
            buffer: SenderConfig::default().most_queue,
            usage: UsageStore::default(),
            relay_name: None,
            other_relays: Vec::new(),
            sealed: true,
        }
    }

    /// Returns the relays of a client, in order of preference; an empty list for a relay.
    pub(super) fn relays(&self) -> Vec<RelayEndpoint> {
        let Role::Dial { relays, key, .. } = &self.role else {
            return Vec::new();
        };
        let first = RelayEndpoint {
            key: *key,
            addresses: relays.clone(),
            name: self.relay_name.clone(),
        };
        let others = self.other_relays.iter().cloned();
        std::iter::once(first).chain(others).collect()
    }

    pub(super) fn sender(&self) -> SenderConfig {
        SenderConfig {
            scheduler: self.scheduler,
            naive: self.naive,
            skew: self.skew,
            copies: self.copies,
            most_queue: self.buffer,
            path_mtu: self.path_mtu(),
            keepalive: match self.role {
                Role::Dial { .. } => SenderConfig::default().keepalive,
                // The client is closer to the NATs on the path, so it keeps them alive.
                Role::Listen { .. } => SenderConfig::default().keepalive * 2,
            },
        }
    }

    /// Returns the device's MTU if all links carry packets of `link_mtu` bytes.
    pub(super) fn mtu(&self) -> u16 {
        let mut addresses = self.interface.addresses.iter();
        let has_ipv6 = addresses.any(|prefix| prefix.address.is_ipv6());
        let least = if has_ipv6 { IPV6_MIN_MTU as u16 } else { 0 };
        let most = self.interface.mtu.unwrap_or(u16::MAX);
        (self.link_mtu - self.overhead()).min(most).max(least)
    }

    /// Returns the overhead in bytes of a datagram with one whole packet.
    fn overhead(&self) -> u16 {
        let addresses = match &self.role {
            Role::Listen { at, .. } => std::slice::from_ref(at),
            Role::Dial { relays, .. } => relays,
        };
        let headers = addresses.iter().map(ip_udp_len).max();
        // For an unknown relay, the headers of IPv4: the device's MTU follows the links.
        (headers.unwrap_or(28) + SINGLE_PACKET_OVERHEAD) as u16
    }

    fn path_mtu(&self) -> PathMtuConfig {
        let mut addresses = self.interface.addresses.iter();
        // For a relay, the addresses of each client count.
        let has_ipv6 = matches!(self.role, Role::Listen { .. })
            || addresses.any(|prefix| prefix.address.is_ipv6());
        PathMtuConfig::of_device(self.link_mtu.into(), has_ipv6, self.overhead().into())
    }

    pub(super) fn receiver(&self) -> ReceiverConfig {
        ReceiverConfig {
            skew: self.skew,
            most_held: self.buffer,
        }
    }
}
