//! A rate limit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ropewalk_quantities::Rate;
use tokio::sync::{Mutex as Queue, MutexGuard as QueueGuard};
use tokio::time::{Instant, sleep_until};

/// A rate limit for bytes: taking more than is available waits.
#[derive(Debug)]
pub struct Bucket {
    /// In bits per second; zero if there is no bound.
    rate: AtomicU64,
    /// Time until which the bytes taken are paid for.
    paid: Mutex<Option<Instant>>,
    /// The order of callers that wait before they know how many bytes they will take.
    queue: Queue<()>,
}

/// The right to take bytes at once.
#[derive(Debug)]
pub struct Turn<'a> {
    bucket: &'a Bucket,
    _place: Option<QueueGuard<'a, ()>>,
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
            queue: Queue::default(),
        };
        bucket.set_rate(rate);
        bucket
    }

    /// Changes the rate.
    pub fn set_rate(&self, rate: Option<Rate>) {
        let rate = rate.map_or(0, |rate| rate.as_bps().max(1));
        if self.rate.swap(rate, Ordering::Relaxed) != rate {
            // Bytes that were taken at the old rate may be paid for in hours only.
            *self.paid() = None;
        }
    }

    /// Takes this many bytes, and waits as long as they cost.
    pub async fn take(&self, bytes: usize) {
        if let Some(paid) = self.charge(bytes)
            && paid > Instant::now() + Bucket::BURST
        {
            sleep_until(paid - Bucket::BURST).await;
        }
    }

    /// Waits until bytes are available, in the order of the calls. Others wait until the turn is dropped.
    pub async fn turn(&self) -> Turn<'_> {
        if self.rate.load(Ordering::Relaxed) == 0 {
            return Turn {
                bucket: self,
                _place: None,
            };
        }
        let place = self.queue.lock().await;
        let paid = *self.paid();
        if let Some(paid) = paid {
            sleep_until(paid - Bucket::BURST).await;
        }
        Turn {
            bucket: self,
            _place: Some(place),
        }
    }

    /// Takes this many bytes if they are available now, otherwise none.
    pub fn take_now(&self, bytes: usize) -> bool {
        let paid = *self.paid();
        let is_open = paid.is_none_or(|paid| paid <= Instant::now() + Bucket::BURST);
        if is_open {
            self.charge(bytes);
        }
        is_open
    }

    /// Takes this many bytes; returns until when all that was taken is paid for, if there is a limit.
    fn charge(&self, bytes: usize) -> Option<Instant> {
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == 0 {
            return None;
        }
        let cost = bytes as f64 * 8.0 / rate as f64;
        let now = Instant::now();
        let mut paid = self.paid();
        let from = paid.map_or(now, |paid| paid.max(now));
        // A rate so low that nothing is ever paid for does not overflow the clock.
        let cost = Duration::from_secs_f64(cost.min(1e6));
        Some(*paid.insert(from + cost))
    }

    fn paid(&self) -> MutexGuard<'_, Option<Instant>> {
        self.paid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Takes this many bytes.
    pub fn take(self, bytes: usize) {
        self.bucket.charge(bytes);
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

    #[tokio::test(start_paused = true)]
    async fn turns_pass_at_the_rate() {
        let bucket = std::sync::Arc::new(Bucket::new(Some(Rate::from_bps(8_000_000))));
        let start = Instant::now();
        let takers: Vec<_> = (0..10)
            .map(|_| {
                let bucket = std::sync::Arc::clone(&bucket);
                tokio::spawn(async move {
                    for _ in 0..10 {
                        bucket.turn().await.take(10_000);
                    }
                })
            })
            .collect();
        for taker in takers {
            taker.await.unwrap();
        }
        let took = start.elapsed();
        let (least, most) = (Duration::from_millis(900), Duration::from_millis(1100));
        assert!(took >= least && took < most, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_beyond_the_rate_are_refused() {
        let bucket = Bucket::new(Some(Rate::from_bps(8_000_000)));
        let taken = (0..100).filter(|_| bucket.take_now(10_000)).count();
        assert_eq!(taken, 6);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(bucket.take_now(10_000));
        assert!(Bucket::new(None).take_now(usize::MAX));
    }

    #[tokio::test(start_paused = true)]
    async fn debt_of_an_old_rate_ends_with_it() {
        let bucket = Bucket::new(Some(Rate::from_bps(64_000)));
        assert!(bucket.take_now(1 << 20) && !bucket.take_now(1));
        bucket.set_rate(Some(Rate::from_bps(100_000_000)));
        let start = Instant::now();
        bucket.take(1000).await;
        assert!(bucket.take_now(1) && start.elapsed() < Duration::from_millis(1));
    }
}
