//! Traffic over loopback with the kernel's TCP and MPTCP, without namespaces and root.

use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_scenario::{Spacing, Traffic};
use ropewalk_testbed::traffic::{
    ClientReport, ConnectionPlan, PathEnds, ServerReport, Session, SocketProtocol, TrafficError,
    TrafficOutcome, outcome, run_client, run_server,
};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn plan(traffic: Traffic) -> ConnectionPlan {
    let path = PathEnds {
        name: "loopback".to_owned(),
        client: LOOPBACK,
        server: LOOPBACK,
        device: None,
    };
    ConnectionPlan {
        seed: 7,
        congestion: Some("reno".to_owned()),
        ..ConnectionPlan::new(
            SocketProtocol::Tcp,
            traffic,
            Time::from_secs(60),
            vec![path],
        )
    }
}

fn bulk(megabytes: u64) -> ConnectionPlan {
    plan(Traffic::Bulk {
        size: Some(Bytes::new(megabytes * 1_000_000)),
    })
}

fn cbr() -> ConnectionPlan {
    ConnectionPlan {
        duration: Time::from_millis(600),
        ..plan(Traffic::Messages {
            deadline: None,
            spacing: Spacing::Constant,
            rate: Rate::from_bps(800_000),
            message: Bytes::new(500),
        })
    }
}

type Ends = (
    Result<ClientReport, TrafficError>,
    Result<ServerReport, TrafficError>,
);

fn ends(session: &Session) -> Ends {
    thread::scope(|scope| {
        let server = scope.spawn(|| run_server(session));
        (run_client(session), server.join().unwrap())
    })
}

fn run(plan: ConnectionPlan) -> Result<TrafficOutcome, TrafficError> {
    let session = Session::new(plan, Instant::now() + Duration::from_millis(30));
    let (client, server) = ends(&session);
    outcome(&session, client, server)
}

#[test]
fn a_bulk_transfer_arrives_whole_with_either_congestion_control() {
    for congestion in ["cubic", "reno"] {
        let outcome = run(ConnectionPlan {
            congestion: Some(congestion.to_owned()),
            ..bulk(30)
        });
        let outcome = match outcome {
            Err(error @ TrafficError::Setting { .. }) => {
                println!("skipped: {error}");
                continue;
            }
            outcome => outcome.unwrap(),
        };
        assert_eq!(outcome.delivered_bytes, 30_000_000);
        let completion = outcome.completion_s.unwrap();
        assert_eq!(outcome.duration_s, completion);
        let mbps = 30e6 * 8.0 / completion / 1e6;
        assert!((outcome.goodput_mbps / mbps - 1.0).abs() < 1e-9);
        let delay = outcome.delay_ms.unwrap();
        assert!(delay.p50 <= delay.p99 && delay.max <= completion * 1e3);
        assert!(outcome.longest_gap_s.unwrap() <= completion);
        assert_eq!(outcome.write_lateness_ms, None);
        let [subflow] = &outcome.subflows[..] else {
            panic!("{:?}", outcome.subflows);
        };
        assert_eq!(subflow.link, "loopback");
        // The kernel counts the end of the stream as a byte.
        assert!((subflow.goodput_mbps.unwrap() / mbps - 1.0).abs() < 1e-6);
        assert!(subflow.segments_sent.unwrap() >= 30_000_000 / 65_536);
        assert!(subflow.srtt_ms.unwrap() > 0.0);
    }
}

#[test]
fn pieces_of_bulk_have_a_delay_each() {
    let outcome = run(ConnectionPlan {
        segment: Bytes::new(1000),
        ..plan(Traffic::Bulk {
            size: Some(Bytes::new(100_500)),
        })
    });
    let counted: u64 = outcome.unwrap().delays.iter().map(|bin| bin.count).sum();
    assert_eq!(counted, 101);
}

#[test]
fn bulk_without_a_size_ends_with_the_duration() {
    let outcome = run(ConnectionPlan {
        duration: Time::from_millis(1_500),
        warmup: Time::from_millis(500),
        step: Some(Time::from_millis(250)),
        ..plan(Traffic::Bulk { size: None })
    });
    let outcome = outcome.unwrap();
    assert_eq!(outcome.duration_s, 1.5);
    assert_eq!(outcome.completion_s, None);
    let timeline = outcome.timeline.unwrap();
    let rows = &timeline.connection;
    assert!((1..=6).contains(&rows.time_s.len()), "{rows:?}");
    assert!(rows.time_s.is_sorted());
    assert_eq!(timeline.subflows.time_s, rows.time_s);
    assert!(timeline.subflows.cwnd_bytes.iter().all(|&cwnd| cwnd > 0));
    // Measurements start after the warm-up; the timeline covers the whole run.
    let spans = rows
        .time_s
        .iter()
        .scan(0.0, |from, &to| Some(to - std::mem::replace(from, to)));
    let all: f64 = spans
        .zip(&rows.goodput_mbps)
        .map(|(s, mbps)| s * mbps / 8.0 * 1e6)
        .sum();
    let measured = outcome.delivered_bytes as f64;
    assert!(measured > 0.0 && measured < all, "{measured} {all}");
}

#[test]
fn messages_arrive_when_they_are_due() {
    let outcome = run(cbr()).unwrap();
    // 600 ms, a message every 5 ms from zero; the last may still be in flight.
    let messages = outcome.delivered_bytes / 500;
    assert!((1..=120).contains(&messages), "{messages}");
    assert_eq!(outcome.delivered_bytes % 500, 0);
    // An endless transfer is measured until the end of the run.
    let mbps = outcome.delivered_bytes as f64 * 8e-6 / 0.6;
    assert!((outcome.goodput_mbps / mbps - 1.0).abs() < 1e-9);
    let counted: u64 = outcome.delays.iter().map(|bin| bin.count).sum();
    assert_eq!(counted, messages);
    let delay = outcome.delay_ms.unwrap();
    assert!(delay.p50 > 0.0 && delay.p50 <= delay.max);
    assert!(outcome.write_lateness_ms.is_some());
    assert!(outcome.longest_gap_s.unwrap() > 0.0);
}

#[test]
fn poisson_messages_are_those_of_the_seed() {
    let poisson = |seed| {
        run(ConnectionPlan {
            seed,
            duration: Time::from_millis(400),
            ..plan(Traffic::Messages {
                deadline: None,
                spacing: Spacing::Exponential,
                rate: Rate::from_bps(1_600_000),
                message: Bytes::new(200),
            })
        })
    };
    let outcome = poisson(3).unwrap();
    assert!(outcome.delivered_bytes > 0);
    assert_eq!(outcome.delivered_bytes % 200, 0);
    let counted: u64 = outcome.delays.iter().map(|bin| bin.count).sum();
    assert_eq!(counted, outcome.delivered_bytes / 200);
}

#[test]
fn fixed_buffers_are_what_was_asked_for() {
    let outcome = run(ConnectionPlan {
        send_buffer: Some(Bytes::from_kib(128)),
        receive_buffer: Some(Bytes::from_kib(128)),
        unsent: Some(16 << 10),
        ..bulk(5)
    });
    assert_eq!(outcome.unwrap().delivered_bytes, 5_000_000);
    let tiny = run(ConnectionPlan {
        receive_buffer: Some(Bytes::new(2)),
        ..bulk(5)
    });
    assert!(matches!(tiny, Err(TrafficError::Buffer { .. })), "{tiny:?}");
}

#[test]
fn a_congestion_control_that_is_none_is_an_error() {
    let error = run(ConnectionPlan {
        congestion: Some("nonesuch".to_owned()),
        ..bulk(1)
    });
    let text = error.unwrap_err().to_string();
    assert!(
        text.starts_with("cannot set TCP_CONGESTION to nonesuch: "),
        "{text}"
    );
}

#[test]
fn mptcp_is_mptcp() {
    let outcome = run(ConnectionPlan {
        protocol: SocketProtocol::Mptcp,
        step: Some(Time::from_millis(1)),
        ..bulk(30)
    });
    let outcome = match outcome {
        Err(TrafficError::Socket { source, .. }) => {
            println!("skipped: this kernel makes no socket of MPTCP: {source}");
            return;
        }
        outcome => outcome.unwrap(),
    };
    assert_eq!(outcome.delivered_bytes, 30_000_000);
    assert_eq!(outcome.subflows.len(), 1);
    let subflow = &outcome.subflows[0];
    assert_eq!(subflow.link, "loopback");
    // It may include duplicate data.
    assert!(subflow.goodput_mbps.unwrap() > 0.999 * outcome.goodput_mbps);
    assert!(subflow.segments_sent.unwrap() > 0);
    assert_eq!(missing(&outcome), Vec::<&String>::new());
    assert!(!outcome.timeline.unwrap().subflows.time_s.is_empty());
}

#[test]
fn a_path_without_a_subflow_is_told_of() {
    let mut plan = ConnectionPlan {
        protocol: SocketProtocol::Mptcp,
        ..bulk(1)
    };
    plan.paths.push(PathEnds {
        name: "lte".to_owned(),
        client: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)),
        server: LOOPBACK,
        device: None,
    });
    match run(plan) {
        Err(TrafficError::Socket { source, .. }) => {
            println!("skipped: this kernel makes no socket of MPTCP: {source}");
        }
        outcome => assert_eq!(
            missing(&outcome.unwrap()),
            [r#"no subflow came up on "lte""#]
        ),
    }
}

/// Warnings about paths: a busy machine has others.
fn missing(outcome: &TrafficOutcome) -> Vec<&String> {
    let warnings = outcome.warnings.iter();
    warnings.filter(|text| text.contains("subflow")).collect()
}
