//! Datagrams of UDP sockets: the gateway has a loopback address for each target.
//!
//! The kernel still sends and receives every datagram. A socket that is connected to a target is connected to
//! the target's loopback address, so the kernel drops the datagrams of others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::sockopt::{ipv6_v6only, set_ipv6_v6only, socket_cookie};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind as kernel_bind, connect as kernel_connect,
    getpeername, getsockname, socket_with,
};

use crate::control::{Line, errno, gone};
use crate::endpoint_cache::{self as cache, Socket};
use crate::settings::{Settings, Udp};
use crate::socket::{Family, Kind};
use crate::verdict::Verdict;
use ropewalk_preload_protocol::{Answer, Request, in_pool, is_endpoint};

/// Number of the loopback interface (LOOPBACK_IFINDEX in include/net/flow.h).
const LOOPBACK: u32 = 1;

/// Decides on datagrams of a UDP socket to a target that is not reached without the gateway.
pub(crate) fn redirect(
    settings: &Settings,
    socket: BorrowedFd<'_>,
    family: Family,
    target: SocketAddr,
) -> Verdict {
    let target = SocketAddr::new(target.ip().to_canonical(), target.port());
    match settings.udp {
        Udp::Carry if family == Family::V4 && target.is_ipv6() => Verdict::Kernel,
        Udp::Carry if is_to_many(target.ip()) => Verdict::Failed(Errno::NETUNREACH),
        Udp::Carry => match endpoint(settings, socket, family, target) {
            Ok(at) => Verdict::Redirect(at),
            Err(errno) => Verdict::Failed(errno),
        },
        Udp::Refuse | Udp::Direct => without_gateway(settings, target.ip()),
    }
}

/// Decides on datagrams that the gateway does not carry. None reach the pool.
pub(crate) fn without_gateway(settings: &Settings, target: IpAddr) -> Verdict {
    if in_pool(target) || settings.udp == Udp::Refuse {
        Verdict::Failed(Errno::NETUNREACH)
    } else {
        Verdict::Kernel
    }
}

/// Returns the target for an address of the gateway from which a datagram came.
pub(crate) fn sender(
    settings: &Settings,
    socket: BorrowedFd<'_>,
    from: SocketAddr,
) -> Option<SocketAddr> {
    let at = endpoint_part(from)?;
    let family = match from {
        SocketAddr::V4(_) => Family::V4,
        SocketAddr::V6(_) => Family::V6,
    };
    let cookie = socket_cookie(socket).ok()?;
    if let Some(known) = cache::target(cookie, at) {
        return family.spell(known);
    }
    match crate::control::ask(settings, &Request::Sender { cookie, at }) {
        Ok(Answer::Address { address }) => {
            if let Some(socket) = identify(socket) {
                cache::remember(socket, address, at);
            }
            family.spell(address)
        }
        _ => None,
    }
}

/// Returns the target to which a socket is connected.
pub(crate) fn peer(settings: &Settings, socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    let peer: SocketAddr = getpeername(socket).ok()??.try_into().ok()?;
    sender(settings, socket, peer)
}

/// Whether a datagram with this interface and source address, where they are not zero, comes from the
/// socket's own address on loopback.
pub(crate) fn may_send_from(socket: BorrowedFd<'_>, interface: u32, source: IpAddr) -> bool {
    let source = source.to_canonical();
    let own = getsockname(socket).ok().and_then(|own| own.try_into().ok());
    let is_own = |own: SocketAddr| match own.ip().to_canonical() {
        ip if ip.is_unspecified() => source == IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => source == ip,
    };
    matches!(interface, 0 | LOOPBACK) && (source.is_unspecified() || own.is_some_and(is_own))
}

/// Returns the address of this machine from which the kernel reaches the target of a connected socket, with
/// the socket's port: programs use it as their own address.
pub(crate) fn own_address(settings: &Settings, socket: BorrowedFd<'_>) -> Option<SocketAddr> {
    let peer: SocketAddr = getpeername(socket).ok()??.try_into().ok()?;
    endpoint_part(peer)?;
    let Kind::Udp(family) = Kind::of(socket) else {
        return None;
    };
    let own: SocketAddr = getsockname(socket).ok()?.try_into().ok()?;
    if !own.ip().to_canonical().is_loopback() {
        return None;
    }
    let target = sender(settings, socket, peer)?;
    let target = SocketAddr::new(target.ip().to_canonical(), target.port());
    let domain = match target {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    // A connected UDP socket sends nothing (connect(2)), but has a route.
    let probe = socket_with(domain, SocketType::DGRAM, SocketFlags::CLOEXEC, None).ok()?;
    kernel_connect(&probe, &target).ok()?;
    let routed: SocketAddr = getsockname(probe.as_fd()).ok()?.try_into().ok()?;
    family.spell((routed.ip(), own.port()).into())
}

/// Lets an IPv6 socket reach the gateway, whose addresses are IPv4, before it is bound to a port of the
/// kernel's choice. A socket at a port of the program's choice may share it with one for IPv4.
pub(crate) fn before_bind(settings: &Settings, socket: BorrowedFd<'_>, wanted: SocketAddr) {
    if settings.udp == Udp::Carry
        && wanted.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        && wanted.port() == 0
        && matches!(Kind::of(socket), Kind::Udp(Family::V6))
    {
        let _ = set_ipv6_v6only(socket, false);
    }
}

fn endpoint(
    settings: &Settings,
    socket: BorrowedFd<'_>,
    family: Family,
    target: SocketAddr,
) -> Result<SocketAddr, Errno> {
    bind_if_needed(socket, family)?;
    let own = identify(socket).ok_or(Errno::NETUNREACH)?;
    if let Some(at) = cache::endpoint(own, target) {
        return family.spell(at).ok_or(Errno::NETUNREACH);
    }
    if !reaches_loopback(socket, family) {
        return Err(Errno::NETUNREACH);
    }
    let line = Line::open(settings).map_err(gone)?;
    let request = Request::Datagrams { target };
    let at = match line.ask(&request, Some(socket)).map_err(gone)? {
        Answer::Endpoint { at } => {
            cache::remember(own, target, at);
            at
        }
        Answer::Address { address } => address,
        Answer::Refused { reason } => return Err(errno(reason)),
        _ => return Err(Errno::PROTO),
    };
    family.spell(at).ok_or(Errno::NETUNREACH)
}

/// Binds an unbound socket, as the kernel does at its first datagram: the gateway needs the port.
fn bind_if_needed(socket: BorrowedFd<'_>, family: Family) -> Result<(), Errno> {
    let own: SocketAddr = getsockname(socket)?.try_into()?;
    if own.port() != 0 {
        return Ok(());
    }
    if family == Family::V6 {
        let _ = set_ipv6_v6only(socket, false);
    }
    match kernel_bind(socket, &family.unspecified(0)) {
        // Another thread has bound it.
        Err(Errno::INVAL) => Ok(()),
        bound => bound,
    }
}

fn reaches_loopback(socket: BorrowedFd<'_>, family: Family) -> bool {
    let own = getsockname(socket).ok().and_then(|own| own.try_into().ok());
    let is_v4 = |own: SocketAddr| own.ip().is_unspecified() || own.ip().to_canonical().is_ipv4();
    own.is_some_and(is_v4) && (family == Family::V4 || ipv6_v6only(socket) == Ok(false))
}

fn identify(socket: BorrowedFd<'_>) -> Option<Socket> {
    let own: SocketAddr = getsockname(socket).ok()?.try_into().ok()?;
    Some(Socket {
        cookie: socket_cookie(socket).ok()?,
        port: own.port(),
    })
}

/// Returns an address as IPv4, if it may stand for a target.
fn endpoint_part(address: SocketAddr) -> Option<SocketAddr> {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) if is_endpoint(ip) => Some((ip, address.port()).into()),
        _ => None,
    }
}

/// Whether it is a multicast address or 255.255.255.255, which a relay does not forward.
fn is_to_many(target: IpAddr) -> bool {
    target.is_multicast() || matches!(target, IpAddr::V4(ip) if ip.is_broadcast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_to_many() {
        for ip in ["224.0.0.251", "255.255.255.255", "ff02::fb"] {
            assert!(is_to_many(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["192.0.2.255", "8.8.8.8", "2001:db8::1"] {
            assert!(!is_to_many(ip.parse().unwrap()), "{ip}");
        }
    }

    #[test]
    fn only_loopback_addresses_of_the_gateway_are_endpoints() {
        let at = |text: &str| endpoint_part(text.parse().unwrap()).map(|at| at.to_string());
        let plain = Some("127.192.0.5:9".to_owned());
        assert_eq!(at("127.192.0.5:9"), plain);
        assert_eq!(at("[::ffff:127.192.0.5]:9"), plain);
        assert_eq!(at("127.0.0.1:9"), None);
        assert_eq!(at("[::1]:9"), None);
    }

    #[test]
    fn socket_is_bound_before_its_first_datagram_only() {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None).unwrap();
        bind_if_needed(socket.as_fd(), Family::V4).unwrap();
        let port = identify(socket.as_fd()).unwrap().port;
        assert_ne!(port, 0);
        bind_if_needed(socket.as_fd(), Family::V4).unwrap();
        assert_eq!(identify(socket.as_fd()).unwrap().port, port);
        assert!(reaches_loopback(socket.as_fd(), Family::V4));
    }
}
