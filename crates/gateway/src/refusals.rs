//! Rate-limited logging of refused requests: once per source and reason, rather than once per attempt.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::warn;
/// Interval after which the same is logged again.
const AGAIN: Duration = Duration::from_secs(60);

/// Most sources and reasons that are remembered; once there are as many, new ones are not logged.
const MAX: usize = 4096;

/// Logs refusals.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<(String, &'static str), Refused>>);

#[derive(Debug)]
struct Refused {
    logged: Instant,
    unlogged: u64,
}

impl Refusals {
    /// A request was refused. There are few values of `reason`; `detail` can be anything.
    pub fn note(&self, who: impl Display, reason: &'static str, detail: impl Display) {
        let who = who.to_string();
        if let Some(unlogged) = self.is_due(&who, reason, Instant::now()) {
            match unlogged {
                0 => warn!("{who} refused: {detail}"),
                more => {
                    warn!("{who} refused: {detail} (and {more} times since this was last said)")
                }
            }
        }
    }

    /// Whether it is to be logged, and how many times it was suppressed.
    fn is_due(&self, who: &str, reason: &'static str, now: Instant) -> Option<u64> {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (who.to_owned(), reason);
        if let Some(refused) = refusals.get_mut(&key) {
            if now.duration_since(refused.logged) < AGAIN {
                refused.unlogged += 1;
                return None;
            }
            refused.logged = now;
            return Some(std::mem::take(&mut refused.unlogged));
        }
        if refusals.len() >= MAX {
            refusals.retain(|_, refused| now.duration_since(refused.logged) < AGAIN);
        }
        if refusals.len() >= MAX {
            return None;
        }
        let first = Refused {
            logged: now,
            unlogged: 0,
        };
        refusals.insert(key, first);
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_and_reason_is_logged_once_a_minute() {
        let refusals = Refusals::default();
        let start = Instant::now();
        assert_eq!(refusals.is_due("a", "key", start), Some(0));
        for _ in 0..9 {
            assert_eq!(refusals.is_due("a", "key", start), None);
        }
        assert_eq!(refusals.is_due("a", "rules", start), Some(0));
        assert_eq!(refusals.is_due("b", "key", start), Some(0));
        assert_eq!(refusals.is_due("a", "key", start + AGAIN), Some(9));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let refusals = Refusals::default();
        let start = Instant::now();
        for n in 0..10_000 {
            let _ = refusals.is_due(&n.to_string(), "key", start);
        }
        assert_eq!(refusals.0.lock().unwrap().len(), MAX);
        assert_eq!(refusals.is_due("9999", "key", start + AGAIN), Some(0));
        assert_eq!(refusals.0.lock().unwrap().len(), 1);
    }
}
