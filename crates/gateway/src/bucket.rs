//! A rate limit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ropewalk_quantities::Rate;
use tokio::time::{Instant, sleep_until};

/// A rate limit for bytes: taking more than is available waits.
#[derive(Debug)]
pub struct Bucket {
    /// In bits per second; zero if there is no bound.
    rate: AtomicU64,
    /// Time until which the bytes taken are paid for.
    paid: Mutex<Option<Instant>>,
}

impl Bucket {
    /// Burst that may be taken without waiting, as a time at the rate.
    const BURST: Duration = Duration::from_millis(50);

    /// A limit of that rate; without one, nothing waits.
    #[must_use]
    pub fn new(rate: Option<Rate>) -> Bucket {
        let bucket = Bucket {
            rate: AtomicU64::new(0),
            paid: Mutex::default(),
        };
        bucket.set_rate(rate);
        bucket
    }

    /// Changes the rate.
    pub fn set_rate(&self, rate: Option<Rate>) {
        let rate = rate.map_or(0, |rate| rate.as_bps().max(1));
        self.rate.store(rate, Ordering::Relaxed);
    }

    /// Takes this many bytes, and waits as long as they cost.
    pub async fn take(&self, bytes: usize) {
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == 0 {
            return;
        }
        let cost = bytes as f64 * 8.0 / rate as f64;
        let now = Instant::now();
        let paid = {
            let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
            let from = paid.map_or(now, |paid| paid.max(now));
            *paid.insert(from + Duration::from_secs_f64(cost))
        };
        if paid > now + Bucket::BURST {
            sleep_until(paid - Bucket::BURST).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bytes_pass_at_the_rate() {
        let bucket = Bucket::new(Some(Rate::from_bps(8_000_000)));
        let start = Instant::now();
        for _ in 0..100 {
            bucket.take(10_000).await;
        }
        let took = start.elapsed();
        let exact = Duration::from_secs(1) - Bucket::BURST;
        assert!(
            took >= exact && took < exact + Duration::from_millis(5),
            "{took:?}"
        );
    }
}
