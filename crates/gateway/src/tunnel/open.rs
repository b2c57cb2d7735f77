//! Opening of a tunnel: its device and sockets, and the event loop that serves them.

use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use super::bind;
use super::config::{Config, Role};
use super::control::Control;
use super::device::Device;
use super::dialer::Dialer;
use super::engine::{Engine, HandshakeRole};
use super::error::TunnelError;
use super::foreign_sources::ForeignSources;
use super::handshake::MAX_ADDRESSES;
use super::network_changes::NetworkChanges;
use super::responder::HandshakeResponder;
use super::sockets::TunnelSockets;
use super::status::TunnelStatus;
use crate::relay_name::NameResolver;

const LINK_MTUS: std::ops::RangeInclusive<u16> = 1280..=9000;

/// An end of a tunnel, with its device up and its sockets bound.
#[derive(Debug)]
pub struct Tunnel {
    config: Config,
    device: Device,
    sockets: TunnelSockets,
    changes: Option<NetworkChanges>,
    control: Control,
    foreign: Option<ForeignSources>,
}

impl Tunnel {
    /// Creates the device and binds the sockets in the calling thread's network namespace; the tunnel may run
    /// in any thread. Links that are not available are used when they appear, and a relay whose name does not
    /// resolve yet is used when it does.
    ///
    /// # Errors
    /// The first resource that is not available, except links.
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
        let sockets = bind::sockets(&config)?;
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
                Some(ForeignSources::new(
                    own.map(|prefix| prefix.address).collect(),
                ))
            }
        };
        let control = Control::new(TunnelStatus {
            device: device.name.clone(),
            mtu,
            scheduler: match config.naive {
                true => "naive",
                false => config.scheduler.name(),
            },
            ..TunnelStatus::default()
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

    /// Returns a handle to stop it, and to query its status.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Returns the device's name.
    #[must_use]
    pub fn device(&self) -> &str {
        &self.device.name
    }

    pub(super) fn device_file(&self) -> &File {
        &self.device.file
    }

    /// Returns its listening address, or the local address of each link.
    ///
    /// # Errors
    /// Errors of a socket.
    pub fn local_addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let sockets = self.sockets.iter();
        let mut addresses = sockets
            .map(|(_, socket)| socket.local_address())
            .collect::<io::Result<Vec<_>>>()?;
        // A relay's sockets share one address.
        addresses.dedup();
        Ok(addresses)
    }

    /// Carries packets in this thread until [`Control::stop`] is called, then removes the device.
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
                HandshakeRole::Responder(Box::new(responder.sealed(config.sealed)))
            }
            Role::Dial { key, .. } => {
                let own = config.interface.addresses.iter();
                let own = own.map(|prefix| prefix.address).collect();
                let dialer = Dialer::new(config.secret.clone(), *key, own, ids);
                HandshakeRole::Initiator(Box::new(dialer.sealed(config.sealed)))
            }
        };
        // The thread starts here: by now the process may have dropped its privileges.
        let relays = config.relays();
        let has_name = relays.iter().any(|relay| relay.name.is_some());
        let resolver = has_name.then(|| {
            let control = self.control.clone();
            let deliver = move |answer| control.deliver(answer);
            self.sockets.in_namespace(|| NameResolver::start(deliver))
        });
        let network = (self.sockets, self.changes, resolver.transpose()?);
        let device = (self.device, self.foreign);
        Engine::new(end, device, network, config, self.control).run()
    }
}
