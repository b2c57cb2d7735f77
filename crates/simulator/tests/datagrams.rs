//! `protocol = "udp"`: datagrams without congestion control.

mod support;

use proptest::prelude::*;
use ropewalk_scenario::Scenario;
use ropewalk_simulator::Summary;
use support::{run, scenario};

fn summary(link: &str, rest: &str) -> Summary {
    let text = format!("duration = \"10 s\"\n[[link]]\nname = \"wan\"\n{link}\n{rest}");
    run(&text, 1).summary
}

const TEN: &str = "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"";

#[test]
fn bulk_fills_the_first_link_and_no_queue() {
    let summary = summary(TEN, "[transport]\nprotocol = \"udp\"");
    // 20 of IPv4, 8 of UDP (RFC 768) before 1472 bytes in each packet of 1500.
    assert!(
        (summary.goodput_mbps - 10.0 * 1472.0 / 1500.0).abs() < 0.01,
        "{}",
        summary.goodput_mbps
    );
    let link = &summary.links[0];
    let utilization = link.utilization.expect("a rate");
    assert!((utilization - 1.0).abs() < 1e-6, "{utilization}");
    assert_eq!((link.dropped_packets, link.lost_packets), (0, 0));
    // Each takes the link's transmission time and delay, without queueing.
    let delay = summary.delay_ms.expect("deliveries");
    assert!(
        (delay.mean - 6.2).abs() < 1e-3 && delay.max < 6.4,
        "{delay:?}"
    );
    assert!(summary.subflows.is_empty() && summary.completion_s.is_none());
    // Datagrams still in flight at the end count as sent.
    let sent = summary.stats.data_packets;
    assert_eq!(sent, link.sent_packets);
    assert!(sent * 1472 - summary.delivered_bytes <= 7 * 1472);
}

#[test]
fn medium_queue_of_one_suffices() {
    let link = format!("{TEN}\nqueue = \"0 packets\"");
    let summary = summary(&link, "[transport]\nprotocol = \"udp\"");
    assert_eq!(summary.links[0].dropped_packets, 0);
    assert!(summary.links[0].utilization.expect("a rate") > 0.9999);
}

#[test]
fn datagrams_of_any_length_fill_a_trace() {
    for segment in [100, 700, 1000, 1472] {
        let transport = format!("[transport]\nprotocol = \"udp\"\nsegment = \"{segment} B\"");
        for queue in ["1 packets", "100 packets"] {
            let link = format!("trace = \"trace\"\nqueue = \"{queue}\"");
            let summary = summary(&link, &transport);
            let link = &summary.links[0];
            assert_eq!(link.dropped_packets, 0, "{segment} {queue}");
            let utilization = link.utilization.expect("a trace");
            // With a queue of one, the rest of an opportunity that one does not fill is lost.
            if queue == "100 packets" {
                assert!(
                    (utilization - 1.0).abs() < 0.002,
                    "{segment}: {utilization}"
                );
            } else {
                let one = f64::from(segment + 28) / 1500.0;
                assert!(utilization > 0.99 * one, "{segment}: {utilization}");
            }
        }
    }
}

#[test]
fn messages_leave_at_their_own_rate() {
    let cbr = |mbps: u32| {
        format!(
            "[transport]\nprotocol = \"udp\"\n[traffic]\nkind = \"cbr\"\nrate = \"{mbps} Mbit/s\"\nmessage = \"1000 B\""
        )
    };
    let below = summary(TEN, &cbr(2));
    assert!(
        (below.goodput_mbps - 2.0).abs() < 0.01,
        "{}",
        below.goodput_mbps
    );
    assert_eq!(below.links[0].dropped_packets, 0);
    // 1028 bytes at 10 Mbit/s, and 5 ms.
    let delay = below.delay_ms.expect("deliveries");
    assert!((delay.mean - 5.8224).abs() < 1e-2, "{delay:?}");

    // Above the link's rate the queue is always full, and dropped datagrams are lost for good.
    let above = summary(TEN, &cbr(20));
    let most = 10.0 * 1000.0 / 1028.0;
    assert!(
        (above.goodput_mbps - most).abs() < 0.02,
        "{}",
        above.goodput_mbps
    );
    let link = &above.links[0];
    let offered = link.sent_packets + link.dropped_packets;
    assert_eq!(offered, above.stats.data_packets);
    assert!((offered as f64 - 25_000.0).abs() < 2.0, "{offered}");
}

#[test]
fn lost_datagrams_are_not_retransmitted() {
    let link = format!("{TEN}\nloss = \"10 %\"");
    let summary = summary(&link, "[transport]\nprotocol = \"udp\"");
    let link = &summary.links[0];
    let lost = link.lost_packets as f64 / link.sent_packets as f64;
    let error = (0.1 * 0.9 / link.sent_packets as f64).sqrt();
    assert!((lost - 0.1).abs() < 4.0 * error, "{lost}");
    let arrived = summary.delivered_bytes / 1472;
    assert!(link.sent_packets - link.lost_packets - arrived <= 6);
}

#[test]
fn a_finite_transfer_ends_when_its_last_datagram_does() {
    let size = "[transport]\nprotocol = \"udp\"\n[traffic]\nsize = \"1 MB\"";
    let whole = summary(TEN, size);
    assert_eq!(whole.delivered_bytes, 1_000_000);
    // 679 full packets and one of 512 bytes and headers.
    let seconds = (679.0 * 1500.0 + 540.0) * 8.0 / 1e7 + 0.005;
    let completion = whole.completion_s.expect("all arrived");
    assert!(
        (completion - seconds).abs() < 1e-6,
        "{completion} {seconds}"
    );
    assert_eq!(whole.duration_s, completion);

    let lossy = summary(&format!("{TEN}\nloss = \"5 %\""), size);
    assert_eq!(lossy.completion_s, None);
    assert!(lossy.duration_s <= seconds && lossy.duration_s > 0.8);
    assert!(lossy.delivered_bytes < 1_000_000);
}

#[test]
fn flow_resumes_after_an_outage() {
    let link = format!("{TEN}\ndown = [[\"2 s\", \"4 s\"]]");
    let summary = summary(&link, "[transport]\nprotocol = \"udp\"");
    let share = summary.goodput_mbps / (10.0 * 1472.0 / 1500.0);
    assert!((share - 0.8).abs() < 0.002, "{share}");
    // Only the datagrams in flight when the outage began.
    assert!(summary.links[0].lost_packets <= 7);
    let gap = summary.longest_gap_s.expect("deliveries");
    assert!((gap - 2.0).abs() < 0.02, "{gap}");
}

#[test]
fn udp_flows_share_links_with_tcp() {
    let flows = r#"
        [[flow]]
        name = "one"
        protocol = "udp"
        [[flow]]
        name = "two"
        protocol = "udp"
        [[competitor]]
        name = "tcp"
    "#;
    let summary = summary(&format!("{TEN}\nqueue = \"50 packets\""), flows);
    let goodput = |name: &str| {
        let flow = summary.flows.iter().find(|flow| flow.name == name);
        flow.expect("a flow").goodput_mbps
    };
    assert!((goodput("one") / goodput("two") - 1.0).abs() < 0.05);
    assert!(goodput("tcp") > 0.1, "{}", goodput("tcp"));
    let total = goodput("one") + goodput("two") + goodput("tcp");
    assert!((9.4..9.9).contains(&total), "{total}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn received_datagrams_are_unique_and_sent(
        loss in 0u32..30, jitter in 0u32..5, kind in prop::sample::select(vec!["bulk", "cbr", "poisson"]),
        rate in 1u32..30, size in prop::option::of(1u32..400), seed in 0u64..100,
    ) {
        let traffic = match (kind, size) {
            ("bulk", Some(kb)) => format!("kind = \"bulk\"\nsize = \"{kb} kB\""),
            ("bulk", None) => "kind = \"bulk\"".to_owned(),
            _ => format!("kind = \"{kind}\"\nrate = \"{rate} Mbit/s\"\nmessage = \"300 B\""),
        };
        let text = format!(
            "duration = \"2 s\"\n[[link]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             loss = \"{loss} %\"\njitter = {{ amount = \"{jitter} ms\", reorder = true }}\n\
             [[link]]\nname = \"b\"\nrate = \"7 Mbit/s\"\ndelay = \"1 ms\"\nqueue = \"5 packets\"\n\
             [[path]]\nname = \"both\"\nhops = [\"a\", \"b\"]\n\
             [transport]\nprotocol = \"udp\"\n[traffic]\n{traffic}\n"
        );
        let parsed: Scenario = scenario(&text);
        prop_assert_eq!(&parsed, &scenario(&parsed.to_toml()));
        let summary = run(&text, seed).summary;
        let [first, second] = &summary.links[..] else { panic!("two links") };
        prop_assert_eq!(first.sent_packets + first.dropped_packets, summary.stats.data_packets);
        let least = if kind == "bulk" { 1 } else { 300 };
        prop_assert!(summary.delivered_bytes >= least * (summary.delivered_bytes > 0) as u64);
        prop_assert!(summary.delivered_bytes <= second.delivered_bytes);
        prop_assert!(second.delivered_bytes <= first.delivered_bytes);
        if let Some(kb) = size.filter(|_| kind == "bulk") {
            prop_assert!(summary.delivered_bytes <= u64::from(kb) * 1000);
            let whole = summary.delivered_bytes == u64::from(kb) * 1000;
            prop_assert_eq!(whole, summary.completion_s.is_some());
        }
    }
}
