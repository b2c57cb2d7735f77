//! One TCP connection through the gateway's tunnel (`striped-tcp` with `device = "tunnel"`).

mod support;

use std::fmt::Write;
use std::thread;

use proptest::prelude::*;
use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, simulate};
use support::{run, scenario};

/// Rates in Mbit/s and round trips in milliseconds.
type Plan = [(f64, u32)];

const CASES: [(&str, &Plan); 6] = [
    ("20/20+20/20", &[(20.0, 20), (20.0, 20)]),
    ("20/20+10/60", &[(20.0, 20), (10.0, 60)]),
    ("20/20+5/200", &[(20.0, 20), (5.0, 200)]),
    ("50/10+10/100", &[(50.0, 10), (10.0, 100)]),
    ("four", &[(35.9, 40), (18.4, 50), (33.3, 60), (14.7, 80)]),
    (
        "eight",
        &[
            (35.9, 40),
            (18.4, 50),
            (33.3, 60),
            (14.7, 80),
            (14.8, 70),
            (4.4, 120),
            (22.5, 45),
            (12.5, 55),
        ],
    ),
];

/// 12 s from 3 s, with additions to each link by its number, and to the transport.
fn text(plan: &Plan, link: impl Fn(usize) -> String, transport: &str) -> String {
    let mut text = "duration = \"15 s\"\nwarmup = \"3 s\"\n".to_owned();
    for (number, (mbps, round_trip)) in plan.iter().enumerate() {
        writeln!(
            text,
            "[[link]]\nname = \"l{number}\"\nrate = \"{mbps} Mbit/s\"\n\
             delay = \"{} ms\"\nqueue = \"1 bdp\"\n{}",
            f64::from(*round_trip) / 2.0,
            link(number)
        )
        .unwrap();
    }
    text + "[transport]\nprotocol = \"striped-tcp\"\nsend_buffer = \"16 MiB\"\n\
            receive_buffer = \"16 MiB\"\n"
        + transport
}

fn alike(_: usize) -> String {
    String::new()
}

/// Steady goodput as a fraction of the sum of the raw rates.
fn share(plan: &Plan, transport: &str) -> f64 {
    let sum: f64 = plan.iter().map(|link| link.0).sum();
    run(&text(plan, alike, transport), 1).summary.goodput_mbps / sum
}

const TUNNEL: &str = "device = \"tunnel\"\n";

#[test]
fn one_connection_gets_the_sum_of_unequal_links() {
    for (name, plan) in CASES {
        let share = share(plan, TUNNEL);
        // Headers take 8 %; the rest is nearly all used.
        assert!(share > 0.89, "{name}: {share:.3}");
    }
}

#[test]
fn in_turn_the_slowest_link_sets_the_pace() {
    let share = share(CASES[2].1, &format!("{TUNNEL}scheduler = \"round-robin\""));
    assert!((0.25..0.38).contains(&share), "{share:.3}");
}

#[test]
fn redundant_scheduler_reaches_the_best_link() {
    for (name, plan) in &CASES[..4] {
        let (sum, best): (f64, f64) = plan.iter().fold((0.0, 0.0), |(sum, best), link| {
            (sum + link.0, link.0.max(best))
        });
        let share = share(plan, &format!("{TUNNEL}scheduler = \"redundant\"")) * sum / best;
        println!("{name}: {share:.3} of the best link");
        assert!((0.85..1.0).contains(&share), "{name}: {share:.3}");
    }
}

/// Goodput of song-2018's device over unequal links.
#[test]
fn the_naive_device_collapses_where_the_tunnel_does_not() {
    for (name, plan) in &CASES[1..] {
        let share = share(plan, "device = \"naive\"\nprofile = \"rfc\"");
        assert!(share < 0.4, "{name}: {share:.3}");
    }
}

#[test]
fn failed_link_is_left_and_used_again() {
    let dark = |link| match link {
        1 => "down = [[\"6 s\", \"9 s\"]]".to_owned(),
        _ => String::new(),
    };
    let options = Options {
        timeline_step: Some(Time::from_secs(1)),
        ..Options::default()
    };
    let text = text(CASES[1].1, dark, TUNNEL);
    let outcome = simulate(&scenario(&text), 1, &options).unwrap();
    let goodput = outcome.timeline.unwrap().connection.goodput_mbps;
    assert!(goodput[8] > 0.58 * 30.0, "{goodput:?}");
    let after = &goodput[12..15];
    assert!(after.iter().sum::<f64>() > 3.0 * 0.85 * 30.0, "{goodput:?}");
}

/// Longest gaps when a link goes down under a bulk transfer at each of 60 moments: median, 90th percentile,
/// maximum.
fn gaps(plan: &Plan, dark: usize) -> [f64; 3] {
    let gap = |moment: u32| {
        let start = 4.0 + 0.07 * f64::from(moment);
        let down = |link| match link == dark {
            true => format!("down = [[\"{start:.3} s\", \"30 s\"]]"),
            false => String::new(),
        };
        let text = text(plan, down, TUNNEL);
        let text = text.replacen("15 s", &format!("{:.3} s", start + 5.0), 1);
        let text = text.replacen("3 s", &format!("{start:.3} s"), 1);
        run(&text, 1).summary.longest_gap_s.unwrap()
    };
    let mut gaps: Vec<f64> = (0..60).map(gap).collect();
    gaps.sort_by(f64::total_cmp);
    [30, 53, 59].map(|rank| gaps[rank])
}

#[test]
fn a_silent_outage_is_a_short_gap() {
    // Data of the failed link is retransmitted. The inner TCP, whose window is now too large, overflows the
    // queue, and its retransmissions wait behind the queue: long at 5 Mbit/s.
    let cases = [
        (CASES[0], 0, [0.15, 0.2, 0.2]),
        (CASES[2], 0, [0.9, 1.6, 1.6]),
        (CASES[2], 1, [0.25, 0.25, 0.45]),
    ];
    for ((name, plan), dark, most) in cases {
        let gaps = gaps(plan, dark);
        let are_short = gaps.iter().zip(most).all(|(gap, most)| *gap <= most);
        assert!(are_short, "{name}, {dark} dark: {gaps:?}");
    }
}

#[test]
fn unresponsive_links_do_not_delay_the_tunnel() {
    let dark = |link| match link {
        1 => "down = [[\"0 s\", \"30 s\"]]".to_owned(),
        _ => String::new(),
    };
    let summary = run(&text(CASES[0].1, dark, TUNNEL), 1).summary;
    assert!(summary.goodput_mbps > 0.89 * 20.0, "{summary:?}");
}

#[test]
fn runs_are_the_same_on_one_thread_and_on_several() {
    let lossy = |link| format!("loss = \"{link} %\"");
    let text = text(CASES[4].1, lossy, TUNNEL);
    let text = text.replacen("15 s", "5 s", 1);
    let outcome = |seed| format!("{:?}", run(&text, seed).summary);
    let alone: Vec<String> = (1..5).map(outcome).collect();
    let together = thread::scope(|scope| {
        let threads: Vec<_> = (1..5)
            .map(|seed| scope.spawn(move || outcome(seed)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.collect::<Vec<String>>()
    });
    assert_eq!(alone, together);
    assert_ne!(alone[0].replace("seed: 1", "seed: 2"), alone[1]);
}

prop_compose! {
    fn any_link()(
        rate in 1_u32..60, round_trip in 2_u32..400, jitter in 0_u32..20, reorder in any::<bool>(),
        back in prop::option::weighted(0.3, (1_u32..20, 20_u32..200)),
        loss in prop::sample::select(vec![
            "loss = \"0 %\"",
            "loss = \"1 %\"",
            "loss = \"8 %\"",
            "loss = { model = \"gilbert-elliott\", p = \"1 %\", r = \"30 %\", h = \"20 %\", k = \"99.9 %\" }",
        ]),
        queue in prop::sample::select(vec!["8 packets", "1 bdp", "0.3 bdp", "1000 packets"]),
        down in prop::option::weighted(0.3, (0_u32..4000, 1_u32..3000)),
    ) -> String {
        let delay = round_trip.div_ceil(2);
        let jitter = jitter.min(delay);
        let mut text = format!(
            "rate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nqueue = \"{queue}\"\n{loss}\n\
             jitter = {{ amount = \"{jitter} ms\", reorder = {reorder} }}\n"
        );
        if let Some((start, len)) = down {
            writeln!(text, "down = [[\"{start} ms\", \"{} ms\"]]", start + len).unwrap();
        }
        if let Some((rate, delay)) = back {
            writeln!(text, "reverse = {{ rate = \"{rate}00 kbit/s\", delay = \"{delay} ms\" }}").unwrap();
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn transfer_completes_on_any_links(
        links in prop::collection::vec(any_link(), 2..9),
        scheduler in prop::sample::select(vec!["earliest-arrival", "weighted", "round-robin"]),
        ip_version in prop::sample::select(vec!["ipv4", "ipv6"]),
        profile in prop::sample::select(vec!["linux", "ns-3", "rfc"]),
        seed in 0_u64..1000,
    ) {
        let mut text = "duration = \"2000 s\"\n".to_owned();
        for (number, link) in links.iter().enumerate() {
            writeln!(text, "[[link]]\nname = \"l{number}\"\n{link}").unwrap();
        }
        writeln!(
            text,
            "[transport]\nprotocol = \"striped-tcp\"\ndevice = \"tunnel\"\nprofile = \"{profile}\"\n\
             scheduler = \"{scheduler}\"\nip_version = \"{ip_version}\"\n[traffic]\nsize = \"1 MB\"\n"
        ).unwrap();
        let summary = run(&text, seed).summary;
        prop_assert_eq!(summary.delivered_bytes, 1_000_000, "{}", text);
        prop_assert!(summary.completion_s.is_some(), "{}", text);
    }
}

/// The minimum delays of a link expire after 10 s. The queue of a short link does not become its delay: the
/// window would grow by it every 10 s, and overflow the link.
#[test]
fn short_links_carry_as_much_after_ten_seconds_as_before() {
    let text = "duration = \"20 s\"\nwarmup = \"12 s\"\n\
                [[link]]\nname = \"l0\"\nrate = \"10.6 Mbit/s\"\ndelay = \"0.087 ms\"\nqueue = \"12 packets\"\n\
                [[link]]\nname = \"l1\"\nrate = \"78 Mbit/s\"\ndelay = \"0.065 ms\"\nqueue = \"36 packets\"\n\
                [transport]\nprotocol = \"striped-tcp\"\ndevice = \"tunnel\"\ncongestion = \"newreno\"\n";
    let goodput = run(text, 1).summary.goodput_mbps;
    assert!(goodput > 0.88 * 88.6, "{goodput}");
}
