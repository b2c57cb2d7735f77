//! Worked examples of the policies: forty segments of 1000 bytes, 50 ms each way, an initial window of ten
//! and a threshold of eight segments. Columns are times after the first data, in ms.

use super::*;
use crate::reordering::ReorderingConfig;
use crate::reordering::dsack::DsackConfig;
use crate::reordering::eifel::EifelConfig;
use crate::reordering::f_rto::FrtoConfig;
use crate::reordering::ncr::NcrConfig;
use crate::reordering::tcp_door::TcpDoorConfig;

type LinkModel = fn() -> Box<dyn FnMut(&InFlightSegment) -> Fate>;

/// Window and threshold in segments, and number of retransmitted segments.
type Row = (u64, u64, u64);

/// Behaviour of the link; segments are counted from one.
const LATE_1: LinkModel = || late(&[(1, 30)]);
const LATE_1_AND_4: LinkModel = || late(&[(1, 30), (3001, 40)]);
const LOSE_1: LinkModel = || lose(&[1]);
const LOSE_1_TO_10: LinkModel = || lose(&[1, 1001, 2001, 3001, 4001, 5001, 6001, 7001, 8001, 9001]);
const STALL: LinkModel = || stall(5000 + 1150);

pub(super) fn named(name: &str) -> ReorderingConfig {
    match name {
        "linux" => crate::reordering::linux::LinuxConfig::DEFAULT.into(),
        "dsack" => DsackConfig::DEFAULT.into(),
        "eifel" => EifelConfig::DEFAULT.into(),
        "f-rto" => FrtoConfig::DEFAULT.into(),
        "ncr" => NcrConfig::DEFAULT.into(),
        "tcp-door" => TcpDoorConfig::DEFAULT.into(),
        _ => crate::reordering::none::NoneConfig::DEFAULT.into(),
    }
}

/// The rows at these times, and the duplicate-acknowledgement threshold at the end.
fn run(name: &str, sack: bool, wire: LinkModel, times: &[u64]) -> (Vec<Row>, u32, Pair) {
    let config = example().with(|config| {
        config.extensions.sack = sack;
        config.reordering = named(name);
    });
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = wire();
    let rows = at(&mut pair, times);
    let threshold = pair.client.subflows[0].sender.loss.duplicates.threshold;
    (rows, threshold, pair)
}

/// An example: policies, rows at the times, and the threshold at the end.
struct Example {
    wire: LinkModel,
    sack: bool,
    names: &'static [&'static str],
    rows: &'static [(u64, Row)],
    threshold: u32,
}

fn check(examples: &[Example]) {
    for (number, example) in examples.iter().enumerate() {
        for name in example.names {
            let times: Vec<u64> = example.rows.iter().map(|(time, _)| *time).collect();
            let wanted: Vec<Row> = example.rows.iter().map(|(_, row)| *row).collect();
            let (rows, threshold, _) = run(name, example.sack, example.wire, &times);
            assert_eq!(rows, wanted, "{number} {name}");
            assert_eq!(threshold, example.threshold, "{number} {name}");
        }
    }
}

/// Time of each undo, and the windows before and after it.
fn undone_at(pair: &Pair) -> Vec<(u64, [u64; 2], [u64; 2])> {
    let recorded = pair
        .events
        .iter()
        .filter_map(|recorded| match recorded.event {
            TraceEvent::Undone(undone) => Some((recorded.time, undone)),
            _ => None,
        });
    let segments = |window: Window| [window.cwnd / 1000, window.ssthresh / 1000];
    recorded
        .map(|(time, undone)| {
            let since = (time - ms(5000)).as_millis_f64() as u64;
            (since, segments(undone.before), segments(undone.after))
        })
        .collect()
}

#[test]
fn late_segment() {
    check(&[
        Example {
            wire: LATE_1,
            sack: true,
            names: &["none", "f-rto"],
            rows: &[(100, (5, 5, 1)), (200, (5, 5, 1)), (300, (6, 5, 1))],
            threshold: 3,
        },
        Example {
            wire: LATE_1,
            sack: true,
            names: &["dsack"],
            rows: &[(100, (5, 5, 1)), (300, (10, 10, 1))],
            threshold: 10,
        },
        Example {
            wire: LATE_1,
            sack: true,
            names: &["eifel"],
            rows: &[(100, (5, 5, 1)), (130, (10, 10, 1)), (230, (11, 10, 1))],
            threshold: 10,
        },
        Example {
            wire: LATE_1,
            sack: true,
            names: &["tcp-door"],
            rows: &[
                (100, (5, 5, 1)),
                (130, (10, 8, 1)),
                (200, (10, 8, 1)),
                (300, (11, 8, 1)),
            ],
            threshold: 3,
        },
        // Without SACK the partial acknowledgement causes more retransmissions (RFC 6582).
        Example {
            wire: LATE_1,
            sack: false,
            names: &["none", "dsack", "f-rto"],
            rows: &[(100, (5, 5, 1)), (200, (5, 5, 3)), (300, (6, 5, 3))],
            threshold: 3,
        },
        Example {
            wire: LATE_1,
            sack: false,
            names: &["eifel"],
            rows: &[(130, (10, 10, 1)), (230, (11, 10, 1))],
            threshold: 10,
        },
        // Windows are restored, and repairs continue.
        Example {
            wire: LATE_1,
            sack: false,
            names: &["tcp-door"],
            rows: &[(130, (10, 8, 2)), (200, (10, 8, 3)), (300, (11, 8, 3))],
            threshold: 3,
        },
    ]);
}

#[test]
fn two_segments_late() {
    check(&[
        Example {
            wire: LATE_1_AND_4,
            sack: true,
            names: &["none", "f-rto"],
            rows: &[(100, (5, 5, 2)), (300, (6, 5, 2))],
            threshold: 3,
        },
        Example {
            wire: LATE_1_AND_4,
            sack: true,
            names: &["dsack"],
            rows: &[(100, (5, 5, 2)), (300, (10, 10, 2))],
            threshold: 10,
        },
        Example {
            wire: LATE_1_AND_4,
            sack: true,
            names: &["eifel"],
            rows: &[(130, (10, 10, 2)), (230, (11, 10, 2))],
            threshold: 10,
        },
        Example {
            wire: LATE_1_AND_4,
            sack: true,
            names: &["tcp-door"],
            rows: &[(130, (10, 8, 2)), (200, (10, 8, 2)), (330, (11, 8, 2))],
            threshold: 3,
        },
    ]);
}

#[test]
fn dsack_undoes_when_all_retransmissions_are_reported() {
    for (wire, all) in [(LATE_1, 1), (LATE_1_AND_4, 2)] {
        let (rows, _, pair) = run("dsack", true, wire, &[300]);
        // Late: the window is not restored at once, the threshold is restored fully.
        assert_eq!(undone_at(&pair), [(200, [5, 5], [5, 10])]);
        assert_eq!(rows[0].2, all);
    }
}

#[test]
fn real_loss() {
    let all = &["none", "dsack", "eifel", "f-rto", "tcp-door"];
    check(&[Example {
        wire: LOSE_1,
        sack: true,
        names: all,
        rows: &[(100, (5, 5, 1)), (200, (5, 5, 1)), (300, (6, 5, 1))],
        threshold: 3,
    }]);
    for name in all {
        let (.., pair) = run(name, true, LOSE_1, &[300]);
        assert_eq!(undone_at(&pair), [], "{name}");
    }
}

#[test]
fn spurious_timeout_remarks() {
    check(&[
        Example {
            wire: STALL,
            sack: true,
            // A delay of all segments does not reorder them.
            names: &["none", "tcp-door"],
            rows: &[
                (1000, (1, 5, 1)),
                (1200, (6, 5, 10)),
                (1300, (7, 5, 10)),
                (1500, (9, 5, 10)),
            ],
            threshold: 3,
        },
        Example {
            wire: STALL,
            sack: true,
            names: &["eifel"],
            rows: &[(1000, (1, 5, 1)), (1300, (11, 10, 1))],
            threshold: 3,
        },
        Example {
            wire: STALL,
            sack: true,
            names: &["f-rto"],
            rows: &[(1000, (1, 5, 1)), (1300, (12, 10, 1))],
            threshold: 3,
        },
        Example {
            wire: STALL,
            sack: true,
            names: &["dsack"],
            rows: &[
                (1000, (1, 5, 1)),
                (1300, (10, 10, 10)),
                (1400, (11, 10, 10)),
            ],
            threshold: 3,
        },
    ]);
    let (.., pair) = run("eifel", true, STALL, &[1300]);
    assert_eq!(undone_at(&pair), [(1200, [1, 5], [10, 10])]);
    let (.., pair) = run("f-rto", true, STALL, &[1300]);
    assert_eq!(undone_at(&pair), [(1200, [2, 5], [11, 10])]);
    let (.., pair) = run("dsack", true, STALL, &[1300]);
    assert_eq!(undone_at(&pair), [(1300, [6, 5], [6, 10])]);
}

#[test]
fn genuine_timeout() {
    check(&[
        Example {
            wire: LOSE_1_TO_10,
            sack: true,
            names: &["none", "dsack", "eifel", "tcp-door"],
            rows: &[
                (1000, (1, 5, 1)),
                (1100, (2, 5, 3)),
                (1300, (5, 5, 10)),
                (1500, (7, 5, 10)),
            ],
            threshold: 3,
        },
        Example {
            wire: LOSE_1_TO_10,
            sack: true,
            names: &["f-rto"],
            rows: &[
                (1000, (1, 5, 1)),
                (1100, (2, 5, 1)),
                (1300, (4, 5, 7)),
                (1400, (5, 5, 10)),
                (1500, (6, 5, 10)),
            ],
            threshold: 3,
        },
    ]);
}

/// Linux: RACK, PRR and Linux's undo.
fn linux(timestamps: bool, wire: LinkModel) -> Pair {
    let config = example().with(|config| {
        config.extensions.timestamps = timestamps;
        config.loss.rack = true;
        config.window.prr = true;
        config.loss.tail_loss_probe = false;
        config.reordering = crate::reordering::linux::LinuxConfig::DEFAULT.into();
    });
    let mut pair = Pair::connected(&config, &[50]);
    pair.fate = wire();
    pair
}

#[test]
fn linux_undoes_losses_shown_late_by_timestamps() {
    let mut pair = linux(true, LATE_1);
    let rows = at(&mut pair, &[100, 130]);
    assert_eq!((rows[0].1, rows[0].2), (5, 1));
    assert_eq!(rows[1], (10, 8, 1));
    pair.drive(ms(5300));
    let undone = undone_at(&pair);
    assert_eq!(undone.len(), 1, "{undone:?}");
    assert_eq!((undone[0].0, undone[0].2), (130, [10, 8]));
    let counters = pair.client.counters(0);
    assert_eq!(counters.undone_by[Evidence::Late as usize], 1);
    assert_eq!((counters.undone, counters.threshold_max), (1, 10));
    let steps = pair.client.subflows[0].sender.loss.rack.steps;
    assert_eq!(steps, 2);
}

#[test]
fn linux_undoes_losses_reported_by_dsack() {
    let mut pair = linux(false, LATE_1);
    let rows = at(&mut pair, &[130]);
    assert_eq!(rows[0].1, 5);
    pair.drive(ms(5300));
    let undone = undone_at(&pair);
    assert_eq!(undone.len(), 1, "{undone:?}");
    assert_eq!((undone[0].0, undone[0].2), (200, [10, 8]));
    let counters = pair.client.counters(0);
    assert_eq!(counters.undone_by[Evidence::Duplicates as usize], 1);
    assert_eq!(counters.threshold_max, 0);
}

#[test]
fn linux_undoes_a_timeout_at_the_first_late_acknowledgement() {
    let mut pair = linux(true, STALL);
    at(&mut pair, &[1300]);
    let undone = undone_at(&pair);
    assert_eq!(undone.len(), 1, "{undone:?}");
    assert_eq!((undone[0].0, undone[0].2), (1200, [10, 8]));
    let counters = pair.client.counters(0);
    assert_eq!(counters.undone_by[Evidence::LateAfterTimeout as usize], 1);
    assert_eq!((counters.undone_timeouts, counters.retransmissions), (1, 1));
    // Without timestamps F-RTO needs a second acknowledgement, of data sent once.
    let mut pair = linux(false, STALL);
    at(&mut pair, &[1300]);
    let counters = pair.client.counters(0);
    assert_eq!(counters.undone_by[Evidence::NeverResent as usize], 1);
    assert_eq!(counters.retransmissions, 1);
}

#[test]
fn linux_undoes_no_loss() {
    for timestamps in [false, true] {
        for wire in [LOSE_1, LOSE_1_TO_10] {
            let mut pair = linux(timestamps, wire);
            at(&mut pair, &[4000]);
            assert_eq!(undone_at(&pair), []);
            pair.drive(Time::from_secs(20));
            assert_eq!(pair.server.delivered(), 40_000);
        }
    }
}
