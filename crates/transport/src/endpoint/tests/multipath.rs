use std::sync::{Arc, Mutex};

use super::*;
use crate::event::ReductionCause;
use crate::scheduling::linux::LinuxConfig;
use crate::scheduling::min_rtt::MinRttConfig;
use crate::scheduling::redundant::RedundantConfig;
use crate::scheduling::{Choice, CopyDecision, CustomScheduler, InFlightData, Pending, Scheduler};
use crate::{Deadline, SubflowState};

#[test]
fn mptcp_uses_both_subflows_and_delivers_stream() {
    let mut pair = Pair::connected(&mptcp(), &[20, 25]);
    pair.transfer(2_000_000, Time::from_secs(60));
    assert_eq!(pair.server.delivered(), 2_000_000);
    let by = [0, 1].map(|subflow| pair.server.delivered_by(subflow));
    assert_eq!(by.iter().sum::<u64>(), 2_000_000);
    assert!(by.iter().all(|&bytes| bytes > 100_000), "{by:?}");
}

#[test]
fn all_subflows_share_one_receive_window() {
    let config = mptcp().with(|config| config.receive_buffer.size = Bytes::new(12_000));
    let mut pair = Pair::connected(&config, &[10, 40]);
    pair.client.write(1_000_000);
    pair.flush();
    assert_eq!(pair.sent.iter().map(|p| p.segment.len).sum::<u32>(), 12_000);
    for _ in 0..20_000 {
        if !pair.step(Time::from_secs(600)) {
            break;
        }
        assert!(pair.server.reorder_buffer() <= 12_000);
    }
    assert_eq!(pair.server.delivered(), 1_000_000);
}

#[test]
fn silent_subflow_data_are_reinjected_and_it_recovers() {
    let config = mptcp().with(|config| config.receive_buffer.size = Bytes::new(64_000));
    let mut pair = Pair::connected(&config, &[10, 12]);
    let (down, up) = (ms(5200), ms(9000));
    pair.fate = Box::new(move |p| {
        if p.subflow == 0 && p.sent >= down && p.sent < up {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pair.client.write(u64::MAX);
    let mut delivered_while_silent = 0;
    let mut sent_after = 0;
    let mut seen = 0;
    while pair.now < Time::from_secs(16) && pair.step(Time::from_secs(16)) {
        pair.client.write(u64::MAX);
        if pair.now < up {
            delivered_while_silent = pair.server.delivered();
        }
        sent_after += pair.sent[seen..]
            .iter()
            .filter(|p| p.subflow == 0 && p.segment.len > 0 && p.sent > up)
            .count();
        seen = pair.sent.len();
    }
    assert!(
        delivered_while_silent > 1_000_000,
        "{delivered_while_silent}"
    );
    assert!(pair.client.counters(0).timeouts >= 2);
    // The RTT samples of earlier segments are long for a while, so it carries less.
    assert!(pair.client.subflow_states()[0].usable);
    assert!(sent_after > 40, "the subflow did not return: {sent_after}");
}

#[test]
fn a_backup_carries_new_data_only_while_no_other_is_usable() {
    let queueing = LinuxConfig::DEFAULT.into();
    for scheduler in [MinRttConfig::DEFAULT.into(), queueing] {
        let config = Config {
            scheduler,
            ..mptcp()
        };
        let mut pair = Pair::connected(&config, &[10, 12]);
        let (down, up) = (ms(7000), ms(9000));
        pair.fate = Box::new(move |p| match p.subflow {
            0 if p.sent >= down && p.sent < up => Fate::Lost,
            _ => Fate::Arrives,
        });
        pair.client.write(u64::MAX);
        let mut by_the_second = [0_u32; 3];
        let mut seen = 0;
        while pair.now < ms(8500) && pair.step(ms(8500)) {
            pair.client.write(u64::MAX);
            pair.client.set_backup(1, pair.now >= ms(6000));
            for p in &pair.sent[seen..] {
                // Before; as a backup, with the assigned data returned; after the other subflow's timeout.
                let span = match p.sent {
                    sent if sent < ms(6000) => 0,
                    sent if sent > ms(6100) && sent < down => 1,
                    sent if sent > ms(8300) => 2,
                    _ => continue,
                };
                by_the_second[span] += p.segment.len * u32::from(p.subflow == 1);
            }
            seen = pair.sent.len();
        }
        let [before, as_backup, alone] = by_the_second;
        assert!(before > 10_000, "{before}");
        assert_eq!(as_backup, 0);
        assert!(alone > 10_000, "{alone}");
    }
}

#[test]
fn redundant_sends_everything_on_every_subflow() {
    let config = Config {
        scheduler: RedundantConfig::DEFAULT.into(),
        ..mptcp()
    };
    let mut pair = Pair::connected(&config, &[10, 12]);
    pair.transfer(50_000, Time::from_secs(9));
    pair.drive(Time::from_secs(9));
    for subflow in 0..2 {
        let mut carried: Vec<u64> = pair
            .sent
            .iter()
            .filter(|p| p.subflow == subflow && p.segment.len > 0)
            .map(|p| p.segment.data_seq)
            .collect();
        carried.sort_unstable();
        carried.dedup();
        assert!(
            carried.len() >= 45,
            "subflow {subflow} carried {} of 50",
            carried.len()
        );
    }
    assert_eq!(pair.server.delivered(), 50_000);
}

#[test]
fn full_window_triggers_opportunistic_retransmission_and_penalty() {
    let slow = mptcp().with(|config| config.receive_buffer.size = Bytes::new(30_000));
    let helped = slow.clone().with(|config| {
        config.subflows.opportunistic_retransmission = true;
        config.subflows.penalisation = true;
    });
    let time = |config: &Config| {
        let mut pair = Pair::connected(config, &[5, 200]);
        let start = pair.now;
        pair.transfer(1_000_000, Time::from_secs(600));
        assert_eq!(pair.server.delivered(), 1_000_000);
        pair.now - start
    };
    let (without, with) = (time(&slow), time(&helped));
    assert!(with < without, "{with} with, {without} without");
}

#[test]
fn prr_and_reduction_base_are_independent() {
    for (opportunistic_retransmission, penalisation) in
        [(false, false), (false, true), (true, false), (true, true)]
    {
        let config = mptcp().with(|config| {
            config.receive_buffer.size = Bytes::new(30_000);
            config.subflows.opportunistic_retransmission = opportunistic_retransmission;
            config.subflows.penalisation = penalisation;
        });
        let mut pair = Pair::connected(&config, &[5, 200]);
        pair.transfer(200_000, Time::from_secs(600));
        let is_penalty = |recorded: &TraceRecord| {
            matches!(recorded.event, TraceEvent::WindowReduced(reduced)
                if reduced.cause == ReductionCause::Penalised)
        };
        assert_eq!(pair.events.iter().any(is_penalty), penalisation);
        let new = pair
            .sent
            .iter()
            .filter(|p| p.to_server && p.segment.len > 0);
        let mut starts: Vec<u64> = new.map(|p| p.segment.data_seq).collect();
        starts.sort_unstable();
        let is_twice = starts.windows(2).any(|pair| pair[0] == pair[1]);
        assert_eq!(is_twice, opportunistic_retransmission);
    }
}

#[test]
fn reset_subflow_data_are_reinjected() {
    let mut pair = Pair::connected(&mptcp(), &[10, 12]);
    pair.client.write(4_000_000);
    pair.drive(pair.now + ms(50));
    let nxt = pair.server.delivered_by(1);
    let ack = pair
        .sent
        .iter()
        .rfind(|p| p.subflow == 1 && !p.to_server)
        .expect("an answer")
        .segment;
    let reset = Segment {
        flags: Flags::RST.with(Flags::ACK),
        options: Options::None,
        ..ack
    };
    pair.client.handle_segment(pair.now, 1, &reset);
    pair.drive(pair.now + Time::from_secs(120));
    assert!(pair.client_events.contains(&Event::SubflowFailed(1)));
    assert_eq!(pair.server.delivered(), 4_000_000);
    assert!(pair.server.delivered_by(1) < nxt + 500_000);
}

#[test]
fn data_acks_have_32_bits_until_the_peer_maps_in_64() {
    let mut pair = Pair::new(&mptcp(), &[10]);
    pair.client.connect();
    pair.drive(ms(100));
    let long = |p: &InFlightSegment| p.segment.flags.contains(Flags::DATA_ACK_64);
    assert!(pair.sent.iter().all(|p| !long(p)));
    pair.sent.clear();
    pair.client.write(20_000);
    pair.drive(Time::from_secs(1));
    assert!(pair.sent.len() > 20);
    for p in &pair.sent {
        // The client has received no mapping; the server receives one in each data segment.
        assert_eq!(long(p), !p.to_server);
        assert_eq!(p.segment.header_len(), if p.to_server { 56 } else { 44 });
    }
}

#[test]
fn data_ack_64_leaves_space_for_one_sack_block() {
    let mut pair = Pair::connected(&mptcp(), &[10]);
    pair.client.write(20_000);
    pair.client.close();
    let mut count = 0;
    pair.fate = Box::new(move |p| {
        count += u32::from(p.segment.len > 0);
        if p.segment.len > 0 && count <= 18 && count.is_multiple_of(3) {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pair.drive(Time::from_secs(10));
    assert_eq!(pair.server.delivered(), 20_000);
    let blocks = |p: &&InFlightSegment| match &p.segment.options {
        Options::Sack(list) => list.len(),
        _ => 0,
    };
    let from_server = pair.sent.iter().filter(|p| !p.to_server);
    assert_eq!(from_server.map(|p| blocks(&p)).max(), Some(1));
    let fins = |p: &&InFlightSegment| p.segment.flags.contains(Flags::DATA_FIN);
    assert!(pair.sent.iter().any(|p| fins(&p)));
    assert!(pair.sent.iter().filter(fins).all(|p| blocks(&p) == 0));
}

#[test]
fn checksums_are_used_if_either_side_requires_them() {
    for (client, server) in [(false, false), (true, false), (false, true), (true, true)] {
        let with = |checksum| mptcp().with(|config| config.extensions.checksum = checksum);
        let mut pair = Pair::new(&with(client), &[10, 20]);
        pair.server = Endpoint::server(&Arc::new(with(server)), 0x46fe_363d_617f_8852, 2);
        pair.client.connect();
        pair.transfer(20_000, Time::from_secs(5));
        let mapped = pair.sent.iter().filter(|p| p.segment.is_mapped());
        assert!(mapped.clone().count() >= 20);
        for p in mapped {
            assert_eq!(p.segment.flags.contains(Flags::CHECKSUM), client || server);
        }
    }
}

#[test]
fn a_segment_fills_a_packet_of_1500_bytes() {
    for (config, most) in [
        (plain_tcp(), 1448),
        (mptcp(), 1424),
        (
            plain_tcp().with(|config| config.extensions.timestamps = false),
            1460,
        ),
        (
            Config {
                ip_version: IpVersion::V6,
                ..mptcp()
            },
            1404,
        ),
    ] {
        let config = Config {
            segment: config.segment_for(1500),
            ..config
        };
        assert_eq!(config.segment, Bytes::new(most));
        let mut pair = Pair::connected(&config, &[10]);
        pair.client.write(5 * most);
        pair.drive(Time::from_secs(2));
        let full: Vec<_> = pair.sent.iter().filter(|p| p.segment.len > 0).collect();
        assert_eq!(full.len(), 5);
        for p in full {
            let header = config.ip_version.header_len() + p.segment.header_len();
            assert_eq!(header + p.segment.len, 1500);
        }
    }
}

#[test]
fn retransmission_keeps_its_data_ack_length() {
    let mut pair = Pair::connected(&mptcp(), &[10, 40]);
    pair.client.write(40_000);
    pair.flush();
    // The server sends data of its own, so the client's acknowledgements become long. Lost segments of the
    // slower subflow are retransmitted with the same boundaries.
    let mut left = 3;
    pair.fate = Box::new(move |p| {
        let lost = p.to_server && p.subflow == 1 && p.segment.len > 0 && left > 0;
        left -= u32::from(lost);
        if lost { Fate::Lost } else { Fate::Arrives }
    });
    pair.server.write(5000);
    pair.drive(pair.now + Time::from_secs(10));
    assert_eq!(pair.server.delivered(), 40_000);
    assert_eq!(pair.client.delivered(), 5000);
    pair.sent.clear();
    pair.client.write(10_000);
    pair.drive(pair.now + Time::from_secs(2));
    let new = pair
        .sent
        .iter()
        .filter(|p| p.to_server && p.segment.len > 0);
    let longest = new.clone().map(|p| p.segment.len).max();
    assert_eq!(
        longest,
        Some(996),
        "four bytes less for the longer acknowledgement"
    );
    assert!(
        new.clone()
            .all(|p| p.segment.flags.contains(Flags::DATA_ACK_64))
    );
}

#[test]
fn schedulers_get_deadline_of_next_byte() {
    #[derive(Debug)]
    struct DeadlineRecorder(Arc<Mutex<Vec<Option<Deadline>>>>);
    impl Scheduler for DeadlineRecorder {
        fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
            let mut noted = self.0.lock().expect("unpoisoned");
            noted.push(pending.deadline);
            match subflows.iter().position(SubflowState::can_send) {
                Some(subflow) => Choice::Send(subflow),
                None => Choice::Wait,
            }
        }
    }
    let noted = Arc::default();
    let shared = Arc::clone(&noted);
    let own = CustomScheduler::new("noting", move |_| {
        Box::new(DeadlineRecorder(Arc::clone(&shared)))
    });
    let config = Config {
        scheduler: own.into(),
        ..mptcp()
    };
    let mut pair = Pair::connected(&config, &[20, 30]);
    pair.drive(ms(6000));
    let [first, second] = [7000, 8000].map(|at| Deadline {
        at: ms(at),
        span: ms(1000),
    });
    noted.lock().expect("unpoisoned").clear();
    pair.client.write(1000);
    pair.client.write_by(2000, first);
    pair.client.write_by(1000, first);
    pair.client.write(1000);
    pair.client.write_by(1000, second);
    pair.flush();
    let (first, second) = (Some(first), Some(second));
    assert_eq!(
        noted.lock().expect("unpoisoned")[..],
        [None, first, first, first, None, second]
    );
}

#[test]
fn late_data_in_flight_are_copied_to_another_subflow() {
    /// Sends on the second subflow, and copies data due within 500 ms to the first.
    #[derive(Debug)]
    struct CopyingScheduler;
    impl Scheduler for CopyingScheduler {
        fn choose(&mut self, _: &Pending, subflows: &[SubflowState]) -> Choice {
            match subflows[1].can_send() {
                true => Choice::Send(1),
                false => Choice::Wait,
            }
        }
        fn decide_copy(&mut self, data: &InFlightData, subflows: &[SubflowState]) -> CopyDecision {
            let near = data.deadline.at.saturating_sub(ms(500));
            match (data.on, data.now >= near) {
                (1, true) if subflows[0].can_send() => CopyDecision::To(0),
                (1, false) => CopyDecision::NotBefore(near),
                _ => CopyDecision::NotYet,
            }
        }
    }
    let config = Config {
        scheduler: CustomScheduler::new("rescuing", |_| Box::new(CopyingScheduler)).into(),
        ..mptcp()
    };
    let mut pair = Pair::connected(&config, &[20, 400]);
    pair.drive(ms(6000));
    pair.sent.clear();
    let deadline = Deadline {
        at: ms(6700),
        span: ms(700),
    };
    pair.client.write_by(1000, deadline);
    pair.client.write(1000);
    pair.drive(ms(6500));
    let data = pair
        .sent
        .iter()
        .filter(|p| p.to_server && p.segment.len > 0);
    let data: Vec<(u64, usize, u64)> = data
        .map(|p| (p.sent.as_millis_f64() as u64, p.subflow, p.segment.data_seq))
        .collect();
    let first = data[0].2;
    assert_eq!(
        data,
        [(6000, 1, first), (6000, 1, first + 1000), (6200, 0, first)]
    );
    assert_eq!(pair.server.delivered(), 2000);
}
