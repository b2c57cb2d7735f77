//! Kernel packets over emulated links.

mod support;

use std::net::UdpSocket;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ropewalk_network::{Network, Offer};
use ropewalk_quantities::Time;
use ropewalk_testbed::Testbed;
use support::{running, scenario};

const HEADERS: usize = 28;

/// Receives datagrams at the server until a pause of `quiet`: their numbers and arrival times.
fn receive(testbed: &Testbed, quiet: Duration) -> (u16, JoinHandle<Vec<(u32, Instant)>>) {
    let address = testbed.plan.server;
    let socket = testbed
        .server
        .run(move || UdpSocket::bind((address, 0)).unwrap());
    socket.set_read_timeout(Some(quiet)).unwrap();
    let port = socket.local_addr().unwrap().port();
    let receiving = testbed.server.spawn(move || {
        let mut datagram = [0; 2048];
        let mut received = Vec::new();
        while socket.recv(&mut datagram).is_ok() {
            let number = u32::from_be_bytes(datagram[..4].try_into().unwrap());
            received.push((number, Instant::now()));
        }
        received
    });
    (port, receiving)
}

/// Sends `count` datagrams of a size over a path, with a pause after each.
fn send(testbed: &Testbed, path: usize, port: u16, count: u32, payload: usize, pause: Duration) {
    let (from, to) = (testbed.plan.paths[path].client[0], testbed.plan.server);
    testbed.client.run(move || {
        let socket = UdpSocket::bind((from, 0)).unwrap();
        socket.connect((to, port)).unwrap();
        let mut datagram = vec![0; payload];
        for number in 0..count {
            datagram[..4].copy_from_slice(&number.to_be_bytes());
            socket.send(&datagram).unwrap();
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        }
    });
}

#[test]
fn a_round_trip_takes_both_delays() {
    let scenario = scenario(
        r#"
        [[link]]
        name = "short"
        rate = "unlimited"
        delay = "5 ms"
        reverse = { delay = "2 ms" }
        [[link]]
        name = "long"
        rate = "unlimited"
        delay = "20 ms"
        "#,
    );
    let Some((testbed, emulator, _)) = running(&scenario, 1) else {
        return;
    };
    let server = testbed.plan.server;
    let echo = testbed
        .server
        .run(move || UdpSocket::bind((server, 0)).unwrap());
    let port = echo.local_addr().unwrap().port();
    let _echoing = testbed.server.spawn(move || {
        let mut datagram = [0; 64];
        while let Ok((length, from)) = echo.recv_from(&mut datagram) {
            echo.send_to(&datagram[..length], from).unwrap();
        }
    });
    for (path, nominal) in [(0, 7), (1, 40)].map(|(path, ms)| (path, Duration::from_millis(ms))) {
        let from = testbed.plan.paths[path].client[0];
        let trips: Vec<Duration> = testbed.client.run(move || {
            let socket = UdpSocket::bind((from, 0)).unwrap();
            socket.connect((server, port)).unwrap();
            let trip = |_| {
                let sent = Instant::now();
                socket.send(b"ping").unwrap();
                socket.recv(&mut [0; 64]).unwrap();
                sent.elapsed()
            };
            (0..50).map(trip).collect()
        });
        // None is faster than the link; on a busy machine some are slower.
        let least = *trips.iter().min().unwrap();
        assert!(least >= nominal, "{least:?} of {nominal:?}");
        assert!(
            least < nominal + Duration::from_millis(20),
            "{least:?} of {nominal:?}"
        );
        println!("path {path}: least {least:?} of {nominal:?}");
    }
    let carried = emulator.stop().unwrap();
    println!(
        "{:?}, real time: {}",
        carried.lateness.summary(),
        carried.real_time
    );
    assert_eq!(carried.links[0][0].after.delivered_packets, 50);
    assert_eq!(carried.links[1][1].after.delivered_packets, 50);
}

#[test]
fn a_seed_loses_the_packets_that_the_simulator_loses() {
    let scenario = scenario(
        r#"
        [[link]]
        name = "lossy"
        rate = "unlimited"
        delay = "1 ms"
        loss = "5 %"
        "#,
    );
    let Some((testbed, emulator, _)) = running(&scenario, 7) else {
        return;
    };
    const COUNT: u32 = 2_000;
    let (port, receiving) = receive(&testbed, Duration::from_secs(1));
    send(&testbed, 0, port, COUNT, 100, Duration::from_micros(50));
    let received: Vec<u32> = receiving
        .join()
        .unwrap()
        .iter()
        .map(|&(number, _)| number)
        .collect();
    let path: &[usize] = &[0];
    let (mut network, routes): (Network<u32>, _) =
        Network::from_paths(&scenario.links, [path].into_iter(), 7);
    let [there, _] = routes[0];
    let survives = |number: &u32| {
        let now = Time::from_millis((*number).into());
        let offer = network.offer(now, there, 128, &mut { *number }, &mut ());
        offer == Offer::Accepted
    };
    let expected: Vec<u32> = (0..COUNT).filter(survives).collect();
    assert!(expected.len() < COUNT as usize);
    assert_eq!(received, expected);
    let counters = emulator.stop().unwrap().links[0][0].after;
    assert_eq!(counters.sent_packets, u64::from(COUNT));
    assert_eq!(counters.delivered_packets, expected.len() as u64);
}

#[test]
fn a_burst_leaves_at_the_links_rate_and_what_the_queue_has_no_room_for_is_dropped() {
    let scenario = scenario(
        r#"
        [[link]]
        name = "slow"
        rate = "4 Mbit/s"
        delay = "10 ms"
        queue = "50 packets"
        "#,
    );
    let Some((testbed, emulator, _)) = running(&scenario, 1) else {
        return;
    };
    const PAYLOAD: usize = 1000 - HEADERS;
    let (port, receiving) = receive(&testbed, Duration::from_secs(1));
    let start = Instant::now();
    send(&testbed, 0, port, 80, PAYLOAD, Duration::ZERO);
    let received = receiving.join().unwrap();
    let counters = emulator.stop().unwrap().links[0][0].after;
    assert_eq!(counters.sent_packets + counters.dropped_packets, 80);
    assert_eq!(received.len() as u64, counters.delivered_packets);
    assert!(received.len() >= 51, "{}", received.len());
    for (index, (_, arrival)) in (1..).zip(&received) {
        assert!(*arrival - start >= Duration::from_millis(10 + 2 * index));
    }
}

#[test]
fn an_outage_takes_everything() {
    let scenario = scenario(
        r#"
        [[link]]
        name = "dark"
        rate = "unlimited"
        delay = "1 ms"
        down = [["0 s", "30 s"]]
        "#,
    );
    let Some((testbed, emulator, _)) = running(&scenario, 1) else {
        return;
    };
    let (port, receiving) = receive(&testbed, Duration::from_millis(200));
    send(&testbed, 0, port, 10, 100, Duration::ZERO);
    assert_eq!(receiving.join().unwrap(), []);
    assert_eq!(emulator.stop().unwrap().links[0][0].after.lost_packets, 10);
}

#[test]
fn a_path_passes_its_links_in_turn_and_two_share_one() {
    let scenario = scenario(
        r#"
        [[link]]
        name = "wifi"
        rate = "unlimited"
        delay = "2 ms"
        [[link]]
        name = "lte"
        rate = "unlimited"
        delay = "3 ms"
        [[link]]
        name = "backbone"
        rate = "unlimited"
        delay = "10 ms"
        [[path]]
        name = "home"
        hops = ["wifi", "backbone"]
        [[path]]
        name = "mobile"
        hops = ["lte", "backbone"]
        "#,
    );
    let Some((testbed, emulator, _)) = running(&scenario, 1) else {
        return;
    };
    for path in [0, 1] {
        let (port, receiving) = receive(&testbed, Duration::from_millis(200));
        let start = Instant::now();
        send(&testbed, path, port, 20, 100, Duration::ZERO);
        let received = receiving.join().unwrap();
        assert_eq!(received.len(), 20);
        let least = Duration::from_millis(12 + path as u64);
        assert!(
            received
                .iter()
                .all(|(_, arrival)| *arrival - start >= least)
        );
    }
    let links = emulator.stop().unwrap().links;
    let delivered = [0, 1, 2].map(|link: usize| links[link][0].after.delivered_packets);
    assert_eq!(delivered, [20, 20, 40]);
}
