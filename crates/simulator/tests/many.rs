//! Many links, paths and flows from few entries of a scenario.

mod support;

use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, simulate};
use support::{run, scenario};

const TRUNK: &str = r#"
    duration = "5 s"
    warmup = "1 s"
    [[link]]
    name = "trunk"
    rate = "25 Mbit/s"
    delay = "2 ms"
    queue = "50 packets"
"#;

const ACCESS: &str = r#"
    rate = "10 Mbit/s"
    delay = "5 ms"
    queue = "30 packets"
"#;

#[test]
fn count_equals_separate_entries() {
    let numbered = format!(
        "{TRUNK}[[link]]\nname = 'access'\ncount = 4\n{ACCESS}\n\
         [[path]]\nname = 'up'\ncount = 4\nhops = ['access-*', 'trunk']\n\
         [[flow]]\nname = 'user'\nprotocol = 'tcp'\npaths = ['up-*']\nin_turn = true\ncount = 4\n"
    );
    let each = |number: u32| {
        format!(
            "[[link]]\nname = 'access-{number}'\n{ACCESS}\n\
             [[path]]\nname = 'up-{number}'\nhops = ['access-{number}', 'trunk']\n\
             [[flow]]\nname = 'user-{number}'\nprotocol = 'tcp'\npath = 'up-{number}'\n"
        )
    };
    let listed = TRUNK.to_owned() + &(1..=4).map(each).collect::<String>();
    let [numbered, listed] = [numbered, listed].map(|text| run(&text, 1).summary);
    assert_eq!(numbered.stats.events, listed.stats.events);
    for (one, other) in numbered.links.iter().zip(&listed.links) {
        assert_eq!(
            (&one.name, one.sent_packets, one.dropped_packets),
            (&other.name, other.sent_packets, other.dropped_packets)
        );
    }
    let all = &numbered.flows[0];
    assert_eq!(all.count, Some(4));
    let each: Vec<u64> = listed
        .flows
        .iter()
        .map(|flow| flow.delivered_bytes)
        .collect();
    assert_eq!(all.delivered_bytes, each.iter().sum::<u64>());
    assert_eq!(numbered.jain_index, listed.jain_index);
    // The only entry has all bytes of each link.
    for link in &numbered.links {
        let shares: Vec<f64> = link.flows.iter().map(|flow| flow.share).collect();
        assert_eq!(shares, [1.0], "{}", link.name);
    }
    for (link, flow) in listed.links[1..].iter().zip(&listed.flows) {
        let [share] = &link.flows[..] else {
            panic!("{} is of {:?}", link.name, link.flows);
        };
        assert_eq!((share.share, &share.name), (1.0, &flow.name));
    }
    let trunk: u64 = listed.links[0]
        .flows
        .iter()
        .map(|flow| flow.delivered_bytes)
        .sum();
    assert_eq!(numbered.links[0].flows[0].delivered_bytes, trunk);
}

#[test]
fn connections_use_paths_round_robin() {
    let text = format!(
        "{TRUNK}[[link]]\nname = 'access'\ncount = 2\n{ACCESS}\n\
         [[path]]\nname = 'up'\ncount = 2\nhops = ['access-*', 'trunk']\n\
         [[competitor]]\nname = 'others'\npaths = ['up-*']\nin_turn = true\ncount = 3\n\
         [transport]\nprotocol = 'tcp'\npaths = ['trunk']\n"
    );
    let summary = run(&text, 1).summary;
    assert_eq!(summary.competitors[0].count, 3);
    // The third uses the first link again, and entries of two flows get more of the trunk.
    let sent: Vec<u64> = summary.links.iter().map(|link| link.sent_packets).collect();
    assert!(sent[1] > sent[2] && sent[2] > 1000, "{sent:?}");
}

#[test]
fn a_thousand_links_are_a_thousand_times_one() {
    let text = |count: u32| {
        format!(
            "duration = \"2 s\"\n[[link]]\nname = 'link'\ncount = {count}\n{ACCESS}\n\
             [[flow]]\nname = 'all'\nprotocol = 'tcp'\npaths = ['link-*']\nin_turn = true\ncount = {count}\n"
        )
    };
    let [few, many] = [2, 1000].map(|count| run(&text(count), 1).summary);
    assert_eq!(few.goodput_mbps, many.goodput_mbps);
    assert_eq!(500 * few.stats.data_packets, many.stats.data_packets);
    assert_eq!(500 * few.stats.events, many.stats.events);
}

/// Links without common flows may be simulated one after another, in the order of both. In another order,
/// or with a finite transfer, all take turns.
#[test]
fn independent_parts_equal_interleaved_simulation() {
    let link = |name: &str| {
        format!(
            "[[link]]\nname = '{name}'\nrate = '8 Mbit/s'\ndelay = '7 ms'\nqueue = '20 packets'\n\
             loss = '0.5 %'\njitter = '2 ms'\n"
        )
    };
    let flow = |name: &str, size: &str| {
        format!("[[flow]]\nname = 'of-{name}'\nprotocol = 'tcp'\npath = '{name}'\n{size}\n")
    };
    let outcome = |order: [&str; 3], size: &str| {
        let links = ["a", "b", "c"].map(link).concat();
        let flows = order.map(|name| flow(name, size)).concat();
        let text = format!("duration = '6 s'\nwarmup = '1 s'\n{links}{flows}");
        let options = Options {
            timeline_step: Some(Time::from_millis(300)),
            ..Options::default()
        };
        let outcome =
            simulate(&scenario(&text), 3, &options).expect("a scenario that is simulated");
        let mut flows: Vec<String> = outcome
            .summary
            .flows
            .iter()
            .map(|flow| format!("{flow:?}"))
            .collect();
        flows.sort();
        let rows = std::iter::once(&outcome.timeline)
            .chain(outcome.others.iter().map(|other| &other.timeline));
        let mut rows: Vec<String> = rows.map(|rows| format!("{rows:?}")).collect();
        rows.sort();
        (
            outcome.summary.stats,
            flows,
            rows,
            format!("{:?}", outcome.summary.links),
        )
    };
    let apart = outcome(["a", "b", "c"], "");
    assert_eq!(apart, outcome(["c", "b", "a"], ""));
    assert_eq!(
        apart,
        outcome(["a", "b", "c"], "traffic = { size = '1 GB' }")
    );
}
