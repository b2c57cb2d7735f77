//! Several flows in one scenario.

mod support;

use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, simulate};
use support::{run, scenario};

const TWO_LINKS: &str = r#"
    duration = "10 s"
    [[link]]
    name = "dsl"
    rate = "16 Mbit/s"
    delay = "20 ms"
    [[link]]
    name = "cable"
    rate = "50 Mbit/s"
    delay = "8 ms"
"#;

/// One of each, over two links.
const THREE: &str = r#"
    [[flow]]
    name = "download"
    protocol = "mptcp"
    congestion = "lia"
    [[flow]]
    name = "alone"
    protocol = "tcp"
    path = "cable"
    [[flow]]
    name = "gateway"
    protocol = "aggregation"
"#;

#[test]
fn each_flow_has_results_and_shares_add_up() {
    let summary = run(&format!("{TWO_LINKS}{THREE}"), 1).summary;
    let names: Vec<&str> = summary
        .flows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(names, ["download", "alone", "gateway"]);
    let protocols: Vec<&str> = summary.flows.iter().map(|flow| flow.protocol).collect();
    assert_eq!(protocols, ["mptcp", "tcp", "bas"]);
    let subflows: Vec<usize> = summary
        .flows
        .iter()
        .map(|flow| flow.subflows.len())
        .collect();
    assert_eq!(subflows, [2, 1, 2]);
    for flow in &summary.flows {
        assert!(flow.delivered_bytes > 1_000_000, "{flow:?}");
        assert!(flow.delay_ms.is_some() && flow.completion_s.is_none());
    }
    let shares: f64 = summary.flows.iter().map(|flow| flow.share).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    // The top level of the summary is the first flow's.
    assert_eq!(summary.goodput_mbps, summary.flows[0].goodput_mbps);
    assert_eq!(summary.subflows, summary.flows[0].subflows);

    let goodputs: Vec<f64> = summary.flows.iter().map(|flow| flow.goodput_mbps).collect();
    let (sum, squares): (f64, f64) = goodputs
        .iter()
        .fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let jain = summary.jain_index.expect("three flows");
    assert!((jain - sum * sum / (3.0 * squares)).abs() < 1e-12);
    assert!((1.0 / 3.0..=1.0).contains(&jain), "{jain}");

    let [dsl, cable] = &summary.links[..] else {
        panic!("two links");
    };
    let users = |link: &ropewalk_simulator::LinkSummary| -> Vec<String> {
        link.flows.iter().map(|share| share.name.clone()).collect()
    };
    assert_eq!(users(dsl), ["download", "gateway"]);
    assert_eq!(users(cable), ["download", "alone", "gateway"]);
    for link in [dsl, cable] {
        let shares: f64 = link.flows.iter().map(|share| share.share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        // Each path is one link, so all that left it has arrived.
        let bytes: u64 = link.flows.iter().map(|share| share.delivered_bytes).sum();
        assert_eq!(bytes, link.delivered_bytes);
    }
}

#[test]
fn one_flow_stands_beside_nobody() {
    let summary = run(TWO_LINKS, 1).summary;
    assert!(summary.flows.is_empty() && summary.jain_index.is_none());
    assert!(summary.links.iter().all(|link| link.flows.is_empty()));
}

#[test]
fn a_run_ends_with_the_last_finite_flow_and_competitors_do_not_count() {
    let text = format!(
        r#"{TWO_LINKS}
        [[flow]]
        name = "short"
        protocol = "tcp"
        path = "dsl"
        traffic = {{ size = "500 kB" }}
        [[flow]]
        name = "long"
        protocol = "tcp"
        path = "cable"
        start = "1 s"
        traffic = {{ size = "5 MB" }}
        [[competitor]]
        name = "other"
        path = "cable"
        count = 2
        "#
    );
    let outcome = run(&text, 1);
    let summary = &outcome.summary;
    let [short, long, other] = &summary.flows[..] else {
        panic!("three entries");
    };
    let completion = long.completion_s.expect("it ends");
    assert!(short.completion_s.expect("it ends") < 1.0);
    assert!((summary.duration_s - (1.0 + completion)).abs() < 1e-9);
    assert_eq!(
        (short.delivered_bytes, long.delivered_bytes),
        (500_000, 5_000_000)
    );
    assert_eq!(
        (other.count, other.delay_ms, other.completion_s),
        (Some(2), None, None)
    );
    // The same sums in another order.
    let of_both = summary.competitors[0].goodput_mbps;
    assert!((of_both - other.goodput_mbps).abs() < 1e-9);
    let others: Vec<&str> = outcome
        .others
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(others, ["long"]);
}

#[test]
fn equal_flows_share_equally_and_count_separately() {
    let text = r#"
        duration = "60 s"
        warmup = "10 s"
        [[link]]
        name = "link"
        rate = "20 Mbit/s"
        delay = "10 ms"
        queue = "50 packets"
        [[flow]]
        name = "both"
        protocol = "tcp"
        count = 2
        profile = "rfc"
    "#;
    let outcome = run(text, 3);
    let summary = &outcome.summary;
    let [both] = &summary.flows[..] else {
        panic!("one entry");
    };
    assert_eq!((both.count, both.share), (Some(2), 1.0));
    assert!(
        (both.goodput_mbps - 9.65).abs() < 0.3,
        "{}",
        both.goodput_mbps
    );
    let jain = summary.jain_index.expect("two flows");
    assert!(jain > 0.9, "{jain}");
    assert_eq!(outcome.others[0].name, "both (2)");
    assert_eq!(run(text, 3), outcome);
    assert_eq!(scenario(text).flows.len(), 1);
}

#[test]
fn other_flows_do_not_change_a_flows_draws() {
    // Another flow on another link does not change this one.
    let alone = format!(
        r#"{TWO_LINKS}
        [[flow]]
        name = "alone"
        protocol = "tcp"
        path = "cable"
        traffic = {{ kind = "poisson", rate = "5 Mbit/s", message = "1 kB" }}
        "#
    );
    let beside = format!(
        r#"{alone}
        [[flow]]
        name = "beside"
        protocol = "tcp"
        path = "dsl"
        "#
    );
    let (alone, beside) = (run(&alone, 1).summary, run(&beside, 1).summary);
    assert_eq!(alone.goodput_mbps, beside.goodput_mbps);
    assert_eq!(alone.delay_ms, beside.delay_ms);
    assert_eq!(alone.subflows, beside.subflows);
}

#[test]
fn competitors_have_a_timeline_on_request() {
    let text = format!(
        r#"{TWO_LINKS}
        [[flow]]
        name = "download"
        [[competitor]]
        name = "three"
        path = "cable"
        count = 3
        start = "2 s"
        [[competitor]]
        name = "steady"
        path = "dsl"
        traffic = {{ kind = "cbr", rate = "2 Mbit/s" }}
        "#
    );
    let scenario = scenario(&text);
    let with = |step| {
        let options = Options {
            timeline_step: step,
            ..Options::default()
        };
        simulate(&scenario, 1, &options).expect("it runs")
    };
    let plain = with(None);
    let timed = with(Some(Time::from_millis(500)));
    assert!(plain.competitors.is_none());
    assert_eq!(plain.summary, timed.summary, "a timeline changes nothing");
    let rows = timed.competitors.expect("a timeline is asked for");
    assert_eq!(rows.time_s.len(), 2 * 20);
    let of = |number: u32| -> Vec<(f64, f64)> {
        let rows = rows
            .competitor
            .iter()
            .zip(&rows.time_s)
            .zip(&rows.goodput_mbps);
        rows.filter(|((competitor, _), _)| **competitor == number)
            .map(|((_, time), goodput)| (*time, *goodput))
            .collect()
    };
    let (three, steady) = (of(0), of(1));
    assert!(
        three
            .iter()
            .all(|(time, goodput)| (*goodput > 0.0) == (*time > 2.0))
    );
    // Averaged from its start, the steps equal the summary.
    let mean = |rows: &[(f64, f64)], seconds: f64| {
        rows.iter().map(|(_, goodput)| goodput * 0.5).sum::<f64>() / seconds
    };
    let summary = &timed.summary.competitors;
    assert!((mean(&three, 8.0) - summary[0].goodput_mbps).abs() < 1e-9);
    assert!((mean(&steady, 10.0) - summary[1].goodput_mbps).abs() < 1e-9);
    assert!((summary[1].goodput_mbps - 2.0).abs() < 0.05);
}

#[test]
fn no_competitors_have_no_records() {
    let options = Options {
        timeline_step: Some(Time::from_millis(500)),
        ..Options::default()
    };
    let outcome = simulate(&scenario(TWO_LINKS), 1, &options).expect("it runs");
    assert!(outcome.timeline.is_some() && outcome.competitors.is_none());
}
