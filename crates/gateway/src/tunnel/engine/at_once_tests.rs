//! Tests of a tunnel whose packets are sent at once: packets of one device, datagrams on the links in turn,
//! and packets for the other device as the datagrams arrive.

use std::fs::File;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::Feedback;
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};

use super::Engine;
use super::any_datagrams::{LINKS, both_established};
use crate::tunnel::device::Device;
use crate::tunnel::link_path::Path;
use crate::tunnel::super_packet::VNET_LEN;

/// Replaces the engine's device; returns the kernel's end of it.
fn device(engine: &mut Engine) -> UnixDatagram {
    let (ours, kernel) = UnixDatagram::pair().unwrap();
    for socket in [&ours, &kernel] {
        socket.set_nonblocking(true).unwrap();
    }
    engine.device = Device::of_file(File::from(OwnedFd::from(ours))).unwrap();
    kernel
}

/// A UDP packet from the client to the relay, after a virtio-net header.
fn packet(number: u8, len: usize) -> Vec<u8> {
    let mut packet = vec![number; VNET_LEN + len];
    packet[..VNET_LEN].fill(0);
    let header = &mut packet[VNET_LEN..VNET_LEN + 20];
    header.copy_from_slice(&[
        0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 9, 0, 2, 10, 9, 0, 1,
    ]);
    header[2..4].copy_from_slice(&(len as u16).to_be_bytes());
    packet
}

struct Ends {
    client: Engine,
    relay: Engine,
    /// The kernel's ends of their devices.
    to_client: UnixDatagram,
    from_relay: UnixDatagram,
    /// Receives what the client sends.
    socket: UdpSocket,
    hours: u64,
}

impl Ends {
    /// Both ends, after the pings of a new session and their answers.
    fn new() -> Ends {
        let socket = UdpSocket::bind("127.77.0.1:0").unwrap();
        let timeout = Some(Duration::from_millis(100));
        socket.set_read_timeout(timeout).unwrap();
        let (mut relay, mut client) = both_established(socket.local_addr().unwrap(), true);
        let mut ends = Ends {
            to_client: device(&mut client),
            from_relay: device(&mut relay),
            client,
            relay,
            socket,
            hours: 0,
        };
        ends.client.transmit();
        for mut ping in ends.datagrams() {
            ends.arrive(&mut ping);
        }
        assert!(ends.poll_feedback().is_some());
        while ends.poll_feedback().is_some() {}
        ends
    }

    /// Passes packets of these lengths, numbered from zero, to the client's device; returns the datagrams.
    fn send(&mut self, lengths: &[usize]) -> Vec<(SocketAddr, Vec<u8>)> {
        for (number, len) in lengths.iter().enumerate() {
            self.to_client.send(&packet(number as u8, *len)).unwrap();
        }
        self.client.take_packets().unwrap();
        self.datagrams()
    }

    /// The datagrams that the client has sent, each with its source.
    fn datagrams(&self) -> Vec<(SocketAddr, Vec<u8>)> {
        let receive = || {
            let mut buffer = [0; 2048];
            let (len, from) = self.socket.recv_from(&mut buffer).ok()?;
            Some((from, buffer[..len].to_vec()))
        };
        std::iter::from_fn(receive).collect()
    }

    fn arrive(&mut self, (from, datagram): &mut (SocketAddr, Vec<u8>)) {
        let (now, path) = (self.relay.now(), Path::new(0, *from, None));
        self.relay.on_datagram(now, path, datagram).unwrap();
    }

    /// The next packet that the relay has written to its device.
    fn delivered(&self) -> Option<Vec<u8>> {
        let mut buffer = [0; 2048];
        let len = self.from_relay.recv(&mut buffer).ok()?;
        Some(buffer[..len].to_vec())
    }

    /// The relay's feedback that is due an hour later than the last.
    fn poll_feedback(&mut self) -> Option<Feedback> {
        self.hours += 1;
        let later = self.relay.now().1 + Time::from_secs(3600 * self.hours);
        self.relay.peers[0].receiver.poll_feedback(later)
    }
}

#[test]
fn packets_leave_at_once_on_the_links_in_turn() {
    // Short ones, which would otherwise share a datagram, and full ones.
    let sent = Ends::new().send(&[60, 60, 1000, 60, 1000]);
    let links = sent.iter().map(|(from, _)| match from.ip() {
        IpAddr::V4(ip) => LINKS.iter().position(|link| *link == ip.octets()),
        IpAddr::V6(_) => None,
    });
    assert_eq!(links.collect::<Vec<_>>(), [0, 1, 0, 1, 0].map(Some));
    for (number, (_, datagram)) in sent.iter().enumerate() {
        let frames = &datagram[TunnelHeader::LEN + TunnelFrame::CLOCK_LEN..];
        let frames: Vec<_> = TunnelFrame::parse_all(frames).collect();
        let [Ok(TunnelFrame::Packet { bytes, .. })] = frames[..] else {
            panic!("one packet in a datagram of its own: {frames:?}");
        };
        assert_eq!(bytes, &packet(number as u8, bytes.len())[VNET_LEN..]);
    }
}

#[test]
fn packets_are_delivered_in_the_order_of_their_arrival_and_unanswered() {
    let mut ends = Ends::new();
    let mut sent = ends.send(&[1000; 6]);
    // The second link is quicker.
    for number in [1, 3, 0, 5, 2, 4] {
        ends.arrive(&mut sent[number]);
        assert_eq!(ends.delivered(), Some(packet(number as u8, 1000)));
    }
    assert_eq!(ends.poll_feedback(), None);
}

#[test]
fn lost_packet_is_neither_awaited_nor_repaired() {
    let mut ends = Ends::new();
    let mut sent = ends.send(&[1000; 6]);
    sent.remove(2);
    for datagram in &mut sent {
        ends.arrive(datagram);
    }
    for number in [0, 1, 3, 4, 5] {
        assert_eq!(ends.delivered(), Some(packet(number, 1000)));
    }
    // The status counts losses.
    let feedback = ends.poll_feedback().expect("a report of the gap");
    let now = ends.client.now().1;
    ends.client.peers[0].sender.on_feedback(now, &feedback);
    ends.client.transmit();
    assert!(ends.datagrams().is_empty());
}
