//! Rate-limited log of refused requests: once a minute for each source and reason, and one line a minute for
//! a flood from many sources. A refusal takes constant time and memory.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tracing::warn;

use crate::lock::lock;

/// Interval between log lines of one source and reason, and of a flood.
const LOG_INTERVAL: Duration = Duration::from_secs(60);
const LINES: u32 = 20;
/// Number of remembered sources and reasons, indexed by hash.
const PLACES: usize = 1024;
/// Bits of the map that counts the sources of a flood.
const BITS: usize = 1 << 16;

#[derive(Debug, Default)]
pub struct RefusalLog {
    log: Mutex<Log>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct Log {
    places: Vec<Option<LoggedRefusal>>,
    /// Start of the interval in which `lines` lines were logged.
    since: Option<Instant>,
    lines: u32,
    flood: Option<Flood>,
}

#[derive(Clone, Copy, Debug)]
struct LoggedRefusal {
    hash: u64,
    logged: Instant,
    unlogged: u64,
}

/// Refusals that are not logged one by one.
#[derive(Debug)]
struct Flood {
    since: Instant,
    counts: BTreeMap<&'static str, u64>,
    /// A bit for each hash of a source (linear counting, Whang et al., 1990).
    sources: Box<[u64; BITS / 64]>,
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    None,
    Refusal(u64),
    /// The first refusal of a flood.
    FloodBegins,
    Flood(Summary),
}

#[derive(Debug, PartialEq, Eq)]
struct Summary {
    seconds: u64,
    counts: BTreeMap<&'static str, u64>,
    sources: u64,
}

impl RefusalLog {
    /// Logs a refused request. `who` is its source; there are few values of `reason`; `detail` is free text.
    pub fn note(&self, who: impl Display + Hash, reason: &'static str, detail: impl Display) {
        let source = self.hasher.hash_one(&who);
        let hash = self.hasher.hash_one((source, reason));
        let mut log = lock(&self.log);
        match log.note(Instant::now(), source, hash, reason) {
            Line::None => {}
            Line::Refusal(0) => warn!("{who} refused: {detail}"),
            Line::Refusal(more) => {
                warn!("{who} refused: {detail} (and {more} times since this was last logged)");
            }
            Line::FloodBegins => warn!(
                "{who} refused: {detail}; there are many such sources: from now on one line a minute"
            ),
            Line::Flood(summary) => warn!("{summary}, such as {who}: {detail}"),
        }
    }
}

impl Log {
    fn note(&mut self, now: Instant, source: u64, hash: u64, reason: &'static str) -> Line {
        self.places.resize(PLACES, None);
        let place = &mut self.places[hash as usize % PLACES];
        let same = place.as_mut().filter(|refused| refused.hash == hash);
        if let Some(refused) = same
            && now.duration_since(refused.logged) < LOG_INTERVAL
        {
            refused.unlogged += 1;
            return Line::None;
        }
        if self.since.is_none_or(|since| now >= since + LOG_INTERVAL) {
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines < LINES {
            self.lines += 1;
            let before = place.replace(LoggedRefusal {
                hash,
                logged: now,
                unlogged: 0,
            });
            let before = before.filter(|refused| refused.hash == hash);
            return Line::Refusal(before.map_or(0, |refused| refused.unlogged));
        }
        let Some(flood) = &mut self.flood else {
            self.flood.insert(Flood::new(now)).count(source, reason);
            return Line::FloodBegins;
        };
        flood.count(source, reason);
        if now < flood.since + LOG_INTERVAL {
            return Line::None;
        }
        let summary = flood.summary(now);
        self.flood = None;
        Line::Flood(summary)
    }
}

impl Flood {
    fn new(now: Instant) -> Flood {
        Flood {
            since: now,
            counts: BTreeMap::new(),
            sources: Box::new([0; BITS / 64]),
        }
    }

    fn count(&mut self, source: u64, reason: &'static str) {
        *self.counts.entry(reason).or_default() += 1;
        let bit = source as usize % BITS;
        self.sources[bit / 64] |= 1 << (bit % 64);
    }

    fn summary(&self, now: Instant) -> Summary {
        let zeros: u32 = self.sources.iter().map(|word| word.count_zeros()).sum();
        let share = f64::from(zeros.max(1)) / BITS as f64;
        Summary {
            seconds: now.duration_since(self.since).as_secs(),
            counts: self.counts.clone(),
            sources: (-share.ln() * BITS as f64).round() as u64,
        }
    }
}

impl Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, sources) = (self.counts.values().sum::<u64>(), self.sources);
        let seconds = self.seconds;
        write!(
            f,
            "{count} refused in {seconds} s, from about {sources} sources ("
        )?;
        for (number, (reason, count)) in self.counts.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{reason} {count}")?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs a refusal of a source, for a reason with that hash.
    fn note(log: &mut Log, now: Instant, source: u64, reason: &'static str) -> Line {
        let hash = source * 8 + reason.len() as u64;
        log.note(now, source, hash, reason)
    }

    #[test]
    fn each_source_and_reason_is_logged_once_a_minute() {
        let mut log = Log::default();
        let start = Instant::now();
        assert_eq!(note(&mut log, start, 1, "key"), Line::Refusal(0));
        for _ in 0..9 {
            assert_eq!(note(&mut log, start, 1, "key"), Line::None);
        }
        assert_eq!(note(&mut log, start, 1, "rules"), Line::Refusal(0));
        assert_eq!(note(&mut log, start, 2, "key"), Line::Refusal(0));
        assert_eq!(
            note(&mut log, start + LOG_INTERVAL, 1, "key"),
            Line::Refusal(9)
        );
    }

    #[test]
    fn a_flood_is_one_line_a_minute() {
        let mut log = Log::default();
        let start = Instant::now();
        // 10 000 refusals per second, each from another source.
        let mut lines = Vec::new();
        for number in 0..1_200_000 {
            let now = start + Duration::from_micros(100 * number);
            let source = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
            match note(&mut log, now, source, "key") {
                Line::None => {}
                line => lines.push(line),
            }
        }
        let single = |line: &&Line| matches!(line, Line::Refusal(0));
        assert_eq!(lines.iter().filter(single).count(), 40);
        let begins = |line: &&Line| matches!(line, Line::FloodBegins);
        assert!((1..=2).contains(&lines.iter().filter(begins).count()));
        let summary = |line: &Line| matches!(line, Line::Flood(_));
        assert_eq!(lines.iter().filter(|line| summary(line)).count(), 1);
        assert_eq!(log.places.len(), PLACES);
    }

    #[test]
    fn a_summary_counts_sources_and_reasons() {
        let mut log = Log::default();
        let start = Instant::now();
        for source in 0..u64::from(LINES) {
            assert_eq!(note(&mut log, start, source, "key"), Line::Refusal(0));
        }
        for source in 1000..3000 {
            let hash = RandomState::new().hash_one(source);
            let reason = if source % 4 == 0 { "key" } else { "client" };
            let line = log.note(start, hash, hash, reason);
            let expected = match source {
                1000 => Line::FloodBegins,
                _ => Line::None,
            };
            assert_eq!(line, expected);
        }
        // A minute later, lines are available again.
        let later = start + LOG_INTERVAL;
        for source in 0..u64::from(LINES) {
            assert_eq!(note(&mut log, later, source, "key"), Line::Refusal(0));
        }
        let Line::Flood(summary) = note(&mut log, later, 5000, "key") else {
            panic!("no summary");
        };
        assert!((1900..2100).contains(&summary.sources), "{summary}");
        assert!(
            summary
                .to_string()
                .ends_with("sources (client 1500, key 501)")
        );
    }
}
