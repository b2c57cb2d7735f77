//! Replays the corpus of the fuzz target that plays a tunnel's peer.

use std::fmt::Write;
use std::fs;
use std::path::Path;

#[path = "../../../../tests/fuzz/properties/tunnel.rs"]
mod tunnel;

/// Results of each file: datagrams taken, packets in them, packets delivered, malformed frames. Files that
/// fuzzing has found (`found_...`) are not listed.
const EXPECTED: &str = "\
before_the_first 6 4 0 10
clock_jumps 4 4 4 0
empty 0 0 0 0
empty_packets 1 3 2 0
far_ahead 3 3 3 0
feedback_back_and_forth 2 0 0 0
feedback_delay_huge 1 0 0 0
feedback_of_nothing 1 0 0 0
feedback_too_much 1 0 0 0
feedback_true 3 0 0 0
header_cut 0 0 0 1
in_order 8 8 8 0
last_packet 1 1 1 0
link_64 0 0 0 1
link_falls_silent 3 3 1 0
many_lanes_far_ahead 60 60 0 0
no_clock 0 0 0 1
packet_head_cut 1 0 0 1
packet_past_end 1 0 0 1
padding 1 0 0 0
ping_pong_close 1 0 0 0
reordered_links 8 8 8 0
replay_window_slides 4 4 2 0
replayed 1 1 1 0
same_place_twice 11 8 2 176
sequence_beyond_56_bits 0 0 0 1
unknown_frame 1 0 0 1
";

#[test]
fn corpus_of_tunnel_peer_replays_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/tunnel");
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut said = String::new();
    for file in files {
        let tally = tunnel::check(&fs::read(&file).unwrap());
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if name.starts_with("found_") {
            continue;
        }
        let (datagrams, packets) = (tally.datagrams, tally.packets);
        let (delivered, malformed) = (tally.delivered, tally.malformed);
        writeln!(said, "{name} {datagrams} {packets} {delivered} {malformed}").unwrap();
    }
    assert_eq!(said, EXPECTED, "{said}");
}
