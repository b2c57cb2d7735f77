//! What is logged of who is refused: once a source and reason, not once a try.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::warn;

use super::half_open::source;

/// The same is said again after this.
const AGAIN: Duration = Duration::from_secs(60);

/// Most sources and reasons that are remembered; while there are as many, new ones are not logged.
const MOST: usize = 4096;

/// Logs refusals.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<(IpAddr, &'static str), Refused>>);

#[derive(Debug)]
struct Refused {
    logged: Instant,
    unlogged: u64,
}

impl Refusals {
    /// Somebody was refused; `reason` is of few values, `detail` of any.
    pub fn note(&self, ip: IpAddr, reason: &'static str, detail: &dyn std::fmt::Display) {
        if let Some(unlogged) = self.is_due(ip, reason, Instant::now()) {
            match unlogged {
                0 => warn!("{ip} refused: {detail}"),
                more => warn!("{ip} refused: {detail} (and {more} times since this was last said)"),
            }
        }
    }

    /// Whether it is to be logged, and how many times it was not.
    fn is_due(&self, ip: IpAddr, reason: &'static str, now: Instant) -> Option<u64> {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (source(ip), reason);
        if let Some(refused) = refusals.get_mut(&key) {
            if now.duration_since(refused.logged) < AGAIN {
                refused.unlogged += 1;
                return None;
            }
            refused.logged = now;
            return Some(std::mem::take(&mut refused.unlogged));
        }
        if refusals.len() >= MOST {
            refusals.retain(|_, refused| now.duration_since(refused.logged) < AGAIN);
        }
        if refusals.len() >= MOST {
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
    use std::net::Ipv4Addr;

    #[test]
    fn each_source_and_reason_is_logged_once_a_minute() {
        let refusals = Refusals::default();
        let start = Instant::now();
        let ip = |n: u32| IpAddr::from(Ipv4Addr::from_bits(n));
        assert_eq!(refusals.is_due(ip(1), "key", start), Some(0));
        for _ in 0..9 {
            assert_eq!(refusals.is_due(ip(1), "key", start), None);
        }
        assert_eq!(refusals.is_due(ip(1), "rules", start), Some(0));
        assert_eq!(refusals.is_due(ip(2), "key", start), Some(0));
        assert_eq!(refusals.is_due(ip(1), "key", start + AGAIN), Some(9));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let refusals = Refusals::default();
        let start = Instant::now();
        for n in 0..10_000 {
            let _ = refusals.is_due(Ipv4Addr::from_bits(n).into(), "key", start);
        }
        assert_eq!(refusals.0.lock().unwrap().len(), MOST);
        let last = Ipv4Addr::from_bits(9_999).into();
        assert_eq!(refusals.is_due(last, "key", start + AGAIN), Some(0));
        assert_eq!(refusals.0.lock().unwrap().len(), 1);
    }
}
