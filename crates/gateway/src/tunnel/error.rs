//! Errors of opening a tunnel.

use std::io;
use std::net::{IpAddr, SocketAddr};

use ropewalk_wire::gateway::tunnel::TunnelHeader;

use super::handshake::MAX_ADDRESSES;

/// Reason why a tunnel could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum TunnelError {
    /// A link MTU out of range.
    #[error("--link-mtu {0}: allowed: 1280 to 9000 bytes")]
    LinkMtu(u16),
    /// No links, or too many.
    #[error("{0} links (--link): allowed: 1 to {most}", most = TunnelHeader::MAX_LINK as usize + 1)]
    Links(usize),
    /// No address in the tunnel (a client needs one), or too many.
    #[error("{0} addresses of the device (--address): allowed: 1 to {MAX_ADDRESSES}")]
    Addresses(usize),
    /// The list of clients gives an address of this end to a client.
    #[error("client {client}: addresses={address} is an address of this end's device")]
    OwnAddress {
        /// The client's name in the list.
        client: String,
        /// The address.
        address: IpAddr,
    },
    /// The device cannot be created.
    #[error("--device {name}: {source}; needs root or CAP_NET_ADMIN, and /dev/net/tun")]
    Device {
        /// The requested name.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// The device's addresses or routes cannot be set.
    #[error("{0}")]
    Interface(io::Error),
    /// The listening address cannot be used.
    #[error("--listen {at}: {source}")]
    Listen {
        /// The address.
        at: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// No address of the relay is given.
    #[error("--relay: no address of the relay")]
    NoRelay,
    /// A link exists but cannot be used.
    #[error("link {name}: {source}")]
    Link {
        /// The link's name.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// No file descriptor is available.
    #[error("cannot create an eventfd: {0}")]
    Control(io::Error),
}
