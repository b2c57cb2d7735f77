//! Random scenarios over 802.11 channels: invariance to irrelevant changes.

mod support;

use std::fmt::Write;
use std::thread;

use proptest::prelude::*;
use ropewalk_simulator::Summary;
use support::run;

/// Scenario in parts, so that unused elements can be inserted.
#[derive(Clone, Debug)]
struct Scenario {
    head: String,
    channels: usize,
    nodes: Vec<(f64, f64)>,
    flows: String,
}

impl Scenario {
    /// Returns the text, with more channels at the end and more radios after the others.
    fn text(&self, more_channels: usize, more_nodes: &[(f64, f64)]) -> String {
        let names: Vec<String> = (0..self.channels)
            .map(|one| format!("\"c{one}\""))
            .collect();
        let mut text = self.head.clone();
        for one in 0..more_channels {
            writeln!(text, "[[channel]]\nname = \"unused{one}\"").unwrap();
        }
        for (number, (x, y)) in self.nodes.iter().chain(more_nodes).enumerate() {
            let mut radios = names.clone();
            radios.extend((0..more_channels).map(|one| format!("\"unused{one}\"")));
            let radios = radios.join(", ");
            writeln!(
                text,
                "[[node]]\nname = \"n{number}\"\nat = [\"{x} m\", \"{y} m\"]\nradios = [{radios}]"
            )
            .unwrap();
        }
        text + &self.flows
    }
}

prop_compose! {
    fn any_flow(number: usize, nodes: usize, channels: usize)(
        from in 0..nodes,
        over in 1..nodes,
        further in prop::option::of(1..nodes),
        channel in 0..channels,
        protocol in prop::sample::select(vec!["udp", "tcp"]),
        voice in prop::option::weighted(0.3, 100u32..900),
    ) -> String {
        let over = (from + over) % nodes;
        let mut way = vec![from, over];
        way.extend(further.map(|step| (over + step) % nodes).filter(|last| *last != from));
        let names: Vec<String> = way.iter().map(|node| format!("\"n{node}\"")).collect();
        let mut text = format!(
            "[[path]]\nname = \"p{number}\"\nnodes = [{}]\nchannel = \"c{channel}\"\n\
             [[flow]]\nname = \"f{number}\"\nprotocol = \"{protocol}\"\npaths = [\"p{number}\"]\n",
            names.join(", "),
        );
        if let Some(size) = voice {
            writeln!(
                text,
                "traffic = {{ kind = \"poisson\", rate = \"300 kbit/s\", message = \"{size} B\" }}"
            )
            .unwrap();
        }
        text
    }
}

prop_compose! {
    fn any_scenario()(channels in 1usize..3, places in prop::collection::vec((0.0f64..60.0, 0.0f64..60.0), 3..6))(
        flows in (0..3).map(|number| any_flow(number, places.len(), channels)).collect::<Vec<_>>(),
        propagation in prop::sample::select(vec![
            "propagation = { model = \"range\", range = \"40 m\" }",
            "propagation = { model = \"log-distance\", exponent = 2.6 }",
            "propagation = { model = \"range\", range = \"30 m\" }\npropagation_delay = true",
            "propagation = { model = \"log-distance\", exponent = 2.6, fading = { model = \"nakagami\", m = 1.5 } }",
        ]),
        wifi in prop::sample::select(vec![
            "rate = \"11 Mbit/s\"",
            "standard = \"802.11g\"\nrate = \"24 Mbit/s\"\nrts = \"0 B\"",
            "standard = \"802.11a\"\nrate = \"aarf\"\nprofile = \"ns-3\"",
            "rate = \"11 Mbit/s\"\nqueue_order = \"round-robin\"\nlifetime = \"100 ms\"",
        ]),
        channels in Just(channels),
        places in Just(places),
    ) -> Scenario {
        let mut head = format!("duration = \"1 s\"\n[wifi]\n{wifi}\n");
        for one in 0..channels {
            writeln!(head, "[[channel]]\nname = \"c{one}\"\n{propagation}").unwrap();
        }
        Scenario { head, channels, nodes: places, flows: flows.concat() }
    }
}

fn one(text: &str, seed: u64) -> Summary {
    run(text, seed).summary
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn one_thread_and_eight_give_the_same(scenario in any_scenario()) {
        let text = scenario.text(0, &[]);
        let alone: Vec<Summary> = (0..8).map(|seed| one(&text, seed)).collect();
        let together: Vec<Summary> = thread::scope(|scope| {
            let runs: Vec<_> = (0..8).map(|seed| scope.spawn({
                let text = &text;
                move || one(text, seed)
            })).collect();
            runs.into_iter().map(|run| run.join().expect("simulated")).collect()
        });
        prop_assert_eq!(alone, together);
    }

    #[test]
    fn unused_elements_do_not_change_results(
        scenario in any_scenario(),
        channels in 0usize..3,
        places in prop::collection::vec((0.0f64..60.0, 0.0f64..60.0), 0..3),
        seed in any::<u64>(),
    ) {
        let plain = one(&scenario.text(0, &[]), seed);
        let more = one(&scenario.text(channels, &places), seed);
        prop_assert_eq!(&plain.links, &more.links);
        prop_assert_eq!(&plain.flows, &more.flows);
        let of = |summary: &Summary| (summary.goodput_mbps, summary.delay_ms);
        prop_assert_eq!(of(&plain), of(&more));
        let used = plain.radios.iter().map(|radio| (&radio.node, &radio.channel));
        for (number, (node, channel)) in used.enumerate() {
            let same = more.radios.iter().find(|radio| (&radio.node, &radio.channel) == (node, channel));
            prop_assert_eq!(Some(&plain.radios[number]), same);
        }
    }
}
