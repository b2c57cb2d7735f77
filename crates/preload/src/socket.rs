//! Kernel state of a program's socket.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{socket_domain, socket_protocol, socket_type};
use rustix::net::{AddressFamily, SocketType, getpeername, getsockname, ipproto};

/// Kind of a socket, as far as the library distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// TCP over IPv4, or over IPv6.
    Tcp(Family),
    /// UDP over IPv4, or over IPv6.
    Udp(Family),
    /// Other datagrams: a ping socket (icmp(7)), or UDP-Lite.
    Datagram,
    /// Anything else, and descriptors that are not sockets.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Kind {
    pub(crate) fn of(socket: BorrowedFd<'_>) -> Kind {
        let family = match socket_domain(socket) {
            Ok(AddressFamily::INET) => Family::V4,
            Ok(AddressFamily::INET6) => Family::V6,
            _ => return Kind::Other,
        };
        match (socket_type(socket), socket_protocol(socket)) {
            (Ok(SocketType::STREAM), Ok(Some(ipproto::TCP))) => Kind::Tcp(family),
            (Ok(SocketType::DGRAM), Ok(Some(ipproto::UDP))) => Kind::Udp(family),
            (Ok(SocketType::DGRAM), _) => Kind::Datagram,
            _ => Kind::Other,
        }
    }
}

impl Family {
    /// Converts the address for this family: IPv4 is mapped for IPv6 (RFC 4291, section 2.5.5.2).
    pub(crate) fn spell(self, address: SocketAddr) -> Option<SocketAddr> {
        match (self, address) {
            (Family::V4, SocketAddr::V6(v6)) => {
                let v4 = v6.ip().to_ipv4_mapped()?;
                Some((v4, v6.port()).into())
            }
            (Family::V6, SocketAddr::V4(v4)) => {
                let mapped = v4.ip().to_ipv6_mapped();
                Some(SocketAddrV6::new(mapped, v4.port(), 0, 0).into())
            }
            _ => Some(address),
        }
    }

    pub(crate) fn unspecified(self, port: u16) -> SocketAddr {
        match self {
            Family::V4 => (Ipv4Addr::UNSPECIFIED, port).into(),
            Family::V6 => (Ipv6Addr::UNSPECIFIED, port).into(),
        }
    }

    pub(crate) fn loopback(self, port: u16) -> SocketAddr {
        match self {
            Family::V4 => (Ipv4Addr::LOCALHOST, port).into(),
            Family::V6 => (Ipv6Addr::LOCALHOST, port).into(),
        }
    }
}

/// Whether the socket is neither connected, nor connecting, nor listening: only then does poll(2) report it
/// as hung up (tcp_poll in net/ipv4/tcp.c), or both directions are closed.
pub(crate) fn is_closed(socket: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(socket, PollFlags::empty())];
    let polling = poll(
        &mut polled,
        Some(&Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        }),
    );
    polling.is_ok()
        && polled
            .iter()
            .any(|fd| fd.revents().contains(PollFlags::HUP))
}

/// Returns the host part of the socket's own address, IPv4 if it is or maps one, and the port.
pub(crate) fn local(socket: BorrowedFd<'_>) -> Option<(Ipv4Addr, u16)> {
    loopback_part(getsockname(socket).ok()?.try_into().ok()?)
}

/// As [`local`], for its peer.
pub(crate) fn peer(socket: BorrowedFd<'_>) -> Option<(Ipv4Addr, u16)> {
    loopback_part(getpeername(socket).ok()??.try_into().ok()?)
}

/// Returns an address that may be one of the gateway's, which are all IPv4.
pub(crate) fn loopback_part(address: SocketAddr) -> Option<(Ipv4Addr, u16)> {
    match address.ip().to_canonical() {
        IpAddr::V4(v4) if v4.is_loopback() => Some((v4, address.port())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    use rustix::net::{SocketFlags, socket_with};

    use super::*;

    #[test]
    fn tells_kinds_apart() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(Kind::of(tcp.as_fd()), Kind::Tcp(Family::V4));
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(Kind::of(udp.as_fd()), Kind::Udp(Family::V4));
        assert_eq!(Kind::of(std::io::stdin().as_fd()), Kind::Other);
    }

    #[test]
    fn a_fresh_socket_is_closed_and_others_are_not() {
        let flags = SocketFlags::empty();
        let fresh = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        assert!(is_closed(fresh.as_fd()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!is_closed(listener.as_fd()));
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(!is_closed(stream.as_fd()));
    }

    #[test]
    fn spells_addresses() {
        let v4: SocketAddr = "10.0.0.1:80".parse().unwrap();
        let mapped: SocketAddr = "[::ffff:10.0.0.1]:80".parse().unwrap();
        let v6: SocketAddr = "[2001:db8::1]:80".parse().unwrap();
        assert_eq!(Family::V4.spell(v4), Some(v4));
        assert_eq!(Family::V4.spell(mapped), Some(v4));
        assert_eq!(Family::V4.spell(v6), None);
        assert_eq!(Family::V6.spell(v4), Some(mapped));
        assert_eq!(Family::V6.spell(v6), Some(v6));
    }
}
