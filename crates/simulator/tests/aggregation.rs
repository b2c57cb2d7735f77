//! Bandwidth aggregation over several TCP connections.

mod support;

use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, Summary, simulate};
use support::{run, scenario};

fn link(name: &str, rate: &str, more: &str) -> String {
    format!(
        "[[link]]\nname = \"{name}\"\nrate = \"{rate}\"\ndelay = \"10 ms\"\nqueue = \"50 packets\"\n{more}\n"
    )
}

fn summary(links: &[String], transport: &str, rest: &str) -> Summary {
    let links = links.concat();
    let text =
        format!("duration = \"30 s\"\nwarmup = \"5 s\"\n{links}[transport]\n{transport}\n{rest}");
    run(&text, 1).summary
}

const BAS: &str = "protocol = \"aggregation\"";

#[test]
fn aggregation_over_one_link_equals_tcp_without_headers() {
    let link = [link("link", "10 Mbit/s", "")];
    let tcp = summary(&link, "protocol = \"tcp\"", "").goodput_mbps;
    for (packet, len) in [("2 KiB", 2048.0), ("8 KiB", 8192.0)] {
        let transport = format!("{BAS}\npacket = \"{packet}\"");
        let bas = summary(&link, &transport, "").goodput_mbps;
        // At most the header of each frame is lost, and at least as if frames never shared a segment,
        // except for 1 % in which the carrier is drained or repairs a loss.
        let most = len / (len + 16.0);
        let segments = ((len + 16.0) / 1448.0_f64).ceil();
        let least = 0.99 * len / (len + 16.0 + 52.0 * segments) / (1448.0 / 1500.0);
        assert!(
            (least..1.001 * most).contains(&(bas / tcp)),
            "{packet}: {bas} of {tcp}"
        );
    }
    // Frames of 5 ms: 6 kB, the last segment of each partly filled.
    let bas = summary(&link, BAS, "").goodput_mbps;
    assert!((0.985..1.0).contains(&(bas / tcp)), "{bas} of {tcp}");
}

/// elahi-2011, section 2: a header of 8 bytes is 0.4 % of a packet of 2 KB.
#[test]
fn a_header_costs_its_length_on_the_link() {
    let link = [link("link", "10 Mbit/s", "")];
    let goodput = |header: &str| {
        let transport = format!("{BAS}\npacket = \"2 KiB\"\n{header}");
        summary(&link, &transport, "").goodput_mbps
    };
    let usual = goodput("");
    assert_eq!(goodput("header = \"16 B\""), usual);
    for bytes in [8.0, 100.0, 500.0] {
        let ratio = goodput(&format!("header = \"{bytes} B\"")) / usual;
        // Between frames that share segments and frames of two segments, each with 52 bytes of headers.
        let with = |headers: f64| (2048.0 + 16.0 + headers) / (2048.0 + bytes + headers);
        let (one, other) = (with(0.0), with(2.0 * 52.0));
        let (least, most) = (one.min(other) * 0.999, one.max(other) * 1.001);
        assert!(
            (least..most).contains(&ratio),
            "{bytes} B: {ratio}, {least} to {most}"
        );
    }
}

/// A timer in the past fires at once; time does not go back (which the run itself asserts).
#[test]
fn overdue_timer_fires_at_once() {
    let text = r#"
        duration = "2 s"
        [[link]]
        name = "even"
        rate = "18 Mbit/s"
        delay = "10 ms"
        queue = "59 packets"
        [[link]]
        name = "jittery"
        rate = "46 Mbit/s"
        delay = "20 ms"
        queue = "62 packets"
        loss = "3 %"
        jitter = { amount = "8 ms", reorder = true }
        [[link]]
        name = "lossy"
        rate = "26 Mbit/s"
        delay = "7 ms"
        queue = "71 packets"
        loss = "3 %"
        [transport]
        protocol = "aggregation"
        sack = false
        delayed_ack = 1
    "#;
    assert!(run(text, 106).summary.goodput_mbps > 0.0);
}

#[test]
fn aggregation_over_unequal_links_reaches_their_sum() {
    let links = [("a", "5 Mbit/s"), ("b", "3 Mbit/s"), ("c", "2 Mbit/s")];
    let links = links.map(|(name, rate)| link(name, rate, ""));
    let all = 10.0 * 1448.0 / 1500.0 * 2048.0 / 2064.0;
    for scheduler in [
        "earliest-arrival",
        "observed-throughput",
        "round-robin",
        "weighted",
        "min-rtt",
        "blest",
        "ecf",
    ] {
        let transport = format!("{BAS}\nscheduler = \"{scheduler}\"\npacket = \"2 KiB\"");
        let summary = summary(&links, &transport, "");
        let goodput = summary.goodput_mbps;
        assert!(
            (goodput / all - 1.0).abs() < 0.02,
            "{scheduler}: {goodput} of {all}"
        );
        let shares: f64 = summary
            .subflows
            .iter()
            .map(|subflow| subflow.goodput_mbps)
            .sum();
        assert!(
            (shares / goodput - 1.0).abs() < 0.01,
            "{scheduler}: {shares}, {goodput}"
        );
        let names: Vec<&str> = summary
            .subflows
            .iter()
            .map(|subflow| subflow.link.as_str())
            .collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}

#[test]
fn a_finite_transfer_delivers_every_byte() {
    let links = ["8 Mbit/s", "1 Mbit/s"].map(|rate| link(&rate[..1], rate, "loss = \"1 %\""));
    for size in [1, 2048, 2049, 1_000_000] {
        let traffic = format!("[traffic]\nsize = \"{size} B\"");
        let text = format!(
            "duration = \"600 s\"\n{}[transport]\n{BAS}\n{traffic}",
            links.concat()
        );
        for seed in 1..4 {
            let summary = run(&text, seed).summary;
            assert_eq!(summary.delivered_bytes, size);
            assert!(summary.completion_s.is_some(), "{size} B, seed {seed}");
        }
    }
}

#[test]
fn loss_on_one_link_leaves_the_other_alone() {
    let links = [
        link("clean", "5 Mbit/s", ""),
        link("lossy", "5 Mbit/s", "loss = \"3 %\""),
    ];
    let summary = summary(&links, BAS, "");
    let [clean, lossy] = summary.subflows.as_slice() else {
        panic!("{:?}", summary.subflows);
    };
    assert!(
        clean.goodput_mbps > 0.85 * 5.0 * 1448.0 / 1500.0,
        "{clean:?}"
    );
    assert!(lossy.retransmissions > 10, "{lossy:?}");
    assert!(
        summary.goodput_mbps > 5.0 * 1448.0 / 1500.0 + 0.5,
        "{summary:?}"
    );
    assert!(
        summary.reordering.out_of_order_ratio > 0.1,
        "{:?}",
        summary.reordering
    );
}

#[test]
fn reorder_buffer_stays_within_the_receive_buffer() {
    let links = [
        "[[link]]\nname = \"fast\"\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n".to_owned(),
        "[[link]]\nname = \"slow\"\nrate = \"5 Mbit/s\"\ndelay = \"100 ms\"\n".to_owned(),
    ];
    let of = |buffer: &str| {
        let transport = format!("{BAS}\nreceive_buffer = \"{buffer}\"");
        summary(&links, &transport, "")
    };
    let (small, large) = (of("128 KiB"), of("4 MiB"));
    assert!(small.reordering.buffer_max_bytes <= 128 << 10, "{small:?}");
    assert!(large.reordering.buffer_max_bytes <= 4 << 20, "{large:?}");
    // Too little for the fast link's data while the slow link's is in flight.
    assert!(small.goodput_mbps < large.goodput_mbps - 0.5);
    assert!(large.goodput_mbps > 0.94 * 25.0, "{large:?}");
}

#[test]
fn messages_are_immediate_with_spare_capacity() {
    let links = [link("a", "10 Mbit/s", ""), link("b", "10 Mbit/s", "")];
    let traffic = "[traffic]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nmessage = \"1000 B\"";
    let delay = summary(&links, BAS, traffic)
        .delay_ms
        .expect("something arrived");
    // 10 ms of delay and 1060 bytes at 10 Mbit/s.
    assert!((delay.max - 10.0 - 0.848).abs() < 0.02, "{delay:?}");
}

#[test]
fn backlog_fills_main_buffer_before_application() {
    let link = [link("link", "5 Mbit/s", "")];
    let delay_of = |main_buffer: &str| {
        let transport = format!("{BAS}\nmain_buffer = \"{main_buffer}\"");
        let summary = summary(&link, &transport, "");
        assert!(summary.goodput_mbps > 4.7);
        summary.delay_ms.expect("something arrived").mean
    };
    // The delay of a bulk transfer begins when the main buffer takes the data.
    let packet = 2048.0 * 8.0 / (5e3 * 1448.0 / 1500.0 * 2048.0 / 2056.0);
    let more = delay_of("150 packets") - delay_of("50 packets");
    assert!((more / (100.0 * packet) - 1.0).abs() < 0.02, "{more} ms");
}

#[test]
fn a_competitor_shares_a_link_with_one_of_the_connections() {
    // Half a millisecond changes the losses, and with them the time for which the other link waits: single
    // runs have 9.27 to 9.53.
    let delays = [
        8.0, 8.5, 9.0, 9.5, 10.0, 10.5, 11.0, 11.5, 12.0, 13.0, 14.0, 15.0,
    ];
    let alone = delays.map(|delay| {
        let shared = link("a", "10 Mbit/s", "").replace("10 ms", &format!("{delay} ms"));
        let links = [shared, link("b", "10 Mbit/s", "")];
        let summary = summary(&links, BAS, "[[competitor]]\npath = \"a\"");
        let [a, b] = summary.subflows.as_slice() else {
            panic!("{:?}", summary.subflows);
        };
        let other = summary.competitors[0].goodput_mbps;
        assert!((a.goodput_mbps + other - 9.6).abs() < 0.3, "{a:?}, {other}");
        b.goodput_mbps
    });
    let mean = alone.iter().sum::<f64>() / alone.len() as f64;
    assert!(mean > 9.35, "{alone:?}");
}

#[test]
fn observer_does_not_change_the_run() {
    let links = [
        link("a", "5 Mbit/s", "loss = \"1 %\""),
        link("b", "2 Mbit/s", "loss = \"1 %\""),
    ];
    let traffic = "[traffic]\nkind = \"poisson\"\nrate = \"6 Mbit/s\"\nmessage = \"2048 B\"";
    let text = format!(
        "duration = \"10 s\"\n{}[transport]\n{BAS}\n{traffic}",
        links.concat()
    );
    let options = Options {
        timeline_step: Some(Time::from_millis(100)),
        reordering: true,
    };
    let mut watched = simulate(&scenario(&text), 5, &options).unwrap().summary;
    watched.reordering.metrics = None;
    let plain: Vec<Summary> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| run(&text, 5).summary))
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(plain.iter().all(|summary| *summary == watched));
    assert_ne!(
        run(&text, 6).summary.delivered_bytes,
        watched.delivered_bytes
    );
}
