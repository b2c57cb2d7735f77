//! Limits the number of handshakes in progress.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Handshakes in progress, of all sources and of each.
#[derive(Debug)]
pub struct HalfOpen {
    total: usize,
    per_source: usize,
    sources: Mutex<Sources>,
}

#[derive(Debug, Default)]
struct Sources {
    count: usize,
    by_source: HashMap<IpAddr, usize>,
}

/// A handshake in progress, counted until this is dropped.
#[derive(Debug)]
pub struct Slot {
    all: Arc<HalfOpen>,
    source: IpAddr,
}

impl HalfOpen {
    /// With limits for all sources together, and for each.
    #[must_use]
    pub fn new(total: usize, per_source: usize) -> Arc<HalfOpen> {
        Arc::new(HalfOpen {
            total,
            per_source,
            sources: Mutex::default(),
        })
    }

    /// Counts another handshake, unless a limit is reached.
    #[must_use]
    pub fn begin(self: &Arc<HalfOpen>, ip: IpAddr) -> Option<Slot> {
        let source = source(ip);
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let of_source = sources.by_source.get(&source).copied().unwrap_or(0);
        if sources.count >= self.total || of_source >= self.per_source {
            return None;
        }
        sources.count += 1;
        sources.by_source.insert(source, of_source + 1);
        Some(Slot {
            all: Arc::clone(self),
            source,
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let sources = self.all.sources.lock();
        let mut sources = sources.unwrap_or_else(PoisonError::into_inner);
        sources.count -= 1;
        if let Some(count) = sources.by_source.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                sources.by_source.remove(&self.source);
            }
        }
    }
}

/// A host can use a whole /64 of IPv6 addresses (RFC 6177), which counts as one source.
pub(crate) fn source(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_in_all_and_by_source() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let half_open = HalfOpen::new(5, 3);
        let flood: Vec<_> = (0..100).map(|_| half_open.begin(ip("10.0.0.1"))).collect();
        assert_eq!(flood.iter().flatten().count(), 3);
        let six: Vec<_> = (1..100)
            .map(|host| half_open.begin(ip(&format!("2001:db8::{host}"))))
            .collect();
        assert_eq!(six.iter().flatten().count(), 2);
        assert!(half_open.begin(ip("10.0.0.2")).is_none());
        drop(flood);
        assert!(half_open.begin(ip("10.0.0.2")).is_some());
        drop(six);
        let sources = half_open.sources.lock().unwrap();
        assert_eq!((sources.count, sources.by_source.len()), (0, 0));
    }
}
