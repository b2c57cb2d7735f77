use super::*;
use crate::algorithm::AlgorithmConfig;
use crate::{CongestionConfig, SchedulerConfig};
use proptest::prelude::*;

/// A link that loses, delays and duplicates segments as drawn from a seed.
pub(super) fn hostile(
    mut seed: u64,
    loss: u64,
    late: u64,
    twice: u64,
) -> Box<dyn FnMut(&InFlightSegment) -> Fate> {
    Box::new(move |_| {
        // xorshift64: deterministic, and good enough to choose segments.
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let draw = seed % 1000;
        if draw < loss {
            Fate::Lost
        } else if draw < loss + late {
            Fate::Late(Time::from_micros(seed % 60_000))
        } else if draw < loss + late + twice {
            Fate::Twice
        } else {
            Fate::Arrives
        }
    })
}

pub(super) fn check(
    config: &Config,
    delays: &[u64],
    seed: u64,
    loss: u64,
    late: u64,
    twice: u64,
    bytes: u64,
) {
    let mut pair = Pair::new(config, delays);
    pair.fate = hostile(seed | 1, loss, late, twice);
    pair.client.connect();
    let mut left = bytes;
    let mut highest = 0;
    let limit = config.receive_buffer.size.as_u64();
    // With a third of the segments lost and no timestamps, the retransmission timer stays backed off: an hour
    // may be too short for 160 kB in a window of two segments.
    let until = Time::from_secs(36_000);
    let mut closed = false;
    while pair.step(until) {
        pair.events.clear();
        pair.server_records.clear();
        for flow in &pair.client.subflows {
            flow.sender.board.check();
        }
        left -= pair.client.write(left);
        if left == 0 && !closed {
            closed = true;
            pair.client.close();
        }
        for passing in pair.sent.drain(..) {
            if passing.to_server && passing.segment.len > 0 {
                let end = passing.segment.data_seq + u64::from(passing.segment.len);
                highest = highest.max(end);
            }
        }
        assert!(highest <= pair.server.delivered() + limit, "window overrun");
        assert!(pair.server.reorder_buffer() <= limit);
        for state in pair.client.subflow_states() {
            assert!(state.cwnd >= 1, "cwnd {}", state.cwnd);
        }
        if pair.server_events.last() == Some(&Event::Eof) {
            break;
        }
    }
    assert_eq!(pair.server.delivered(), bytes);
    assert_eq!(pair.server_events.last(), Some(&Event::Eof));
    assert_eq!(
        pair.server.delivered_by(0)
            + (1..delays.len())
                .filter(|&s| s < pair.server.subflow_states().len())
                .map(|s| pair.server.delivered_by(s))
                .sum::<u64>(),
        bytes
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tcp_delivers_everything_once_and_in_order(
        seed in any::<u64>(),
        loss in 0u64..200, late in 0u64..200, twice in 0u64..50,
        sack in any::<bool>(), timestamps in any::<bool>(), prr in any::<bool>(), nagle in any::<bool>(),
        rack in any::<bool>(), tail_loss_probe in any::<bool>(),
        delayed_ack in 1u32..4,
        bytes in 1u64..200_000,
        receive_buffer in 2_000u64..100_000,
    ) {
        let config = plain_tcp().with(|config| {
            config.extensions.sack = sack;
            config.extensions.timestamps = timestamps;
            config.window.prr = prr;
            config.nagle = nagle;
            config.loss.rack = rack;
            config.loss.tail_loss_probe = tail_loss_probe;
            config.receiver.delayed_ack = delayed_ack;
            config.receive_buffer.size = Bytes::new(receive_buffer);
        });
        check(&config, &[20], seed, loss, late, twice, bytes);
    }

    #[test]
    fn mptcp_delivers_everything_once_and_in_order(
        seed in any::<u64>(),
        loss in 0u64..150, late in 0u64..200, twice in 0u64..50,
        scheduler in prop::sample::select(SchedulerConfig::defaults()),
        congestion in prop::sample::select(CongestionConfig::defaults()),
        helped in any::<bool>(),
        rack in any::<bool>(), tail_loss_probe in any::<bool>(),
        delays in prop::collection::vec(1u64..150, 1..4),
        bytes in 1u64..200_000,
        receive_buffer in 4_000u64..100_000,
    ) {
        let config = mptcp().with(|config| {
            config.scheduler = scheduler;
            config.congestion = congestion;
            config.loss.rack = rack;
            config.loss.tail_loss_probe = tail_loss_probe;
            config.subflows.opportunistic_retransmission = helped;
            config.subflows.penalisation = helped;
            config.receive_buffer.size = Bytes::new(receive_buffer);
        });
        check(&config, &delays, seed, loss, late, twice, bytes);
    }
}
