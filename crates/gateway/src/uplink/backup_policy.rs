//! Use of backup links: while no primary link is up.

use std::sync::Arc;
use std::time::Duration;

use ropewalk_quantities::Time;
use ropewalk_striping::{Candidate, Standby, Tier};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::UplinkState;

/// Carrier of a primary link, counted while it is not suspected.
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

/// Without a deadline, only changes of the primary links lead to a check.
const NEVER: Duration = Duration::from_secs(1 << 20);

/// Backup link, in use or on standby.
pub(super) struct Backup {
    began: Instant,
    standby: Standby,
    primaries: watch::Receiver<usize>,
}

impl Backup {
    pub(super) fn new(primaries: watch::Receiver<usize>) -> Backup {
        Backup {
            began: Instant::now(),
            standby: Standby::default(),
            primaries,
        }
    }

    /// Waits until the link is needed, or the uplink is dropped.
    pub(super) async fn is_needed(&mut self) {
        self.is(false).await;
    }

    /// Waits until the link is on standby again, or the uplink is dropped.
    pub(super) async fn is_needless(&mut self) {
        self.is(true).await;
    }

    async fn is(&mut self, on_standby: bool) {
        while !self.follow() && self.standby.includes(Some(Tier::Backup)) != on_standby {
            let due = self
                .standby
                .due()
                .map_or(NEVER, |due| Duration::from_nanos(due.as_nanos()));
            let _ = timeout_at(self.began + due, self.primaries.changed()).await;
        }
    }

    /// Follows the primary links; returns whether the uplink is gone.
    fn follow(&mut self) -> bool {
        let now = Time::from_nanos(self.began.elapsed().as_nanos() as u64);
        let is_alive = *self.primaries.borrow_and_update() > 0;
        let links = [(Tier::Primary, is_alive), (Tier::Backup, false)];
        let links = links.map(|(tier, is_alive)| Candidate {
            tier: Some(tier),
            exists: true,
            is_alive,
        });
        self.standby.follow(now, links.into_iter());
        self.primaries.has_changed().is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn backup_follows_primary_and_ignores_short_interruptions() {
        let count = watch::Sender::new(0);
        let began = Instant::now();
        let mut backup = Backup::new(count.subscribe());
        let script = async {
            for (ms, now) in [
                (950, 1),
                (200, 0),
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
            backup.is_needed().await;
            at.push(began.elapsed().as_millis());
            backup.is_needless().await;
            at.push(began.elapsed().as_millis());
            at
        };
        let at = tokio::select! {
            () = script => Vec::new(),
            at = waits => at,
        };
        // Down at 950 + 200 + 99 + 500 ms for 100 ms; up, after an interruption, at 3449 ms for a second.
        assert_eq!(at, [1849, 4449]);
    }

    #[tokio::test(start_paused = true)]
    async fn backup_is_used_one_second_after_start_without_primary() {
        let count = watch::Sender::new(0);
        let began = Instant::now();
        Backup::new(count.subscribe()).is_needed().await;
        assert_eq!(began.elapsed().as_millis(), 1000);
    }
}
