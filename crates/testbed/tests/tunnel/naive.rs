//! The naive device of song-2018: links in turn, packets delivered as they arrive.

use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

use super::{CLIENT, RELAY, connect, end, keys, network, skipped, tunnel};

/// Fewer than the links' queues and the server's socket hold.
const PACKETS: usize = 40;

/// The links of [`network`] differ by 25 ms, in which the quicker one carries a burst of these packets.
#[test]
fn naive_tunnel_uses_links_in_turn_and_keeps_the_order_of_arrival() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (testbed, emulator) = network();
    keys(folder.path(), &["relay", "van"]);
    let ends = tunnel(&testbed, folder.path(), "van.key", &["--naive"]);
    let (_listener, server) = testbed.server.run(|| {
        let listener = TcpListener::bind("0.0.0.0:5001").unwrap();
        (listener, UdpSocket::bind("0.0.0.0:5002").unwrap())
    });
    let connected = testbed.client.run(|| connect(Duration::from_secs(30)));
    assert!(connected.is_some(), "the tunnel carries a connection");
    let patience = Some(Duration::from_secs(2));
    server.set_read_timeout(patience).unwrap();
    testbed.client.run(|| {
        let client = UdpSocket::bind((CLIENT, 0)).unwrap();
        for number in 0..PACKETS {
            client.send_to(&[number as u8; 500], (RELAY, 5002)).unwrap();
        }
    });
    let mut buffer = [0; 600];
    let arrived = std::iter::from_fn(|| {
        let len = server.recv(&mut buffer).ok()?;
        assert_eq!(len, 500);
        Some(usize::from(buffer[0]))
    });
    let arrived: Vec<usize> = arrived.take(PACKETS).collect();
    end(&testbed, ends);
    let carried = emulator.stop().unwrap();
    assert_eq!(arrived.len(), PACKETS);
    // Every second packet takes the same link, which keeps the order.
    for parity in [0, 1] {
        let of_link = arrived.iter().filter(|&&number| number % 2 == parity);
        assert!(of_link.is_sorted(), "{arrived:?}");
    }
    let overtaken = arrived.iter().enumerate().map(|(place, number)| {
        let later = arrived[place..].iter();
        later.filter(|&other| other < number).count()
    });
    assert!(overtaken.sum::<usize>() >= PACKETS, "{arrived:?}");
    let packets = carried.links.iter().map(|hops| {
        let packets = hops.iter().map(|hop| hop.after.delivered_packets);
        packets.max().unwrap_or(0)
    });
    let packets: Vec<u64> = packets.collect();
    let even = packets[0].abs_diff(packets[1]) <= 10;
    assert!(even && packets[0] >= PACKETS as u64 / 2, "{packets:?}");
}
