//! Reasons why a subflow would not be established, or late, in a testbed that can be built.

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

/// Delay of a handshake whose first packet is lost, in addition to one and a half round-trip times
/// (tcp(7), RFC 6298).
const FIRST_RETRY: Time = Time::from_secs(1);

pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let mut lines = Vec::new();
    let flow = scenario.measured_flow();
    let used = &flow.paths;
    if !flow.protocol.has_subflows() {
        let others = scenario.paths.iter().enumerate();
        let by_any = |path: &usize| scenario.flows.iter().any(|flow| flow.paths.contains(path));
        let others = others.filter(|(path, _)| !by_any(path));
        lines.extend(others.map(|(_, path)| {
            let protocol = flow.protocol.name();
            format!(
                "{:?} carries nothing: protocol = {protocol:?} takes one path",
                path.name
            )
        }));
    }
    for (number, &path) in used.iter().enumerate() {
        let path = &scenario.paths[path];
        let mut round_trip = Time::ZERO;
        for &link in &path.hops {
            let link = &scenario.links[link];
            round_trip += link.round_trip();
            let both = [(&link.forward, "there"), (&link.reverse, "back")];
            for (_, way) in both
                .iter()
                .filter(|(direction, _)| direction.loss.mean() >= 1.0)
            {
                lines.push(format!(
                    "no subflow on {:?}: {:?} loses every packet {way}",
                    path.name, link.name
                ));
            }
            let down = link.down.iter().find(|outage| outage.start <= round_trip);
            if let Some(outage) = down {
                let what = if number == 0 {
                    "the connection"
                } else {
                    "its subflow"
                };
                lines.push(format!(
                    "{:?}: {:?} is silent until {}, so that {what} comes up {FIRST_RETRY} late at the soonest",
                    path.name, link.name, outage.end
                ));
            }
        }
        // The handshake of the first subflow, then of the address's own subflow.
        let handshakes = if number == 0 { 1 } else { 2 };
        let needed = Time::from_nanos(handshakes * round_trip.as_nanos());
        if needed >= scenario.duration {
            lines.push(format!(
                "no subflow on {:?}: its handshake takes {needed}, the run {}",
                path.name, scenario.duration
            ));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obstacles(text: &str) -> Vec<String> {
        of(&crate::testing::scenario(text))
    }

    const TWO: &str = "[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n\
                       [[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 s\"\n";

    #[test]
    fn ordinary_scenario_has_no_obstacles() {
        assert_eq!(obstacles(TWO), [""; 0]);
    }

    #[test]
    fn silence_total_loss_and_short_run_are_obstacles() {
        let silent = format!("{TWO}down = [[\"0 s\", \"3 s\"]]\n");
        assert_eq!(
            obstacles(&silent),
            [
                "\"b\": \"b\" is silent until 3 s, so that its subflow comes up 1 s late at the soonest"
            ]
        );
        let deaf = format!("{TWO}reverse = {{ loss = \"100 %\" }}\n");
        assert_eq!(
            obstacles(&deaf),
            ["no subflow on \"b\": \"b\" loses every packet back"]
        );
        assert_eq!(
            obstacles(&format!("duration = \"3 s\"\n{TWO}")),
            ["no subflow on \"b\": its handshake takes 4 s, the run 3 s"]
        );
        assert_eq!(
            obstacles(&format!("{TWO}[transport]\nprotocol = \"tcp\"\n")),
            ["\"b\" carries nothing: protocol = \"tcp\" takes one path"]
        );
    }
}
