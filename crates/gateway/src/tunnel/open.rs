//! Opens a tunnel: its device and sockets, and the loop that serves them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ropewalk_wire::gateway::tunnel::TunnelHeader;
use socket2::{Domain, Protocol, Socket, Type};

use super::config::{Config, Role};
use super::control::Control;
use super::device::Device;
use super::dialer::Dialer;
use super::door::Door;
use super::engine::{End, Engine};
use super::handshake::MOST_ADDRESSES;
use super::network_changes::NetworkChanges;
use super::socket::UdpSocket;
use super::sockets::Sockets;
use super::status::Status;
use crate::Link;

/// Longest packets that links may be said to carry.
const LINK_MTUS: std::ops::RangeInclusive<u16> = 1280..=9000;

/// If none of the links is there, the first one is waited for so long.
const PATIENCE: Duration = Duration::from_secs(8);
/// Between two looks at them.
const STEP: Duration = Duration::from_millis(100);

/// Either end of a tunnel, with its device up and its sockets bound.
#[derive(Debug)]
pub struct Tunnel {
    config: Config,
    device: Device,
    sockets: Sockets,
    changes: Option<NetworkChanges>,
    control: Control,
}

/// Why there is no tunnel.
#[derive(Debug, thiserror::Error)]
pub enum TunnelError {
    /// A length that links cannot have.
    #[error("link MTU {0}: allowed: 1280 to 9000")]
    LinkMtu(u16),
    /// None, or more than there are numbers.
    #[error("{0} links: allowed: 1 to {most}", most = TunnelHeader::MAX_LINK as usize + 1)]
    Links(usize),
    /// A client needs an address within the tunnel, and has so many at most.
    #[error("{0} addresses of the device: allowed: 1 to {MOST_ADDRESSES}")]
    Addresses(usize),
    /// The list of clients gives one of them an address of this end.
    #[error("client {client} has the address {address}, which is that of this end's device")]
    OwnAddress {
        /// As the list calls it.
        client: String,
        /// Which address.
        address: IpAddr,
    },
    /// The device cannot be made.
    #[error("device {name}: {source}; it takes root or CAP_NET_ADMIN, and /dev/net/tun")]
    Device {
        /// The name that it was to have.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The device does not take its addresses or routes.
    #[error("{0}")]
    Interface(io::Error),
    /// Nobody can be heard there.
    #[error("{at}: {source}")]
    Listen {
        /// Where.
        at: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing is known of where the relay listens.
    #[error("the relay has no address")]
    NoRelay,
    /// A link cannot be used, or none of them is there.
    #[error("link {name}: {source}")]
    Link {
        /// Which.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no descriptor.
    #[error("no eventfd: {0}")]
    Control(io::Error),
}

impl Tunnel {
    /// Makes the device and binds the sockets in the calling thread's network namespace. It may
    /// run in any thread after that. A link that is not there yet is taken when it comes; the first
    /// is waited for.
    ///
    /// # Errors
    /// The first thing that cannot be had, or that no link is there after 8 seconds.
    pub fn open(config: Config) -> Result<Tunnel, TunnelError> {
        if !LINK_MTUS.contains(&config.link_mtu) {
            return Err(TunnelError::LinkMtu(config.link_mtu));
        }
        let own = &config.interface.addresses;
        if !(1..=MOST_ADDRESSES).contains(&own.len()) {
            return Err(TunnelError::Addresses(own.len()));
        }
        if let Role::Listen { clients, .. } = &config.role {
            let is_own = |address: &&IpAddr| own.iter().any(|prefix| prefix.address == **address);
            for client in clients.iter() {
                if let Some(&address) = client.addresses.iter().find(is_own) {
                    let client = client.name.clone();
                    return Err(TunnelError::OwnAddress { client, address });
                }
            }
        }
        let sockets = sockets(&config.role)?;
        let name = &config.interface.name;
        let device = Device::create(name).map_err(|source| TunnelError::Device {
            name: name.clone(),
            source,
        })?;
        let mtu = config.mtu();
        let up = device.set_up(mtu, &config.interface);
        up.map_err(TunnelError::Interface)?;
        let control = Control::new(Status {
            device: device.name.clone(),
            mtu,
            scheduler: config.scheduler.name(),
            ..Status::default()
        });
        Ok(Tunnel {
            config,
            device,
            sockets,
            changes: NetworkChanges::open().ok(),
            control: control.map_err(TunnelError::Control)?,
        })
    }

    /// A handle to end it and to ask what it has done.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// The device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.device.name
    }

    /// Where it listens, or where each link leaves from.
    ///
    /// # Errors
    /// What the system says of a socket.
    pub fn local_addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let sockets = self.sockets.iter();
        sockets.map(|(_, socket)| socket.local_address()).collect()
    }

    /// Carries packets in this thread until [`Control::stop`] is called; the device goes with it.
    ///
    /// # Errors
    /// The device or a socket fails as a whole.
    pub fn run(self) -> io::Result<()> {
        let config = &self.config;
        let end = match &config.role {
            Role::Listen { clients, .. } => {
                let door = Door::new(Instant::now(), config.secret.clone(), clients.clone());
                End::Responder(Box::new(door.sealed(config.sealed)))
            }
            Role::Dial { key, .. } => {
                let own = config.interface.addresses.iter();
                let own = own.map(|prefix| prefix.address).collect();
                let dialer = Dialer::new(config.secret.clone(), *key, own);
                End::Initiator(Box::new(dialer.sealed(config.sealed)))
            }
        };
        let sockets = (self.sockets, self.changes);
        Engine::new(end, self.device, sockets, config, self.control).run()
    }
}

fn sockets(role: &Role) -> Result<Sockets, TunnelError> {
    match role {
        Role::Listen { at, .. } => {
            let socket = listen(*at).map_err(|source| TunnelError::Listen { at: *at, source })?;
            Ok(Sockets::listening(socket))
        }
        Role::Dial { relays, links, .. } => {
            if relays.is_empty() {
                return Err(TunnelError::NoRelay);
            }
            if !(1..=usize::from(TunnelHeader::MAX_LINK) + 1).contains(&links.len()) {
                return Err(TunnelError::Links(links.len()));
            }
            let failed = |(name, source)| TunnelError::Link { name, source };
            let mut sockets = Sockets::dialling(links, relays).map_err(failed)?;
            let begin = Instant::now();
            while sockets.iter().next().is_none() {
                if begin.elapsed() >= PATIENCE {
                    return Err(nowhere(links, relays));
                }
                sleep(STEP);
                sockets.refresh();
            }
            Ok(sockets)
        }
    }
}

/// What the first link lacks.
fn nowhere(links: &[Link], relays: &[SocketAddr]) -> TunnelError {
    let missing = links[0].way_to(relays[0]).err();
    TunnelError::Link {
        name: links[0].name.clone(),
        source: missing.unwrap_or_else(|| io::Error::from(io::ErrorKind::NetworkUnreachable)),
    }
}

fn listen(at: SocketAddr) -> io::Result<UdpSocket> {
    let domain = Domain::for_address(at);
    let socket = Socket::new(domain, Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
    socket.bind(&at.into())?;
    UdpSocket::new(socket)
}
