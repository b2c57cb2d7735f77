//! Benchmark of writing captures: packets per second, compared with the same run without a capture.
//!
//!     cargo run --release -p ropewalk-speed --bin writing

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ropewalk_capture::{ObservationPoint, PacketPlan, Plan, Recording};
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, simulate, simulate_watched};

const TWO_LINKS: &str = r#"
    duration = "60 s"
    [[link]]
    name = "fast"
    rate = "100 Mbit/s"
    delay = "10 ms"
    queue = "100 packets"
    [[link]]
    name = "slow"
    rate = "50 Mbit/s"
    delay = "30 ms"
    queue = "100 packets"
    [transport]
    protocol = "mptcp"
    congestion = "lia"
    [traffic]
    size = "200 MB"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut no_files = |_: &str| Err("no files here".to_owned());
    let scenario = Scenario::parse(TWO_LINKS, "two links", &[], &mut no_files)
        .map_err(|errors| errors.to_string())?;
    println!("200 MB over two links, MPTCP");

    let start = Instant::now();
    simulate(&scenario, 1, &Options::default())?;
    println!(
        "{:>38} {:6.2} s",
        "unwatched",
        start.elapsed().as_secs_f64()
    );

    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    let whole = |path: PathBuf, snaplen| Plan {
        packets: Some(PacketPlan {
            path,
            place: ObservationPoint::Sender,
            snaplen,
        }),
        qlog: None,
    };
    let qlog = Plan {
        packets: None,
        qlog: Some(file("run.sqlog")),
    };
    let nowhere = Path::new("/dev/null");
    let cases = [
        ("pcapng", whole(file("run.pcapng"), None)),
        (
            "pcapng, 128 bytes of each",
            whole(file("cut.pcapng"), Some(128)),
        ),
        ("pcap", whole(file("run.pcap"), None)),
        ("pcapng to /dev/null", whole(nowhere.to_owned(), None)),
        ("qlog", qlog),
    ];
    for (name, plan) in cases {
        if plan
            .packets
            .as_ref()
            .is_some_and(|plan| plan.path == nowhere)
            && !nowhere.exists()
        {
            continue;
        }
        let start = Instant::now();
        let mut recording = Recording::create(&plan, &scenario, 1)?;
        simulate_watched(&scenario, 1, &Options::default(), &mut recording)?;
        let packets = recording.finish()?;
        let seconds = start.elapsed().as_secs_f64();
        let path = plan.packets.map(|plan| plan.path).or(plan.qlog);
        let mb = path
            .and_then(|path| fs::metadata(path).ok())
            .map_or(0, |file| file.len())
            / 1_000_000;
        print!("{name:>38} {seconds:6.2} s  {mb:4} MB");
        match packets {
            Some(packets) => println!(
                "  {:6.0} thousand packets/s",
                packets as f64 / seconds / 1e3
            ),
            None => println!(),
        }
    }
    Ok(())
}
