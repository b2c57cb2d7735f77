//! Resources of each client, over all of its associations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use ropewalk_quantities::{Bytes, Rate};

use crate::budget::Budget;
use crate::fair_rate_limiter::FairRateLimiter;
use crate::names::LookupLimit;

/// Default limits of a client.
#[derive(Clone, Copy, Debug)]
pub struct DefaultLimits {
    /// Simultaneous associations.
    pub associations: usize,
    /// Simultaneous streams, over all associations.
    pub streams: u32,
    /// Memory at the relay, over all associations.
    pub memory: Bytes,
    /// Rate in each direction; `None`: unlimited.
    pub rate: Option<Rate>,
    /// Concurrent name look-ups.
    pub names: u32,
}

impl Default for DefaultLimits {
    fn default() -> DefaultLimits {
        DefaultLimits {
            associations: 4,
            streams: 4096,
            memory: Bytes::new(256 << 20),
            rate: None,
            names: 64,
        }
    }
}

#[derive(Debug)]
pub struct ClientAccount {
    pub name: String,
    streams: AtomicU32,
    most_streams: AtomicU32,
    links: AtomicU64,
    most_links: AtomicU64,
    /// Rate limits from the client to targets, and from targets to the client.
    pub rates: Arc<[FairRateLimiter; 2]>,
    pub memory: Arc<Budget>,
    pub names: LookupLimit,
}

/// Minimum memory of a client, sufficient for a few links and streams.
const LEAST_MEMORY: u64 = 8 << 20;

/// Memory of a link: the read buffer of its carrier.
const LINK: u64 = 256 << 10;

/// Bounds of a client's maximum number of links.
const LINKS: [u64; 2] = [4, 256];

/// Link of a client, counted until this is dropped.
#[derive(Debug)]
pub struct LinkSlot(Arc<ClientAccount>);

/// Stream of a client, counted until this is dropped.
#[derive(Debug)]
pub struct StreamSlot(Arc<ClientAccount>);

impl ClientAccount {
    #[must_use]
    pub fn new(name: &str, limits: &DefaultLimits) -> Arc<ClientAccount> {
        Arc::new(ClientAccount {
            name: name.to_owned(),
            streams: AtomicU32::new(0),
            most_streams: AtomicU32::new(limits.streams),
            links: AtomicU64::new(0),
            most_links: AtomicU64::new(most_links(limits)),
            rates: Arc::new([
                FairRateLimiter::new(limits.rate),
                FairRateLimiter::new(limits.rate),
            ]),
            memory: Arc::new(Budget::new(limits.memory.as_u64().max(LEAST_MEMORY))),
            names: LookupLimit::new(limits.names),
        })
    }

    /// Changes the limits; open streams stay open.
    pub fn set_limits(&self, limits: &DefaultLimits) {
        self.most_streams.store(limits.streams, Ordering::Relaxed);
        self.most_links.store(most_links(limits), Ordering::Relaxed);
        for bucket in &*self.rates {
            bucket.set_rate(limits.rate);
        }
        let memory = limits.memory.as_u64().max(LEAST_MEMORY);
        self.memory.set_limit(memory);
        self.names.set(limits.names);
    }

    /// Counts another stream, unless the limit is reached or the client's memory is used up.
    #[must_use]
    pub fn open(self: &Arc<ClientAccount>) -> Option<StreamSlot> {
        let slot = StreamSlot(Arc::clone(self));
        let before = self.streams.fetch_add(1, Ordering::Relaxed);
        // Dropping the slot reverts the count.
        let has_room = before < self.most_streams.load(Ordering::Relaxed);
        (has_room && self.memory.excess() == 0).then_some(slot)
    }
}

impl ClientAccount {
    /// Counts another link, unless the limit is reached.
    #[must_use]
    pub fn add_link(self: &Arc<ClientAccount>) -> Option<LinkSlot> {
        let slot = LinkSlot(Arc::clone(self));
        let before = self.links.fetch_add(1, Ordering::Relaxed);
        (before < self.most_links.load(Ordering::Relaxed)).then_some(slot)
    }
}

fn most_links(limits: &DefaultLimits) -> u64 {
    let [least, most] = LINKS;
    (limits.memory.as_u64() / 8 / LINK).clamp(least, most)
}

impl Drop for LinkSlot {
    fn drop(&mut self) {
        self.0.links.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_counted() {
        let limits = DefaultLimits {
            streams: 2,
            ..DefaultLimits::default()
        };
        let account = ClientAccount::new("van", &limits);
        let slots: Vec<_> = (0..5).map(|_| account.open()).collect();
        assert_eq!(slots.iter().flatten().count(), 2);
        drop(slots);
        assert_eq!(account.streams.load(Ordering::Relaxed), 0);
        assert!(account.open().is_some());
    }
}
