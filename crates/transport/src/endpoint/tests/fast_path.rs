//! Fast and slow path have the same effect: with a recorder, only the slow path is used.

use super::properties::hostile;
use super::*;
use crate::algorithm::AlgorithmConfig;
use crate::congestion::cubic::CubicConfig;
use crate::scheduling::SubflowSet;
use crate::{CongestionConfig, ReorderingConfig, SchedulerConfig};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Traffic {
    delays_ms: Vec<u64>,
    seed: u64,
    loss: u64,
    late: u64,
    twice: u64,
    /// Client's writes, each after the one before is written and this pause.
    writes: Vec<u64>,
    pause: Time,
    answer: u64,
}

/// Runs two pairs through one traffic, the first with recorders, and compares every field after each step.
/// Returns the number of steps after which all subflows of both endpoints could use the fast path.
fn compare(config: &Config, traffic: &Traffic) -> usize {
    let mut pairs = [true, false].map(|listens| {
        let mut pair = Pair::new(config, &traffic.delays_ms);
        pair.listens = listens;
        pair.fate = hostile(traffic.seed | 1, traffic.loss, traffic.late, traffic.twice);
        pair.client.connect();
        pair
    });
    let (mut left, mut answered, mut fast_path) = (0, false, 0);
    let all = (0..traffic.delays_ms.len()).fold(SubflowSet::NONE, SubflowSet::with);
    let mut next_write = Time::ZERO;
    let mut writes = traffic.writes.iter();
    let end = Time::from_secs(600);
    loop {
        let [slow, fast] = &mut pairs;
        let until = if left > 0 { end } else { end.min(next_write) };
        let stepped = slow.step(until);
        assert_eq!(fast.step(until), stepped);
        assert_eq!(format!("{:?}", fast.client), format!("{:?}", slow.client));
        assert_eq!(format!("{:?}", fast.server), format!("{:?}", slow.server));
        fast_path += usize::from(fast.client.fast_path.and(fast.server.fast_path) == all);
        if !stepped && until == end {
            break;
        }
        let mut write = 0;
        if !stepped {
            pairs
                .iter_mut()
                .for_each(|pair| pair.now = pair.now.max(until));
            (write, next_write) = match writes.next() {
                Some(write) => (*write, until + traffic.pause),
                None => (0, Time::MAX),
            };
        }
        let answers = !answered && pairs[0].server.delivered() > 0;
        answered |= answers;
        left += write;
        let mut taken = 0;
        for pair in &mut pairs {
            pair.events.clear();
            pair.server_records.clear();
            taken = pair.client.write(left);
            if answers {
                pair.server.write(traffic.answer);
            }
            if next_write == Time::MAX && left == taken {
                pair.client.close();
            }
        }
        left -= taken;
    }
    assert_eq!(
        pairs[0].server.delivered(),
        traffic.writes.iter().sum::<u64>()
    );
    let sent = pairs.map(|pair| pair.script());
    assert_eq!(sent[0], sent[1]);
    fast_path
}

fn linux() -> Config {
    Config {
        multipath: false,
        segment: Bytes::new(1000),
        ..Config::profile(Profile::Linux)
    }
}

fn multipath() -> Config {
    Config {
        multipath: true,
        ..linux()
    }
}

fn undisturbed(delays_ms: &[u64]) -> Traffic {
    Traffic {
        delays_ms: delays_ms.to_vec(),
        seed: 1,
        loss: 0,
        late: 0,
        twice: 0,
        writes: vec![3_000_000],
        pause: Time::ZERO,
        answer: 0,
    }
}

#[test]
fn lossless_transfer_uses_fast_path() {
    let fast_path = compare(&linux(), &undisturbed(&[20]));
    assert!(fast_path > 3000, "{fast_path}");
    let fast_path = compare(&multipath(), &undisturbed(&[20, 50]));
    assert!(fast_path > 3000, "{fast_path}");
}

#[test]
fn bidirectional_data_use_fast_path() {
    for config in [linux(), multipath()] {
        let traffic = Traffic {
            writes: vec![200_000; 9],
            pause: ms(30),
            answer: 3_000_000,
            ..undisturbed(&[20])
        };
        let fast_path = compare(&config, &traffic);
        assert!(fast_path > 1000, "{fast_path}");
    }
}

prop_compose! {
    fn any_course(paths: std::ops::RangeInclusive<usize>)(
        delays_ms in prop::collection::vec(5u64..100, paths),
        seed in any::<u64>(),
        loss in prop_oneof![Just(0u64), 0u64..60],
        late in prop_oneof![Just(0u64), 0u64..60],
        twice in 0u64..20,
        writes in prop::collection::vec(1u64..100_000, 1..4),
        pause_ms in prop_oneof![Just(0u64), 0u64..3000],
        answer in prop_oneof![Just(0u64), 1u64..50_000],
    ) -> Traffic {
        Traffic { delays_ms, seed, loss, late, twice, writes, pause: ms(pause_ms), answer }
    }
}

prop_compose! {
    fn any_config()(
        congestion in prop::sample::select(CongestionConfig::defaults()),
        cubic in any::<bool>(),
        timestamps in any::<bool>(), sack in prop::bool::weighted(0.9),
        tail_loss_probe in any::<bool>(), rack in prop::bool::weighted(0.9),
        delayed_ack in 1u32..4,
        receive_buffer in 4_000u64..200_000,
        reordering in prop::sample::select(ReorderingConfig::defaults()),
    ) -> Config {
        let congestion = if cubic {
            SinglePathConfig::Cubic(CubicConfig::DEFAULT).into()
        } else {
            congestion
        };
        linux().with(|config| {
            config.congestion = congestion;
            config.extensions.timestamps = timestamps;
            config.extensions.sack = sack;
            config.loss.tail_loss_probe = tail_loss_probe;
            config.loss.rack = rack;
            config.receiver.delayed_ack = delayed_ack;
            config.reordering = reordering;
            config.receive_buffer.size = Bytes::new(receive_buffer);
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn fast_path_equals_slow_path(
        config in any_config(), traffic in any_course(1..=1),
    ) {
        compare(&config, &traffic);
    }

    #[test]
    fn lossless_mptcp_transfer_uses_fast_path(
        config in any_config(), traffic in any_course(2..=5),
        scheduler in prop::sample::select(SchedulerConfig::defaults()),
        checksum in any::<bool>(),
        opportunistic_retransmission in any::<bool>(), penalisation in any::<bool>(),
    ) {
        let config = config.with(|config| {
            config.multipath = true;
            config.scheduler = scheduler;
            config.extensions.checksum = checksum;
            config.subflows.opportunistic_retransmission = opportunistic_retransmission;
            config.subflows.penalisation = penalisation;
        });
        compare(&config, &traffic);
    }
}
