//! Records of a flow: capacity of its links, undone losses, and its packets as an observer sees them.

mod support;

use ropewalk_network::DropReason;
use ropewalk_network::radio::{CapturePoint, RecordedFrame};
use ropewalk_quantities::Time;
use ropewalk_simulator::{
    EndpointEvent, FlowInfo, ObservedPacket, Observer, Options, Timeline, simulate,
    simulate_watched,
};
use ropewalk_transport::Flags;
use support::{run, scenario};

/// The first link is down in the second second.
const TWO_LINKS: &str = r#"
    duration = "2 s"
    [[link]]
    name = "a"
    rate = "20 Mbit/s"
    delay = "10 ms"
    down = [["1 s", "2 s"]]
    [[link]]
    name = "b"
    rate = "10 Mbit/s"
    delay = "30 ms"
    [transport]
    protocol = "mptcp"
"#;

fn timeline(text: &str) -> Timeline {
    let options = Options {
        timeline_step: Some(Time::from_millis(500)),
        ..Options::default()
    };
    let outcome = simulate(&scenario(text), 1, &options).expect("a run");
    outcome.timeline.expect("a step was asked for")
}

#[test]
fn the_capacity_of_a_step_is_that_of_its_links_less_their_outages() {
    let capacity = timeline(TWO_LINKS).connection.capacity_mbps;
    assert_eq!(capacity, [30.0, 30.0, 10.0, 10.0]);
    // A packet of 1500 bytes per millisecond.
    let traced = TWO_LINKS.replace(r#"rate = "10 Mbit/s""#, r#"trace = "trace""#);
    let capacity = timeline(&traced).connection.capacity_mbps;
    assert_eq!(capacity, [32.0, 32.0, 12.0, 12.0]);
}

#[test]
fn there_is_no_capacity_where_a_link_has_no_rate_or_two_paths_share_one() {
    let unlimited = TWO_LINKS.replace("10 Mbit/s", "unlimited");
    let shared = TWO_LINKS.replace(
        "[transport]",
        "[[path]]\nname = \"one\"\nhops = [\"a\"]\n[[path]]\nname = \"two\"\nhops = [\"b\", \"a\"]\n[transport]",
    );
    for text in [unlimited, shared] {
        let capacity = timeline(&text).connection.capacity_mbps;
        assert!(capacity.iter().all(|mbps| mbps.is_nan()), "{capacity:?}");
    }
}

#[test]
fn undone_losses_are_reported_with_reordering_response() {
    let with = |transport: &str| TWO_LINKS.replace(r#"protocol = "mptcp""#, transport);
    for (transport, told) in [
        (r#"protocol = "mptcp""#, true),
        (r#"protocol = "tcp""#, true),
        ("protocol = \"tcp\"\nreordering = \"none\"", false),
    ] {
        let subflows = run(&with(transport), 1).summary.subflows;
        assert!(!subflows.is_empty(), "{transport}");
        let undone = subflows.iter().all(|subflow| subflow.undone.is_some());
        assert_eq!(undone, told, "{transport}");
        let steps = timeline(&with(transport));
        let rows = if told {
            steps.subflows.subflow.len()
        } else {
            0
        };
        assert_eq!(steps.undone.len(), rows, "{transport}");
    }
}

/// The timer retransmits the data that the tunnel delivers when the links are up again. The window is
/// smaller than the tunnel's queue, so nothing else is lost.
#[test]
fn tunnel_duplicates_count_as_spurious() {
    let text = TWO_LINKS
        .replace(r#"duration = "2 s""#, r#"duration = "8 s""#)
        .replace(r#"down = [["1 s", "2 s"]]"#, "")
        .replace(
            "delay =",
            "down = [[\"2 s\", \"3 s\"], [\"5 s\", \"6 s\"]]\n    delay =",
        )
        .replace(
            r#"protocol = "mptcp""#,
            "protocol = \"striped-tcp\"\n    device = \"tunnel\"\n    receive_buffer = \"96 KiB\"",
        );
    let subflow = &run(&text, 1).summary.subflows[0];
    assert!(subflow.timeouts >= 2, "{subflow:?}");
    assert!(subflow.retransmissions >= 2, "{subflow:?}");
    assert_eq!(subflow.spurious_retransmissions, subflow.retransmissions);
}

/// For each packet offered to its first hop: its time, whether it goes to the client, whether it has data,
/// and its flags.
#[derive(Debug, Default)]
struct Offered(Vec<(Time, bool, bool, Flags)>);

impl Observer for Offered {
    type Tag = ();
    const ENABLED: bool = true;

    fn should_stop(&self) -> bool {
        false
    }
    fn flow(&mut self, _: usize, _: &FlowInfo<'_>) {}
    fn enters(&mut self, at: &ObservedPacket<'_>, (): &mut ()) {
        if at.first_hop {
            let has_data = at.segment.len > 0;
            self.0
                .push((at.time, at.reverse, has_data, at.segment.flags));
        }
    }
    fn dropped(&mut self, _: &ObservedPacket<'_>, (): (), _: DropReason) {}
    fn leaves(&mut self, _: &ObservedPacket<'_>, (): &mut ()) {}
    fn arrives(&mut self, _: &ObservedPacket<'_>, (): (), _: bool) {}
    fn capture_points(&self) -> Vec<(usize, CapturePoint)> {
        Vec::new()
    }
    fn frame_recorded(
        &mut self,
        _: usize,
        _: &RecordedFrame<()>,
        _: Option<(ObservedPacket<'_>, ())>,
    ) {
    }
    fn event(&mut self, _: &EndpointEvent) {}
}

fn offered(profile: &str, link: &str, duration: &str) -> Offered {
    let text = format!(
        r#"
        duration = "{duration}"
        [[link]]
        name = "a"
        rate = "1 Mbit/s"
        delay = "10 ms"
        {link}
        [transport]
        profile = "{profile}"
        "#
    );
    let mut offered = Offered::default();
    simulate_watched(&scenario(&text), 1, &Options::default(), &mut offered).expect("a run");
    offered
}

#[test]
fn data_flow_to_server_and_acks_to_client() {
    for profile in ["rfc", "linux", "ns-3"] {
        let Offered(packets) = offered(profile, "", "1 s");
        let data = packets.iter().filter(|(_, _, has_data, _)| *has_data);
        assert!(data.clone().count() > 50, "{profile}");
        for (_, to_client, has_data, flags) in &packets {
            assert!(!(to_client & has_data), "{profile}");
            let acknowledges = flags.contains(Flags::ACK) || !to_client;
            assert!(acknowledges, "{profile}: {flags:?}");
        }
        let back = packets.iter().filter(|(_, to_client, _, _)| *to_client);
        assert!(back.count() > 20, "{profile}");
    }
}

/// RFC 6298, section 5.5.
#[test]
fn unanswered_syn_is_retransmitted_after_1_2_and_4_s() {
    for profile in ["rfc", "linux"] {
        let down = r#"down = [["0 s", "30 s"]]"#;
        let Offered(packets) = offered(profile, down, "16 s");
        let syns = packets
            .iter()
            .filter(|(_, _, _, flags)| flags.contains(Flags::SYN));
        let times: Vec<u64> = syns.map(|(at, ..)| at.as_nanos() / 1_000_000_000).collect();
        assert_eq!(times, [0, 1, 3, 7, 15], "{profile}");
    }
}
