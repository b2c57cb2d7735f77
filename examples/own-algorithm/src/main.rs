//! Simulates a connection with the algorithms of this crate, and with built-in ones.

use ropewalk_own_algorithm::{Binomial, Budget, Patience};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, simulate};

const SCENARIO: &str = r#"
duration = "20 s"

[[link]]
name = "dsl"
rate = "8 Mbit/s"
delay = "15 ms"
loss = "0.01 %"
cost = 1

[[link]]
name = "lte"
rate = "12 Mbit/s"
delay = "30 ms"
loss = "0.01 %"
cost = 10

[transport]
protocol = "mptcp"
scheduler = "min-rtt"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let built_in = Scenario::parse(SCENARIO, "example", &[], &mut |_| Err("no file".to_owned()))?;
    let mut gentle = built_in.clone();
    let transport = &mut gentle.flows[0].transport;
    transport.congestion = Binomial::new(0.5, 0.5, 1.0, 0.5).config("sqrt").into();
    transport.reordering = Patience::new(20).config("patience").into();
    let mut frugal = gentle.clone();
    let budget = Budget::new(Time::from_millis(100), Bytes::from_kib(16));
    frugal.flows[0].transport.scheduler = budget.config("budget").into();
    for scenario in [built_in, gentle, frugal] {
        let transport = &scenario.flows[0].transport;
        let name = format!(
            "{}, {}, {}",
            transport.congestion.name(),
            transport.scheduler.name(),
            transport.reordering.name()
        );
        let summary = simulate(&scenario, 1, &Options::default())?.summary;
        let cost = summary.cost.unwrap_or(0.0);
        println!("{name}: {:.2} Mbit/s at {cost:.1}", summary.goodput_mbps);
    }
    Ok(())
}
