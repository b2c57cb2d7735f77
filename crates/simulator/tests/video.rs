//! Video and messages with deadlines, and the frames in time.

mod support;

use support::run;

/// A video of 2 Mbit/s over these links by this protocol.
fn video(links: &[(&str, &str)], transport: &str, more: &str) -> String {
    let mut text = String::from("duration = \"30 s\"\n");
    for (index, (rate, delay)) in links.iter().enumerate() {
        text += &format!("[[link]]\nname = \"l{index}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n");
    }
    text + &format!(
        "[transport]\n{transport}\n[traffic]\nkind = \"video\"\npreset = \"live\"\nrate = \"2 Mbit/s\"\n{more}\n"
    )
}

#[test]
fn frames_are_in_time_with_spare_capacity() {
    let links = [("50 Mbit/s", "10 ms"), ("50 Mbit/s", "12 ms")];
    for transport in [
        "protocol = \"tcp\"",
        "protocol = \"mptcp\"",
        "protocol = \"bas\"",
        "protocol = \"striped-tcp\"",
        "protocol = \"mptcp\"\nprofile = \"mptcp-ns3\"",
    ] {
        let outcome = run(&video(&links, transport, "buffer = \"1 s\""), 1);
        let video = outcome.summary.application.video.expect("a video");
        // Frames of the last 200 ms may be in flight.
        assert!((893..=900).contains(&video.frames), "{transport} {video:?}");
        assert_eq!(
            (video.late_percent, video.late_bytes),
            (0.0, 0),
            "{transport}"
        );
        let delay = video.frame_delay_ms.expect("frames came");
        assert!(
            delay.p50 > 10.0 && delay.max < 200.0,
            "{transport} {delay:?}"
        );
        assert_eq!(video.stall.expect("a player").count, 0, "{transport}");
        assert!((outcome.summary.goodput_mbps - 2.0).abs() < 0.02);
        assert_eq!(outcome.summary.application.messages, None);
    }
}

#[test]
fn overload_delays_frames_and_stalls_the_player() {
    let outcome = run(
        &video(
            &[("1 Mbit/s", "10 ms")],
            "protocol = \"tcp\"",
            "buffer = \"1 s\"",
        ),
        1,
    );
    let video = outcome.summary.application.video.expect("a video");
    assert!(video.late_percent > 90.0, "{video:?}");
    let stall = video.stall.expect("a player");
    assert!(stall.count >= 3 && stall.share > 0.3, "{stall:?}");
}

#[test]
fn messages_are_late_in_an_outage_and_after_it() {
    let messages = |deadline: &str| {
        let text = format!(
            "duration = \"30 s\"\n[[link]]\nname = \"a\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
             down = [[\"10 s\", \"13 s\"]]\n[transport]\nprotocol = \"tcp\"\n[traffic]\n\
             kind = \"cbr\"\nrate = \"1 Mbit/s\"\nmessage = \"1250 B\"\ndeadline = \"{deadline}\""
        );
        run(&text, 1)
            .summary
            .application
            .messages
            .expect("messages with a deadline")
    };
    // Three seconds of thirty, and the time for the timeout and the backlog.
    let soon = messages("100 ms");
    assert!((10.0..20.0).contains(&soon.late_percent), "{soon:?}");
    assert_eq!(
        soon.late_bytes,
        1250 * (soon.late_percent * soon.count as f64 / 100.0).round() as u64
    );
    assert_eq!(messages("10 s").late_percent, 0.0);
}

/// Mean percentage of late videos of 3.5 Mbit/s over a cheap and an expensive link, by the cheapest link in
/// time.
fn late_by_cheapest(protocol: &str, wifi: &str, lte: &str) -> f64 {
    let text = format!(
        "duration = \"60 s\"\n\
         [[link]]\nname = \"wifi\"\ndelay = \"10 ms\"\ncost = 1\n{wifi}\n\
         [[link]]\nname = \"lte\"\nrate = \"15 Mbit/s\"\ndelay = \"20 ms\"\ncost = 10\n{lte}\n\
         [transport]\nprotocol = \"{protocol}\"\nscheduler = \"cheapest-in-time\"\n\
         [traffic]\nkind = \"video\"\npreset = \"live\"\nrate = \"3.5 Mbit/s\"\n"
    );
    let late = (1..=4).map(|seed| {
        let summary = run(&text, seed).summary;
        assert!(
            (summary.goodput_mbps - 3.5).abs() < 0.05,
            "{protocol} {wifi} {lte}: {}",
            summary.goodput_mbps
        );
        summary.application.video.expect("a video").late_percent
    });
    late.sum::<f64>() / 4.0
}

#[test]
fn the_cheapest_in_time_comes_through_outages_and_collapses() {
    let (rate, down) = ("rate = \"3 Mbit/s\"", "down = [[\"20 s\", \"25 s\"]]");
    // All frames written in the outage, and 5 % of the rest.
    let without_five_seconds = 100.0 * (5.0 + 0.05 * 55.0) / 60.0;
    for protocol in ["mptcp", "aggregation"] {
        let late = |wifi: &str, lte| late_by_cheapest(protocol, wifi, lte);
        assert!(late(rate, "") < 3.0, "{protocol}");
        assert!(late("rate = \"300 kbit/s\"", "") < 3.0, "{protocol}");
        assert!(late(&format!("{rate}\n{down}"), "") < 3.0, "{protocol}");
        assert!(late(rate, down) < without_five_seconds, "{protocol}");
    }
}

/// Mean percentage of bytes on the second of two links.
fn share_of_second(protocol: &str, links: [(&str, u32); 2]) -> f64 {
    let mut text = "duration = \"40 s\"\n".to_owned();
    for (number, (rate, cost)) in links.iter().enumerate() {
        text += &format!(
            "[[link]]\nname = \"l{number}\"\nrate = \"{rate}\"\ndelay = \"15 ms\"\ncost = {cost}\n"
        );
    }
    text += &format!(
        "[transport]\nprotocol = \"{protocol}\"\nscheduler = \"cheapest-in-time\"\n\
         [traffic]\nkind = \"video\"\npreset = \"live\"\nrate = \"3.5 Mbit/s\"\n"
    );
    let shares = (1..=4).map(|seed| {
        let links = run(&text, seed).summary.links;
        let carried = [0, 1].map(|at: usize| links[at].delivered_bytes as f64);
        100.0 * carried[1] / (carried[0] + carried[1])
    });
    shares.sum::<f64>() / 4.0
}

#[test]
fn expensive_link_share_is_similar_for_aggregation_and_mptcp() {
    let links = [("3 Mbit/s", 1), ("15 Mbit/s", 10)];
    let [subflows, carriers] =
        ["mptcp", "aggregation"].map(|protocol| share_of_second(protocol, links));
    assert!((20.0..40.0).contains(&subflows), "{subflows}");
    assert!((subflows - carriers).abs() < 5.0, "{subflows} {carriers}");
}

#[test]
fn swapped_prices_swap_shares() {
    for protocol in ["mptcp", "aggregation"] {
        let rate = "5 Mbit/s";
        let dear = share_of_second(protocol, [(rate, 1), (rate, 10)]);
        let cheap = share_of_second(protocol, [(rate, 10), (rate, 1)]);
        assert!(dear < 20.0, "{protocol}: {dear}");
        assert!(
            (100.0 - dear - cheap).abs() < 3.0,
            "{protocol}: {dear} {cheap}"
        );
    }
}
