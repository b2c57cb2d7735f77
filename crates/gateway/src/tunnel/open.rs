//! Opens a tunnel: its device and sockets, and the loop that serves them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use ropewalk_wire::gateway::tunnel::TunnelHeader;
use socket2::{Domain, Protocol, Socket, Type};

use super::config::{Config, Role};
use super::control::Control;
use super::device::Device;
use super::dialer::Dialer;
use super::door::Door;
use super::engine::{End, Engine};
use super::handshake::MOST_ADDRESSES;
use super::socket::UdpSocket;
use super::status::Status;

/// Longest packets that links may be said to carry.
const LINK_MTUS: std::ops::RangeInclusive<u16> = 1280..=9000;

/// Either end of a tunnel, with its device up and its sockets bound.
#[derive(Debug)]
pub struct Tunnel {
    config: Config,
    device: Device,
    sockets: Vec<UdpSocket>,
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
    /// A link cannot be used.
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
    /// run in any thread after that.
    ///
    /// # Errors
    /// The first thing that cannot be had.
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
        self.sockets.iter().map(UdpSocket::local_address).collect()
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
            Role::Dial { relay, key, links } => {
                let own = config.interface.addresses.iter();
                let own = own.map(|prefix| prefix.address).collect();
                let dialer = Dialer::new(config.secret.clone(), *key, own, links.len());
                End::Initiator(Box::new(dialer.sealed(config.sealed)), *relay)
            }
        };
        Engine::new(end, self.device, self.sockets, config, self.control).run()
    }
}

fn sockets(role: &Role) -> Result<Vec<UdpSocket>, TunnelError> {
    match role {
        Role::Listen { at, .. } => {
            let socket = listen(*at).map_err(|source| TunnelError::Listen { at: *at, source })?;
            Ok(vec![socket])
        }
        Role::Dial { relay, links, .. } => {
            if !(1..=usize::from(TunnelHeader::MAX_LINK) + 1).contains(&links.len()) {
                return Err(TunnelError::Links(links.len()));
            }
            let sockets = links.iter().map(|link| {
                let socket = link.udp_socket(*relay).and_then(UdpSocket::new);
                socket.map_err(|source| TunnelError::Link {
                    name: link.name.clone(),
                    source,
                })
            });
            sockets.collect()
        }
    }
}

fn listen(at: SocketAddr) -> io::Result<UdpSocket> {
    let domain = Domain::for_address(at);
    let socket = Socket::new(domain, Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
    socket.bind(&at.into())?;
    UdpSocket::new(socket)
}
