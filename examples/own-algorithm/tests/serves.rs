//! The same algorithms work in MPTCP, on an aggregation's carriers and on a tunnel's links.

use ropewalk_own_algorithm::{Binomial, Budget, Patience};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Protocol, Scenario};
use ropewalk_simulator::{Options, Outcome, simulate};
use ropewalk_striping::tunnel::{Class, Flow, LinkTerms, Sender, SenderConfig};
use ropewalk_transport::scheduling::PacketScheduler;

const LINKS: &str = r#"
duration = "10 s"
[[link]]
name = "cheap"
rate = "8 Mbit/s"
delay = "15 ms"
cost = 1
[[link]]
name = "dear"
rate = "12 Mbit/s"
delay = "30 ms"
cost = 10
"#;
/// Budget of the expensive link in a tenth of a second: 1.3 Mbit/s.
const BUDGET: Bytes = Bytes::from_kib(16);

fn budget() -> Budget {
    Budget::new(Time::from_millis(100), BUDGET)
}

fn scenario(transport: &str) -> Scenario {
    let text = format!("{LINKS}[transport]\n{transport}");
    Scenario::parse(&text, "test", &[], &mut |_| Err("no file".to_owned())).unwrap()
}

fn run(scenario: &Scenario) -> Outcome {
    simulate(scenario, 7, &Options::default()).unwrap()
}

fn carried(outcome: &Outcome) -> [f64; 2] {
    let links = &outcome.summary.links;
    [0, 1].map(|link| links[link].delivered_bytes as f64 * 8e-7)
}

#[track_caller]
fn keeps_to_its_budget(outcome: &Outcome) {
    let [cheap, expensive] = carried(outcome);
    assert!(cheap > 7.0, "{cheap} {expensive}");
    // Headers are not counted, and a segment or a frame may exceed the budget.
    assert!((0.7..2.0).contains(&expensive), "{cheap} {expensive}");
}

#[test]
fn custom_scheduler_sees_time_cost_and_acknowledged_bytes() {
    let mut scenario = scenario("protocol = 'mptcp'\n");
    let free = carried(&run(&scenario))[1];
    assert!(free > 8.0, "{free}");
    scenario.flows[0].transport.scheduler = budget().config("budget").into();
    keeps_to_its_budget(&run(&scenario));
}

#[test]
fn aggregation_carriers_use_custom_scheduler() {
    let mut scenario = scenario("protocol = 'aggregation'\n");
    let Protocol::Aggregation(aggregation) = &mut scenario.flows[0].protocol else {
        panic!("not aggregation")
    };
    aggregation.scheduling = budget().config("budget").into();
    keeps_to_its_budget(&run(&scenario));
}

#[test]
fn so_are_the_links_of_a_tunnel() {
    const PACKET: u32 = 1500;
    let start = Time::from_millis(1);
    let mut tunnel = Sender::new(SenderConfig::default());
    let links = [tunnel.add_link(start), tunnel.add_link(start)];
    for (link, cost) in links.into_iter().zip([10.0, 1.0]) {
        let terms = LinkTerms {
            cost,
            ..LinkTerms::default()
        };
        tunnel.set_terms(start, link, terms);
    }
    let slot = Time::from_millis(100);
    let budget = Budget::new(slot, Bytes::new(u64::from(2 * PACKET)));
    tunnel.schedule_by(PacketScheduler::Custom(Box::new(budget)));
    let flow = Flow {
        lane: 1,
        class: Class::Ordered,
    };
    for number in 0..100 {
        assert!(tunnel.enqueue(start, number, PACKET, flow));
    }
    let mut send = |now: Time| {
        let mut sent = [0; 2];
        while let Some(packet) = tunnel.poll_transmit(now) {
            tunnel.send(now, packet.link, PACKET);
            sent[packet.link] += 1;
        }
        (sent, tunnel.poll_timeout())
    };
    let (sent, again) = send(start);
    assert!(sent[1] >= 1, "the cheap one first: {sent:?}");
    assert!(sent[0] <= 2, "{sent:?}");
    assert!(again.is_some_and(|at| at <= start + slot), "{again:?}");
    // Apart from the links' own pace, two packets per slot.
    let mut expensive = sent[0];
    let mut now = start;
    while now < start + slot {
        now += Time::from_millis(5);
        expensive += send(now).0[0];
    }
    assert!((2..=4).contains(&expensive), "{expensive}");
}

#[test]
fn custom_congestion_control_and_policy_run() {
    let mut scenario = scenario("protocol = 'tcp'\npaths = ['cheap']\n");
    let transport = &mut scenario.flows[0].transport;
    transport.congestion = Binomial::new(0.5, 0.5, 1.0, 0.5).config("sqrt").into();
    transport.reordering = Patience::new(20).config("patience").into();
    let outcome = run(&scenario);
    assert!(outcome.summary.goodput_mbps > 7.0, "{:?}", outcome.summary);
    // Twice NewReno's halving would be the whole window: a smaller reduction has another result.
    let mut additive = scenario.clone();
    additive.flows[0].transport.congestion =
        Binomial::new(0.0, 1.0, 1.0, 0.5).config("aimd").into();
    let loss = outcome.summary.goodput_mbps - run(&additive).summary.goodput_mbps;
    assert!(loss.abs() > 0.0);
}
