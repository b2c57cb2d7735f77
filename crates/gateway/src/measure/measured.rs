//! Results of measuring a link, and their output as a scenario file.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

/// Results for one link to a relay. Rates count IP packets with headers, as in scenario files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkMeasurement {
    /// Measured with small packets on the idle link.
    pub round_trip: RoundTrip,
    /// Towards the relay.
    pub up: Direction,
    /// From the relay.
    pub down: Direction,
    /// Bytes that the measurement sent and requested.
    pub bytes: u64,
}

/// Round-trip times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundTrip {
    pub min_ms: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    /// The shortest, less the packet's own transmission time in both directions.
    pub propagation_ms: f64,
}

/// Results for one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// 10^6 bit/s of IP packets.
    pub rate_mbps: f64,
    /// Whether the rate is a lower bound: the link was not filled.
    pub rate_is_least: bool,
    pub loss_ratio: f64,
    /// Number of packets behind the ratio.
    pub loss_packets: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRate {
    pub bps: f64,
    pub is_least: bool,
    pub queue_bytes: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    pub lost: u32,
    pub sent: u32,
}

impl Direction {
    /// Combines a rate and a loss. The link also transmitted lost packets, so its rate includes them.
    pub fn new(rate: MeasuredRate, loss: Loss) -> Direction {
        let ratio = f64::from(loss.lost) / f64::from(loss.sent.max(1));
        Direction {
            rate_mbps: rate.bps / 1e6 / (1.0 - ratio.min(0.5)),
            rate_is_least: rate.is_least,
            loss_ratio: ratio,
            loss_packets: loss.sent,
            queue_bytes: rate.queue_bytes,
        }
    }
}

impl RoundTrip {
    /// Evaluates samples; `sending_s` is a packet's transmission time in both directions.
    pub fn of(mut samples: Vec<Duration>, sending_s: f64) -> Option<RoundTrip> {
        samples.sort_unstable();
        let ms = |at: usize| samples.get(at).map(|sample| sample.as_secs_f64() * 1e3);
        let rank = |share: f64| ((samples.len() as f64 * share) as usize).min(samples.len() - 1);
        let min_ms = ms(0)?;
        Some(RoundTrip {
            min_ms,
            p50_ms: ms(rank(0.5))?,
            p95_ms: ms(rank(0.95))?,
            propagation_ms: (min_ms - sending_s * 1e3).max(0.0),
        })
    }
}

/// The direction of the link that the scenario's data take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Forward {
    /// From here to the relay.
    Up,
    /// From the relay to here.
    Down,
}

/// Returns a scenario file of links with these names and costs.
pub fn scenario(
    title: &str,
    links: &[(String, Option<f64>, LinkMeasurement)],
    forward: Forward,
) -> String {
    let mut out = format!("title = {}\n", quoted(title));
    for (name, cost, measured) in links {
        let (there, back) = match forward {
            Forward::Up => (&measured.up, &measured.down),
            Forward::Down => (&measured.down, &measured.up),
        };
        let trip = &measured.round_trip;
        let _ = write!(
            out,
            "\n# Round trip {:.2} ms at least, {:.2} ms in the median, {:.2} ms for 95 %.\n",
            trip.min_ms, trip.p50_ms, trip.p95_ms
        );
        for (way, direction) in [("forward", there), ("back", back)] {
            if direction.rate_is_least {
                let _ = writeln!(
                    out,
                    "# The rate {way} may be more: the link was not filled."
                );
            }
            if direction.queue_bytes.is_none() {
                let _ = writeln!(
                    out,
                    "# The queue {way} was not seen full; 1 bdp is a guess."
                );
            }
        }
        let cost = cost.map_or_else(String::new, |cost| format!("cost = {cost:?}\n"));
        let _ = write!(
            out,
            "[[link]]\nname = {}\n{}\ndelay = \"{} us\"\n{cost}reverse = {{ {} }}\n",
            quoted(name),
            keys(there).join("\n"),
            (trip.propagation_ms * 500.0).round(),
            keys(back).join(", ")
        );
    }
    // `mptcp` uses all links, so that `advise` can leave some out.
    out.push_str("\n[transport]\nprotocol = \"mptcp\"\n");
    out
}

fn keys(direction: &Direction) -> [String; 3] {
    let queue = match direction.queue_bytes {
        Some(bytes) => format!("{} B", bytes.round()),
        None => "1 bdp".to_owned(),
    };
    [
        format!(
            "rate = \"{} kbit/s\"",
            (direction.rate_mbps * 1e3).round().max(1.0)
        ),
        format!("loss = \"{:.3} %\"", direction.loss_ratio * 100.0),
        format!("queue = \"{queue}\""),
    ]
}

/// Returns a TOML basic string: titles may need escapes, names of links do not.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .flat_map(|letter| match letter {
            '"' | '\\' => vec!['\\', letter],
            letter if letter.is_control() => vec!['?'],
            letter => vec![letter],
        })
        .collect();
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_network::{Capacity, Loss as LinkLoss};
    use ropewalk_scenario::Scenario;

    fn measured() -> LinkMeasurement {
        let rate = |bps, queue_bytes: Option<f64>| MeasuredRate {
            bps,
            is_least: queue_bytes.is_none(),
            queue_bytes,
        };
        let samples = (0..50).map(|at| Duration::from_micros(21_000 + 10 * at));
        LinkMeasurement {
            round_trip: RoundTrip::of(samples.collect(), 0.001).unwrap(),
            up: Direction::new(
                rate(19.8e6, Some(50_000.4)),
                Loss {
                    lost: 20,
                    sent: 2000,
                },
            ),
            down: Direction::new(
                rate(99.4e6, None),
                Loss {
                    lost: 0,
                    sent: 2000,
                },
            ),
            bytes: 9_000_000,
        }
    }

    fn parse(text: &str) -> Scenario {
        Scenario::parse(text, "measured.toml", &[], &mut |_| {
            unreachable!("no traces")
        })
        .unwrap()
    }

    #[test]
    fn the_file_is_a_scenario_of_what_was_measured() {
        let links = [("wifi".to_owned(), Some(2.5), measured())];
        let read = parse(&scenario("Links towards \"relay\"", &links, Forward::Up));
        assert_eq!(read.title, "Links towards \"relay\"");
        let link = &read.links[0];
        assert_eq!((link.name.as_str(), link.cost), ("wifi", Some(2.5)));
        assert_eq!(link.forward.delay.as_millis_f64(), 10.0);
        assert_eq!(link.reverse.delay.as_millis_f64(), 10.0);
        let Capacity::Rate(rate) = link.forward.capacity else {
            panic!("a rate");
        };
        // The received rate is 19.8, since 1 % was lost.
        assert_eq!(rate.as_mbps(), 20.0);
        assert_eq!(link.forward.loss, LinkLoss::Bernoulli(0.01));
        assert_eq!(link.reverse.loss, LinkLoss::None);
        let down = parse(&scenario("x", &links, Forward::Down));
        assert_eq!(down.links[0].forward.capacity, link.reverse.capacity);
    }

    #[test]
    fn unmeasured_value_is_reported() {
        let links = [("wifi".to_owned(), None, measured())];
        let text = scenario("x", &links, Forward::Up);
        assert_eq!(parse(&text).links[0].cost, None);
        assert!(text.contains("# The rate back may be more"), "{text}");
        assert!(
            text.contains("# The queue back was not seen full"),
            "{text}"
        );
        assert!(!text.contains("forward may be more"), "{text}");
    }

    #[test]
    fn round_trips_are_ranked() {
        let trip = measured().round_trip;
        assert_eq!((trip.min_ms, trip.p50_ms), (21.0, 21.25));
        assert!((trip.p95_ms - 21.47).abs() < 1e-9);
        assert!((trip.propagation_ms - 20.0).abs() < 1e-9);
        assert_eq!(RoundTrip::of(Vec::new(), 0.0), None);
    }
}
