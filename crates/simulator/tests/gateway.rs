//! `protocol = "gateway"`: the flows of programs through the gateway's client.

mod support;

use ropewalk_simulator::Summary;
use support::{run, scenario};

/// Two links: 20 Mbit/s and 10 ms, and the given one with 40 ms.
fn links(second: &str) -> String {
    format!(
        "duration = \"10 s\"\nwarmup = \"2 s\"\n\
         [[link]]\nname = \"quick\"\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
         [[link]]\nname = \"slow\"\ndelay = \"40 ms\"\n{second}\n"
    )
}

fn summary(second: &str, rest: &str) -> Summary {
    run(&format!("{}{rest}", links(second)), 1).summary
}

const CALL: &str = "[transport]\nprotocol = \"gateway\"\ncarries = \"udp\"\n\
                    [traffic]\nkind = \"cbr\"\nmessage = \"160 B\"\nrate = \"64 kbit/s\"\n";

#[test]
fn tcp_is_carried_by_an_aggregation() {
    let goodput = |protocol| {
        let transport = format!("[transport]\nprotocol = \"{protocol}\"\n");
        summary("rate = \"10 Mbit/s\"", &transport).goodput_mbps
    };
    assert_eq!(goodput("gateway"), goodput("aggregation"));
}

#[test]
fn quic_uses_both_links_in_order() {
    let transport = "[transport]\nprotocol = \"gateway\"\ncarries = \"quic\"\n";
    let summary = summary("rate = \"10 Mbit/s\"", transport);
    assert!(summary.goodput_mbps > 25.0, "{}", summary.goodput_mbps);
    assert_eq!(summary.subflows.len(), 1);
}

/// So the tunnel's results for TCP are those for QUIC, too.
#[test]
fn quic_is_treated_like_tcp_in_the_tunnel() {
    for second in [
        "rate = \"10 Mbit/s\"",
        "rate = \"80 Mbit/s\"\nloss = \"0.5 %\"",
    ] {
        let goodput = |transport| summary(second, transport).goodput_mbps;
        let quic = goodput("[transport]\nprotocol = \"gateway\"\ncarries = \"quic\"\n");
        let tcp = goodput("[transport]\nprotocol = \"striped-tcp\"\ndevice = \"tunnel\"\n");
        assert_eq!(quic, tcp, "{second}");
    }
}

#[test]
fn call_arrives_by_the_quickest_link() {
    let summary = summary("rate = \"10 Mbit/s\"", CALL);
    let delay = summary.delay_ms.expect("datagrams arrived");
    assert!(delay.max < 12.0, "{delay:?}");
    assert_eq!(summary.delivered_bytes, 8 * 8_000);
    // The second link has copies.
    let link = &summary.links[1];
    assert!(link.delivered_bytes > 64_000, "{}", link.delivered_bytes);
}

/// The example of docs/tunnel/how-it-works.md: three runs of 6000 datagrams.
#[test]
fn call_loses_nothing_on_a_lossy_link_beside_a_clean_one() {
    let text = format!(
        "duration = \"120 s\"\n\
         [[link]]\nname = \"lossy\"\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\nloss = \"2 %\"\n\
         [[link]]\nname = \"clean\"\nrate = \"20 Mbit/s\"\ndelay = \"25 ms\"\n{CALL}"
    );
    for seed in 1..=3 {
        let summary = run(&text, seed).summary;
        assert!(summary.links[0].lost_packets > 50);
        assert_eq!(summary.delivered_bytes, 160 * 6000);
        let delay = summary.delay_ms.expect("datagrams arrived");
        assert!(delay.max < 25.5, "{delay:?}");
    }
}

#[test]
fn call_keeps_its_delay_beside_a_download() {
    let flow = |name: &str, rest: &str| {
        format!("[[flow]]\nname = \"{name}\"\nprotocol = \"gateway\"\n{rest}\n")
    };
    let call = flow(
        "call",
        "carries = \"udp\"\ntraffic = { kind = \"cbr\", message = \"160 B\", rate = \"64 kbit/s\" }",
    );
    let text = links("rate = \"10 Mbit/s\"");
    let outcome = run(&format!("{text}{call}{}", flow("download", "")), 1);
    let call = outcome.summary.delay_ms.expect("datagrams arrived");
    assert!(call.p99 < 50.0, "{call:?}");
}

#[test]
fn written_scenario_is_the_same() {
    for carries in ["tcp", "quic"] {
        let transport = format!("[transport]\nprotocol = \"gateway\"\ncarries = \"{carries}\"\n");
        let first = scenario(&format!("{}{transport}", links("rate = \"10 Mbit/s\"")));
        assert_eq!(scenario(&first.to_toml()), first);
    }
    let first = scenario(&format!("{}{CALL}", links("rate = \"10 Mbit/s\"")));
    assert_eq!(scenario(&first.to_toml()), first);
}
