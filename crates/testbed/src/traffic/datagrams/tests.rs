//! Datagrams over loopback, and their pacing.

use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::Instant;

use proptest::prelude::*;
use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_scenario::{Scenario, Spacing, Traffic};
use ropewalk_simulator::{Options, simulate};

use super::departures::Departures;
use super::*;
use crate::testing;
use crate::traffic::{
    ConnectionPlan, DatagramSettings, PathEnds, Session, SocketProtocol, TrafficOutcome, outcome,
};

fn settings(link: &str) -> DatagramSettings {
    let scenario = scenario(link);
    DatagramSettings {
        first: scenario.links[0].clone(),
        headers: 28,
        silence_timeout: Time::from_millis(300),
    }
}

fn scenario(link: &str) -> Scenario {
    testing::scenario(&format!(
        "duration = \"2 s\"\n[[link]]\nname = \"a\"\n{link}\n[transport]\nprotocol = \"udp\"\n"
    ))
}

fn plan(traffic: Traffic, link: &str) -> ConnectionPlan {
    let path = PathEnds {
        name: "loopback".to_owned(),
        client: IpAddr::V4(Ipv4Addr::LOCALHOST),
        server: IpAddr::V4(Ipv4Addr::LOCALHOST),
        device: None,
    };
    ConnectionPlan {
        seed: 7,
        segment: Bytes::new(1472),
        datagrams: Some(settings(link)),
        ..ConnectionPlan::new(
            SocketProtocol::Udp,
            traffic,
            Time::from_secs(20),
            vec![path],
        )
    }
}

fn run(plan: ConnectionPlan) -> TrafficOutcome {
    let session = Session::new(plan, Instant::now());
    let (client, server) = thread::scope(|scope| {
        let server = scope.spawn(|| crate::traffic::run_server(&session));
        (crate::traffic::run_client(&session), server.join().unwrap())
    });
    outcome(&session, client, server).unwrap()
}

const SIX: &str = "rate = \"6 Mbit/s\"\ndelay = \"0 ms\"";

/// Due times of the first datagrams and their lead times, if the machine is never late.
fn departures(link: &str, count: usize) -> Vec<(Time, Time)> {
    let plan = plan(Traffic::Bulk { size: None }, link);
    let mut departures = Departures::new(&plan, &settings(link));
    let next = (0..count).map(|_| {
        let departure = departures.next().unwrap();
        departures.left(departure.at, departure);
        (departure.due, departure.due - departure.at)
    });
    next.collect()
}

#[test]
fn a_transfer_arrives_whole_at_the_rate_of_its_link() {
    let size = 300_000 + 5;
    let bulk = Traffic::Bulk {
        size: Some(Bytes::new(size)),
    };
    let outcome = run(plan(bulk, SIX));
    assert_eq!(outcome.delivered_bytes, size);
    assert_eq!(outcome.subflows, []);
    // 203 packets of 1500 bytes and one of 1177 before the last, which leaves at most 5 ms before
    // they are sent: the machine may be late, but not early.
    let packets = (size / 1472) as f64;
    let least = packets * 1500.0 * 8.0 / 6e6 - 0.005;
    assert!(outcome.completion_s.unwrap() >= least, "{outcome:?}");
    let counted: u64 = outcome.delays.iter().map(|bin| bin.count).sum();
    assert_eq!(counted, size.div_ceil(1472));
}

#[test]
fn messages_leave_when_they_are_due() {
    let traffic = Traffic::Messages {
        deadline: None,
        spacing: Spacing::Constant,
        rate: Rate::from_bps(800_000),
        message: Bytes::new(500),
    };
    let outcome = run(ConnectionPlan {
        duration: Time::from_millis(302),
        ..plan(traffic, SIX)
    });
    assert_eq!(outcome.delivered_bytes, 61 * 500);
    assert_eq!(outcome.completion_s, None);
}

#[test]
fn a_datagram_is_due_when_the_link_has_sent_the_one_before() {
    let all = departures(
        "rate = \"6 Mbit/s\"\ndelay = \"10 ms\"\nqueue = \"100 packets\"",
        100,
    );
    for (number, &(due, lead)) in all.iter().enumerate() {
        assert_eq!(due, Time::from_millis(2) * number as u64);
        // Up to 5 ms ahead, though not before the start.
        assert_eq!(lead, due.min(Time::from_millis(5)));
    }
}

/// Half of the queue allows for timing errors of the machine.
#[test]
fn no_more_are_ahead_than_the_queue_takes() {
    for (queue, most) in [(1, 0), (2, 1), (3, 1), (4, 2)] {
        let link = format!("rate = \"6 Mbit/s\"\ndelay = \"0 ms\"\nqueue = \"{queue} packets\"");
        let leads = departures(&link, 20).into_iter().map(|(_, lead)| lead);
        assert_eq!(leads.max().unwrap(), Time::from_millis(2) * most);
    }
}

#[test]
fn none_leaves_while_the_link_is_down() {
    let link = "rate = \"6 Mbit/s\"\ndelay = \"0 ms\"\nqueue = \"9 packets\"\n\
                down = [[\"0.1 s\", \"0.3 s\"]]";
    let (millis, all) = (Time::from_millis, departures(link, 200));
    assert_eq!(all[49], (millis(98), millis(5)));
    // The datagram due at the start of the outage is lost, as in the simulator.
    assert_eq!(all[50], (millis(100), millis(5)));
    assert_eq!(all[51], (millis(300), Time::ZERO));
    assert_eq!(all[60], (millis(318), millis(5)));
}

/// A late machine idles the link and does not catch up.
#[test]
fn late_datagram_idles_link() {
    let plan = plan(Traffic::Bulk { size: None }, SIX);
    let mut departures = Departures::new(&plan, &settings(SIX));
    let late = Time::from_millis(50);
    let first = departures.next().unwrap();
    departures.left(late, first);
    assert_eq!(departures.next().unwrap().due, late + Time::from_millis(2));
}

#[test]
fn paced_sender_matches_simulator() {
    for link in [
        "rate = \"6 Mbit/s\"\ndelay = \"10 ms\"",
        "rate = \"50 Mbit/s\"\ndelay = \"1 ms\"\ndown = [[\"0.5 s\", \"0.75 s\"]]",
        "rate = \"1 Mbit/s\"\ndelay = \"100 ms\"\nqueue = \"2 packets\"",
    ] {
        let scenario = scenario(link);
        let simulated = simulate(&scenario, 1, &Options::default()).unwrap();
        let sent = simulated.summary.links[0].sent_packets as usize;
        let due = departures(link, sent + 1);
        let (last, next) = (due[sent - 1].0, due[sent].0);
        assert!(
            last <= scenario.duration && next >= scenario.duration,
            "{link}: {last} {next}"
        );
    }
}

#[test]
fn a_datagram_that_is_not_what_was_sent_is_an_error() {
    let framing = Framing::new(Pattern::new(3), 100);
    let mut datagram = [0; 100];
    framing.write(5, &mut datagram);
    assert_eq!(framing.read(&datagram, 9).unwrap(), 5);
    for byte in 0..100 {
        let mut changed = datagram;
        changed[byte] ^= 1;
        assert!(framing.read(&changed, 9).is_err(), "{byte}");
    }
}

proptest! {
    #[test]
    fn a_datagram_tells_its_number(number in any::<u64>(), len in 1_usize..200, more in 0_u64..50) {
        let framing = Framing::new(Pattern::new(11), len as u64 + more);
        let mut datagram = vec![0; len];
        framing.write(number, &mut datagram);
        // A datagram too short for the number is the last.
        let sent = number.wrapping_add(1);
        prop_assert_eq!(framing.read(&datagram, sent).unwrap(), number);
    }
}

/// The server gives up on missing datagrams; the transfer ends incomplete.
#[test]
fn a_transfer_with_losses_ends_and_is_not_complete() {
    let plan = ConnectionPlan {
        traffic: Traffic::Bulk {
            size: Some(Bytes::new(3 * 1472)),
        },
        ..plan(Traffic::Bulk { size: None }, SIX)
    };
    let framing = Framing::new(plan.pattern(), plan.unit());
    let session = Session::new(plan, Instant::now());
    let server = thread::scope(|scope| {
        let server = scope.spawn(|| crate::traffic::run_server(&session));
        let port = session.wait_for_start().unwrap();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut datagram = [0; 1472];
        for number in 0..3 {
            session.due_times().sending(Time::ZERO);
            framing.write(number, &mut datagram);
            if number != 1 {
                socket.send_to(&datagram, ("127.0.0.1", port)).unwrap();
            }
        }
        session.due_times().closed = Some(session.now());
        server.join().unwrap()
    });
    let server = server.unwrap();
    assert!(server.complete.is_some());
    let client = crate::traffic::ClientReport {
        began: Time::ZERO,
        connected: Some(Time::ZERO),
        lateness: ropewalk_simulator::Histogram::new(),
        measured: Default::default(),
    };
    let outcome = outcome(&session, Ok(client), Ok(server)).unwrap();
    assert_eq!(outcome.delivered_bytes, 2 * 1472);
    assert_eq!(outcome.completion_s, None);
    assert!(outcome.duration_s < 1.0 + outcome.delay_ms.unwrap().max / 1e3);
}
