//! Profile mptcp-ns3 over wired links in place of alheid-2016's radios, compared with its tables III and IV
//! and its text.
//!
//! A link has the rate of one of the paper's TCP connections over its radio (15, 1.65 and 4.9 Mbit/s for
//! 54, 2 and 6 Mbit/s), 12 or 12.1 ms one way, and a queue of 400 packets.

mod support;

use ropewalk_simulator::Summary;
use support::run;

/// Order of the paper: Co-CC, Un-CC, FC-CC.
const COUPLINGS: [&str; 3] = ["lia", "uncoupled", "fully-coupled"];
/// alheid-2016's scenarios.
const S1: [f64; 2] = [15.0, 15.0];
const S2: [f64; 2] = [1.65, 1.65];
const S3: [f64; 2] = [15.0, 1.65];
const S4: [f64; 2] = [4.9, 1.65];

fn text(mbps: [f64; 2], policy: &str, coupling: &str) -> String {
    let [first, second] = mbps;
    format!(
        r#"
        duration = "50 s"

        [[link]]
        name = "first"
        rate = "{first} Mbit/s"
        delay = "12 ms"
        queue = "400 packets"

        [[link]]
        name = "second"
        rate = "{second} Mbit/s"
        delay = "12.1 ms"
        queue = "400 packets"

        [transport]
        profile = "mptcp-ns3"
        reordering = "{policy}"
        congestion = "{coupling}"
        segment = "1400 B"
        "#
    )
}

/// Scenario, and the paper's results for each coupling: percent and packets.
type Row = ([f64; 2], [(f64, f64); 3]);

/// Runs of the three couplings.
fn runs(mbps: [f64; 2], policy: &str) -> [Summary; 3] {
    COUPLINGS.map(|coupling| run(&text(mbps, policy, coupling), 1).summary)
}

fn goodputs(mbps: [f64; 2], policy: &str) -> [f64; 3] {
    runs(mbps, policy).map(|of| of.goodput_mbps)
}

#[test]
fn without_reordering_response_tables_3_and_4_match() {
    // Out of order in percent, buffer in packets (table IV's KB / 1.367), each as published.
    let published: [Row; 4] = [
        (S1, [(1.3, 4.0), (1.8, 5.0), (1.3, 4.0)]),
        (S2, [(4.5, 7.0), (5.7, 8.0), (4.3, 7.0)]),
        (S3, [(3.9, 8.0), (5.4, 8.0), (3.8, 8.0)]),
        (S4, [(4.0, 6.0), (5.5, 6.0), (3.9, 6.0)]),
    ];
    for (rates, of_couplings) in published {
        for (of, (percent, packets)) in runs(rates, "none").iter().zip(of_couplings) {
            let measured = of.mptcp_ns3.expect("that is its profile");
            let ours = measured.out_of_order_percent;
            assert!((ours - percent).abs() <= 2.0, "{rates:?}: {ours} %");
            let ours = measured.buffer_max_segments as f64;
            assert!((ours - packets).abs() <= 4.0, "{rates:?}: {ours} packets");
            assert_eq!(measured.buffer_max_kib, ours * 1400.0 / 1024.0);
            assert_eq!(of.reordering.buffer_max_bytes as f64, ours * 1400.0);
        }
    }
}

#[test]
fn without_reordering_response_only_one_link_is_used() {
    for of in runs(S1, "none") {
        assert!(
            (14.0..15.0).contains(&of.goodput_mbps),
            "{}",
            of.goodput_mbps
        );
    }
    for rates in [S3, S4] {
        for of in runs(rates, "none") {
            assert!(of.goodput_mbps <= 1.7, "{}", of.goodput_mbps);
            assert!(of.subflows[1].goodput_mbps > 1.5, "{:?}", of.subflows);
        }
    }
}

#[test]
fn dsack_keeps_the_fast_link_and_starves_the_slow_one() {
    for of in runs(S3, "dsack") {
        assert!(of.goodput_mbps >= 14.0, "{}", of.goodput_mbps);
        assert!(of.subflows[1].goodput_mbps < 1.2, "{:?}", of.subflows);
    }
    for goodput in goodputs(S4, "dsack") {
        assert!((4.4..=5.8).contains(&goodput), "{goodput}");
    }
}

#[test]
fn tcp_door_uses_both_links_at_the_rate_of_the_slower_one() {
    let none = goodputs(S1, "none");
    for (door, none) in goodputs(S1, "tcp-door").into_iter().zip(none) {
        assert!((1.6..=2.0).contains(&(door / none)), "{door} over {none}");
    }
    for rates in [S3, S4] {
        for goodput in goodputs(rates, "tcp-door") {
            assert!((2.8..=3.6).contains(&goodput), "{goodput}");
        }
    }
    // Table III and table IV.
    let published = [(57.9, 83.0), (56.6, 122.0), (57.4, 96.0)];
    for (of, (percent, packets)) in runs(S3, "tcp-door").iter().zip(published) {
        let measured = of.mptcp_ns3.expect("that is its profile");
        assert!((measured.out_of_order_percent - percent).abs() <= 10.0);
        let ratio = measured.buffer_max_segments as f64 / packets;
        assert!((0.75..=1.25).contains(&ratio), "{ratio}");
    }
}

#[test]
fn window_allowance_is_not_delivery() {
    for (policy, most) in [("none", 1.1), ("tcp-door", 1.1), ("f-rto", 5.0)] {
        for of in runs(S3, policy) {
            let measured = of.mptcp_ns3.expect("that is its profile");
            let over = measured.gthroughput_mbps.expect("it ran") / of.goodput_mbps;
            assert!(over > 1.0 && over < most, "{policy}: {over}");
        }
    }
}

#[test]
fn finite_transfer_completes_with_losses() {
    for policy in ["none", "dsack", "eifel", "f-rto", "tcp-door"] {
        let text = text(S4, policy, "linked-increases")
            .replace(
                "12 ms\"",
                "12 ms\"\nloss = \"3 %\"\nreverse = { loss = \"3 %\" }",
            )
            .replace("50 s", "1000 s");
        let text = format!("{text}\n[traffic]\nsize = \"1 MB\"");
        let summary = run(&text, 3).summary;
        assert_eq!(summary.delivered_bytes, 1_000_000, "{policy}");
        assert!(summary.completion_s.is_some(), "{policy}");
        assert!(summary.subflows[0].retransmissions > 0, "{policy}");
        assert_eq!(summary, run(&text, 3).summary, "{policy}");
    }
}

#[test]
fn messages_arrive_after_the_links_delay() {
    let text = text(S1, "none", "uncoupled");
    let text =
        format!("{text}\n[traffic]\nkind = \"cbr\"\nrate = \"0.1 Mbit/s\"\nmessage = \"500 B\"");
    let summary = run(&text, 1).summary;
    let delay = summary.delay_ms.expect("something arrived");
    assert!((12.3..12.6).contains(&delay.p50), "{delay:?}");
    assert!((summary.goodput_mbps - 0.1).abs() < 0.001);
}

#[test]
fn mptcp_ns3_runs_over_radios() {
    let text = r#"
        duration = "5 s"
        [wifi]
        standard = "802.11g"
        [[channel]]
        name = "upper"
        [[channel]]
        name = "lower"
        [[node]]
        name = "mobile"
        at = ["0 m", "0 m"]
        radios = ["upper", "lower"]
        [[node]]
        name = "point"
        at = ["10 m", "0 m"]
        radios = ["upper", "lower"]
        [[link]]
        name = "one"
        channel = "upper"
        from = "mobile"
        to = "point"
        [[link]]
        name = "two"
        channel = "lower"
        from = "mobile"
        to = "point"
        [transport]
        profile = "mptcp-ns3"
        reordering = "tcp-door"
        segment = "1400 B"
    "#;
    let summary = run(text, 1).summary;
    assert!(summary.goodput_mbps > 1.0, "{}", summary.goodput_mbps);
    assert_eq!(summary.radios.len(), 4);
}

/// Returns the completion time over a link of 15 Mbit/s and 12 ms, with changed keys.
fn completion_s(bytes: u64, link: &str) -> f64 {
    let text = format!(
        r#"
        duration = "20 s"

        [[link]]
        name = "only"
        rate = "15 Mbit/s"
        delay = "12 ms"
        {link}

        [transport]
        profile = "mptcp-ns3"
        segment = "1400 B"

        [traffic]
        size = "{bytes} B"
        "#
    );
    run(&text, 1).summary.completion_s.expect("it is over")
}

/// RFC 6298: after one second, and then two.
#[test]
fn unanswered_syn_backs_off() {
    let opens_at = |down: &str| {
        let down = format!(r#"down = [["0 s", "{down}"]]"#);
        completion_s(1400, &down).floor()
    };
    assert_eq!(["0.5 s", "1.5 s", "3.5 s"].map(opens_at), [1.0, 3.0, 7.0]);
}

/// The module has no headers; they are as long as RFC 8684's for the same content: 20 bytes of IPv4, 20 of
/// TCP, 12 of timestamps, and 12 of an acknowledgement of 64 bits.
#[test]
fn ack_has_64_bytes_and_syn_ack_52() {
    let slow_back = r#"reverse = { rate = "8 kbit/s" }"#;
    let [one, two] = [1400, 2800].map(|bytes| completion_s(bytes, slow_back));
    let [fast_one, fast_two] = [1400, 2800].map(|bytes| completion_s(bytes, ""));
    // A window of one segment: the second waits for the ACK of the first.
    let milliseconds = |s: f64| (1000.0 * s).round();
    assert_eq!(milliseconds(one - fast_one), 52.0);
    assert_eq!(milliseconds(two - fast_two), 52.0 + 64.0);
}

/// Runs a transfer over links of 50 and 1 ms; the second subflow opens after its own handshake, which follows
/// an exchange of addresses on the first: after 202 ms.
fn over_unequal_delays(bytes: u64, waits: bool) -> Summary {
    let text = format!(
        r#"
        duration = "20 s"

        [[link]]
        name = "first"
        rate = "100 Mbit/s"
        delay = "50 ms"

        [[link]]
        name = "second"
        rate = "100 Mbit/s"
        delay = "1 ms"

        [transport]
        profile = "mptcp-ns3"
        segment = "1400 B"
        wait_for_subflows = {waits}

        [traffic]
        size = "{bytes} B"
        "#
    );
    run(&text, 1).summary
}

#[test]
fn without_waiting_data_begin_on_the_first_subflow() {
    let one = over_unequal_delays(1400, false);
    let completion = one.completion_s.expect("it is over");
    assert!((0.15..0.151).contains(&completion), "{completion}");
    assert_eq!(one.subflows[1].segments_sent, 0);
    let six = over_unequal_delays(6 * 1400, false);
    assert!(six.subflows[1].segments_sent > 0, "{:?}", six.subflows);
}

#[test]
fn data_wait_for_all_subflows() {
    let two = over_unequal_delays(2 * 1400, true);
    let completion = two.completion_s.expect("it is over");
    assert!((0.252..0.253).contains(&completion), "{completion}");
    assert_eq!([0, 1].map(|of| two.subflows[of].segments_sent), [1, 1]);
}
