//! Recent traffic of links: a sample per second, for rates and for the page's plots.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::combined::combined_links;
use super::document::{Document, FastestLink, LinkState, Rates, TotalRates};
use crate::links::OVER_TCP;

/// Age of the oldest samples, in seconds.
pub const SPAN_S: usize = 300;

const LOSS_SPAN_S: usize = 60;

/// Time in which the fastest link is searched.
const FASTEST_SPAN_S: usize = 10;

const MAX_SERIES: usize = 256;

/// Samples of each link, oldest first.
#[derive(Debug, Default)]
pub struct History {
    sampled_at_s: VecDeque<f64>,
    series: BTreeMap<(String, String), Series>,
}

#[derive(Debug)]
struct Series {
    peer: String,
    sent_bytes: u64,
    received_bytes: u64,
    /// One per time in `sampled_at_s`, or fewer if the link appeared later.
    samples: VecDeque<Option<Sample>>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    rates: Option<Rates>,
    state: LinkState,
    datagrams: Option<(u64, u64)>,
}

impl History {
    /// Adds a sample, taken when the gateway had run for `document.uptime_s`.
    pub fn push(&mut self, document: &Document) {
        let elapsed_s = self
            .sampled_at_s
            .back()
            .map(|before| document.uptime_s - before);
        if elapsed_s.is_some_and(|elapsed| elapsed <= 0.0) {
            return;
        }
        self.sampled_at_s.push_back(document.uptime_s);
        for series in self.series.values_mut() {
            series.samples.push_back(None);
        }
        for (group, link) in document.links() {
            let key = (group.id.to_owned(), link.name.clone());
            if !self.series.contains_key(&key) && self.series.len() == MAX_SERIES {
                continue;
            }
            let series = self.series.entry(key).or_insert_with(|| Series {
                peer: group.peer.to_owned(),
                sent_bytes: link.sent_bytes,
                received_bytes: link.received_bytes,
                samples: VecDeque::from([None]),
            });
            let before = series.samples.iter().rev().nth(1).copied().flatten();
            let rates = elapsed_s
                .filter(|_| before.is_some())
                .and_then(|elapsed_s| {
                    Some(Rates {
                        sent: mbps(series.sent_bytes, link.sent_bytes, elapsed_s)?,
                        received: mbps(series.received_bytes, link.received_bytes, elapsed_s)?,
                    })
                });
            series.sent_bytes = link.sent_bytes;
            series.received_bytes = link.received_bytes;
            let state = link.state;
            if let Some(newest) = series.samples.back_mut() {
                *newest = Some(Sample {
                    rates,
                    state,
                    datagrams: link.sent_datagrams.zip(link.lost_datagrams),
                });
            }
        }
        self.forget();
    }

    fn forget(&mut self) {
        if self.sampled_at_s.len() > SPAN_S {
            self.sampled_at_s.pop_front();
        }
        let kept = self.sampled_at_s.len();
        for series in self.series.values_mut() {
            while series.samples.len() > kept {
                series.samples.pop_front();
            }
        }
        self.series
            .retain(|_, series| series.samples.iter().any(Option::is_some));
    }

    /// Writes the newest rates, and the loss ratio of the last minute, into a document.
    pub fn fill_in(&self, document: &mut Document) {
        document.total = self.total().filter(|_| document.is_of_client());
        for (group, link) in document.links_mut() {
            let key = (group.to_owned(), link.name.clone());
            let series = self.series.get(&key);
            link.rate_mbps = series
                .and_then(|series| series.samples.back().copied().flatten())
                .and_then(|sample| sample.rates);
            let now = link.sent_datagrams.zip(link.lost_datagrams);
            link.loss_ratio = series.and_then(|series| series.loss_ratio(now?));
        }
        let links = combined_links(document);
        if let Some(total) = &mut document.total {
            total.links = links;
        }
    }

    /// Returns the rates of all links together; `None` before the second sample.
    fn total(&self) -> Option<TotalRates> {
        // Each link with its rates, newest first, of both halves together.
        let mut links: BTreeMap<&str, [Option<Rates>; FASTEST_SPAN_S]> = BTreeMap::new();
        let of_links = self.series.iter();
        // Datagrams over TCP count as bytes of the carriers.
        for ((_, name), series) in of_links.filter(|((_, name), _)| name != OVER_TCP) {
            let seconds = links.entry(name.as_str()).or_default();
            let newest = series.samples.iter().rev();
            for (second, sample) in seconds.iter_mut().zip(newest) {
                if let Some(rates) = sample.and_then(|known| known.rates) {
                    *second = Some(second.map_or(rates, |other| other + rates));
                }
            }
        }
        let now = links.values().filter_map(|seconds| seconds[0]);
        let fastest = |of: fn(&Rates) -> f64| {
            let best = links.iter().map(|(name, seconds)| FastestLink {
                name: (*name).to_owned(),
                rate_mbps: seconds.iter().flatten().map(of).fold(0.0, f64::max),
            });
            let best = best.max_by(|one, other| one.rate_mbps.total_cmp(&other.rate_mbps));
            best.filter(|best| best.rate_mbps > 0.0)
        };
        Some(TotalRates {
            rate_mbps: now.reduce(|one, other| one + other)?,
            fastest_sending: fastest(|rates| rates.sent),
            fastest_receiving: fastest(|rates| rates.received),
            links: Vec::new(),
        })
    }

    pub fn recorded(&self) -> Recorded {
        let moments = self.sampled_at_s.len();
        Recorded {
            uptime_s: self.sampled_at_s.iter().map(|at| rounded(*at)).collect(),
            links: self
                .series
                .iter()
                .map(|((group, link), series)| series.recorded(moments, group, link))
                .collect(),
        }
    }
}

impl Series {
    /// Returns the fraction of the datagrams sent in the last minute that were lost, if any were sent.
    fn loss_ratio(&self, (sent, lost): (u64, u64)) -> Option<f64> {
        let minute = self.samples.len().saturating_sub(LOSS_SPAN_S);
        let mut known = self.samples.iter().skip(minute).flatten();
        let (sent_before, lost_before) = known.find_map(|sample| sample.datagrams)?;
        let sent = sent.checked_sub(sent_before).filter(|&sent| sent > 0)?;
        // Losses decrease when datagrams reported lost arrive late.
        let lost = lost.saturating_sub(lost_before).min(sent);
        Some(lost as f64 / sent as f64)
    }

    fn recorded(&self, moments: usize, group: &str, link: &str) -> RecordedLink {
        let missing = moments - self.samples.len();
        let padded = || {
            std::iter::repeat_n(None, missing).chain(
                self.samples
                    .iter()
                    .map(|sample| sample.and_then(|known| known.rates)),
            )
        };
        RecordedLink {
            group: group.to_owned(),
            peer: self.peer.clone(),
            name: link.to_owned(),
            sent_mbps: padded()
                .map(|rates| rates.map(|known| rounded(known.sent)))
                .collect(),
            received_mbps: padded()
                .map(|rates| rates.map(|known| rounded(known.received)))
                .collect(),
            suspected: self
                .samples
                .iter()
                .enumerate()
                .filter(|(_, sample)| {
                    sample.is_some_and(|known| known.state == LinkState::Suspected)
                })
                .map(|(at, _)| missing + at)
                .collect(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recorded {
    pub uptime_s: Vec<f64>,
    pub links: Vec<RecordedLink>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordedLink {
    pub group: String,
    pub peer: String,
    pub name: String,
    /// `None` where the link did not exist, or the value is unknown.
    pub sent_mbps: Vec<Option<f64>>,
    pub received_mbps: Vec<Option<f64>>,
    /// Indices of the samples during which it was suspected.
    pub suspected: Vec<usize>,
}

/// Returns a rate; a counter that decreased belongs to a new carrier.
fn mbps(before: u64, now: u64, elapsed_s: f64) -> Option<f64> {
    let bytes = now.checked_sub(before)?;
    Some(bytes as f64 * 8.0 / elapsed_s / 1e6)
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::document::{GatewayRole, TunnelSummary};
    use super::super::examples;
    use super::*;

    fn at(uptime_s: f64, sent_bytes: u64) -> Document {
        let mut document = examples::proxy();
        document.uptime_s = uptime_s;
        document.associations[0].links[0].sent_bytes = sent_bytes;
        document
    }

    fn sent_mbps(history: &History) -> Vec<Option<f64>> {
        let recorded = history.recorded();
        let of = |link: &&RecordedLink| link.name == "wifi";
        recorded.links.iter().find(of).unwrap().sent_mbps.clone()
    }

    #[test]
    fn rate_is_difference_over_elapsed_time() {
        let mut history = History::default();
        history.push(&at(1.0, 1_000_000));
        history.push(&at(3.0, 6_000_000));
        assert_eq!(sent_mbps(&history), [None, Some(20.0)]);
        let mut document = at(3.2, 6_100_000);
        history.fill_in(&mut document);
        assert_eq!(
            document.associations[0].links[0].rate_mbps,
            Some(Rates {
                sent: 20.0,
                received: 0.0
            })
        );
    }

    #[test]
    fn total_adds_both_halves_of_a_link_and_keeps_its_best_second() {
        let document = |second: u64, sent: [u64; 3]| {
            let mut document = at(second as f64, sent[0]);
            document.role = GatewayRole::Client;
            let links = document.associations[0].links.clone();
            document.associations[0].links[1].sent_bytes = sent[1];
            let mut tunnel: TunnelSummary =
                serde_json::from_str(r#"{"interface": "rope0", "peer": "relay", "links": []}"#)
                    .unwrap();
            tunnel.links = links;
            tunnel.links[0].sent_bytes = sent[2];
            document.tunnels = vec![tunnel];
            document
        };
        let mut history = History::default();
        // Bytes of wifi and lte in the association, and of wifi in the tunnel.
        history.push(&document(1, [0, 0, 0]));
        history.push(&document(2, [1_000_000, 500_000, 250_000]));
        let mut last = document(3, [1_125_000, 750_000, 250_000]);
        history.push(&last);
        history.fill_in(&mut last);
        let total = last.total.clone().unwrap();
        assert_eq!(total.rate_mbps.sent, 3.0);
        let fastest = total.fastest_sending.unwrap();
        assert_eq!((fastest.name.as_str(), fastest.rate_mbps), ("wifi", 10.0));
        assert_eq!(total.fastest_receiving, None);
        last.role = GatewayRole::Relay;
        history.fill_in(&mut last);
        assert_eq!(last.total, None);
    }

    #[test]
    fn a_counter_that_fell_back_gives_no_rate() {
        let mut history = History::default();
        for (uptime_s, sent) in [(1.0, 9_000_000), (2.0, 125_000), (3.0, 250_000)] {
            history.push(&at(uptime_s, sent));
        }
        assert_eq!(sent_mbps(&history), [None, None, Some(1.0)]);
    }

    #[test]
    fn losses_are_those_of_the_last_minute() {
        let mut history = History::default();
        let document = |second: u64| {
            let mut document = at(second as f64, 0);
            let link = &mut document.associations[0].links[0];
            // Every second datagram until the hundredth second, none later.
            link.sent_datagrams = Some(second * 10);
            link.lost_datagrams = Some(second.min(100) * 5);
            document
        };
        let ratio = |history: &History, second| {
            let mut document = document(second);
            history.fill_in(&mut document);
            document.associations[0].links[0].loss_ratio
        };
        assert_eq!(ratio(&history, 1), None);
        for second in 1..=100 {
            history.push(&document(second));
        }
        assert_eq!(ratio(&history, 100), Some(0.5));
        for second in 101..=200 {
            history.push(&document(second));
        }
        assert_eq!(ratio(&history, 200), Some(0.0));
        for second in 201..=300 {
            let mut idle = document(200);
            idle.uptime_s = second as f64;
            history.push(&idle);
        }
        assert_eq!(ratio(&history, 200), None);
    }

    #[test]
    fn absent_link_has_no_rate() {
        let mut history = History::default();
        history.push(&at(1.0, 0));
        let mut without = at(2.0, 0);
        without.associations[0].links.remove(0);
        history.push(&without);
        history.push(&at(3.0, 125_000));
        history.push(&at(4.0, 250_000));
        assert_eq!(sent_mbps(&history), [None, None, None, Some(1.0)]);
    }

    #[test]
    fn suspicion_is_remembered_where_it_was() {
        let mut history = History::default();
        history.push(&at(1.0, 0));
        let mut trusted = at(2.0, 0);
        trusted.associations[0].links[1].state = LinkState::Up;
        history.push(&trusted);
        let recorded = history.recorded();
        let lte = recorded.links.iter().find(|link| link.name == "lte");
        assert_eq!(lte.unwrap().suspected, [0]);
    }

    #[test]
    fn the_past_is_bounded_in_time_and_in_links() {
        let mut history = History::default();
        for second in 0..2 * SPAN_S {
            let mut document = at(second as f64 + 1.0, 0);
            // A client with a new association each second, which might try to fill the memory.
            document.associations[0].id = format!("{second:08x}");
            history.push(&document);
        }
        let recorded = history.recorded();
        assert_eq!(recorded.uptime_s.len(), SPAN_S);
        assert!(recorded.links.len() <= MAX_SERIES);
        for link in &recorded.links {
            assert_eq!(link.sent_mbps.len(), SPAN_S);
        }
        let gone = at(10_000.0, 0);
        let mut history = History::default();
        history.push(&gone);
        let mut empty = gone;
        empty.associations.clear();
        for second in 0..SPAN_S {
            empty.uptime_s += second as f64 + 1.0;
            history.push(&empty);
        }
        assert!(history.recorded().links.is_empty());
    }
}
