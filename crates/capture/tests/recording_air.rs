//! Frames of whole runs over 802.11 channels, read back.

use std::fs::File;
use std::path::Path;

use pcap_file::pcapng::{Block, PcapNgReader};
use ropewalk_capture::{ObservationPoint, PacketPlan, Plan, Recording};
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, Outcome, simulate, simulate_watched};
use ropewalk_wire::wifi::{MacFrame, Radiotap, fcs_is_right};
use ropewalk_wire::{Packet, Transport};

/// TCP over two hops of a channel with mutually hidden ends, and one hop of another channel.
const CHAIN: &str = r#"
duration = "2 s"
[wifi]
standard = "802.11b"
rate = "11 Mbit/s"
rts = "500 B"
[[channel]]
name = "one"
propagation = { model = "range", range = "25 m" }
[[channel]]
name = "two"
propagation = { model = "range", range = "25 m" }
[[node]]
name = "A"
at = ["0 m", "0 m"]
radios = ["one"]
[[node]]
name = "B"
at = ["20 m", "0 m"]
radios = ["one"]
[[node]]
name = "C"
at = ["40 m", "0 m"]
radios = ["one", "two"]
[[node]]
name = "D"
at = ["60 m", "0 m"]
radios = ["two"]
[[link]]
name = "A-B"
channel = "one"
from = "A"
to = "B"
loss = "10 %"
[[link]]
name = "B-C"
channel = "one"
from = "B"
to = "C"
[[link]]
name = "C-D"
channel = "two"
from = "C"
to = "D"
[[path]]
name = "chain"
hops = ["A-B", "B-C", "C-D"]
"#;

fn scenario() -> Scenario {
    let mut no_files = |_: &str| Err("no files here".to_owned());
    Scenario::parse(CHAIN, "chain.toml", &[], &mut no_files).expect("a right scenario")
}

fn read(path: &Path) -> Vec<(u32, Vec<u8>)> {
    let mut reader = PcapNgReader::new(File::open(path).expect("the capture")).expect("pcapng");
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            frames.push((packet.interface_id, packet.data.to_vec()));
        }
    }
    frames
}

fn capture(place: &str) -> (Outcome, Vec<(u32, Vec<u8>)>) {
    let scenario = scenario();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.pcapng");
    let plan = Plan {
        packets: Some(PacketPlan {
            path: path.clone(),
            place: ObservationPoint::parse(place, &scenario).expect("a place"),
            snaplen: None,
        }),
        qlog: None,
    };
    let mut recording = Recording::create(&plan, &scenario, 1).expect("a new file");
    let outcome = simulate_watched(&scenario, 1, &Options::default(), &mut recording);
    let count = recording.finish().expect("a file");
    let frames = read(&path);
    assert_eq!(count, Some(frames.len() as u64));
    (outcome.expect("what the simulator has"), frames)
}

/// Check sequence is right, retry flag, and the packet of a data frame.
fn parse(bytes: &[u8]) -> (bool, bool, Option<&[u8]>) {
    let (radiotap, frame) = Radiotap::parse(bytes).expect("radiotap");
    let intact = fcs_is_right(frame);
    assert_eq!(radiotap.bad_fcs, !intact);
    match MacFrame::parse(&frame[..frame.len() - 4]).expect("a frame") {
        MacFrame::Data { retry, packet, .. } => (intact, retry, Some(packet)),
        _ => (intact, false, None),
    }
}

#[test]
fn channel_capture_matches_counters() {
    let (outcome, frames) = capture("channel/one");
    let plain = simulate(&scenario(), 1, &Options::default()).expect("a run");
    assert_eq!(outcome.summary, plain.summary, "watching changes nothing");
    let (mut data, mut retries, mut errors) = (0, 0, 0);
    for (interface, bytes) in &frames {
        assert_eq!(*interface, 0);
        let (intact, retry, packet) = parse(bytes);
        errors += u64::from(!intact);
        if let Some(packet) = packet {
            data += 1;
            retries += u64::from(retry);
            let packet = Packet::parse(packet).expect("an IP packet");
            assert!(matches!(packet.transport, Transport::Tcp(_)));
            assert!(packet.checksums_are_right());
        }
    }
    let summary = &outcome.summary;
    let radios = summary.radios.iter().filter(|radio| radio.channel == "one");
    let (sent, again) = radios.fold((0, 0), |(sent, again), radio| {
        (sent + radio.frames, again + radio.retries)
    });
    assert_eq!((data, retries), (sent, again));
    assert!(retries > 20 && errors > 20 && frames.len() > 2 * data as usize);
}

#[test]
fn node_capture_excludes_far_radios() {
    let (_, frames) = capture("node/C");
    let on = |number: u32| {
        frames
            .iter()
            .filter(move |(interface, _)| *interface == number)
    };
    assert!(on(0).count() > 100 && on(1).count() > 100);
    let far = [0x02, 0, 0, 0, 0, 0];
    for (_, bytes) in on(0) {
        let (_, frame) = Radiotap::parse(bytes).expect("radiotap");
        if let MacFrame::Data { transmitter, .. } | MacFrame::Rts { transmitter, .. } =
            MacFrame::parse(&frame[..frame.len() - 4]).expect("a frame")
        {
            assert_ne!(transmitter, far);
        }
    }
}

#[test]
fn unknown_channel_error_lists_names() {
    let error = ObservationPoint::parse("channel/three", &scenario()).expect_err("no such channel");
    let told = error.to_string();
    assert!(told.contains("channel/one, channel/two, node/A"), "{told}");
}
