//! Middleboxes that remove MPTCP options: the connection falls back to TCP, and its results say so.

mod support;

use ropewalk_simulator::Summary;
use support::run;

/// A download over two links, with a middlebox of this kind on one of them.
fn over(first: &str, strips: Option<(&str, &str)>, protocol: &str) -> Summary {
    let mut text = String::from("duration = \"20 s\"\n");
    for (name, rate, delay) in [("dsl", 8, 20), ("cable", 20, 5)] {
        text += &format!("[[link]]\nname = \"{name}\"\nrate = \"{rate} Mbit/s\"\n");
        text += &format!("delay = \"{delay} ms\"\n");
        if let Some((_, kind)) = strips.filter(|(link, _)| *link == name) {
            text += &format!("strips_mptcp = \"{kind}\"\n");
        }
    }
    let second = if first == "dsl" { "cable" } else { "dsl" };
    let paths = match protocol {
        "tcp" => format!("\"{first}\""),
        _ => format!("\"{first}\", \"{second}\""),
    };
    text += &format!("[transport]\nprotocol = \"{protocol}\"\npaths = [{paths}]\n");
    text += "[traffic]\nsize = \"5 MB\"\n";
    run(&text, 1).summary
}

#[test]
fn middlebox_on_the_first_path_leaves_tcp_on_it() {
    for kind in ["all", "after-syn"] {
        let summary = over("dsl", Some(("dsl", kind)), "mptcp");
        assert!(summary.fell_back);
        assert!(summary.warnings[0].contains("MPTCP fell back to TCP on path dsl alone"));
        assert_eq!(summary.delivered_bytes, 5_000_000);
        assert_eq!(summary.subflows[1].segments_sent, 0);
        // The connection is as fast as TCP on that link; only the lengths of their segments differ.
        let tcp = over("dsl", None, "tcp").goodput_mbps;
        let ratio = summary.goodput_mbps / tcp;
        assert!((0.97..1.03).contains(&ratio), "{kind}: {ratio}");
    }
}

#[test]
fn middlebox_on_another_path_leaves_mptcp_on_the_first() {
    for kind in ["all", "after-syn"] {
        let summary = over("cable", Some(("dsl", kind)), "mptcp");
        assert!(!summary.fell_back);
        assert_eq!(summary.delivered_bytes, 5_000_000);
        assert_eq!(summary.subflows[1].segments_sent, 0);
    }
}

#[test]
fn connection_without_a_middlebox_or_without_mptcp_has_not_fallen_back() {
    for (strips, protocol) in [
        (None, "mptcp"),
        (Some(("dsl", "all")), "tcp"),
        (Some(("dsl", "all")), "aggregation"),
    ] {
        let summary = over("dsl", strips, protocol);
        assert!(!summary.fell_back && summary.warnings.is_empty());
        assert_eq!(summary.delivered_bytes, 5_000_000);
    }
}
