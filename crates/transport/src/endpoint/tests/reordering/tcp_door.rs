//! TCP-DOOR: numbers of segments, and detection of reordering by them.

use super::examples::named;
use super::*;

fn tcp_door() -> Config {
    Config {
        reordering: named("tcp-door"),
        ..example()
    }
}

/// Numbers of data segments or of acknowledgements, with their offsets.
fn numbers(pair: &Pair, to_server: bool) -> Vec<(u64, u16)> {
    let sent = pair.sent.iter().filter(|p| p.to_server == to_server);
    let numbered = sent.filter_map(|p| Some((p, p.segment.number()?)));
    let with_data = numbered.filter(|(p, _)| (p.segment.len > 0) == to_server);
    with_data
        .map(|(p, number)| match to_server {
            true => (p.segment.seq, number),
            false => (p.segment.ack, number),
        })
        .collect()
}

/// Start and end of each freeze, in ms after the first data.
fn frozen(pair: &Pair) -> Vec<(u64, u64)> {
    let since = |time: Time| (time - ms(5000)).as_millis_f64() as u64;
    let recorded = pair
        .events
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::Frozen(frozen) => Some((since(recorded.time), since(frozen.until))),
            _ => None,
        });
    recorded.collect()
}

#[test]
fn tcp_door_numbers_data_and_acknowledgements() {
    let mut pair = Pair::connected(&tcp_door(), &[50]);
    pair.fate = lose(&[1001]);
    pair.transfer(5_000, Time::from_secs(9));
    let data = numbers(&pair, true);
    assert_eq!(
        data,
        [
            (1, 0),
            (1001, 1),
            (2001, 2),
            (3001, 3),
            (4001, 4),
            (1001, 5)
        ]
    );
    let acks = numbers(&pair, false);
    assert_eq!(
        acks,
        [(1001, 0), (1001, 1), (1001, 2), (1001, 3), (5001, 0)]
    );
    assert_eq!(frozen(&pair), []);
    let mut pair = Pair::connected(&example(), &[50]);
    pair.transfer(5_000, Time::from_secs(9));
    assert_eq!(numbers(&pair, true), []);
}

#[test]
fn tcp_door_detects_overtaken_acknowledgement() {
    // The second segment is lost; acknowledgement `nth` is late by 5 ms.
    let run = |nth: u64| {
        let mut pair = Pair::connected(&tcp_door(), &[50]);
        let mut acks = 0;
        let mut lost = lose(&[1001]);
        pair.fate = Box::new(move |p| {
            acks += u64::from(!p.to_server && p.sent >= ms(5050));
            match !p.to_server && acks == nth {
                true => Fate::Late(ms(5)),
                false => lost(p),
            }
        });
        pair.client.write(10_000);
        pair.drive(ms(5299));
        (frozen(&pair), windows(&pair))
    };
    assert_eq!(run(0).0, []);
    // An acknowledgement of a lower offset, and one of the same offset with a lower number.
    for nth in [1, 3] {
        let (frozen, window) = run(nth);
        assert_eq!(frozen, [(105, 205)], "{nth}");
        assert_eq!((window.cwnd / 1000, window.ssthresh / 1000), (10, 8));
    }
}

#[test]
fn tcp_door_undoes_reduction_of_last_two_round_trips() {
    // The second segment is late, but arrives before its retransmission; the reduction is at 100 ms.
    let mut pair = Pair::connected(&tcp_door(), &[50]);
    pair.fate = late(&[(1001, 80)]);
    pair.client.write(100_000);
    pair.drive(ms(5181));
    assert_eq!(frozen(&pair), [(180, 280)]);
    assert_eq!(pair.client.counters(0).undone, 1);
}

#[test]
fn numbers_may_wrap() {
    let mut door =
        crate::reordering::tcp_door::TcpDoorConfig::DEFAULT.build(&crate::reordering::Settings {
            sack: true,
            timestamps: true,
            rack: false,
            initial_window: tcp_door().initial_window,
        });
    for _ in 0..3 * (1 << 16) {
        let number = door.number(true, 0);
        assert!(door.takes(number));
        assert!(!door.takes(number.wrapping_sub(1)));
    }
    assert_eq!(door.number(true, 0), 0);
}

#[test]
fn tcp_door_freeze_repairs_loss_without_reduction() {
    // The first segment is late; the twentieth, sent during the freeze, is lost.
    let mut pair = Pair::connected(&tcp_door(), &[50]);
    let (mut late, mut lost) = (late(&[(1, 30)]), lose(&[19_001]));
    pair.fate = Box::new(move |p| match late(p) {
        Fate::Arrives => lost(p),
        other => other,
    });
    at(&mut pair, &[130]);
    assert_eq!(frozen(&pair), [(130, 230)]);
    pair.drive(ms(5229));
    let before = windows(&pair);
    pair.drive(Time::from_secs(20));
    assert_eq!(pair.server.delivered(), 40_000);
    let counters = pair.client.counters(0);
    assert_eq!((counters.fast_recoveries, counters.undone), (2, 1));
    assert_eq!(counters.undone_by[Evidence::Overtaken as usize], 1);
    let entered = entered(&pair);
    assert_eq!(entered.len(), 2, "{entered:?}");
    assert_eq!(before.ssthresh, 8_000);
}

#[test]
fn tcp_door_numbers_each_subflow_separately() {
    let config = Config {
        reordering: named("tcp-door"),
        initial_ssthresh: Some(Bytes::new(8000)),
        ..mptcp()
    };
    let mut pair = Pair::connected(&config, &[50, 50]);
    pair.client.write(200_000);
    let start = pair.now;
    let mut late = false;
    pair.fate = Box::new(move |p| {
        let first = !late && p.to_server && p.subflow == 1 && p.segment.len > 0;
        late |= first;
        match first {
            true => Fate::Late(ms(30)),
            false => Fate::Arrives,
        }
    });
    pair.drive(start + ms(140));
    let recorded = pair.events.iter().filter(|recorded| recorded.time >= start);
    let of: Vec<usize> = recorded
        .filter(|recorded| {
            matches!(
                recorded.event,
                TraceEvent::Frozen(_) | TraceEvent::Undone(_)
            )
        })
        .map(|recorded| recorded.subflow)
        .collect();
    assert_eq!(of, [1, 1]);
    assert_eq!(Window::of(&pair.client.subflow_states()[1]).cwnd, 10_000);
    // A numbered segment has space for its number: 32 bits of data sequence, no long acknowledgement.
    for p in pair.sent.iter().filter(|p| p.segment.number().is_some()) {
        let segment = &p.segment;
        assert!(segment.header_len() <= 60, "{segment:?}");
        let long = [Flags::DATA_SEQ_64, Flags::DATA_ACK_64];
        assert!(long.iter().all(|flag| !segment.flags.contains(*flag)));
    }
    for subflow in [0, 1] {
        let sent = pair
            .sent
            .iter()
            .filter(|p| p.to_server && p.subflow == subflow);
        let data = sent.filter(|p| p.segment.len > 0);
        let numbers: Vec<u16> = data.filter_map(|p| p.segment.number()).collect();
        assert!(numbers.len() > 10);
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1));
    }
    pair.drive(Time::from_secs(60));
    assert_eq!(pair.server.delivered(), 200_000);
}
