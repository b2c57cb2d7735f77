//! Limit of the number of concurrent handshakes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use crate::lock::lock;
use crate::source::source;

/// Limit per source once half of the total limit is reached, so that others are not locked out.
const CROWDED: usize = 4;

/// Handshakes in progress: all, and by source.
#[derive(Debug)]
pub struct HandshakeLimit {
    total: usize,
    per_source: usize,
    sources: Mutex<Sources>,
}

#[derive(Debug, Default)]
struct Sources {
    count: usize,
    by_source: HashMap<IpAddr, usize>,
}

/// Handshake in progress, counted until this is dropped.
#[derive(Debug)]
pub struct HandshakeSlot {
    all: Arc<HandshakeLimit>,
    source: IpAddr,
}

impl HandshakeLimit {
    #[must_use]
    pub fn new(total: usize, per_source: usize) -> Arc<HandshakeLimit> {
        Arc::new(HandshakeLimit {
            total,
            per_source,
            sources: Mutex::default(),
        })
    }

    /// Counts another handshake, unless a limit is reached.
    #[must_use]
    pub fn begin(self: &Arc<HandshakeLimit>, ip: IpAddr) -> Option<HandshakeSlot> {
        let source = source(ip);
        let mut sources = lock(&self.sources);
        let of_source = sources.by_source.get(&source).copied().unwrap_or(0);
        let per_source = match sources.count < self.total / 2 {
            true => self.per_source,
            false => self.per_source.min(CROWDED),
        };
        if sources.count >= self.total || of_source >= per_source {
            return None;
        }
        sources.count += 1;
        sources.by_source.insert(source, of_source + 1);
        Some(HandshakeSlot {
            all: Arc::clone(self),
            source,
        })
    }
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        let mut sources = lock(&self.all.sources);
        sources.count -= 1;
        if let Some(count) = sources.by_source.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                sources.by_source.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_sources_keep_no_other_out() {
        let handshakes = HandshakeLimit::new(1024, 64);
        let flood: Vec<_> = (0..16 * 1000u32)
            .map(|number| handshakes.begin(IpAddr::from([10, 0, 0, (number % 16) as u8])))
            .collect();
        assert_eq!(flood.iter().flatten().count(), 512);
        assert!(handshakes.begin(IpAddr::from([10, 1, 0, 1])).is_some());
    }

    #[test]
    fn a_flood_is_bounded_in_all_and_by_source() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let handshakes = HandshakeLimit::new(5, 3);
        let flood: Vec<_> = (0..100).map(|_| handshakes.begin(ip("10.0.0.1"))).collect();
        assert_eq!(flood.iter().flatten().count(), 3);
        let six: Vec<_> = (1..100)
            .map(|host| handshakes.begin(ip(&format!("2001:db8::{host}"))))
            .collect();
        assert_eq!(six.iter().flatten().count(), 2);
        assert!(handshakes.begin(ip("10.0.0.2")).is_none());
        drop(flood);
        assert!(handshakes.begin(ip("10.0.0.2")).is_some());
        drop(six);
        let sources = handshakes.sources.lock().unwrap();
        assert_eq!((sources.count, sources.by_source.len()), (0, 0));
    }
}
