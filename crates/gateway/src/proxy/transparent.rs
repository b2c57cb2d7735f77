//! Original destination of connections that the kernel's rules redirected here.
//!
//! REDIRECT (iptables-extensions(8)) changes a connection's destination and keeps the original one
//! (SO_ORIGINAL_DST). TPROXY (the kernel's Documentation/networking/tproxy.rst) changes nothing: the socket's
//! own address is the destination.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::TcpStream;

/// Kind of redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirection {
    /// By REDIRECT or DNAT.
    Redirect,
    /// By TPROXY.
    Tproxy,
}

/// Creates a listener for TPROXY, which accepts connections to any address. Errors: EPERM without
/// CAP_NET_ADMIN (IP_TRANSPARENT, ip(7)), and the errors of bind(2).
///
/// Accepted connections inherit the linger time of zero, and `mark`, the firewall mark of their packets
/// (SO_MARK, socket(7)).
pub fn listen_tproxy(at: SocketAddr, mark: Option<u32>) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(at),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    if let Some(mark) = mark {
        socket.set_mark(mark)?;
    }
    // If this process is killed, programs see a reset, not an empty answer.
    socket.set_linger(Some(Duration::ZERO))?;
    match at {
        SocketAddr::V4(_) => socket.set_ip_transparent_v4(true)?,
        SocketAddr::V6(_) => {
            socket.set_only_v6(true)?;
            socket.set_ip_transparent_v6(true)?;
        }
    }
    socket.bind(&at.into())?;
    socket.listen(1024)?;
    Ok(socket.into())
}

/// Returns the original destination of a connection. Errors: it was not redirected but made to the proxy
/// itself, so that connecting to its destination would loop.
pub fn destination(
    socket: &TcpStream,
    kind: Redirection,
    listener: SocketAddr,
) -> io::Result<SocketAddr> {
    let own = socket.local_addr()?;
    let original = match kind {
        Redirection::Tproxy => own,
        Redirection::Redirect => {
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
        Redirection::Tproxy => own == listener,
        Redirection::Redirect => original == own,
    };
    match is_here {
        true => Err(io::Error::other("not led here by the kernel's rules")),
        false => Ok(original),
    }
}
