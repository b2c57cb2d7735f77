//! Rate limit of a client, under which its senders take turns.
//!
//! A turn is 20 ms of the rate, and at least 1500 bytes. The order is that of fair queueing: each sender has
//! a byte count, and the next turn goes to the sender with the smallest count after that turn, assuming the
//! length of its last one. The count of an idle sender rises with those of the busy ones, so that it cannot
//! save up turns.
//!
//! For example, at 2 Mbit/s a turn is 5000 bytes. Each of 30 downloads has a turn every 600 ms. A datagram of
//! a sender below its share of the rate waits for at most two turns, 40 ms: for the bytes of the present
//! turn, and for one turn whose sender is already called. A datagram as long as a turn may wait for a third
//! turn.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use ropewalk_quantities::Rate;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::lock::lock;

/// Byte rate limit shared by senders.
#[derive(Debug)]
pub struct FairRateLimiter {
    /// In bit/s; zero if there is no limit.
    rate: AtomicU64,
    state: Mutex<LimiterState>,
    /// Interrupts a wait that was computed with an old rate.
    changed: Notify,
}

#[derive(Debug, Default)]
struct LimiterState {
    /// Time until which the taken bytes are paid for.
    paid: Option<Instant>,
    /// A sender has the turn, or waits for its bytes to be paid for.
    is_taken: bool,
    /// No waiting sender has a smaller count.
    count: u64,
    number: u64,
    waiting: BTreeMap<TurnKey, Arc<Notify>>,
}

/// Order of turns: a sender's count after the turn, senders that were idle first, and the order of calls.
type TurnKey = (u64, bool, u64);

/// Sender: a direction of a stream, or the datagrams of a socket.
#[derive(Debug, Default)]
pub struct Sender {
    count: u64,
    last: Option<u64>,
}

/// Right to take bytes at once. Other senders wait until it is dropped.
#[derive(Debug)]
pub struct Turn<'a> {
    bucket: &'a FairRateLimiter,
    sender: &'a mut Sender,
    start: u64,
    taken: u64,
    /// `None` without a limit.
    place: Option<TurnKey>,
}

impl FairRateLimiter {
    /// Burst that needs no wait, as a time at the rate.
    const BURST: Duration = Duration::from_millis(50);

    const TURNS: u64 = 50;

    /// Bounds of a turn in bytes: a packet, and a maximum during which nothing else runs.
    const LEAST_TURN: u64 = 1500;
    const MOST_TURN: u64 = 256 << 10;

    /// Creates a limit; without a rate, nothing waits.
    pub fn new(rate: Option<Rate>) -> FairRateLimiter {
        FairRateLimiter {
            rate: AtomicU64::new(bits_per_second(rate)),
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub fn set_rate(&self, rate: Option<Rate>) {
        let rate = bits_per_second(rate);
        if self.rate.swap(rate, Ordering::Relaxed) != rate {
            // At the old rate the taken bytes might be paid for only after hours.
            self.state().paid = None;
            self.changed.notify_waiters();
        }
    }

    /// Waits for the sender's turn, until its bytes are available.
    pub async fn turn<'a>(&'a self, sender: &'a mut Sender) -> Turn<'a> {
        let (turn, called) = self.enqueue(sender);
        if let Some(called) = called {
            called.notified().await;
        }
        let changed = self.changed.notified();
        let paid = self.state().paid;
        if let Some(paid) = paid {
            tokio::select! {
                () = sleep_until(paid - FairRateLimiter::BURST) => {}
                () = changed => {}
            }
        }
        turn
    }

    /// Takes this many bytes if they are available now, otherwise none.
    pub fn take_now(&self, bytes: usize) -> bool {
        let paid = self.state().paid;
        let is_open = paid.is_none_or(|paid| paid <= Instant::now() + FairRateLimiter::BURST);
        if is_open {
            self.charge(bytes);
        }
        is_open
    }

    /// Queues a turn, which begins at once or when its sender is notified.
    fn enqueue<'a>(&'a self, sender: &'a mut Sender) -> (Turn<'a>, Option<Arc<Notify>>) {
        let mut turn = Turn {
            bucket: self,
            sender,
            start: 0,
            taken: 0,
            place: None,
        };
        if self.rate.load(Ordering::Relaxed) == 0 {
            return (turn, None);
        }
        let mut state = self.state();
        turn.start = state.count.max(turn.sender.count);
        let is_busy = turn.sender.count > state.count;
        let whole = self.turn_bytes();
        let expected = turn.sender.last.map_or(whole, |last| last.min(whole));
        let place = (turn.start + expected, is_busy, state.number);
        turn.place = Some(place);
        state.number += 1;
        if !state.is_taken {
            state.is_taken = true;
            state.begin(place, whole);
            return (turn, None);
        }
        let called = Arc::new(Notify::new());
        state.waiting.insert(place, Arc::clone(&called));
        (turn, Some(called))
    }

    fn turn_bytes(&self) -> u64 {
        match self.rate.load(Ordering::Relaxed) {
            0 => FairRateLimiter::MOST_TURN,
            rate => (rate / 8 / FairRateLimiter::TURNS)
                .clamp(FairRateLimiter::LEAST_TURN, FairRateLimiter::MOST_TURN),
        }
    }

    fn charge(&self, bytes: usize) {
        let rate = self.rate.load(Ordering::Relaxed);
        if rate == 0 {
            return;
        }
        let cost = bytes as f64 * 8.0 / rate as f64;
        let now = Instant::now();
        let mut state = self.state();
        let from = state.paid.map_or(now, |paid| paid.max(now));
        state.paid = Some(from + Duration::from_secs_f64(cost.min(1e6)));
    }

    fn state(&self) -> MutexGuard<'_, LimiterState> {
        lock(&self.state)
    }
}

impl LimiterState {
    /// Begins this place's turn. Other waiting senders have higher counts: their turns would end later.
    fn begin(&mut self, place: TurnKey, whole: u64) {
        self.count = self.count.max(place.0.saturating_sub(whole));
    }
}

fn bits_per_second(rate: Option<Rate>) -> u64 {
    rate.map_or(0, |rate| rate.as_bps().max(1))
}

impl Turn<'_> {
    pub fn left(&self) -> usize {
        self.bucket.turn_bytes().saturating_sub(self.taken) as usize
    }

    /// Takes bytes. A datagram may exceed the rest of the turn; its sender's next turn is then later.
    pub fn take(&mut self, bytes: usize) {
        self.bucket.charge(bytes);
        self.taken += bytes as u64;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place else {
            return;
        };
        let mut state = self.bucket.state();
        if state.waiting.remove(&place).is_some() {
            return;
        }
        if self.taken > 0 {
            *self.sender = Sender {
                count: self.start + self.taken,
                last: Some(self.taken),
            };
        }
        match state.waiting.pop_first() {
            Some((place, called)) => {
                state.begin(place, self.bucket.turn_bytes());
                called.notify_one();
            }
            None => state.is_taken = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::JoinSet;
    use tokio::time::{sleep, timeout};

    use super::*;

    type Counts = Arc<[AtomicU64]>;

    fn limit(bits_per_second: u64) -> Arc<FairRateLimiter> {
        Arc::new(FairRateLimiter::new(Some(Rate::from_bps(bits_per_second))))
    }

    /// Starts busy senders, while the set is kept: of datagrams of this length, or of a stream for length 0.
    fn busy(bucket: &Arc<FairRateLimiter>, lengths: &[usize]) -> (JoinSet<()>, Counts) {
        let counts: Counts = lengths.iter().map(|_| AtomicU64::new(0)).collect();
        let mut tasks = JoinSet::new();
        for (number, &length) in lengths.iter().enumerate() {
            let (bucket, counts) = (Arc::clone(bucket), Arc::clone(&counts));
            tasks.spawn(async move {
                let mut sender = Sender::default();
                loop {
                    let mut turn = bucket.turn(&mut sender).await;
                    while turn.left() > 0 {
                        let bytes = if length == 0 { turn.left() } else { length };
                        turn.take(bytes);
                        counts[number].fetch_add(bytes as u64, Ordering::Relaxed);
                    }
                }
            });
        }
        (tasks, counts)
    }

    #[tokio::test(start_paused = true)]
    async fn turns_pass_at_the_rate() {
        let bucket = limit(8_000_000);
        let (_tasks, counts) = busy(&bucket, &[0; 10]);
        sleep(Duration::from_secs(1)).await;
        let bytes: u64 = counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .sum();
        // The rate, a burst of 50 ms and the present turn of 20 ms.
        assert!((1_050_000..=1_070_000).contains(&bytes), "{bytes}");
    }

    /// Returns the longest wait of a sender of datagrams at 0.8 times its share, next to 30 downloads.
    async fn longest_wait(bits_per_second: u64, length: usize) -> Duration {
        let bucket = limit(bits_per_second);
        let mut sender = Sender::default();
        bucket.turn(&mut sender).await.take(length);
        let (_tasks, _) = busy(&bucket, &[0; 30]);
        let gap =
            Duration::from_secs_f64(length as f64 * 8.0 * 31.0 / bits_per_second as f64 * 1.25);
        let mut longest = Duration::ZERO;
        for _ in 0..200 {
            sleep(gap).await;
            let from = Instant::now();
            bucket.turn(&mut sender).await.take(length);
            longest = longest.max(from.elapsed());
        }
        longest
    }

    #[tokio::test(start_paused = true)]
    async fn datagram_next_to_downloads_waits_for_at_most_two_turns() {
        // tokio's timers count whole milliseconds.
        let timers = Duration::from_millis(2);
        for (rate, turn_ms) in [(2_000_000, 20), (20_000_000, 20), (100_000, 120)] {
            for length in [128, 1500] {
                let turns = if length < limit(rate).turn_bytes() as usize {
                    2
                } else {
                    3
                };
                let bound = turns * Duration::from_millis(turn_ms) + timers;
                let longest = longest_wait(rate, length).await;
                assert!(
                    longest <= bound,
                    "{rate} bit/s, {length} bytes: {longest:?}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn busy_senders_have_equal_rates() {
        let bucket = limit(2_000_000);
        // The fourth sends datagrams of several turns.
        let (_tasks, counts) = busy(&bucket, &[0, 300, 1400, 30_000]);
        sleep(Duration::from_secs(20)).await;
        for count in &*counts {
            let bytes = count.load(Ordering::Relaxed);
            // A quarter of 5 MB, up to a datagram more or less.
            assert!((1_220_000..1_285_000).contains(&bytes), "{bytes}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn turn_that_is_given_up_is_the_next_senders() {
        let bucket = limit(8_000_000);
        let [first, second, third] = &mut [(); 3].map(|()| Sender::default());
        let begun = bucket.turn(first).await;
        let moment = Duration::from_millis(1);
        assert!(timeout(moment, bucket.turn(second)).await.is_err());
        let mut waits = Box::pin(bucket.turn(third));
        assert!(timeout(moment, &mut waits).await.is_err());
        drop(begun);
        drop(waits);
        assert!(timeout(moment, bucket.turn(second)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_beyond_the_rate_are_refused() {
        let bucket = limit(8_000_000);
        let taken = (0..100).filter(|_| bucket.take_now(10_000)).count();
        assert_eq!(taken, 6);
        sleep(Duration::from_millis(10)).await;
        assert!(bucket.take_now(10_000));
        assert!(FairRateLimiter::new(None).take_now(usize::MAX));
    }

    #[tokio::test(start_paused = true)]
    async fn debt_of_an_old_rate_ends_with_it() {
        let bucket = limit(64_000);
        assert!(bucket.take_now(1 << 20) && !bucket.take_now(1));
        let waiting = Arc::clone(&bucket);
        let waiting = tokio::spawn(async move {
            waiting.turn(&mut Sender::default()).await.take(1000);
        });
        sleep(Duration::from_millis(10)).await;
        assert!(!waiting.is_finished());
        bucket.set_rate(Some(Rate::from_bps(100_000_000)));
        let start = Instant::now();
        waiting.await.unwrap();
        assert!(bucket.take_now(1) && start.elapsed() < Duration::from_millis(1));
    }

    #[tokio::test]
    async fn without_a_rate_nobody_waits() {
        let bucket = FairRateLimiter::new(None);
        let [mut first, mut second] = [Sender::default(), Sender::default()];
        let turn = bucket.turn(&mut first).await;
        bucket.turn(&mut second).await.take(usize::MAX);
        drop(turn);
    }
}
