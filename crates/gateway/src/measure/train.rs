//! Evaluation of packet trains, from the send and receive times of their datagrams.
//!
//! A train that is sent faster than the link keeps the link busy throughout, so datagrams arrive at the
//! link's rate despite drops (packet train dispersion, Dovrolis, Ramanathan and Moore, INFOCOM 2001). The
//! additional delay of late datagrams over the first is the time that the full queue takes to drain.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSent {
    pub datagrams: u32,
    /// Length of each datagram with its UDP and IP headers.
    pub packet_bytes: u32,
    /// Time from the first to the last.
    pub span_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub index: u32,
    pub sent_ns: u64,
    pub received_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainReceived {
    pub arrived: u32,
    /// Rate of IP packets; absent with fewer than [`FEWEST`] arrivals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
    /// Median additional delay of the last third over the fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_s: Option<f64>,
}

/// Minimum number of arrivals for a rate.
pub const FEWEST: usize = 8;

impl TrainSent {
    pub fn rate_bps(&self) -> f64 {
        let intervals = self.datagrams.saturating_sub(1);
        f64::from(intervals) * f64::from(self.packet_bytes) * 8.0 / self.span_s.max(1e-9)
    }

    pub fn lost(&self, seen: &TrainReceived) -> f64 {
        let lost = self.datagrams.saturating_sub(seen.arrived);
        f64::from(lost) / f64::from(self.datagrams.max(1))
    }
}

impl TrainReceived {
    /// Evaluates arrivals, in order, of packets of one size.
    pub fn of(arrivals: &[Arrival], packet_bytes: u32) -> TrainReceived {
        let mut indices: Vec<u32> = arrivals.iter().map(|arrival| arrival.index).collect();
        indices.sort_unstable();
        indices.dedup();
        let enough = arrivals.len() >= FEWEST;
        TrainReceived {
            arrived: indices.len() as u32,
            rate_bps: enough
                .then(|| slope_per_s(arrivals))
                .flatten()
                .map(|packets| packets * f64::from(packet_bytes) * 8.0),
            queued_s: enough.then(|| queued_s(arrivals)),
        }
    }
}

/// Returns arrivals per second: the slope of a least-squares line through the number of arrivals over time,
/// which occasional delays of the receiver hardly change.
fn slope_per_s(arrivals: &[Arrival]) -> Option<f64> {
    let first = arrivals.first()?.received_ns;
    let at = |arrival: &Arrival| arrival.received_ns.saturating_sub(first) as f64 / 1e9;
    let count = arrivals.len() as f64;
    let mean_at = arrivals.iter().map(at).sum::<f64>() / count;
    let mean_number = (count - 1.0) / 2.0;
    let (mut with_time, mut of_numbers) = (0.0, 0.0);
    for (number, arrival) in arrivals.iter().enumerate() {
        let number = number as f64 - mean_number;
        with_time += number * (at(arrival) - mean_at);
        of_numbers += number * number;
    }
    // Time is the dependent variable, since it varies.
    (with_time > 0.0).then(|| of_numbers / with_time)
}

fn queued_s(arrivals: &[Arrival]) -> f64 {
    let under_way: Vec<i128> = arrivals
        .iter()
        .map(|arrival| i128::from(arrival.received_ns) - i128::from(arrival.sent_ns))
        .collect();
    let least = under_way.iter().min().copied().unwrap_or_default();
    let mut late = under_way[under_way.len() * 2 / 3..].to_vec();
    late.sort_unstable();
    (late[late.len() / 2] - least) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u32 = 1428;

    /// Simulates a link: a queue that drops at its tail, then transmission, then delay.
    fn through_link(sent_bps: f64, link_bps: f64, queue_bytes: f64, packets: u32) -> Vec<Arrival> {
        let bits = f64::from(PACKET) * 8.0;
        let mut free_at = 0.0;
        let mut arrivals = Vec::new();
        for index in 0..packets {
            let sent = f64::from(index) * bits / sent_bps;
            let waits = (free_at - sent) * link_bps / 8.0;
            if waits > queue_bytes {
                continue;
            }
            free_at = f64::max(free_at, sent) + bits / link_bps;
            arrivals.push(Arrival {
                index,
                sent_ns: (sent * 1e9) as u64,
                // A clock of another machine.
                received_ns: ((free_at + 0.02 + 777.0) * 1e9) as u64,
            });
        }
        arrivals
    }

    #[test]
    fn train_that_fills_the_link_measures_rate_and_queue() {
        let arrivals = through_link(25e6, 20e6, 50_000.0, 1000);
        let seen = TrainReceived::of(&arrivals, PACKET);
        assert!(seen.arrived < 1000, "the queue dropped some");
        let rate = seen.rate_bps.unwrap();
        assert!((rate / 20e6 - 1.0).abs() < 1e-3, "{rate}");
        let queue = seen.queued_s.unwrap() * rate / 8.0;
        assert!(
            (queue - 50_000.0).abs() < 2.0 * f64::from(PACKET),
            "{queue}"
        );
    }

    #[test]
    fn train_below_the_links_rate_arrives_as_sent() {
        let arrivals = through_link(10e6, 20e6, 50_000.0, 500);
        let seen = TrainReceived::of(&arrivals, PACKET);
        let sent = TrainSent {
            datagrams: 500,
            packet_bytes: PACKET,
            span_s: 499.0 * f64::from(PACKET) * 8.0 / 10e6,
        };
        assert!((sent.rate_bps() / 10e6 - 1.0).abs() < 1e-9);
        assert!((seen.rate_bps.unwrap() / 10e6 - 1.0).abs() < 1e-3);
        assert!(seen.queued_s.unwrap() < 1e-6);
        assert_eq!(sent.lost(&seen), 0.0);
    }

    #[test]
    fn late_receiver_hardly_changes_the_rate() {
        let mut arrivals = through_link(25e6, 20e6, 50_000.0, 1000);
        let held = arrivals[400].received_ns + 20_000_000;
        for arrival in &mut arrivals[400..] {
            arrival.received_ns = arrival.received_ns.max(held);
        }
        let last = arrivals.last().unwrap().received_ns;
        for arrival in arrivals.iter_mut().rev().take(30) {
            arrival.received_ns = last;
        }
        let rate = TrainReceived::of(&arrivals, PACKET).rate_bps.unwrap();
        assert!((rate / 20e6 - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn duplicates_count_once_and_few_arrivals_give_no_rate() {
        let arrivals = through_link(1e6, 2e6, 1e6, 7);
        let seen = TrainReceived::of(&arrivals, PACKET);
        assert_eq!(
            (seen.arrived, seen.rate_bps, seen.queued_s),
            (7, None, None)
        );
        let twice: Vec<Arrival> = arrivals.iter().chain(&arrivals).copied().collect();
        assert_eq!(TrainReceived::of(&twice, PACKET).arrived, 7);
        assert_eq!(TrainReceived::of(&[], PACKET).arrived, 0);
    }
}
