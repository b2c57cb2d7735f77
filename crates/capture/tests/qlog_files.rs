//! The text of qlog files.

use std::fs;

use ropewalk_capture::{Header, LossCause, Metrics, PacketLost, QlogEvent, QlogFile, SpuriousLoss};
use ropewalk_quantities::{Bytes, Time};

/// Records of a file with these events, without the first.
fn records(paths: &[&str], events: &[(Time, usize, QlogEvent)]) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sqlog");
    let header = Header {
        title: "\"Train\", seed 7".to_owned(),
        protocol: "MPTCP".to_owned(),
        paths: paths.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut file = QlogFile::create(&path, &header).unwrap();
    for (time, path_id, event) in events {
        file.write(*time, *path_id, event).unwrap();
    }
    file.finish().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut records = text.split('\x1e').map(|record| {
        assert!(record.is_empty() || record.ends_with("}\n"), "{record:?}");
        record.trim_end().to_owned()
    });
    assert_eq!(records.next().as_deref(), Some(""));
    (records.next().unwrap(), records.collect())
}

#[test]
fn qlog_header_matches_draft() {
    let (header, assigned) = records(&["wifi", "lte"], &[]);
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        r#"{"file_schema":"urn:ietf:params:qlog:file:sequential","#,
        r#""serialization_format":"application/qlog+json-seq","#,
        r#""qlog_version":"0.3","qlog_format":"JSON-SEQ","#,
        r#""title":"\"Train\", seed 7","#,
        r#""trace":{"vantage_point":{"name":"ropewalk VERSION","type":"client"},"#,
        r#""common_fields":{"time_format":"relative_to_epoch","#,
        r#""reference_time":{"clock_type":"system","epoch":"2000-01-01T00:00:00.000Z"},"#,
        r#""protocol_types":["MPTCP"]},"#,
        r#""event_schemas":["urn:ietf:params:qlog:events:quic"]}}"#,
    ];
    assert_eq!(header, expected.concat().replace("VERSION", version));
    assert_eq!(
        assigned,
        [
            r#"{"time":0.0,"name":"connectivity:path_assigned","path_id":0,"group_id":"wifi","data":{"path_id":0,"path_name":"wifi"}}"#,
            r#"{"time":0.0,"name":"connectivity:path_assigned","path_id":1,"group_id":"lte","data":{"path_id":1,"path_name":"lte"}}"#,
        ]
    );
}

#[test]
fn metrics_write_only_changes_per_path() {
    let start = Metrics {
        congestion_window: Bytes::new(14_480),
        ..Metrics::default()
    };
    let sampled = Metrics {
        bytes_in_flight: Bytes::new(1448),
        smoothed_rtt: Some(Time::from_nanos(20_000_001)),
        latest_rtt: Some(Time::from_millis(20)),
        min_rtt: Some(Time::from_millis(20)),
        ..start
    };
    let lost = Metrics {
        congestion_window: Bytes::new(7240),
        ssthresh: Some(Bytes::new(7240)),
        ..sampled
    };
    let undone = Metrics {
        ssthresh: None,
        ..lost
    };
    let events = [
        (Time::ZERO, 0, start),
        (Time::from_nanos(20_000_123), 0, sampled),
        (Time::from_nanos(20_000_124), 0, sampled),
        (Time::from_millis(30), 1, sampled),
        (Time::from_millis(40), 0, lost),
        (Time::from_millis(50), 0, undone),
        (Time::from_millis(60), 0, lost),
    ];
    let events = events.map(|(time, path, metrics)| (time, path, QlogEvent::Metrics(metrics)));
    let (_, records) = records(&["wifi", "lte"], &events);
    assert_eq!(
        records[2..],
        [
            r#"{"time":0.0,"name":"recovery:metrics_updated","path_id":0,"group_id":"wifi","data":{"congestion_window":14480,"bytes_in_flight":0}}"#,
            r#"{"time":20.000123,"name":"recovery:metrics_updated","path_id":0,"group_id":"wifi","data":{"bytes_in_flight":1448,"smoothed_rtt":20.000001,"latest_rtt":20.0,"min_rtt":20.0}}"#,
            r#"{"time":30.0,"name":"recovery:metrics_updated","path_id":1,"group_id":"lte","data":{"congestion_window":14480,"bytes_in_flight":1448,"smoothed_rtt":20.000001,"latest_rtt":20.0,"min_rtt":20.0}}"#,
            r#"{"time":40.0,"name":"recovery:metrics_updated","path_id":0,"group_id":"wifi","data":{"congestion_window":7240,"ssthresh":7240}}"#,
            r#"{"time":50.0,"name":"recovery:metrics_updated","path_id":0,"group_id":"wifi","data":{"ssthresh":9007199254740991}}"#,
            r#"{"time":60.0,"name":"recovery:metrics_updated","path_id":0,"group_id":"wifi","data":{"ssthresh":7240}}"#,
        ]
    );
}

#[test]
fn losses_say_what_and_why() {
    let lost = |offset, cause| {
        QlogEvent::PacketLost(PacketLost {
            offset,
            length: Bytes::new(1448),
            cause,
        })
    };
    let spurious = QlogEvent::SpuriousLoss(SpuriousLoss {
        offset: 2896,
        length: Bytes::new(1448),
    });
    let events = [
        (
            Time::from_millis(100),
            0,
            lost(2896, LossCause::FastRetransmit),
        ),
        (
            Time::from_micros(300_001),
            0,
            lost(5792, LossCause::Timeout),
        ),
        (Time::from_nanos(300_001_001), 0, spurious),
    ];
    let (_, records) = records(&["wifi"], &events);
    assert_eq!(
        records[1..],
        [
            r#"{"time":100.0,"name":"recovery:packet_lost","path_id":0,"group_id":"wifi","data":{"header":{"packet_type":"unknown","packet_number":2896},"raw":{"payload_length":1448},"trigger":"reordering_threshold"}}"#,
            r#"{"time":300.001,"name":"recovery:packet_lost","path_id":0,"group_id":"wifi","data":{"header":{"packet_type":"unknown","packet_number":5792},"raw":{"payload_length":1448},"trigger":"pto_expired"}}"#,
            r#"{"time":300.001001,"name":"recovery:spurious_loss","path_id":0,"group_id":"wifi","data":{"packet_number":2896,"raw":{"payload_length":1448}}}"#,
        ]
    );
}

/// A float of milliseconds represents nanoseconds for more than a week.
#[test]
fn nanoseconds_survive() {
    let week = 7 * 86_400 * 1_000_000_000;
    for nanos in [
        1,
        999,
        1_000_001,
        86_399_999_999_999,
        week + 1,
        week + 999_999,
    ] {
        let lost = PacketLost {
            offset: 0,
            length: Bytes::new(1),
            cause: LossCause::Timeout,
        };
        let event = (Time::from_nanos(nanos), 0, QlogEvent::PacketLost(lost));
        let (_, records) = records(&["wifi"], &[event]);
        let record: serde_json::Value = serde_json::from_str(&records[1]).unwrap();
        let time = record["time"].as_f64().unwrap();
        assert_eq!((time * 1e6).round() as u64, nanos);
    }
}
