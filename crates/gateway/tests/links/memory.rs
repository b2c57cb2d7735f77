//! Memory of a tunnel's ends under peers that send packets with gaps.

use std::net::UdpSocket;
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::read_secret_key;
use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing, TunnelFrame};

use crate::adversary::{self, Session};
use crate::network::{RELAY, with_links};
use crate::process::{Gateway, TIMEOUT};

/// Sends packets that wait for missing ones: one far ahead in each lane, then every second one of all lanes.
fn send_gaps(session: &mut Session, from: [u8; 4], to: [u8; 4]) {
    let mut packet = vec![0; 1200];
    (packet[0], packet[2], packet[3], packet[8], packet[9]) = (0x45, 0x04, 0xb0, 64, 17);
    packet[12..16].copy_from_slice(&from);
    packet[16..20].copy_from_slice(&to);
    let mut send = |lane: u32, sequence| {
        session.send(
            0,
            &[TunnelFrame::Packet {
                sequencing: Sequencing {
                    lane: lane as u8,
                    sequence,
                    delivery: Delivery::InOrder,
                },
                partial_checksum: false,
                bytes: &packet,
            }],
        );
        thread::sleep(Duration::from_micros(100));
    };
    (1..256).for_each(|lane| send(lane, 65_535));
    for number in 0..100 {
        (1..256).for_each(|lane| send(lane, 2 * number + 1));
    }
}

/// Bytes of resident memory that an attack may use, and that may remain ten seconds later.
const MOST: usize = 64 << 20;
const LEFT: usize = 16 << 20;

/// Asserts that an attack that has just ended has used bounded memory, and that it is released.
fn assert_memory_returns(attacked: &Gateway, idle: usize) {
    let [_, most] = attacked.memory();
    let begin = Instant::now();
    while attacked.memory()[0] > idle + LEFT {
        assert!(
            begin.elapsed() < TIMEOUT,
            "{:?} after {idle}",
            attacked.memory()
        );
        thread::sleep(Duration::from_millis(100));
    }
    println!(
        "{} KiB idle, {} KiB at most, {} KiB after {} ms",
        idle >> 10,
        most >> 10,
        attacked.memory()[0] >> 10,
        begin.elapsed().as_millis()
    );
    assert!(most < idle + MOST, "{idle}, then {most}");
}

#[test]
fn relay_memory_is_bounded_under_packets_with_gaps() {
    let Some(network) = with_links(1) else { return };
    let relay = network.start_relay();
    let socket = network
        .client
        .in_thread(|| UdpSocket::bind("0.0.0.0:0").unwrap());
    let mut session = network.adversary(socket);
    session.until_answered(0);
    let idle = relay.memory()[0];
    send_gaps(&mut session, [10, 9, 0, 2], [10, 9, 0, 1]);
    assert_memory_returns(&relay, idle);
    session.until_answered(0);
}

#[test]
fn client_memory_is_bounded_under_packets_with_gaps() {
    let Some(network) = with_links(1) else { return };
    let secret = read_secret_key(network.file("relay.key").as_ref()).unwrap();
    let at = format!("{RELAY}:4434");
    let socket = network
        .relay
        .in_thread(move || UdpSocket::bind(at).unwrap());
    let client = network.start_client(RELAY, "--link one=link1");
    let mut session = adversary::accept(socket, &secret);
    session.until_answered(0);
    let idle = client.memory()[0];
    send_gaps(&mut session, [10, 9, 0, 1], [10, 9, 0, 2]);
    assert_memory_returns(&client, idle);
    session.until_answered(0);
}
