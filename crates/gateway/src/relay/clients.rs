//! Resources of each client, over all of its associations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ropewalk_quantities::Rate;

use crate::bucket::Bucket;

/// A client that is connected.
#[derive(Debug)]
pub struct ClientAccount {
    /// Its name in the list of clients.
    pub name: String,
    streams: AtomicU32,
    most_streams: AtomicU32,
    /// Rate limits from the client to targets, and from targets to the client.
    pub rates: [Bucket; 2],
}

/// A stream of a client, counted until this is dropped.
#[derive(Debug)]
pub struct StreamSlot(Arc<ClientAccount>);

impl ClientAccount {
    /// Of a client with these limits.
    #[must_use]
    pub fn new(name: &str, most_streams: u32, rate: Option<Rate>) -> Arc<ClientAccount> {
        Arc::new(ClientAccount {
            name: name.to_owned(),
            streams: AtomicU32::new(0),
            most_streams: AtomicU32::new(most_streams),
            rates: [Bucket::new(rate), Bucket::new(rate)],
        })
    }

    /// Changes the limits; streams that are open stay open.
    pub fn set_limits(&self, most_streams: u32, rate: Option<Rate>) {
        self.most_streams.store(most_streams, Ordering::Relaxed);
        for bucket in &self.rates {
            bucket.set_rate(rate);
        }
    }

    /// Counts another stream, unless the limit is reached.
    #[must_use]
    pub fn open(self: &Arc<ClientAccount>) -> Option<StreamSlot> {
        let slot = StreamSlot(Arc::clone(self));
        let before = self.streams.fetch_add(1, Ordering::Relaxed);
        // Dropping the slot undoes the count.
        (before < self.most_streams.load(Ordering::Relaxed)).then_some(slot)
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
        let account = ClientAccount::new("van", 2, None);
        let slots: Vec<_> = (0..5).map(|_| account.open()).collect();
        assert_eq!(slots.iter().flatten().count(), 2);
        drop(slots);
        assert_eq!(account.streams.load(Ordering::Relaxed), 0);
        assert!(account.open().is_some());
    }
}
