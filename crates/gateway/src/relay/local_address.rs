//! Test whether an address belongs to this machine, by the kernel's routing.
//!
//! Packets to any address of the machine pass through `lo`, and so bypass the firewall of the address's
//! interface. The kernel is asked for each connection (RTM_GETROUTE, rtnetlink(7)), since addresses may
//! change.

use std::io;
use std::net::{IpAddr, UdpSocket};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// Length of a netlink message's header, and of the route header after it.
const HEADER: usize = 16;
const ROUTE_HEADER: usize = 12;

const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const NLM_F_REQUEST: u16 = 1;
const RTA_DST: u16 = 1;
/// Types of routes (rtnetlink(7)): local, broadcast, and anycast if this machine is one of the destinations.
const RTN_LOCAL: u8 = 2;
const RTN_BROADCAST: u8 = 3;
const RTN_ANYCAST: u8 = 4;

/// Whether packets to this address stay on this machine, or reach it among others. If the kernel cannot be
/// asked (a sandbox without AF_NETLINK), whether a socket can be bound to the address.
pub(super) fn is_local_address(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    if ip.is_unspecified() {
        return false;
    }
    match route_type(ip) {
        Ok(kind) => matches!(kind, Some(RTN_LOCAL | RTN_BROADCAST | RTN_ANYCAST)),
        Err(_) => UdpSocket::bind((ip, 0)).is_ok(),
    }
}

/// Returns the type of the route to an address; `None` if there is no route.
fn route_type(ip: IpAddr) -> io::Result<Option<u8>> {
    let flags = SocketFlags::CLOEXEC;
    // NETLINK_ROUTE is 0.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    send(&socket, &question(ip), SendFlags::empty())?;
    let mut answer = [0; 4096];
    let (len, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    let answer = &answer[..len];
    let is_route = answer.get(4..6) == Some(&RTM_NEWROUTE.to_ne_bytes());
    Ok(answer.get(HEADER + 7).copied().filter(|_| is_route))
}

/// Builds a request for a route, in this machine's byte order.
fn question(ip: IpAddr) -> Vec<u8> {
    let (family, address) = match ip {
        IpAddr::V4(ip) => (libc::AF_INET, ip.octets().to_vec()),
        IpAddr::V6(ip) => (libc::AF_INET6, ip.octets().to_vec()),
    };
    let attribute = 4 + address.len();
    let len = HEADER + ROUTE_HEADER + attribute;
    let mut out = Vec::with_capacity(len);
    out.extend((len as u32).to_ne_bytes());
    out.extend(RTM_GETROUTE.to_ne_bytes());
    out.extend(NLM_F_REQUEST.to_ne_bytes());
    // Sequence number and port, which are unused.
    out.extend([0; 8]);
    out.extend([family as u8, 8 * address.len() as u8]);
    out.extend([0; ROUTE_HEADER - 2]);
    out.extend((attribute as u16).to_ne_bytes());
    out.extend(RTA_DST.to_ne_bytes());
    out.extend(address);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_addresses() {
        for (ip, own) in [
            ("127.0.0.1", true),
            ("127.1.2.3", true),
            ("::ffff:127.0.0.1", true),
            ("::1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("192.0.2.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_local_address(ip.parse().unwrap()), own, "{ip}");
        }
    }
}
