//! Properties of any run.

mod support;

use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, simulate};
use support::{run, scenario};

const LINK: &str = r#"
    [[link]]
    name = "link"
    rate = "10 Mbit/s"
    delay = "20 ms"
"#;

#[test]
fn a_finite_transfer_ends_when_its_last_byte_arrives() {
    let text = format!("duration = \"60 s\"\n{LINK}\n[traffic]\nsize = \"1 MB\"");
    let summary = run(&text, 1).summary;
    assert_eq!(summary.delivered_bytes, 1_000_000);
    let completion = summary.completion_s.expect("it ends");
    // 691 segments of 1500 bytes take 0.83 s, after a handshake and slow start.
    assert!((0.9..1.4).contains(&completion), "{completion}");
    let goodput = 8.0 / completion;
    assert!((summary.goodput_mbps - goodput).abs() < 1e-9);
    assert_eq!(summary.duration_s, completion);
    assert_eq!(summary.cost, None);
}

#[test]
fn a_transfer_without_a_size_lasts_the_duration_and_fills_the_link() {
    let text = format!("duration = \"20 s\"\nwarmup = \"5 s\"\n{LINK}\ncost = 1\n");
    let summary = run(&text, 1).summary;
    assert_eq!((summary.duration_s, summary.completion_s), (20.0, None));
    // 1448 of each 1500 bytes are payload.
    assert!(
        (summary.goodput_mbps - 9.653).abs() < 0.01,
        "{}",
        summary.goodput_mbps
    );
    let utilization = summary.links[0].utilization.expect("a rate");
    assert!((utilization - 1.0).abs() < 0.001, "{utilization}");
    let cost = summary.cost.expect("the link has a price");
    assert!((cost - 10.0).abs() < 0.01, "{cost}");
}

#[test]
fn a_constant_rate_has_the_links_delay() {
    let text = format!(
        "duration = \"20 s\"\nwarmup = \"1 s\"\n{LINK}\n[traffic]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nmessage = \"1000 B\""
    );
    let summary = run(&text, 1).summary;
    assert!(
        (summary.goodput_mbps - 1.0).abs() < 0.002,
        "{}",
        summary.goodput_mbps
    );
    let delay = summary.delay_ms.expect("something arrived");
    // 20 ms of delay and 1052 bytes at 10 Mbit/s.
    let expected = 20.0 + 1052.0 * 8.0 / 1e4;
    for value in [delay.mean, delay.p50, delay.p99, delay.max] {
        assert!(
            (value / expected - 1.0).abs() < 0.002,
            "{value} ms, not {expected}"
        );
    }
}

#[test]
fn poisson_messages_wait_as_m_d_1_says() {
    // Load 0.5: the mean queueing delay is rho / (2 (1 - rho)) = half a service time.
    let text = format!(
        "duration = \"400 s\"\nwarmup = \"1 s\"\n{LINK}\n[transport]\nprofile = \"rfc\"\ninitial_window = \"1000 packets\"\n[traffic]\nkind = \"poisson\"\nrate = \"4.7529 Mbit/s\"\nmessage = \"1000 B\""
    );
    let summary = run(&text, 3).summary;
    let service = 1052.0 * 8.0 / 1e4;
    let mean = summary.delay_ms.expect("something arrived").mean;
    let expected = 20.0 + service * 1.5;
    assert!(
        (mean - expected).abs() < 0.06 * service,
        "{mean} ms, not {expected}"
    );
}

#[test]
fn a_path_of_two_links_adds_their_delays_and_takes_the_slower_rate() {
    let text = r#"
        duration = "20 s"
        warmup = "5 s"
        [[link]]
        name = "access"
        rate = "8 Mbit/s"
        delay = "5 ms"
        queue = "100 packets"
        [[link]]
        name = "backbone"
        rate = "100 Mbit/s"
        delay = "15 ms"
        [[path]]
        name = "both"
        hops = ["access", "backbone"]
    "#;
    let summary = run(text, 1).summary;
    // Data behind a gap at the end of the warm-up counts when it is delivered.
    let expected = 8.0 * 1448.0 / 1500.0;
    assert!((summary.goodput_mbps / expected - 1.0).abs() < 0.01);
    let in_flight = summary.links[0]
        .delivered_bytes
        .abs_diff(summary.links[1].delivered_bytes);
    assert!(in_flight < 20 * 1500, "{in_flight} bytes between the links");
    assert_eq!(summary.subflows[0].link, "both");
}

#[test]
fn two_paths_over_one_link_share_it_with_a_competitor() {
    let text = r#"
        duration = "60 s"
        warmup = "10 s"
        [[link]]
        name = "shared"
        rate = "10 Mbit/s"
        delay = "10 ms"
        queue = "50 packets"
        [[path]]
        name = "a"
        hops = ["shared"]
        [[path]]
        name = "b"
        hops = ["shared"]
        [transport]
        profile = "rfc"
        congestion = "uncoupled"
        subflow = "newreno"
        delayed_ack = 1
        [[competitor]]
        name = "tcp"
        congestion = "newreno"
        path = "a"
    "#;
    let summary = run(text, 1).summary;
    let ratio = summary.goodput_mbps / summary.competitors[0].goodput_mbps;
    assert!((1.7..2.3).contains(&ratio), "{ratio}");
}

#[test]
fn trace_goodput_equals_its_capacity() {
    let text = r#"
        duration = "20 s"
        warmup = "5 s"
        [[link]]
        name = "cellular"
        trace = "trace"
        delay = "20 ms"
        queue = "200 packets"
    "#;
    // A packet of 1500 bytes per millisecond: 12 Mbit/s.
    let goodput = run(text, 1).summary.goodput_mbps;
    assert!((goodput - 12.0 * 1448.0 / 1500.0).abs() < 0.05, "{goodput}");
}

#[test]
fn an_outage_of_one_link_does_not_stop_the_other() {
    let text = r#"
        duration = "30 s"
        [[link]]
        name = "steady"
        rate = "10 Mbit/s"
        delay = "20 ms"
        [[link]]
        name = "dark"
        rate = "10 Mbit/s"
        delay = "20 ms"
        down = [["10 s", "15 s"]]
    "#;
    let options = Options {
        timeline_step: Some(Time::from_secs(1)),
        ..Options::default()
    };
    let outcome = simulate(&scenario(text), 1, &options).unwrap();
    let goodput = outcome.timeline.expect("asked for").connection.goodput_mbps;
    let mean = |seconds: std::ops::Range<usize>| {
        let len = seconds.len() as f64;
        goodput[seconds].iter().sum::<f64>() / len
    };
    assert!(mean(5..9) > 18.0, "before: {goodput:?}");
    assert!(mean(12..15) > 9.0, "meanwhile: {goodput:?}");
    assert!(mean(24..30) > 18.0, "after: {goodput:?}");
    assert!(outcome.summary.subflows[1].timeouts > 0);
}

#[test]
fn data_of_failed_link_precedes_queued_data() {
    // Linux's scheduler queues data ahead of the windows, so there is always some.
    let text = r#"
        duration = "20 s"
        [[link]]
        name = "steady"
        rate = "15 Mbit/s"
        delay = "20 ms"
        queue = "100 packets"
        [[link]]
        name = "dark"
        rate = "3 Mbit/s"
        delay = "20 ms"
        queue = "100 packets"
        down = [["10 s", "11 s"]]
        [transport]
        receive_buffer = "64 MiB"
        send_buffer = "64 MiB"
    "#;
    let options = Options {
        timeline_step: Some(Time::from_millis(100)),
        ..Options::default()
    };
    let outcome = simulate(&scenario(text), 1, &options).unwrap();
    let goodput = outcome.timeline.expect("asked for").connection.goodput_mbps;
    let after_start = &goodput[10..];
    let stalls = after_start.split(|&mbps| mbps > 0.0);
    let longest = stalls.map(<[f64]>::len).max().unwrap_or(0);
    assert!(
        longest < 20,
        "{} s without a byte in order",
        longest as f64 / 10.0
    );
}

#[test]
fn tcp_head_of_line_blocking_is_counted() {
    let text = format!("duration = \"10 s\"\n{LINK}loss = \"1 %\"");
    let reordering = run(&text, 1).summary.reordering;
    assert!(reordering.out_of_order_ratio > 0.01, "{reordering:?}");
    assert!(reordering.buffer_max_bytes > 1448, "{reordering:?}");
}

#[test]
fn the_timeline_adds_up_to_what_was_delivered() {
    let text = format!("duration = \"60 s\"\n{LINK}\n[traffic]\nsize = \"2 MB\"");
    let step = Some(Time::from_millis(70));
    let options = Options {
        timeline_step: step,
        reordering: true,
    };
    let outcome = simulate(&scenario(&text), 1, &options).unwrap();
    let timeline = outcome.timeline.expect("asked for");
    let mut before = 0.0;
    let mut bits = 0.0;
    for (time, goodput) in timeline
        .connection
        .time_s
        .iter()
        .zip(&timeline.connection.goodput_mbps)
    {
        bits += goodput * 1e6 * (time - before);
        before = *time;
    }
    assert!((bits / 8.0 - 2e6).abs() < 1.0, "{bits}");
    let metrics = outcome.summary.reordering.metrics.expect("asked for");
    assert_eq!(metrics.reordered_ratio, 0.0);
}

#[test]
fn additional_link_does_not_change_draws() {
    let one = r#"
        duration = "20 s"
        [[link]]
        name = "a"
        rate = "10 Mbit/s"
        delay = "20 ms"
        loss = "1 %"
        [transport]
        protocol = "tcp"
        paths = ["a"]
    "#;
    let two = format!("{one}\n[[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\nloss = \"3 %\"\n");
    // TOML allows the second table of links after [transport].
    assert_eq!(
        run(one, 9).summary.goodput_mbps,
        run(&two, 9).summary.goodput_mbps
    );
}

#[test]
fn recording_changes_nothing() {
    let text = format!("duration = \"20 s\"\n{LINK}loss = \"1 %\"");
    let plain = run(&text, 4).summary;
    let step = Some(Time::from_millis(100));
    let options = Options {
        timeline_step: step,
        reordering: true,
    };
    let mut recorded = simulate(&scenario(&text), 4, &options).unwrap().summary;
    recorded.reordering.metrics = None;
    assert_eq!(recorded, plain);
}

#[test]
fn threads_change_nothing() {
    let text = format!(
        "duration = \"5 s\"\n{LINK}loss = \"1 %\"\njitter = {{ amount = \"3 ms\", reorder = true }}"
    );
    let scenario = scenario(&text);
    let one = |seed| {
        simulate(&scenario, seed, &Options::default())
            .unwrap()
            .summary
    };
    let alone: Vec<_> = (0..8).map(one).collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..8).map(|seed| scope.spawn(move || one(seed))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    assert_eq!(alone, together);
    assert_ne!(alone[0].goodput_mbps, alone[1].goodput_mbps);
}

#[test]
fn reordering_response_separates_late_from_lost_packets() {
    let run = |answer: &str| {
        let text = format!(
            "duration = \"8 s\"\n[[link]]\nname = \"a\"\nrate = \"50 Mbit/s\"\ndelay = \"20 ms\"\njitter = {{ amount = \"10 ms\", reorder = true }}\n[transport]\n{answer}"
        );
        run(&text, 1).summary
    };
    let none = run("reordering = \"none\"");
    assert_eq!(none.subflows[0].undone, None);
    let linux = run("");
    let undone = linux.subflows[0].undone.expect("an answer");
    assert!(undone.undone > 0, "{undone:?}");
    assert_eq!(
        undone.undone,
        undone.spurious_fast_recoveries + undone.spurious_timeouts
    );
    assert!(undone.dupthresh_max > 10, "{undone:?}");
    assert!(
        linux.goodput_mbps > 1.1 * none.goodput_mbps,
        "{} {}",
        linux.goodput_mbps,
        none.goodput_mbps
    );
}

#[test]
fn ordered_packets_undo_no_loss() {
    for answer in ["linux", "tcp-door"] {
        undoes_nothing(answer);
    }
}

fn undoes_nothing(answer: &str) {
    let undone = |link: &str, seed: u64| {
        let text = format!(
            "duration = \"4 s\"\n[[link]]\nname = \"a\"\n{link}\n[transport]\nreordering = \"{answer}\""
        );
        let subflow = &run(&text, seed).summary.subflows[0];
        (
            subflow.fast_recoveries,
            subflow.undone.expect("an answer").undone,
        )
    };
    // Short queues, so that probes meet recoveries.
    let mut recoveries = 0;
    for (rate, delay) in [(1, 1), (1, 5), (3, 1), (5, 20)] {
        let link = format!("rate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"");
        let (all, undone) = undone(&link, 1);
        recoveries += all;
        assert_eq!(undone, 0, "{link}");
    }
    for seed in 0..40 {
        let loss = [0.1, 0.5, 1.0, 3.0][seed as usize % 4];
        let link = format!("rate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nloss = \"{loss} %\"");
        let (all, undone) = undone(&link, seed);
        recoveries += all;
        assert_eq!(undone, 0, "{link} {seed}");
    }
    assert!(recoveries > 100, "{recoveries}");
}
