//! What is recorded of a flow beside its goodput: what its links could carry, and what its answer to reordering
//! took back.

mod support;

use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, Timeline, simulate};
use support::{run, scenario};

/// The first link is out in the second second.
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

/// In steps of half a second.
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
    // A packet of 1500 bytes a millisecond.
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
fn what_was_undone_is_told_where_there_is_an_answer_to_reordering() {
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

/// The timer sends again what the tunnel brings when the links are back. The window is smaller than the tunnel's
/// queue, so that nothing is lost beside.
#[test]
fn what_a_tunnel_brings_twice_counts_as_retransmitted_in_vain() {
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
