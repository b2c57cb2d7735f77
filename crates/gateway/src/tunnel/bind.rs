//! Sockets of an end of a tunnel, bound to their addresses.

use std::io;
use std::net::SocketAddr;

use ropewalk_wire::gateway::tunnel::TunnelHeader;
use socket2::{Domain, Protocol, Socket, Type};

use super::config::{Config, Role};
use super::error::TunnelError;
use super::handshake::random;
use super::socket::{KERNEL_BUFFER, UdpSocket};
use super::socket_filter;
use super::sockets::TunnelSockets;

pub(super) fn sockets(config: &Config) -> Result<TunnelSockets, TunnelError> {
    match &config.role {
        Role::Listen { at, .. } => {
            let prefix = random() as u16;
            let sockets = listen(*at, prefix);
            let sockets = sockets.map_err(|source| TunnelError::Listen { at: *at, source })?;
            Ok(TunnelSockets::for_relay(sockets, prefix))
        }
        Role::Dial { relays, links, .. } => {
            if relays.is_empty() && config.relay_name.is_none() {
                return Err(TunnelError::NoRelay);
            }
            if !(1..=usize::from(TunnelHeader::MAX_LINK) + 1).contains(&links.len()) {
                return Err(TunnelError::Links(links.len()));
            }
            let failed = |(name, source)| TunnelError::Link { name, source };
            TunnelSockets::for_client(links, relays).map_err(failed)
        }
    }
}

/// Receive buffer for hellos. It is small because clients repeat their hellos.
const HELLO_BUFFER: usize = 256 << 10;

/// Binds two sockets to one port: one for the datagrams of sessions, and one for hellos, so that a flood of hellos
/// takes no buffer space from sessions. Only processes of the same user can bind to the port, too (SO_REUSEPORT).
fn listen(at: SocketAddr, prefix: u16) -> io::Result<[UdpSocket; 2]> {
    let socket = |at: SocketAddr| {
        let domain = Domain::for_address(at);
        Socket::new(domain, Type::DGRAM.nonblocking(), Some(Protocol::UDP))
    };
    let sessions = socket(at)?;
    socket_filter::accept_sessions(&sessions, prefix)?;
    // Without SO_REUSEPORT first: this fails if another process has the port.
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
