//! Properties of a tunnel with arbitrary datagrams from its peer, for the fuzz target and the
//! replay of its corpus.

use std::collections::HashSet;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::tunnel::{Class, Flow, Receiver, ReceiverConfig, Sender, SenderConfig};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};

/// Counters of the results.
#[derive(Debug, Default)]
pub struct Tally {
    pub datagrams: usize,
    pub packets: usize,
    pub delivered: usize,
    pub malformed: usize,
}

const MAX_HELD: u64 = 64 << 10;

/// Both directions stay consistent: each datagram is accepted once, each packet is delivered once
/// or dropped, memory is bounded, and the sender never counts data as delivered faster, or more,
/// than sent.
///
/// Each datagram is unsealed and follows the milliseconds since its predecessor and its length.
pub fn check(mut bytes: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let mut receiver = Receiver::new(ReceiverConfig {
        most_held: Bytes::new(MAX_HELD),
        ..ReceiverConfig::default()
    });
    let mut sender: Sender<()> = Sender::new(SenderConfig::default());
    let mut now = Time::from_secs(1);
    for _ in 0..3 {
        sender.add_link(now);
    }
    let (mut seen, mut held) = (HashSet::new(), 0);
    while let [wait, len, rest @ ..] = bytes {
        let (datagram, others) = rest.split_at(usize::from(*len).min(rest.len()));
        bytes = others;
        now += Time::from_millis(u64::from(*wait));
        carry_something(now, &mut sender);
        let Some(header) = TunnelHeader::parse(datagram) else {
            tally.malformed += 1;
            continue;
        };
        assert_eq!(header.to_bytes(), datagram[..TunnelHeader::LEN]);
        let body = &datagram[TunnelHeader::LEN..];
        let Some((clock, frames)) = body.split_first_chunk::<{ TunnelFrame::CLOCK_LEN }>() else {
            tally.malformed += 1;
            continue;
        };
        let (clock, wire_len) = (u32::from_be_bytes(*clock), datagram.len() as u32);
        let is_new = receiver.is_new(header.link, header.sequence);
        let taken = receiver.take(now, header.link, header.sequence, wire_len, clock);
        assert_eq!(is_new, taken);
        if !taken {
            continue;
        }
        assert!(
            seen.insert((header.link, header.sequence)),
            "taken twice: {header:?}"
        );
        tally.datagrams += 1;
        for frame in TunnelFrame::parse_all(frames) {
            match frame {
                Ok(TunnelFrame::Packet {
                    sequencing, bytes, ..
                }) => {
                    tally.packets += 1;
                    if receiver.passes(now, sequencing) {
                        tally.delivered += 1;
                    } else if receiver.hold(sequencing, (), bytes.len() as u32).is_none() {
                        held += 1;
                    }
                }
                Ok(TunnelFrame::Feedback(feedback)) => sender.on_feedback(now, &feedback),
                Ok(_) => {}
                Err(_) => tally.malformed += 1,
            }
            while receiver.poll_deliver(now).is_some() {
                tally.delivered += 1;
                held -= 1;
            }
            assert!(receiver.held() <= MAX_HELD, "{}", receiver.held());
        }
        while receiver.poll_feedback(now).is_some() {}
        let _ = receiver.poll_timeout();
    }
    assert!(tally.delivered + held <= tally.packets);
    for number in 0..sender.links() {
        let link = sender.link(number);
        assert!(
            link.in_flight <= link.bytes && link.lost <= link.datagrams,
            "{link:?}"
        );
    }
    tally
}

/// Sends packets, which feedback may acknowledge.
fn carry_something(now: Time, sender: &mut Sender<()>) {
    let flow = Flow {
        lane: 1,
        class: Class::InStep,
    };
    for _ in 0..3 {
        sender.enqueue(now, (), 1400, flow);
    }
    while let Some(packet) = sender.poll_transmit(now) {
        sender.send(now, packet.link, packet.bytes);
    }
    if sender.poll_timeout().is_some_and(|at| at <= now) {
        let _ = sender.handle_timeout(now);
    }
}
