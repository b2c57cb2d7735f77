//! A fault plan: ranges from which a seed draws one run.

use std::str::FromStr;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::algorithm::AlgorithmConfig;
use toml_edit::{DocumentMut, Item};

/// Lower and upper limit, both inclusive.
#[derive(Clone, Copy, Debug)]
pub struct Range(u64, u64);

#[derive(Clone, Debug)]
pub struct Plan {
    pub links: Range,
    pub rate_kbit: Range,
    pub rtt_ms: Range,
    pub streams: Range,
    pub stream_bytes: Range,
    pub buffer_kib: Range,
    pub memory_kib: Range,
    pub schedulers: Vec<SchedulerConfig>,
    pub within_ms: Range,
    pub lasts_ms: Range,
    pub learnt_after_ms: Range,
    pub killed: Range,
    pub silenced: Range,
    pub slowed: Range,
    pub reader_stops: Range,
    pub resets: Range,
    pub stops: Range,
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Plan, String> {
        let document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
        let root = document.as_item();
        let faults = &document["faults"];
        let names = document["schedulers"].as_array();
        let names = names.ok_or("schedulers: a list of names")?;
        let schedulers = names.iter().map(|name| {
            let known = name.as_str().and_then(SchedulerConfig::from_name);
            known.ok_or_else(|| format!("schedulers: {name} is none"))
        });
        Ok(Plan {
            links: range(root, "links")?,
            rate_kbit: range(root, "rate_kbit")?,
            rtt_ms: range(root, "rtt_ms")?,
            streams: range(root, "streams")?,
            stream_bytes: range(root, "stream_bytes")?,
            buffer_kib: range(root, "buffer_kib")?,
            memory_kib: range(root, "memory_kib")?,
            schedulers: schedulers.collect::<Result<_, _>>()?,
            within_ms: range(root, "within_ms")?,
            lasts_ms: range(root, "lasts_ms")?,
            learnt_after_ms: range(root, "learnt_after_ms")?,
            killed: range(faults, "killed")?,
            silenced: range(faults, "silenced")?,
            slowed: range(faults, "slowed")?,
            reader_stops: range(faults, "reader_stops")?,
            resets: range(faults, "resets")?,
            stops: range(faults, "stops")?,
        })
    }
}

fn range(table: &Item, key: &str) -> Result<Range, String> {
    let bounds = table.get(key).and_then(Item::as_array);
    let bounds: Option<Vec<u64>> = bounds.and_then(|bounds| {
        let numbers = bounds.iter().map(|number| number.as_integer());
        numbers.map(|number| u64::try_from(number?).ok()).collect()
    });
    match bounds.as_deref() {
        Some(&[least, most]) if least <= most => Ok(Range(least, most)),
        _ => Err(format!("{key}: two rising numbers, such as [1, 5]")),
    }
}

pub struct Draw(Pcg64Mcg);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw(Pcg64Mcg::seed_from_u64(seed))
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end.max(1)
    }

    pub fn within(&mut self, range: Range) -> u64 {
        range.0 + self.below(range.1 - range.0 + 1)
    }

    /// As [`within`](Draw::within), each order of magnitude as likely as the others.
    pub fn magnitude(&mut self, range: Range) -> u64 {
        let Range(least, most) = range;
        let span = (most + 1) as f64 / (least + 1) as f64;
        let unit = self.below(1 << 53) as f64 / (1u64 << 53) as f64;
        let value = (least + 1) as f64 * span.powf(unit);
        (value as u64 - 1).clamp(least, most)
    }
}
