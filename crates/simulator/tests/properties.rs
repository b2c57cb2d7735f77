//! Random scenarios: everything arrives, and the counters agree.

mod support;

use std::fmt::Write;

use proptest::prelude::*;
use support::run;

prop_compose! {
    fn any_link(index: usize)(
        rate in 1u32..50, delay in 0u32..80, jitter in 0u32..30, reorder in any::<bool>(),
        loss in prop::sample::select(vec![
            "loss = \"0 %\"",
            "loss = \"2 %\"",
            "loss = { model = \"gilbert-elliott\", p = \"1 %\", r = \"30 %\", h = \"20 %\", k = \"99.9 %\" }",
        ]),
        queue in prop::sample::select(vec!["5 packets", "1 bdp", "0.3 bdp", "30 KiB", "1000 packets"]),
        down in prop::option::weighted(0.3, (0u32..3000, 1u32..1500)),
        trace in prop::bool::weighted(0.2),
    ) -> String {
        let mut text = format!("[[link]]\nname = \"l{index}\"\ndelay = \"{delay} ms\"\nqueue = \"{queue}\"\n{loss}\n");
        let jitter = jitter.min(delay);
        writeln!(text, "jitter = {{ amount = \"{jitter} ms\", reorder = {reorder} }}").unwrap();
        if trace {
            text += "trace = \"trace\"\n";
        } else {
            writeln!(text, "rate = \"{rate} Mbit/s\"").unwrap();
        }
        if let Some((start, len)) = down {
            writeln!(text, "down = [[\"{start} ms\", \"{} ms\"]]", start + len).unwrap();
        }
        text
    }
}

prop_compose! {
    fn any_links()(count in 1usize..4)(
        links in (0..count).map(any_link).collect::<Vec<_>>()
    ) -> Vec<String> {
        links
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn transfer_completes_and_counters_agree(
        links in any_links(),
        protocol in prop::sample::select(vec!["tcp", "mptcp", "striped-tcp", "aggregation"]),
        profile in prop::sample::select(vec!["linux", "ns-3", "rfc"]),
        scheduler in prop::sample::select(vec![
            "linux", "min-rtt", "round-robin", "weighted", "observed-throughput", "redundant", "blest", "ecf",
            "earliest-arrival",
        ]),
        congestion in prop::sample::select(vec!["newreno", "cubic", "lia", "olia", "balia", "fully-coupled"]),
        buffer in prop::sample::select(vec!["20 KiB", "200 KiB", "4 MiB"]),
        sack in any::<bool>(),
        per_path in 1u32..3,
        seed in 0u64..1000,
    ) {
        let fits = match protocol {
            "striped-tcp" => ["round-robin", "weighted"].contains(&scheduler),
            "aggregation" => scheduler != "linux",
            _ => scheduler != "earliest-arrival",
        };
        let scheduler = if fits { scheduler } else { "round-robin" };
        let congestion = if protocol == "mptcp" { congestion } else { "cubic" };
        let mut text = String::from("duration = \"2000 s\"\n");
        for link in &links {
            text += link;
        }
        writeln!(
            text,
            "[transport]\nprotocol = \"{protocol}\"\nprofile = \"{profile}\"\nscheduler = \"{scheduler}\"\n\
             congestion = \"{congestion}\"\nreceive_buffer = \"{buffer}\"\nsack = {sack}\n"
        ).unwrap();
        if protocol == "mptcp" {
            writeln!(text, "subflows_per_path = {per_path}\n").unwrap();
        }
        if protocol == "tcp" {
            text += "paths = [\"l0\"]\n";
        }
        text += "[traffic]\nsize = \"300 kB\"\n";
        let summary = run(&text, seed).summary;
        prop_assert_eq!(summary.delivered_bytes, 300_000, "{}", text);
        prop_assert!(summary.completion_s.is_some());
        for link in &summary.links {
            prop_assert!(link.lost_packets <= link.sent_packets);
            if let Some(utilization) = link.utilization {
                prop_assert!((0.0..=1.0 + 1e-9).contains(&utilization), "{} in {}", utilization, text);
            }
        }
        let sent: u64 = summary.subflows.iter().map(|subflow| subflow.segments_sent).sum();
        let again: u64 = summary.subflows.iter().map(|subflow| subflow.retransmissions).sum();
        prop_assert!(again <= sent);
        let shares: f64 = summary.subflows.iter().map(|subflow| subflow.share).sum();
        prop_assert!((shares - 1.0).abs() < 1e-9, "{} in all", shares);
        prop_assert_eq!(summary.stats.data_packets, sent);
        prop_assert!(summary.reordering.out_of_order_ratio <= 1.0);
    }
}
