//! Invalid observation points and unwritable files.

use std::fs;
use std::path::Path;

use ropewalk_capture::{FileError, ObservationPoint, PacketPlan, Plan, Recording};
use ropewalk_simulator::{Options, simulate, simulate_watched};

use crate::{TWO_LINKS, scenario};

fn plan(path: &Path) -> Plan {
    Plan {
        packets: Some(PacketPlan {
            path: path.to_owned(),
            place: ObservationPoint::Sender,
            snaplen: None,
        }),
        qlog: None,
    }
}

#[test]
fn invalid_capture_is_refused_before_run() {
    let scenario = scenario(TWO_LINKS, &[]);
    let error = ObservationPoint::parse("wlan", &scenario).expect_err("no such link");
    assert_eq!(
        error.to_string(),
        r#""wlan": unknown observation point; allowed: sender, receiver, wifi, lte"#
    );
    let folder = tempfile::tempdir().expect("a folder");
    let error = Recording::create(&plan(&folder.path().join("run.txt")), &scenario, 1);
    assert!(matches!(error, Err(FileError::UnknownEnding { .. })));
    let log = Plan {
        packets: None,
        qlog: Some(folder.path().join("run.json")),
    };
    let error = Recording::create(&log, &scenario, 1);
    assert!(matches!(
        error,
        Err(FileError::UnknownEnding {
            allowed: ".sqlog",
            ..
        })
    ));
    let error = Recording::create(&plan(&folder.path().join("absent/run.pcap")), &scenario, 1);
    assert!(matches!(error, Err(FileError::Io { .. })));
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn full_disk_fails_run_and_abandoned_run_leaves_no_file() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped: this system has no /dev/full");
        return;
    }
    let scenario = scenario(TWO_LINKS, &[("traffic.size", "100 MB")]);
    let mut recording = Recording::create(&plan(full), &scenario, 1).expect("a device");
    let outcome =
        simulate_watched(&scenario, 1, &Options::default(), &mut recording).expect("a run");
    assert!(outcome.summary.delivered_bytes < 20_000_000, "it went on");
    let error = recording.finish().expect_err("a full disk").to_string();
    assert!(error.starts_with("cannot write /dev/full: "), "{error}");

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.pcapng");
    let mut recording = Recording::create(&plan(&path), &scenario, 1).expect("a new file");
    recording
        .abandoned()
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let outcome =
        simulate_watched(&scenario, 1, &Options::default(), &mut recording).expect("a run");
    assert_eq!(outcome.summary.delivered_bytes, 0);
    assert_eq!(recording.finish().expect("nothing to write"), None);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn mptcp_ns3_capture_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("{TWO_LINKS}\n[transport]\nprofile = \"mptcp-ns3\"\n");
    let scenario = scenario(&text, &[]);
    let plan = Plan {
        packets: None,
        qlog: Some(folder.path().join("run.sqlog")),
    };
    let mut recording = Recording::create(&plan, &scenario, 1).expect("a new file");
    let refused = simulate_watched(&scenario, 1, &Options::default(), &mut recording);
    let text = refused.expect_err("it cannot be told").to_string();
    assert!(
        text.starts_with("transport.profile = \"mptcp-ns3\" is not captured or logged; allowed"),
        "{text}"
    );
    assert!(simulate(&scenario, 1, &Options::default()).is_ok());
}
