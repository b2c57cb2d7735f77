//! Opens a tunnel: its device and sockets, and the event loop that serves them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use ropewalk_wire::gateway::tunnel::TunnelHeader;
use socket2::{Domain, Protocol, Socket, Type};

use super::config::{Config, Role};
use super::control::Control;
use super::device::Device;
use super::dialer::Dialer;
use super::engine::{End, Engine};
use super::foreign::Foreign;
use super::handshake::{MAX_ADDRESSES, random};
use super::network_changes::NetworkChanges;
use super::relay_name::NameResolver;
use super::responder::HandshakeResponder;
use super::socket::{KERNEL_BUFFER, UdpSocket};
use super::socket_filter;
use super::sockets::Sockets;
use super::status::Status;

/// Range of the longest packet that may be tried on links.
const LINK_MTUS: std::ops::RangeInclusive<u16> = 1280..=9000;

/// An end of a tunnel, with its device up and its sockets bound.
#[derive(Debug)]
pub struct Tunnel {
    config: Config,
    device: Device,
    sockets: Sockets,
    changes: Option<NetworkChanges>,
    control: Control,
    foreign: Option<Foreign>,
}

/// Why a tunnel could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum TunnelError {
    /// A link MTU out of range.
    #[error("link MTU {0}: allowed: 1280 to 9000")]
    LinkMtu(u16),
    /// No links, or too many.
    #[error("{0} links: allowed: 1 to {most}", most = TunnelHeader::MAX_LINK as usize + 1)]
    Links(usize),
    /// No address in the tunnel, or too many; a client needs at least one.
    #[error("{0} addresses of the device: allowed: 1 to {MAX_ADDRESSES}")]
    Addresses(usize),
    /// The list of clients gives one of this end's addresses to a client.
    #[error("client {client} has the address {address}, which is that of this end's device")]
    OwnAddress {
        /// The client's name in the list.
        client: String,
        /// The address.
        address: IpAddr,
    },
    /// The device cannot be created.
    #[error("device {name}: {source}; it takes root or CAP_NET_ADMIN, and /dev/net/tun")]
    Device {
        /// The requested name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// The device's addresses or routes cannot be set.
    #[error("{0}")]
    Interface(io::Error),
    /// The address cannot be listened on.
    #[error("{at}: {source}")]
    Listen {
        /// The address.
        at: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// No address of the relay is given.
    #[error("the relay has no address")]
    NoRelay,
    /// A link cannot be used, although it is there.
    #[error("link {name}: {source}")]
    Link {
        /// The link's name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
    /// No file descriptor is available.
    #[error("no eventfd: {0}")]
    Control(io::Error),
}

impl Tunnel {
    /// Creates the device and binds the sockets in the calling thread's network namespace. Afterwards it may
    /// run in any thread. Links that are not available are used when they appear, and a relay whose name does not
    /// resolve yet is called when it does.
    ///
    /// # Errors
    /// The first resource that is not available, links apart.
    pub fn open(config: Config) -> Result<Tunnel, TunnelError> {
        if !LINK_MTUS.contains(&config.link_mtu) {
            return Err(TunnelError::LinkMtu(config.link_mtu));
        }
        let own = &config.interface.addresses;
        if !(1..=MAX_ADDRESSES).contains(&own.len()) {
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
        let sockets = sockets(&config)?;
        let name = &config.interface.name;
        let device = Device::create(name).map_err(|source| TunnelError::Device {
            name: name.clone(),
            source,
        })?;
        if let Role::Dial { .. } = config.role {
            // Until the relay has answered.
            device.set_carrier(false);
        }
        let mtu = config.mtu();
        let up = device.set_up(mtu, &config.interface);
        up.map_err(TunnelError::Interface)?;
        let foreign = match &config.role {
            Role::Listen { .. } => None,
            Role::Dial { .. } => {
                let own = config.interface.addresses.iter();
                Some(Foreign::new(own.map(|prefix| prefix.address).collect()))
            }
        };
        let control = Control::new(Status {
            device: device.name.clone(),
            mtu,
            scheduler: config.scheduler.name(),
            ..Status::default()
        });
        let control = control.map_err(TunnelError::Control)?;
        Ok(Tunnel {
            config,
            device,
            sockets,
            changes: NetworkChanges::open().ok(),
            control,
            foreign,
        })
    }

    /// A handle to stop it, and to query its status.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// The device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.device.name
    }

    /// Its listening address, or the local address of each link.
    ///
    /// # Errors
    /// Those of a socket.
    pub fn local_addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let sockets = self.sockets.iter();
        let mut addresses = sockets
            .map(|(_, socket)| socket.local_address())
            .collect::<io::Result<Vec<_>>>()?;
        // A relay's sockets have one address.
        addresses.dedup();
        Ok(addresses)
    }

    /// Carries packets in this thread until [`Control::stop`] is called; then the device is removed.
    ///
    /// # Errors
    /// The device or a socket fails.
    pub fn run(self) -> io::Result<()> {
        let config = &self.config;
        let ids = self.sockets.session_ids();
        let end = match &config.role {
            Role::Listen { clients, .. } => {
                let (secret, clients) = (config.secret.clone(), clients.clone());
                let responder = HandshakeResponder::new(Instant::now(), secret, clients, ids);
                End::Responder(Box::new(responder.sealed(config.sealed)))
            }
            Role::Dial { key, .. } => {
                let own = config.interface.addresses.iter();
                let own = own.map(|prefix| prefix.address).collect();
                let dialer = Dialer::new(config.secret.clone(), *key, own, ids);
                End::Initiator(Box::new(dialer.sealed(config.sealed)))
            }
        };
        // Its thread begins here: by now the process may have dropped its privileges.
        let resolver = config.relay_name.clone().map(|name| {
            let control = self.control.clone();
            let deliver = move |answer| control.deliver(answer);
            self.sockets
                .in_namespace(|| NameResolver::start(name, deliver))
        });
        let network = (self.sockets, self.changes, resolver.transpose()?);
        let device = (self.device, self.foreign);
        Engine::new(end, device, network, config, self.control).run()
    }
}

pub(super) fn sockets(config: &Config) -> Result<Sockets, TunnelError> {
    match &config.role {
        Role::Listen { at, .. } => {
            let prefix = random() as u16;
            let sockets = listen(*at, prefix);
            let sockets = sockets.map_err(|source| TunnelError::Listen { at: *at, source })?;
            Ok(Sockets::listening(sockets, prefix))
        }
        Role::Dial { relays, links, .. } => {
            if relays.is_empty() && config.relay_name.is_none() {
                return Err(TunnelError::NoRelay);
            }
            if !(1..=usize::from(TunnelHeader::MAX_LINK) + 1).contains(&links.len()) {
                return Err(TunnelError::Links(links.len()));
            }
            let failed = |(name, source)| TunnelError::Link { name, source };
            Sockets::dialling(links, relays).map_err(failed)
        }
    }
}

/// Buffer for hellos: a flood of them must not take more memory, and a client repeats its own.
const HELLO_BUFFER: usize = 256 << 10;

/// Two sockets on one port: the first receives the datagrams of sessions, the second hellos, so that a flood of
/// hellos takes no room from sessions. Only processes of the same user can bind to the port, too (SO_REUSEPORT).
fn listen(at: SocketAddr, prefix: u16) -> io::Result<[UdpSocket; 2]> {
    let socket = |at: SocketAddr| {
        let domain = Domain::for_address(at);
        Socket::new(domain, Type::DGRAM.nonblocking(), Some(Protocol::UDP))
    };
    let sessions = socket(at)?;
    socket_filter::accept_sessions(&sessions, prefix)?;
    // Without SO_REUSEPORT first: fails if another process has the port.
    sessions.bind(&at.into())?;
    sessions.set_reuse_port(true)?;
    let hellos = socket(at)?;
    socket_filter::accept_hellos(&hellos)?;
    hellos.set_reuse_port(true)?;
    hellos.bind(&sessions.local_addr()?)?;
    socket_filter::steer_hellos(&sessions)?;
    Ok([
        UdpSocket::new(sessions, KERNEL_BUFFER)?,
        UdpSocket::new(hellos, HELLO_BUFFER)?,
    ])
}
