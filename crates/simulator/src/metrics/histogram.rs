//! Histogram of delays with bounded memory.

use ropewalk_quantities::Time;

use crate::outcome::{DelayBin, DelaySummary};

/// Counts of delays in buckets of nanoseconds: exact below 2048 ns; above, 1024 buckets per octave, none
/// wider than 0.1 % of its values. Count, mean and maximum are exact.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Pages of buckets, at most 880, allocated on use: the delays of a flow are close together, and there
    /// may be many flows.
    pages: Vec<Option<Box<Page>>>,
    count: u64,
    sum_nanos: u128,
    max: Time,
}

/// Buckets per octave, as a power of two.
const PRECISION: u32 = 10;
const PER_OCTAVE: usize = 1 << PRECISION;

const PAGE: usize = 64;
type Page = [u64; PAGE];

/// Maximum number of bins returned for plots.
const MAX_BINS: usize = 200;

impl Histogram {
    /// Creates an empty histogram.
    pub fn new() -> Histogram {
        Histogram::default()
    }

    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, delay: Time) {
        self.add(bucket_of(delay.as_nanos()), 1);
        self.count += 1;
        self.sum_nanos += u128::from(delay.as_nanos());
        self.max = self.max.max(delay);
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (bucket, count) in other.counts() {
            self.add(bucket, count);
        }
        self.count += other.count;
        self.sum_nanos += other.sum_nanos;
        self.max = self.max.max(other.max);
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the smallest delay that at least this fraction of all delays (0 to 1) does not exceed,
    /// within 0.05 %; zero if empty.
    pub fn percentile(&self, share: f64) -> Time {
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        for (bucket, count) in self.counts() {
            below += count;
            if below >= rank {
                let middle = (lower_edge(bucket) + lower_edge(bucket + 1) - 1.0) / 2.0;
                return Time::from_nanos(middle as u64).min(self.max);
            }
        }
        Time::ZERO
    }

    /// Returns the number of delays.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns mean, percentiles and maximum in milliseconds; `None` if empty.
    pub fn summary(&self) -> Option<DelaySummary> {
        self.summary_in(1e6)
    }

    /// Returns mean, percentiles and maximum in seconds; `None` if empty.
    pub fn summary_s(&self) -> Option<DelaySummary> {
        self.summary_in(1e9)
    }

    fn summary_in(&self, nanos: f64) -> Option<DelaySummary> {
        let percentile = |share| self.percentile(share).as_nanos() as f64 / nanos;
        (!self.is_empty()).then(|| DelaySummary {
            mean: self.sum_nanos as f64 / self.count as f64 / nanos,
            p50: percentile(0.50),
            p95: percentile(0.95),
            p99: percentile(0.99),
            max: self.max.as_nanos() as f64 / nanos,
        })
    }

    /// Returns the non-empty bins in ascending order, with the finest power-of-two number of bins per
    /// octave that gives at most 200.
    pub fn bins(&self) -> Vec<DelayBin> {
        let mut merged = 0;
        let mut found: Vec<(usize, u64)> = self.counts().collect();
        while found.len() > MAX_BINS && merged < PRECISION {
            merged += 1;
            found.iter_mut().for_each(|(bin, _)| *bin /= 2);
            found.dedup_by(|(next, count), (bin, sum)| {
                let joins = next == bin;
                *sum += if joins { *count } else { 0 };
                joins
            });
        }
        // The caller may keep the bins for long.
        found.shrink_to_fit();
        let bin = |(bin, count): (usize, u64)| DelayBin {
            up_to_ms: lower_edge((bin + 1) << merged) / 1e6,
            count,
        };
        found.into_iter().map(bin).collect()
    }

    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let pages = self.pages.iter().enumerate();
        let counts = pages.flat_map(|(number, page)| {
            let counts = page.iter().flat_map(|page| page.iter()).enumerate();
            counts.map(move |(place, count)| (PAGE * number + place, *count))
        });
        counts.filter(|(_, count)| *count > 0)
    }

    #[inline]
    fn add(&mut self, bucket: usize, more: u64) {
        match self.pages.get_mut(bucket / PAGE) {
            Some(Some(page)) => page[bucket % PAGE] += more,
            _ => self.add_page(bucket, more),
        }
    }

    /// Allocates a page for its first delay.
    #[cold]
    #[inline(never)]
    fn add_page(&mut self, bucket: usize, more: u64) {
        let number = bucket / PAGE;
        if number >= self.pages.len() {
            self.pages.resize_with(number + 1, || None);
        }
        let mut page = Box::new([0; PAGE]);
        page[bucket % PAGE] = more;
        self.pages[number] = Some(page);
    }
}

/// Returns the bucket of a value: values below 2048 have their own; above, the octave and the ten bits
/// after the leading one.
#[inline]
fn bucket_of(nanos: u64) -> usize {
    let octave = (nanos | 1).ilog2().saturating_sub(PRECISION);
    octave as usize * PER_OCTAVE + (nanos >> octave) as usize
}

/// Returns the lowest value of a bucket, in nanoseconds.
fn lower_edge(bucket: usize) -> f64 {
    let octave = (bucket / PER_OCTAVE).saturating_sub(1);
    (bucket - octave * PER_OCTAVE) as f64 * (octave as f64).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(nanos: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        for value in nanos {
            histogram.record(Time::from_nanos(value));
        }
        histogram
    }

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        let mut values: Vec<u64> = (0..5_000).collect();
        for power in 12..64 {
            let octave = 1_u64 << power;
            values.extend([octave - 1, octave, octave + 1, octave + octave / 3]);
        }
        values.push(u64::MAX);
        values.sort_unstable();
        let mut previous = 0;
        for value in values {
            let bucket = bucket_of(value);
            assert!(bucket >= previous, "{value}");
            previous = bucket;
            let (low, high) = (lower_edge(bucket), lower_edge(bucket + 1));
            assert!(low <= value as f64 && value as f64 <= high, "{value}");
            assert!(high - low <= 1.0_f64.max(low / 1024.0), "{value}");
        }
        assert_eq!(previous, 56_319);
    }

    #[test]
    fn nothing_has_no_summary() {
        let empty = Histogram::new();
        assert!(empty.is_empty());
        assert_eq!(empty.summary(), None);
        assert_eq!(empty.bins(), []);
        assert_eq!(empty.percentile(0.5), Time::ZERO);
    }

    #[test]
    fn one_delay_is_every_percentile() {
        let summary = histogram([12_345_678]).summary().unwrap();
        assert_eq!((summary.mean, summary.max), (12.345678, 12.345678));
        for percentile in [summary.p50, summary.p95, summary.p99] {
            assert!((percentile / 12.345678 - 1.0).abs() < 0.0005);
        }
    }

    #[test]
    fn small_values_are_exact() {
        let histogram = histogram(1..=100);
        assert_eq!(histogram.percentile(0.5), Time::from_nanos(50));
        assert_eq!(histogram.percentile(0.95), Time::from_nanos(95));
        assert_eq!(histogram.percentile(0.951), Time::from_nanos(96));
        assert_eq!(histogram.percentile(0.0), Time::from_nanos(1));
        assert_eq!(histogram.percentile(1.0), Time::from_nanos(100));
        assert_eq!(histogram.summary().unwrap().mean, 50.5e-6);
    }

    #[test]
    fn percentiles_are_near_those_of_sorting() {
        // A long tail over seven powers of ten.
        let mut values: Vec<u64> = (1..=100_000_u64)
            .map(|i| 1_000_000 + 10_u64.pow(10) / i + i * 31)
            .collect();
        let histogram = histogram(values.iter().copied());
        values.sort_unstable();
        for percent in [1, 10, 50, 90, 95, 99, 100] {
            let exact = values[values.len() * percent / 100 - 1] as f64;
            let here = histogram.percentile(percent as f64 / 100.0).as_nanos() as f64;
            assert!((here / exact - 1.0).abs() <= 0.0005, "{percent}");
        }
    }

    #[test]
    fn bins_are_sorted_complete_and_few() {
        for values in [
            (1..=150).map(|i| i * 1_000_000).collect::<Vec<u64>>(),
            (1..=100_000).map(|i| i * 7_919).collect(),
            (0..64).map(|power| 1 << power).collect(),
            vec![0, u64::MAX],
        ] {
            let bins = histogram(values.iter().copied()).bins();
            assert!(bins.len() <= MAX_BINS);
            assert!(bins.len() >= values.len().min(64).min(2));
            assert!(bins.is_sorted_by(|a, b| a.up_to_ms < b.up_to_ms));
            assert!(bins.iter().all(|bin| bin.count > 0));
            let (mut below, mut sorted) = (0, values.clone());
            sorted.sort_unstable();
            for bin in &bins {
                below += bin.count;
                let in_or_below = sorted.partition_point(|&v| (v as f64) < bin.up_to_ms * 1e6);
                assert!(below as usize == in_or_below || bin.up_to_ms > 1e13);
            }
            assert_eq!(below as usize, values.len());
        }
        // Few different delays keep the full precision.
        let bins = histogram([5_000_000, 5_010_000, 5_010_000]).bins();
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [1, 2]);
    }
}
