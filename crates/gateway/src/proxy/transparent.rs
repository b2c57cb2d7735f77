//! Connections that the kernel's rules led here: where they were meant to go.
//!
//! REDIRECT (iptables-extensions(8)) changes a connection's destination and remembers the old one
//! (SO_ORIGINAL_DST); TPROXY (the kernel's Documentation/networking/tproxy.rst) changes
//! nothing, and the socket's own address is the destination.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

/// How connections come here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By REDIRECT or DNAT.
    Redirect,
    /// By TPROXY.
    Tproxy,
}

/// A listener for TPROXY: the socket takes connections to every address.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN (IP_TRANSPARENT, ip(7)), or what bind(2) says.
pub fn listen_tproxy(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(at),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    match at {
        SocketAddr::V4(_) => socket.set_ip_transparent_v4(true)?,
        SocketAddr::V6(_) => {
            socket.set_only_v6(true)?;
            socket.set_ip_transparent_v6(true)?;
        }
    }
    socket.bind(&at.into())?;
    socket.listen(1024)?;
    TcpListener::from_std(socket.into())
}

/// Where a connection was meant to go.
///
/// # Errors
/// It was not led here by the kernel but connects to the proxy itself, which would go round in
/// circles.
pub fn destination(socket: &TcpStream, kind: Kind, listener: SocketAddr) -> io::Result<SocketAddr> {
    let own = socket.local_addr()?;
    let original = match kind {
        Kind::Tproxy => own,
        Kind::Redirect => {
            let socket = SockRef::from(socket);
            let original = match own {
                SocketAddr::V4(_) => socket.original_dst_v4(),
                SocketAddr::V6(_) => socket.original_dst_v6(),
            };
            original?
                .as_socket()
                .ok_or(io::ErrorKind::AddrNotAvailable)?
        }
    };
    let is_here = match kind {
        Kind::Tproxy => own == listener,
        Kind::Redirect => original == own,
    };
    match is_here {
        true => Err(io::Error::other("not led here by the kernel's rules")),
        false => Ok(original),
    }
}
