//! Scenarios over 802.11 channels, compared with formulas and runs of ns-3.

mod support;

use ropewalk_quantities::percentage;
use ropewalk_simulator::{Options, Summary, simulate};
use support::{run, scenario};

fn summary(text: &str) -> Summary {
    run(text, 1).summary
}

/// Two nodes 5 m apart, saturated with datagrams of 1000 bytes.
fn pair(wifi: &str) -> String {
    format!(
        r#"
        duration = "20 s"
        warmup = "1 s"
        [wifi]
        {wifi}
        [[channel]]
        name = "air"
        [[node]]
        name = "A"
        radios = ["air"]
        [[node]]
        name = "B"
        at = ["5 m", "0 m"]
        radios = ["air"]
        [[path]]
        name = "p"
        nodes = ["A", "B"]
        channel = "air"
        [transport]
        protocol = "udp"
        segment = "1000 B"
        "#
    )
}

#[test]
fn a_single_link_gives_what_the_formula_says() {
    // 8 L / (DIFS + slot CWmin / 2 + T_data + SIFS + T_ACK), with RTS and CTS 2 SIFS and theirs.
    let b = "basic_rates = [\"1 Mbit/s\", \"2 Mbit/s\", \"5.5 Mbit/s\", \"11 Mbit/s\"]";
    for (wifi, mbps) in [
        (&format!("rate = \"11 Mbit/s\"\n{b}")[..], 5.1982),
        ("rate = \"11 Mbit/s\"\nbasic_rates = [\"1 Mbit/s\"]", 4.8780),
        ("rate = \"1 Mbit/s\"", 0.8531),
        ("standard = \"802.11a\"\nrate = \"54 Mbit/s\"", 24.5776),
        ("standard = \"802.11g\"\nrate = \"54 Mbit/s\"", 18.6047),
        (
            &format!("rate = \"11 Mbit/s\"\n{b}\nrts = \"0 B\"")[..],
            3.6117,
        ),
    ] {
        let summary = summary(&pair(wifi));
        let ratio = summary.goodput_mbps / mbps;
        assert!(
            (ratio - 1.0).abs() < 0.003,
            "{wifi}: {} {mbps}",
            summary.goodput_mbps
        );
        let airtime = summary.channels[0].airtime;
        let sum = airtime.data
            + airtime.retries
            + airtime.ack
            + airtime.rts
            + airtime.defer
            + airtime.idle;
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let [sender, receiver] = &summary.radios[..] else {
            panic!("two radios")
        };
        // The sender is never idle, and only the receiver's ACKs are sent besides.
        assert!(sender.airtime.idle < 1e-9, "{sender:?}");
        assert!(receiver.airtime.data == 0.0 && receiver.airtime.ack > 0.0);
        let link = &summary.links[0];
        assert_eq!(
            (link.name.as_str(), link.frame_error_ratio),
            ("A-B@air", Some(0.0))
        );
        assert_eq!(link.attempts, Some(sender.frames));
        // Two, and the one that has arrived and waits for its ACK.
        assert_eq!((summary.nodes[0].queue_max, sender.retries), (3, 0));
    }
}

#[test]
fn configured_losses_apply_per_attempt() {
    for loss in [0.1f64, 0.3, 0.5] {
        let wifi = "rate = \"11 Mbit/s\"\ntries = 4";
        let text = pair(wifi).replace(
            "nodes = [\"A\", \"B\"]\n        channel = \"air\"",
            "hops = [\"l\"]",
        ) + &format!(
            "[[link]]\nname = \"l\"\nchannel = \"air\"\nfrom = \"A\"\nto = \"B\"\nloss = {:?}\nreverse = {{ loss = 0 }}\n",
            percentage(loss)
        );
        let summary = summary(&text);
        let link = &summary.links[0];
        let packets = link.sent_packets as f64;
        let near = |found: f64, expected: f64, of: f64| {
            let error = (expected * (1.0 - expected) / of).sqrt();
            assert!(
                (found - expected).abs() < 4.5 * error,
                "{loss}: {found} {expected}"
            );
        };
        let attempts = link.attempts.expect("frames") as f64;
        near(link.frame_error_ratio.expect("frames"), loss, attempts);
        near(
            link.drops_tries.expect("drops") as f64 / packets,
            loss.powi(4),
            packets,
        );
        let tries = (1.0 - loss.powi(4)) / (1.0 - loss);
        assert!(
            (attempts / packets / tries - 1.0).abs() < 0.02,
            "{loss}: {}",
            attempts / packets
        );
    }
}

/// One TCP over a chain; `spacing` in metres, with a range of 25 m or near each other.
fn chain(hops: usize, spacing: f64, channel: &str, channels: usize) -> String {
    let mut text =
        "duration = \"30 s\"\nwarmup = \"5 s\"\n[wifi]\nprofile = \"ns-3\"\nrate = \"11 Mbit/s\"\n"
            .to_owned();
    for one in 0..channels {
        text += &format!("[[channel]]\nname = \"c{one}\"\n{channel}\n");
    }
    for node in 0..=hops {
        let radios: Vec<String> = (0..channels).map(|one| format!("\"c{one}\"")).collect();
        text += &format!(
            "[[node]]\nname = \"n{node}\"\nat = [\"{} m\", \"0 m\"]\nradios = [{}]\n",
            spacing * node as f64,
            radios.join(", ")
        );
    }
    for hop in 0..hops {
        text += &format!(
            "[[link]]\nname = \"l{hop}\"\nchannel = \"c{}\"\nfrom = \"n{hop}\"\nto = \"n{}\"\n",
            hop % channels,
            hop + 1
        );
    }
    let names: Vec<String> = (0..hops).map(|hop| format!("\"l{hop}\"")).collect();
    text += &format!("[[path]]\nname = \"p\"\nhops = [{}]\n", names.join(", "));
    text + "[transport]\nprofile = \"ns-3\"\nprotocol = \"tcp\"\nreceive_buffer = \"1 MiB\"\nsend_buffer = \"1 MiB\"\n"
}

#[test]
fn tcp_over_chains_is_near_ns_3() {
    let disk = "propagation = { model = \"range\", range = \"25 m\" }";
    for (hops, spacing, channel, channels, ns3, within) in [
        (1, 8.0, "", 1, 5.31, 0.05),
        (2, 8.0, "", 1, 2.71, 0.05),
        (4, 8.0, "", 1, 1.34, 0.10),
        (2, 20.0, disk, 1, 2.24, 0.10),
        (4, 20.0, disk, 1, 1.14, 0.10),
        (2, 20.0, disk, 2, 5.26, 0.05),
        (4, 20.0, disk, 2, 1.78, 0.10),
    ] {
        let text = chain(hops, spacing, channel, channels);
        let runs = 1..=3;
        let goodputs: Vec<f64> = runs
            .map(|seed| run(&text, seed).summary.goodput_mbps)
            .collect();
        let mean = goodputs.iter().sum::<f64>() / goodputs.len() as f64;
        println!(
            "{hops} hops of {spacing} m, {channels} channels {channel}: ns-3 {ns3}, here {mean:.3} {goodputs:.3?}"
        );
        assert!(
            (mean / ns3 - 1.0).abs() < within,
            "{hops} {spacing} {channels}: {mean} {ns3}"
        );
    }
}

/// A server on a wired link behind an access point.
const ACCESS_POINT: &str = r#"
duration = "10 s"
[wifi]
standard = "802.11g"
slot = "9 us"
[[channel]]
name = "home"
[[node]]
name = "ap"
radios = ["home"]
[[node]]
name = "laptop"
at = ["6 m", "0 m"]
radios = ["home"]
[[node]]
name = "phone"
at = ["0 m", "7 m"]
radios = ["home"]
[[link]]
name = "dsl"
rate = "50 Mbit/s"
delay = "10 ms"
queue = "200 packets"
from = "server"
to = "ap"
[[link]]
name = "down"
channel = "home"
from = "ap"
to = "laptop"
[[link]]
name = "up"
channel = "home"
from = "phone"
to = "ap"
[[flow]]
name = "download"
from = "server"
to = "laptop"
[[competitor]]
name = "upload"
from = "phone"
to = "ap"
protocol = "udp"
"#;

#[test]
fn path_may_mix_wired_and_wireless_links() {
    let both = summary(ACCESS_POINT);
    assert!(
        both.flows[0].goodput_mbps > 1.0,
        "{}",
        both.flows[0].goodput_mbps
    );
    assert!(
        both.flows[1].goodput_mbps > 5.0,
        "{}",
        both.flows[1].goodput_mbps
    );
    let alone = &ACCESS_POINT[..ACCESS_POINT.find("[[competitor]]").expect("one")];
    let alone = summary(alone);
    assert!(
        alone.goodput_mbps > 1.5 * both.flows[0].goodput_mbps,
        "{}",
        alone.goodput_mbps
    );
    // 54 Mbit/s give at most 24 of TCP.
    assert!(
        (15.0..25.0).contains(&alone.goodput_mbps),
        "{}",
        alone.goodput_mbps
    );
    let names: Vec<&str> = both.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["dsl", "down", "up"]);
    assert!(both.links[0].attempts.is_none() && both.links[1].utilization.is_none());
    assert!(both.links[0].delivered_bytes >= both.links[1].delivered_bytes);
    let nodes: Vec<&str> = both.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(nodes, ["ap", "laptop", "phone"]);
}

#[test]
fn the_same_seed_gives_the_same_and_others_do_not_matter() {
    let text = chain(
        2,
        20.0,
        "propagation = { model = \"range\", range = \"25 m\" }",
        1,
    );
    let one = scenario(&text);
    let outcome = |seed| simulate(&one, seed, &Options::default()).expect("simulated");
    assert_eq!(outcome(3), outcome(3));
    assert_ne!(outcome(3), outcome(4));
    // An idle node out of reach, on a channel of its own or on this one.
    let head = text.replace("[[link]]\nname = \"l0\"", "[[channel]]\nname = \"other\"\n[[node]]\nname = \"far\"\nat = [\"5 km\", \"0 m\"]\nradios = [\"c0\", \"other\"]\n[[link]]\nname = \"l0\"");
    let more = simulate(&scenario(&head), 3, &Options::default())
        .expect("simulated")
        .summary;
    let less = outcome(3).summary;
    assert_eq!(
        (more.goodput_mbps, more.links, &more.radios[..3]),
        (less.goodput_mbps, less.links, &less.radios[..])
    );
}

/// gomez-2014's diamond, with TCP flows over several channels; frames from S to the relays have this loss
/// probability per attempt.
fn diamond(flows: usize, channels: usize, loss: f64) -> String {
    let mut text = "duration = \"30 s\"\nwarmup = \"5 s\"\n[wifi]\nprofile = \"ns-3\"\nrate = \"11 Mbit/s\"\nbasic_rates = [\"1 Mbit/s\"]\ntries = 4\nqueue = \"10000 packets\"\nlifetime = \"10 s\"\n".to_owned();
    let names: Vec<String> = (0..channels).map(|one| format!("\"c{one}\"")).collect();
    for name in &names {
        text += &format!(
            "[[channel]]\nname = {name}\npropagation = {{ model = \"range\", range = \"25 m\" }}\n"
        );
    }
    let last = &names[channels - 1];
    for (node, x, radios) in [
        ("S", "0 m", &names.join(", ")),
        ("R0", "12.5 m", &names[0]),
        ("R1", "12.5 m", last),
        ("D", "25 m", &names.join(", ")),
    ] {
        text +=
            &format!("[[node]]\nname = \"{node}\"\nat = [\"{x}\", \"0 m\"]\nradios = [{radios}]\n");
    }
    for flow in 0..flows {
        let channel = &names[flow % channels];
        text += &format!(
            "[[link]]\nname = \"S-R{flow}\"\nchannel = {channel}\nfrom = \"S\"\nto = \"R{flow}\"\nloss = {:?}\nreverse = {{ loss = 0 }}\n\
             [[path]]\nname = \"p{flow}\"\nhops = [\"S-R{flow}\", \"R{flow}-D\"]\n\
             [[link]]\nname = \"R{flow}-D\"\nchannel = {channel}\nfrom = \"R{flow}\"\nto = \"D\"\n\
             [[flow]]\nname = \"f{flow}\"\nprofile = \"ns-3\"\nprotocol = \"tcp\"\npath = \"p{flow}\"\nreceive_buffer = \"1 MiB\"\nsend_buffer = \"1 MiB\"\n",
            percentage(loss)
        );
    }
    text
}

#[test]
fn tcp_over_diamonds_is_near_ns_3() {
    // Means of the rows diamond-tcp1, -2ch and -1ch of tests/reference/wifi/ns3-wifi.csv with ACKs at 1
    // Mbit/s, and tolerances.
    for (loss, ns3, within) in [
        (0.0, [2.414, 4.819, 2.379], 0.06),
        (0.2, [2.182, 4.515, 2.320], 0.10),
    ] {
        let kinds = [(1, 1), (2, 2), (2, 1)];
        let [one, two_channels, one_channel] = kinds.map(|(flows, channels)| {
            let text = diamond(flows, channels, loss);
            let runs = (1..=4).map(|seed| {
                let summary = run(&text, seed).summary;
                match summary.flows[..] {
                    [] => summary.goodput_mbps,
                    ref flows => flows.iter().map(|flow| flow.goodput_mbps).sum(),
                }
            });
            runs.sum::<f64>() / 4.0
        });
        let ours = [one, two_channels, one_channel];
        println!("frame errors {loss}: ns-3 {ns3:?}, here {ours:.5?}");
        for (ours, ns3) in ours.iter().zip(ns3) {
            assert!((ours / ns3 - 1.0).abs() < within, "{loss}: {ours} {ns3}");
        }
        if loss == 0.0 {
            let (twice, shared) = (two_channels / one, one_channel / one);
            assert!((1.95..2.03).contains(&twice), "{twice}");
            assert!((0.96..1.02).contains(&shared), "{shared}");
        }
    }
}

/// Twice the capacity, with a queue in which packets exceed their lifetime.
#[test]
fn wireless_counters_start_after_warm_up() {
    let of = |warmup: &str| {
        let wifi = "rate = \"1 Mbit/s\"\nqueue = \"100 packets\"\nlifetime = \"100 ms\"";
        let text = pair(wifi).replace("warmup = \"1 s\"", &format!("warmup = \"{warmup}\""));
        let text = format!("{text}\n[traffic]\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\n");
        summary(&text).links.swap_remove(0)
    };
    let (all, half) = (of("0 s"), of("10 s"));
    assert_eq!(all.drops_tries, Some(0));
    assert!(all.lost_packets > 1000, "{all:?}");
    let shares = [
        (half.lost_packets, all.lost_packets),
        (half.sent_packets, all.sent_packets),
        (half.delivered_bytes, all.delivered_bytes),
    ];
    for (half, all) in shares {
        let share = half as f64 / all as f64;
        assert!((share - 0.5).abs() < 0.02, "{half} of {all}");
    }
}
