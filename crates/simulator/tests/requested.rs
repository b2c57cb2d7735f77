//! Traffic requested by the reading end, over every stream protocol.

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{ApplicationSummary, Options, Outcome, simulate};

const PROTOCOLS: [&str; 5] = [
    "protocol = \"tcp\"\npaths = [\"wifi\"]",
    "protocol = \"mptcp\"",
    "protocol = \"aggregation\"",
    "protocol = \"striped-tcp\"\ndevice = \"tunnel\"",
    "protocol = \"striped-tcp\"\ndevice = \"naive\"\nscheduler = \"round-robin\"",
];

/// Two links of 10 Mbit/s and a round trip of 20 ms, one of them expensive.
fn text(transport: &str, traffic: &str, more: &str) -> String {
    format!(
        "duration = \"30 s\"\n{more}\n\
         [[link]]\nname = \"wifi\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         [[link]]\nname = \"lte\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\ncost = 10\n\
         [transport]\n{transport}\n[traffic]\n{traffic}\n"
    )
}

fn run(text: &str, seed: u64) -> Outcome {
    let mut no_traces = |_: &str| Err("no such file".to_owned());
    let scenario = Scenario::parse(text, "asked.toml", &[], &mut no_traces)
        .unwrap_or_else(|errors| panic!("{text}: {errors}"));
    simulate(&scenario, seed, &Options::default()).unwrap()
}

fn application(transport: &str, traffic: &str) -> ApplicationSummary {
    run(&text(transport, traffic, ""), 1).summary.application
}

/// A response of one packet takes a round trip and its transmission time; the number of requests follows
/// from these and the think times.
#[test]
fn response_takes_round_trip_and_transmission_time() {
    let traffic = "kind = \"request\"\nsize = \"1000 B\"\nthink = \"100 ms\"\nthinking = \"fixed\"";
    for transport in PROTOCOLS {
        let requests = application(transport, traffic).requests.expect("requests");
        let response = requests.response_s.expect("responses");
        assert!(
            (0.0205..0.0225).contains(&response.p50),
            "{transport} {response:?}"
        );
        // The first waits for the connection.
        let wanted = ((30.0 - response.max) / (0.1 + response.p50)) as u64;
        assert!(
            requests.count.abs_diff(wanted) <= 2,
            "{transport} {requests:?}"
        );
        assert_eq!(requests.late_percent, None);
    }
}

/// Concurrent requests share the links, and each has its own think time.
#[test]
fn concurrent_requests_share_the_links() {
    let traffic = |parallel: u32| {
        format!(
            "kind = \"request\"\nsize = \"20 kB\"\nspread = 1.0\nthink = \"200 ms\"\nparallel = {parallel}\ndeadline = \"1 s\""
        )
    };
    for transport in PROTOCOLS {
        let [one, eight] = [1, 8].map(|parallel| {
            let summary = application(transport, &traffic(parallel)).requests;
            summary.expect("requests")
        });
        let ratio = eight.count as f64 / one.count as f64;
        assert!((5.5..9.0).contains(&ratio), "{transport} {ratio}");
        assert_eq!(eight.late_percent, Some(0.0), "{transport}");
    }
}

/// A player fills its buffer, and then requests at the rate of playback. It stalls if the links are slower
/// than the video.
#[test]
fn a_player_plays_what_the_links_carry() {
    let traffic = |rate: &str| {
        format!("kind = \"chunks\"\nrate = \"{rate}\"\nchunk = \"2 s\"\nbuffer_max = \"10 s\"")
    };
    for transport in PROTOCOLS {
        let chunks = application(transport, &traffic("4 Mbit/s"))
            .chunks
            .expect("chunks");
        assert_eq!(chunks.stall.count, 0, "{transport} {chunks:?}");
        // 30 s are played except the first chunk's delay, and 8 to 10 s are in the buffer.
        assert!((18..=20).contains(&chunks.count), "{transport} {chunks:?}");
        assert_eq!((chunks.rate_mbps, chunks.switches), (4.0, 0));
        let chunks = application(transport, &traffic("40 Mbit/s"))
            .chunks
            .expect("chunks");
        assert!(
            chunks.stall.count >= 2 && chunks.stall.share > 0.4,
            "{transport} {chunks:?}"
        );
        assert!(chunks.late_percent > 90.0, "{transport} {chunks:?}");
    }
}

/// A player finds by its buffer the highest quality that the links can carry, or nearly.
#[test]
fn a_player_chooses_the_quality_that_the_links_carry() {
    let ladder = "kind = \"chunks\"\nchunk = \"2 s\"\nbuffer_max = \"20 s\"\n\
                  rates = [\"500 kbit/s\", \"1 Mbit/s\", \"3 Mbit/s\", \"6 Mbit/s\", \"30 Mbit/s\"]";
    for (transport, carried) in PROTOCOLS.into_iter().zip([9.5, 19.0, 19.0, 19.0, 19.0]) {
        let text = text(transport, ladder, "warmup = \"10 s\"").replace("30 s", "120 s");
        let chunks = run(&text, 1).summary.application.chunks.expect("chunks");
        assert!(
            (0.6..1.05).contains(&(chunks.rate_mbps / carried)),
            "{transport} {chunks:?}"
        );
        assert_eq!(chunks.stall.count, 0, "{transport} {chunks:?}");
    }
}

/// A page takes at least a round trip for each level of its tree, and the transmission time of its bytes.
#[test]
fn a_page_takes_a_round_trip_for_each_step_of_its_tree() {
    let page = r#"[{ "size": 1000, "kind": "html" }, { "size": 1000, "parent": 0, "kind": "css" },
                   { "size": 1000, "parent": 1, "kind": "font" }, { "size": 1000, "parent": 0 }]"#;
    let traffic = "kind = \"web\"\ntrace = \"page.json\"\nthink = \"100 ms\"\nthinking = \"fixed\"";
    for transport in PROTOCOLS {
        let text = text(transport, traffic, "");
        let mut read = |_: &str| Ok(page.to_owned());
        let scenario = Scenario::parse(&text, "web.toml", &[], &mut read).unwrap();
        let outcome = simulate(&scenario, 1, &Options::default()).unwrap();
        let web = outcome.summary.application.web.expect("pages");
        let load = web.page_load_s.expect("pages");
        assert!((0.062..0.068).contains(&load.p50), "{transport} {load:?}");
        assert_eq!(web.objects, 4 * web.pages);
        assert!((150..190).contains(&web.pages), "{transport} {web:?}");
    }
}

/// Realistic pages load, the same ones over all protocols, and sooner with more links.
#[test]
fn pages_of_the_web_load() {
    let pages = |transport: &str| {
        let web = application(transport, "kind = \"web\"\nthink = \"500 ms\"");
        web.web.expect("pages")
    };
    let [tcp, mptcp, aggregation, tunnel, _] = PROTOCOLS.map(pages);
    for (name, both) in [
        ("mptcp", mptcp),
        ("aggregation", aggregation),
        ("tunnel", tunnel),
    ] {
        assert!(both.pages > tcp.pages, "{name} {both:?} {tcp:?}");
        let [both, alone] = [both, tcp].map(|of| of.page_load_s.expect("pages").p50);
        assert!(both < 0.8 * alone, "{name} {both} {alone}");
    }
}

/// Other flows may browse next to the measured flow.
#[test]
fn competitors_make_requests() {
    let more = "[[competitor]]\nprotocol = \"tcp\"\npath = \"wifi\"\ncount = 3\n\
                traffic = { kind = \"web\", think = \"100 ms\" }\n";
    let alone = text(PROTOCOLS[0], "kind = \"bulk\"", "");
    let [alone, beside] = [alone.clone(), alone + more].map(|text| run(&text, 1).summary);
    assert!(
        beside.goodput_mbps < 0.8 * alone.goodput_mbps,
        "{}",
        beside.goodput_mbps
    );
    assert!(
        beside.competitors[0].goodput_mbps > 0.3,
        "{:?}",
        beside.competitors
    );
}

/// Losses in both directions lose no response.
#[test]
fn responses_complete_over_lossy_links() {
    for (number, transport) in PROTOCOLS.iter().enumerate() {
        let text = text(
            transport,
            "kind = \"request\"\nsize = \"30 kB\"\nparallel = 3\nthink = \"50 ms\"",
            "",
        )
        .replace(
            "delay = \"10 ms\"",
            "delay = \"10 ms\"\nloss = \"2 %\"\nreverse = { loss = \"2 %\" }",
        );
        for seed in 0..5 {
            let requests = run(&text, seed)
                .summary
                .application
                .requests
                .expect("requests");
            let least = [150, 300, 300, 150, 100][number];
            assert!(requests.count > least, "{transport} {seed} {requests:?}");
        }
    }
}

/// With `aggregation` too, the server sends requests when the handshake's third segment has arrived, not after the
/// next one.
#[test]
fn first_request_follows_the_handshake() {
    let text = r#"
        duration = "10 s"
        [[link]]
        name = "slow towards the server"
        rate = "100 kbit/s"
        delay = "10 ms"
        reverse = { rate = "100 Mbit/s" }
        [transport]
        protocol = "aggregation"
        [traffic]
        kind = "request"
        size = "1000 B"
        think = "20 s"
        thinking = "fixed"
    "#;
    let requests = run(text, 1).summary.application.requests;
    let response = requests.expect("requests").response_s.expect("a response");
    // Five times the delay, and two short segments and the response at 100 kbit/s.
    let most = 5.0 * 0.01 + (2.0 * 64.0 + 1080.0) * 8.0 / 1e5;
    assert!((most - 0.004..most).contains(&response.max), "{response:?}");
}
