//! Packets of a client's device with a foreign source address, which the relay would drop.
//!
//! Source NAT gives packets of other sources the device's address. The kernel decides this once per
//! connection. A connection that began outside the tunnel, while the device was absent, therefore enters it
//! untranslated. Its entry in the kernel's connection tracking table is deleted (ctnetlink), and its next
//! packet is translated. If that is not possible, the sender gets an ICMP message.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use ropewalk_quantities::Time;
use ropewalk_wire::{IpView, prohibited, protocol};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use super::rate_limiter::{ICMP, RateLimiter};

const MAX_DELETED: usize = 1024;

/// Messages of NFNL_SUBSYS_CTNETLINK: IPCTNL_MSG_CT_GET and IPCTNL_MSG_CT_DELETE.
const GET: u16 = 1 << 8 | 1;
const DELETE: u16 = 1 << 8 | 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const CTA_TUPLE_REPLY: u16 = 2;

/// ICMP and ICMPv6 types of echo requests, and of the replies that connection tracking expects.
const ECHO_V4: (u8, u8) = (8, 0);
const ECHO_V6: (u8, u8) = (128, 129);

/// Check of the sources of a client's packets.
#[derive(Debug)]
pub struct ForeignSources {
    own: Vec<IpAddr>,
    tracking: Option<OwnedFd>,
    /// Rate limiter of deletions and ICMP messages.
    icmp: RateLimiter,
    /// Connections whose entry was deleted once. Further packets of them are not translated by anything.
    deleted: HashSet<Vec<u8>>,
}

impl ForeignSources {
    #[must_use]
    pub fn new(own: Vec<IpAddr>) -> ForeignSources {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        ForeignSources {
            own,
            // Without ctnetlink (kernel, sandbox), ICMP remains.
            tracking: socket_with(family, kind, flags, Some(netlink::NETFILTER)).ok(),
            icmp: RateLimiter::default(),
            deleted: HashSet::new(),
        }
    }

    #[must_use]
    pub fn is_foreign(&self, packet: &[u8]) -> bool {
        !IpView::parse(packet).is_ok_and(|ip| self.own.contains(&ip.source()))
    }

    /// Handles a packet of a foreign source; returns an ICMP message for its sender, if one is due.
    pub fn refuse(&mut self, now: Time, packet: &[u8]) -> Option<Vec<u8>> {
        if !self.icmp.take(now.as_nanos(), ICMP) {
            return None;
        }
        if let Some(tuple) = reply_tuple(packet)
            && !self.deleted.contains(&tuple)
            && self.delete(packet, &tuple).is_ok()
        {
            self.remember(tuple);
            return None;
        }
        prohibited(packet)
    }

    fn remember(&mut self, tuple: Vec<u8>) {
        if self.deleted.len() >= MAX_DELETED {
            self.deleted.clear();
        }
        self.deleted.insert(tuple);
    }

    /// Deletes the entry of the packet. The kernel answers before `send` returns.
    fn delete(&self, packet: &[u8], tuple: &[u8]) -> io::Result<()> {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        let is_v4 = matches!(IpView::parse(packet), Ok(IpView::V4(_)));
        let mut wanted = Vec::new();
        nested(&mut wanted, CTA_TUPLE_REPLY, tuple);
        // A lookup finds entries by either direction. The reply tuple belongs to a packet that was
        // translated, but whose reply had no route for a moment.
        let found = self.query(&request(GET, NLM_F_REQUEST, is_v4, &wanted))?;
        if !found.windows(wanted.len()).any(|part| part == wanted) {
            return Err(absent());
        }
        let done = self.query(&request(DELETE, NLM_F_REQUEST | NLM_F_ACK, is_v4, &wanted))?;
        // struct nlmsgerr begins with the negative error number.
        match done.get(16..20) {
            Some([0, 0, 0, 0]) => Ok(()),
            _ => Err(absent()),
        }
    }

    fn query(&self, message: &[u8]) -> io::Result<Vec<u8>> {
        let socket = self.tracking.as_ref();
        let socket = socket.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
        send(socket, message, SendFlags::empty())?;
        let mut answer = vec![0; 4096];
        let (len, _) = recv(socket, &mut answer[..], RecvFlags::empty())?;
        answer.truncate(len);
        Ok(answer)
    }
}

/// Returns the nested attributes of the tuple in which a reply would arrive: the inverse of the untranslated
/// packet (linux/netfilter/nfnetlink_conntrack.h).
fn reply_tuple(packet: &[u8]) -> Option<Vec<u8>> {
    /// CTA_TUPLE_IP, CTA_TUPLE_PROTO.
    const IP: u16 = 1;
    const PROTO: u16 = 2;
    let ip = IpView::parse(packet).ok()?;
    let is_fragment = match ip {
        IpView::V4(view) => view.fragment_offset() > 0,
        IpView::V6(view) => view.fragment_offset() > 0,
    };
    if is_fragment {
        return None;
    }
    let mut addresses = Vec::new();
    match (ip.destination(), ip.source()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            attribute(&mut addresses, 1, &from.octets());
            attribute(&mut addresses, 2, &to.octets());
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            attribute(&mut addresses, 3, &from.octets());
            attribute(&mut addresses, 4, &to.octets());
        }
        _ => return None,
    }
    let mut proto = Vec::new();
    attribute(&mut proto, 1, &[ip.protocol()]);
    let payload = ip.payload();
    match ip.protocol() {
        protocol::TCP | protocol::UDP => {
            attribute(&mut proto, 2, payload.get(2..4)?);
            attribute(&mut proto, 3, payload.get(..2)?);
        }
        protocol::ICMP => echo(&mut proto, 4, ECHO_V4, payload)?,
        protocol::ICMPV6 => echo(&mut proto, 7, ECHO_V6, payload)?,
        _ => {}
    }
    let mut tuple = Vec::new();
    nested(&mut tuple, IP, &addresses);
    nested(&mut tuple, PROTO, &proto);
    Some(tuple)
}

/// Appends identifier, type and code of an echo's reply, from attribute `first` on.
fn echo(out: &mut Vec<u8>, first: u16, (request, reply): (u8, u8), payload: &[u8]) -> Option<()> {
    let is_request = payload.first() == Some(&request);
    attribute(out, first, payload.get(4..6)?);
    attribute(out, first + 1, &[reply]);
    attribute(out, first + 2, &[0]);
    is_request.then_some(())
}

fn request(kind: u16, flags: u16, is_v4: bool, tuple: &[u8]) -> Vec<u8> {
    let family = if is_v4 { libc::AF_INET } else { libc::AF_INET6 };
    let len = 20 + tuple.len();
    let mut out = Vec::with_capacity(len);
    out.extend((len as u32).to_ne_bytes());
    out.extend(kind.to_ne_bytes());
    out.extend(flags.to_ne_bytes());
    // Unused sequence number and port; then struct nfgenmsg, version 0.
    out.extend([0; 8]);
    out.extend([family as u8, 0, 0, 0]);
    out.extend(tuple);
    out
}

/// Appends an attribute, padded to four bytes (struct nlattr, netlink(7)).
fn attribute(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    out.extend((4 + value.len() as u16).to_ne_bytes());
    out.extend(kind.to_ne_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

fn nested(out: &mut Vec<u8>, kind: u16, attributes: &[u8]) {
    attribute(out, kind | libc::NLA_F_NESTED as u16, attributes);
}

#[cfg(test)]
mod tests {
    use ropewalk_wire::IpHeader;

    use super::*;

    fn packet(from: &str, to: &str, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let [from, to] = [from, to].map(|text| text.parse().unwrap());
        let header = IpHeader::new(from, to, protocol).unwrap();
        let mut packet = vec![0; header.wire_len() + payload.len()];
        header.emit(payload.len(), &mut packet);
        packet[header.wire_len()..].copy_from_slice(payload);
        packet
    }

    fn foreign() -> ForeignSources {
        ForeignSources {
            tracking: None,
            ..ForeignSources::new(vec!["10.9.0.2".parse().unwrap()])
        }
    }

    #[test]
    fn is_foreign_accepts_own_addresses_only() {
        let udp = |from| packet(from, "9.9.9.9", protocol::UDP, &[0; 8]);
        assert!(!foreign().is_foreign(&udp("10.9.0.2")));
        assert!(foreign().is_foreign(&udp("192.168.50.10")));
        assert!(foreign().is_foreign(&[0x45; 3]));
    }

    #[test]
    fn refuse_answers_at_a_bounded_rate() {
        let (mut foreign, udp) = (
            foreign(),
            packet("192.168.50.10", "9.9.9.9", protocol::UDP, &[0; 8]),
        );
        let mut answers = |now| {
            let tries = [(); 200].map(|()| foreign.refuse(now, &udp));
            tries.iter().flatten().count()
        };
        assert_eq!(answers(Time::ZERO), 51);
        assert_eq!(answers(Time::from_secs(1)), 51);
    }

    #[test]
    fn remember_is_bounded() {
        let mut foreign = foreign();
        for number in 0..10 * MAX_DELETED {
            foreign.remember(number.to_ne_bytes().to_vec());
            assert!(foreign.deleted.len() <= MAX_DELETED);
        }
    }

    #[test]
    fn reply_tuple_swaps_addresses_and_ports() {
        let udp = packet(
            "192.168.50.10",
            "9.9.9.9",
            protocol::UDP,
            &[0x12, 0x34, 0, 53, 0, 8, 0, 0],
        );
        let tuple = reply_tuple(&udp).unwrap();
        let mut addresses = Vec::new();
        attribute(&mut addresses, 1, &[9, 9, 9, 9]);
        attribute(&mut addresses, 2, &[192, 168, 50, 10]);
        let mut proto = Vec::new();
        attribute(&mut proto, 1, &[17]);
        attribute(&mut proto, 2, &[0, 53]);
        attribute(&mut proto, 3, &[0x12, 0x34]);
        let mut expected = Vec::new();
        nested(&mut expected, 1, &addresses);
        nested(&mut expected, 2, &proto);
        assert_eq!(tuple, expected);
        let reply = packet("192.168.50.10", "9.9.9.9", protocol::ICMP, &[0; 8]);
        assert_eq!(reply_tuple(&reply), None);
    }
}
