//! Routes of several hops, and a medium that decides late.

use std::collections::VecDeque;

use super::*;
use crate::config::{Capacity, DirectionConfig, LinkConfig, Loss, QueueLimit};
use ropewalk_quantities::Rate;

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// 12 Mbit/s: 1 ms per full packet, and a queue of one.
fn link(name: &str, delay: Time) -> LinkConfig {
    let direction = DirectionConfig {
        capacity: Capacity::Rate(Rate::from_mbps(12.0)),
        delay,
        jitter: None,
        slot: None,
        loss: Loss::None,
        queue: QueueLimit::Packets(1),
    };
    LinkConfig {
        name: name.to_owned(),
        ends: None,
        forward: direction.clone(),
        reverse: direction,
        cost: None,
        down: Vec::new(),
    }
}

/// Channel that carries one packet at a time in 2 ms and drops every second one.
#[derive(Clone, Debug, Default)]
struct Channel {
    waiting: VecDeque<MediumPacket<u32>>,
    done_at: Option<Time>,
    served: u32,
}

const AIRTIME: Time = Time::from_millis(2);

impl Medium<u32> for Channel {
    fn offer(&mut self, now: Time, packet: &MediumPacket<u32>) -> Offer {
        if self.waiting.len() == 3 {
            return Offer::Dropped(DropReason::QueueFull);
        }
        self.waiting.push_back(*packet);
        self.done_at.get_or_insert(now + AIRTIME);
        Offer::Accepted
    }

    fn next(&self) -> Option<Time> {
        self.done_at
    }

    fn advance(&mut self, now: Time) -> MediumEvent<u32> {
        let first = self.waiting.pop_front().expect("a packet in the air");
        self.done_at = (!self.waiting.is_empty()).then(|| now + AIRTIME);
        self.served += 1;
        if self.served.is_multiple_of(2) {
            MediumEvent::Dropped(first, DropReason::RetryLimit)
        } else {
            MediumEvent::Out(first)
        }
    }
}

/// Observed events: time, hop, packet.
#[derive(Debug, Default)]
struct Log(Vec<(&'static str, Time, HopId, u32)>);

impl NetworkObserver<u32> for Log {
    const ENABLED: bool = true;
    fn enters(&mut self, at: &HopEvent, packet: &mut u32) {
        self.0.push(("enters", at.time, at.hop, *packet));
    }
    fn leaves(&mut self, at: &HopEvent, packet: &mut u32) {
        self.0.push(("leaves", at.time, at.hop, *packet));
    }
    fn dropped(&mut self, at: &HopEvent, packet: &mut u32, reason: DropReason) {
        let what = match reason {
            DropReason::RetryLimit => "given up",
            DropReason::QueueFull => "queue full",
            _ => "lost",
        };
        self.0.push((what, at.time, at.hop, *packet));
    }
}

#[test]
fn packet_passes_the_hops_of_both_directions() {
    let mut network: Network<u32> = Network::new();
    let nodes = [(); 3].map(|()| network.add_node());
    let near = network.add_link([nodes[0], nodes[1]], &link("near", ms(1)), 1);
    let far = network.add_link([nodes[1], nodes[2]], &link("far", ms(10)), 1);
    let [there, back] = network.add_path(&[near, far]);
    let mut log = Log::default();
    assert_eq!(
        network.offer(ms(0), there, 1500, &mut 7, &mut log),
        Offer::Accepted
    );
    assert!(matches!(network.advance(ms(1), &mut log), Advance::Nothing));
    // 1 ms of transmission, 1 ms of delay.
    assert!(matches!(network.advance(ms(2), &mut log), Advance::Passed));
    assert_eq!(network.next().map(|key| key.time), Some(ms(13)));
    let Advance::Arrived(arrival) = network.advance(ms(50), &mut log) else {
        panic!("it arrives");
    };
    assert_eq!(
        (arrival.time, arrival.route, arrival.size),
        (ms(13), there, 1500)
    );
    let [first, second] =
        [near, far].map(|link| network.topology().hop_of(link, Direction::Forward));
    assert_eq!(
        log.0,
        [
            ("enters", ms(0), first, 7),
            ("leaves", ms(2), first, 7),
            ("enters", ms(2), second, 7),
            ("leaves", ms(13), second, 7),
        ]
    );
    assert_eq!(network.next(), None);
    let far_back = network.topology().hop_of(far, Direction::Reverse);
    assert_eq!(network.route(back).hops()[0], far_back);
}

#[test]
fn drop_at_second_hop_is_reported() {
    let mut network: Network<u32> = Network::new();
    let nodes = [(); 4].map(|()| network.add_node());
    let access =
        [0, 1].map(|node| network.add_link([nodes[node], nodes[2]], &link("access", ms(1)), 1));
    let shared = network.add_link([nodes[2], nodes[3]], &link("shared", ms(1)), 1);
    let routes = access.map(|access| network.add_path(&[access, shared])[0]);
    for packet in 0..2 {
        for route in routes {
            let offer = network.offer(ms(0), route, 1500, &mut (packet + 1), &mut ());
            assert_eq!(offer, Offer::Accepted);
        }
    }
    // Two arrive per millisecond and one leaves, so the fourth finds the queue full.
    let mut dropped = Vec::new();
    let mut arrived = 0;
    while network.next().is_some() {
        match network.advance(Time::MAX, &mut ()) {
            Advance::Dropped(departed) => {
                dropped.push((departed.time, departed.reason, *departed.packet))
            }
            Advance::Arrived(_) => arrived += 1,
            _ => {}
        }
    }
    assert_eq!(dropped, [(ms(3), DropReason::QueueFull, 2)]);
    assert_eq!(arrived, 3);
}

#[test]
fn packet_passes_from_medium_to_wired_link() {
    let mut network: Network<u32, Channel> = Network::new();
    let nodes = [(); 3].map(|()| network.add_node());
    let radios = [0, 1].map(|node| network.add_interface(nodes[node]));
    let mut told = Vec::new();
    let air = network.add_medium(&[(radios[0], radios[1]), (radios[1], radios[0])], |hops| {
        told = hops.to_vec();
        Channel::default()
    });
    assert_eq!(air, told);
    let wire = network.add_link([nodes[1], nodes[2]], &link("wire", ms(5)), 1);
    let onwards = network.topology().hop_of(wire, Direction::Forward);
    let route = network.add_route([air[0], onwards]);
    let mut log = Log::default();
    for packet in 0..4 {
        let _ = network.offer(ms(0), route, 1500, &mut { packet }, &mut log);
    }
    let mut outcomes = Vec::new();
    while network.next().is_some() {
        outcomes.push(match network.advance(Time::MAX, &mut log) {
            Advance::Arrived(arrival) => ("arrived", arrival.time, *arrival.packet),
            Advance::Dropped(departed) => ("dropped", departed.time, *departed.packet),
            Advance::Passed => ("passed", ms(0), 0),
            Advance::Nothing => ("nothing", ms(0), 0),
        });
    }
    assert_eq!(
        outcomes,
        [
            ("passed", ms(0), 0),
            ("dropped", ms(4), 1),
            ("passed", ms(0), 0),
            ("arrived", ms(2 + 1 + 5), 0),
            ("arrived", ms(6 + 1 + 5), 2),
        ]
    );
    let of = |what| {
        log.0
            .iter()
            .filter(move |seen| seen.0 == what)
            .map(|seen| seen.3)
    };
    assert_eq!(of("queue full").collect::<Vec<_>>(), [3]);
    assert_eq!(of("given up").collect::<Vec<_>>(), [1]);
    assert_eq!(
        network.media().next().map(|channel| channel.served),
        Some(3)
    );
}

#[test]
fn equal_times_keep_the_order_of_offers() {
    let mut network: Network<u32> = Network::new();
    let ends = [network.add_node(), network.add_node()];
    let links = [0, 1, 2].map(|_| network.add_link(ends, &link("link", ms(3)), 1));
    let routes = links.map(|link| network.add_path(&[link])[0]);
    for at in [2, 0, 1] {
        let _ = network.offer(ms(0), routes[at], 1500, &mut (at as u32), &mut ());
    }
    let before = network.next_order();
    let mut arrived = Vec::new();
    while let Some(key) = network.next() {
        assert!(key.order < before);
        if let Advance::Arrived(arrival) = network.advance(key.time, &mut ()) {
            arrived.push(*arrival.packet);
        }
    }
    assert_eq!(arrived, [2, 0, 1]);
}
