//! A bound on how fast bytes pass.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ropewalk_quantities::Rate;
use tokio::time::{Instant, sleep_until};

/// Lets bytes pass at a rate: who takes more than is there waits.
#[derive(Debug)]
pub struct Bucket {
    rate: Rate,
    /// When what was taken is paid for.
    paid: Mutex<Option<Instant>>,
}

impl Bucket {
    /// What may come at once without waiting.
    const BURST: Duration = Duration::from_millis(50);

    /// Of that rate.
    #[must_use]
    pub fn new(rate: Rate) -> Bucket {
        Bucket {
            rate,
            paid: Mutex::default(),
        }
    }

    /// Takes so many bytes, and waits for as long as they cost.
    pub async fn take(&self, bytes: usize) {
        let cost = bytes as f64 * 8.0 / self.rate.as_bps().max(1) as f64;
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
        let bucket = Bucket::new(Rate::from_bps(8_000_000));
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
