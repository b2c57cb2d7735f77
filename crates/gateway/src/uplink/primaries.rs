//! Whether backup links are used: while no primary link is alive.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::UplinkState;

/// How long to wait for a primary link at the start before a backup is dialled.
const START: Duration = Duration::from_secs(1);

/// A primary link counts as dead this long after it was suspected: one with a short disturbance is trusted
/// again before.
const DEAD: Duration = Duration::from_millis(100);

/// A primary link that has been trusted again for this long is relied on.
const PROVEN: Duration = Duration::from_secs(1);

/// A carrier of a primary link; it is counted while it is not suspected.
pub(super) struct Primary {
    uplink: Arc<UplinkState>,
    counts: bool,
}

impl Primary {
    pub(super) fn new(uplink: &Arc<UplinkState>) -> Primary {
        Primary {
            uplink: Arc::clone(uplink),
            counts: false,
        }
    }

    pub(super) fn set_trusted(&mut self, is_trusted: bool) {
        if self.counts != is_trusted {
            self.counts = is_trusted;
            self.uplink.primaries.send_modify(|count| match is_trusted {
                true => *count += 1,
                false => *count -= 1,
            });
        }
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        self.set_trusted(false);
    }
}

/// Waits for the first primary carrier after the start.
pub(super) async fn started(primaries: &mut watch::Receiver<usize>) {
    let _ = timeout(START, primaries.wait_for(|count| *count > 0)).await;
}

/// Waits until no primary carrier has been trusted for [`DEAD`], or the uplink is dropped.
pub(super) async fn are_dead(primaries: &mut watch::Receiver<usize>) {
    are(primaries, |count| count == 0, DEAD).await;
}

/// Waits until a primary carrier has been trusted for [`PROVEN`], or the uplink is dropped.
pub(super) async fn are_back(primaries: &mut watch::Receiver<usize>) {
    are(primaries, |count| count > 0, PROVEN).await;
}

/// Waits until the condition has held for this long.
async fn are(primaries: &mut watch::Receiver<usize>, is_so: fn(usize) -> bool, long: Duration) {
    while primaries.wait_for(|count| is_so(*count)).await.is_ok() {
        let changed = timeout(long, primaries.wait_for(|count| !is_so(*count)));
        if changed.await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, sleep};

    #[tokio::test(start_paused = true)]
    async fn a_backup_comes_after_a_death_and_goes_after_a_return_and_stumbles_are_passed_over() {
        let count = watch::Sender::new(0);
        let mut primaries = count.subscribe();
        let began = Instant::now();
        started(&mut primaries).await;
        assert_eq!(began.elapsed().as_millis(), START.as_millis());
        let script = async {
            for (ms, now) in [
                (50, 1),
                (100, 0),
                (99, 1),
                (500, 0),
                (700, 1),
                (999, 0),
                (1, 1),
            ] {
                sleep(Duration::from_millis(ms)).await;
                count.send_replace(now);
            }
            std::future::pending::<()>().await;
        };
        let waits = async {
            let mut at = Vec::new();
            are_dead(&mut primaries).await;
            at.push(began.elapsed().as_millis() - START.as_millis());
            are_back(&mut primaries).await;
            at.push(began.elapsed().as_millis() - START.as_millis());
            at
        };
        let at = tokio::select! {
            () = script => Vec::new(),
            at = waits => at,
        };
        // Dead at 50 + 100 + 99 + 500 ms; back, after a stumble, at 3 449 - 1 000 ms.
        assert_eq!(at, [849, 3449]);
    }
}
