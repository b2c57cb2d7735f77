//! Whole runs in separate processes.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

const TESTBED: &str = env!("CARGO_BIN_EXE_ropewalk-testbed");

const TWO_LINKS: &str = r#"
    duration = "20 s"
    [[link]]
    name = "dsl"
    rate = "16 Mbit/s"
    delay = "10 ms"
    [[link]]
    name = "cable"
    rate = "24 Mbit/s"
    delay = "5 ms"
    [traffic]
    kind = "bulk"
    size = "4 MB"
"#;

fn possible() -> bool {
    let doctor = Command::new(TESTBED).arg("doctor").output().unwrap();
    let text = String::from_utf8(doctor.stdout).unwrap();
    let mptcp = text
        .lines()
        .any(|line| line.starts_with("yes") && line.contains("MPTCP"));
    if !doctor.status.success() || !mptcp {
        println!("skipped:\n{text}");
    }
    doctor.status.success() && mptcp
}

fn command(folder: &Path, scenario: &str, options: &[&str]) -> Command {
    let file = folder.join("scenario.toml");
    fs::write(&file, scenario).unwrap();
    let mut command = Command::new(TESTBED);
    command.arg("run").arg(file).args(options);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn report(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run(scenario: &str, options: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    report(&command(folder.path(), scenario, options).output().unwrap())
}

#[test]
fn mptcp_uses_both_links_and_loses_no_byte() {
    if !possible() {
        return;
    }
    let report = run(TWO_LINKS, &["--step", "100 ms", "--histogram"]);
    assert_eq!(report["engine"], "testbed");
    assert_eq!(report["delivered_bytes"], 4_000_000);
    assert!(report["completion_s"].as_f64().unwrap() >= 0.8);
    let subflows = report["subflows"].as_array().unwrap();
    let names: Vec<&Value> = subflows.iter().map(|subflow| &subflow["link"]).collect();
    assert_eq!(names, ["dsl", "cable"]);
    for link in report["links"].as_array().unwrap() {
        assert!(
            link["delivered_bytes"].as_u64().unwrap() > 500_000,
            "{link}"
        );
    }
    let counters = &report["kernel"]["counters"];
    assert_eq!(counters["client"]["MPTcpExtMPCapableSYNTX"], 1);
    assert_eq!(counters["server"]["MPTcpExtMPJoinAckRx"], 1);
    assert!(report["emulator"]["packets"].as_u64().unwrap() > 4_000_000 / 1500);
    assert!(
        !report["timeline"]["connection"]["time_s"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(!report["delays"].as_array().unwrap().is_empty());
}

#[test]
fn the_gateway_uses_both_links_and_loses_no_byte() {
    if !possible() {
        return;
    }
    for ip_version in ["ipv4", "ipv6"] {
        let version = format!("transport.ip_version={ip_version}");
        let set = ["--set", "transport.protocol=aggregation", "--set", &version];
        let report = run(TWO_LINKS, &set);
        assert_eq!(report["delivered_bytes"], 4_000_000);
        let subflows = report["subflows"].as_array().unwrap();
        let names: Vec<&Value> = subflows.iter().map(|subflow| &subflow["link"]).collect();
        assert_eq!(names, ["dsl", "cable"]);
        assert!(subflows.iter().all(|of| of["resent_bytes"].is_u64()));
        for link in report["links"].as_array().unwrap() {
            let delivered = link["delivered_bytes"].as_u64().unwrap();
            assert!(delivered > 500_000, "{link}");
        }
    }
}

#[test]
fn the_tunnel_uses_both_links_and_loses_no_byte() {
    if !possible() {
        return;
    }
    for ip_version in ["ipv4", "ipv6"] {
        let version = format!("transport.ip_version={ip_version}");
        let tunnel = "transport.device=tunnel";
        let protocol = "transport.protocol=striped-tcp";
        let report = run(
            TWO_LINKS,
            &["--set", protocol, "--set", tunnel, "--set", &version],
        );
        assert_eq!(report["delivered_bytes"], 4_000_000);
        for link in report["links"].as_array().unwrap() {
            let delivered = link["delivered_bytes"].as_u64().unwrap();
            assert!(delivered > 1_500_000, "{link}");
        }
    }
}

/// The device in turn offers both links the same number of packets; a full queue drops some.
#[test]
fn the_naive_device_uses_links_in_turn_and_loses_no_byte() {
    if !possible() {
        return;
    }
    for segment in ["1420 B", "536 B"] {
        let segment = format!("transport.segment={segment}");
        let set = [
            "--set",
            "transport.protocol=striped-tcp",
            "--set",
            "transport.device=naive",
            "--set",
            &segment,
        ];
        let report = run(TWO_LINKS, &set);
        assert_eq!(report["delivered_bytes"], 4_000_000);
        let links = report["links"].as_array().unwrap();
        let packets = links.iter().map(|link| {
            let counts = ["sent_packets", "dropped_packets"];
            counts.iter().map(|key| link[key].as_u64().unwrap()).sum()
        });
        let packets: Vec<u64> = packets.collect();
        let apart = packets[0].abs_diff(packets[1]);
        assert!(apart * 100 < packets[0], "{packets:?}");
    }
}

#[test]
fn tcp_over_ipv6_by_the_chosen_link() {
    if !possible() {
        return;
    }
    let set = [
        "--set",
        "transport.protocol=tcp",
        "--set",
        "transport.paths=[\"cable\"]",
        "--set",
        "transport.ip_version=ipv6",
        "--set",
        "traffic.size=1MB",
        "--set",
        "transport.congestion=newreno",
    ];
    let report = run(TWO_LINKS, &set);
    assert_eq!(report["delivered_bytes"], 1_000_000);
    assert_eq!(report["links"][0]["sent_packets"], 0);
    assert_eq!(report["kernel"]["congestion"], "reno");
    assert!(report["links"][1]["delivered_bytes"].as_u64().unwrap() > 1_000_000);
}

#[test]
fn concurrent_runs_are_independent() {
    if !possible() {
        return;
    }
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let runs: Vec<Child> = folders
        .iter()
        .map(|folder| command(folder.path(), TWO_LINKS, &[]).spawn().unwrap())
        .collect();
    for run in runs {
        let report = report(&run.wait_with_output().unwrap());
        assert_eq!(report["delivered_bytes"], 4_000_000);
        assert_eq!(
            report["kernel"]["counters"]["server"]["MPTcpExtMPJoinAckRx"],
            1
        );
    }
}

#[test]
fn a_capture_holds_what_the_sender_sent_and_got() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.pcapng");
    let options = ["--capture", file.to_str().unwrap()];
    let report = report(
        &command(folder.path(), TWO_LINKS, &options)
            .output()
            .unwrap(),
    );
    let sent = report["links"].as_array().unwrap().iter();
    let sent: u64 = sent
        .flat_map(|link| [&link["sent_packets"], &link["dropped_packets"]])
        .map(|count| count.as_u64().unwrap())
        .sum();
    let captured = report["captured_packets"].as_u64().unwrap();
    assert!(captured > sent, "{captured} captured, {sent} sent");
    let content = fs::read(&file).unwrap();
    assert_eq!(content[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert!(content.len() as u64 > 4_000_000);
}

#[test]
fn competitors_share_the_link() {
    if !possible() {
        return;
    }
    let scenario = r#"
        duration = "6 s"
        warmup = "1 s"
        [[link]]
        name = "dsl"
        rate = "10 Mbit/s"
        delay = "10 ms"
        [transport]
        protocol = "tcp"
        [[competitor]]
        name = "others"
        count = 2
    "#;
    let report = run(scenario, &[]);
    let others = &report["competitors"][0];
    assert_eq!(others["count"], 2);
    let [measured, other] = [&report, others].map(|of| of["goodput_mbps"].as_f64().unwrap());
    assert!(
        measured > 0.5 && other > 0.5,
        "{measured} and twice {other}"
    );
    // Of 1500 bytes a segment carries 1448.
    assert!(
        measured + 2.0 * other < 10.0,
        "{measured} and twice {other}"
    );
}

fn namespaces(process: u32) -> BTreeSet<String> {
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    let tasks = fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten();
    let namespaces = tasks.filter_map(|task| fs::read_link(task.ok()?.path().join("ns/net")).ok());
    let others = namespaces.filter(|namespace| *namespace != own);
    others
        .map(|namespace| namespace.display().to_string())
        .collect()
}

fn all_namespaces() -> BTreeSet<String> {
    let processes = fs::read_dir("/proc").unwrap();
    let numbers = processes.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    numbers.flat_map(namespaces).collect()
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_run_leaves_nothing() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let set = ["--set", "traffic.size=1GB", "--set", "duration=60s"];
    let mut run = command(folder.path(), TWO_LINKS, &set).spawn().unwrap();
    let made = || namespaces(run.id());
    until("two namespaces", || made().len() == 2);
    sleep(Duration::from_millis(500));
    let made = made();
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(made.len(), 2);
    until("no namespace is left", || {
        all_namespaces().is_disjoint(&made)
    });
}

#[test]
fn run_ends_with_parent() {
    if !possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let set = ["--set", "traffic.size=1GB", "--set", "duration=60s"];
    let run = command(folder.path(), TWO_LINKS, &set);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "\"$@\" & echo $!; wait", "sh", TESTBED])
        .args(run.get_args());
    let mut shell = shell
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let process: u32 = line.trim().parse().unwrap();
    until("two namespaces", || namespaces(process).len() == 2);
    shell.kill().unwrap();
    shell.wait().unwrap();
    until("the run is gone", || namespaces(process).is_empty());
}

#[test]
fn unprivileged_run_works_or_names_requirement() {
    const NOBODY: u32 = 65534;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(
        folder.path(),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let mut command = command(folder.path(), TWO_LINKS, &[]);
    command.uid(NOBODY).gid(NOBODY);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: cannot run it as nobody ({error})");
            return;
        }
    };
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    if output.status.success() {
        assert_eq!(report(&output)["delivered_bytes"], 4_000_000);
    } else {
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        println!("{said}");
    }
}

#[test]
fn unsupported_scenario_error_is_one_line() {
    if !possible() {
        return;
    }
    for (set, line) in [
        (
            "transport.profile=ns-3",
            "transport.profile = \"ns-3\": the kernel is Linux; allowed here: \"linux\"\n",
        ),
        (
            "transport.congestion=lia",
            "transport.congestion = \"lia\": the kernel's MPTCP couples no subflows; allowed here: \"cubic\", \"newreno\", \"uncoupled\"\n",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = command(folder.path(), TWO_LINKS, &["--set", set])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), line);
    }
}
