//! bind(), listen(), accept(): listening sockets are moved to loopback, where the gateway finds them under
//! the port that the program chose.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::sockopt::{ipv6_v6only, set_ipv6_v6only};
use rustix::net::{Shutdown, bind as kernel_bind, shutdown};

use crate::control::{self, errno};
use crate::settings::Settings;
use crate::socket::{self, Family, Kind};
use ropewalk_preload_protocol::{Answer, LISTENERS, LISTENERS_V6ONLY, Request};

/// Returns the address to bind the socket to; `None` leaves sockets that are not for the gateway.
pub(crate) fn place(
    settings: &Settings,
    socket: BorrowedFd<'_>,
    wanted: SocketAddr,
) -> Option<SocketAddr> {
    let ip = wanted.ip();
    if !ip.is_unspecified() && !settings.carries(ip) {
        return None;
    }
    let Kind::Tcp(family) = Kind::of(socket) else {
        return None;
    };
    if wanted.is_ipv4() != (family == Family::V4) {
        return None;
    }
    let host = match family {
        Family::V6 if ipv6_v6only(socket).unwrap_or(false) => {
            let _ = set_ipv6_v6only(socket, false);
            LISTENERS_V6ONLY
        }
        _ => LISTENERS,
    };
    family.spell((host, wanted.port()).into())
}

/// Binds an unbound socket that is about to listen: the kernel would take a port on all addresses
/// (inet_autobind in net/ipv4/af_inet.c).
pub(crate) fn bind_if_needed(settings: &Settings, socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let Kind::Tcp(family) = Kind::of(socket) else {
        return Ok(());
    };
    let address: SocketAddr = rustix::net::getsockname(socket)?.try_into()?;
    if address.port() != 0 {
        return Ok(());
    }
    match place(settings, socket, family.unspecified(0)) {
        Some(at) => kernel_bind(socket, &at),
        None => Ok(()),
    }
}

/// Registers a moved socket that listens now with the gateway, and closes it if that is refused.
pub(crate) fn register(settings: &Settings, socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let Some((host, port)) = socket::local(socket).filter(|&(host, _)| is_listener(host)) else {
        return Ok(());
    };
    let at = (host, port).into();
    let refused = match control::ask(settings, &Request::Listen { port, at }) {
        Ok(Answer::Done {}) => return Ok(()),
        Ok(Answer::Refused { reason }) => errno(reason),
        Ok(_) => Errno::PROTO,
        Err(_) => Errno::NETUNREACH,
    };
    // inet_shutdown in net/ipv4/af_inet.c: back from LISTEN to CLOSE.
    let _ = shutdown(socket, Shutdown::Both);
    Err(refused)
}

/// Returns the client of a socket's peer, which is an address of [`ropewalk_preload_protocol::CLIENTS`].
pub(crate) fn client(
    settings: &Settings,
    socket: BorrowedFd<'_>,
    peer: (Ipv4Addr, u16),
) -> Option<SocketAddr> {
    let Kind::Tcp(family) = Kind::of(socket) else {
        return None;
    };
    let at = peer.into();
    match control::ask(settings, &Request::Client { at }) {
        Ok(Answer::Client { client }) => family.spell(client),
        _ => None,
    }
}

/// Returns the address that the program sees for a moved socket: the unspecified address while it listens,
/// this machine's once it is connected.
pub(crate) fn own_address(socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    let (_, port) = socket::local(socket).filter(|&(host, _)| is_listener(host))?;
    let Kind::Tcp(family) = Kind::of(socket) else {
        return None;
    };
    Some(match socket::peer(socket) {
        Some(_) => family.loopback(port),
        None => family.unspecified(port),
    })
}

fn is_listener(host: Ipv4Addr) -> bool {
    host == LISTENERS || host == LISTENERS_V6ONLY
}
