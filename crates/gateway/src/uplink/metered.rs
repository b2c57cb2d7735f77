//! Carrier with counted bytes.

use std::sync::Arc;

use ropewalk_quantities::Bytes;
use ropewalk_striping::Terms;

use crate::association::CarrierTask;
use crate::links::Link;
use crate::quota::UsageStore;

/// Carrier. Its bytes are counted for its link until this is dropped.
pub(super) struct MeteredCarrier {
    pub(super) task: CarrierTask,
    link: Arc<Link>,
    usage: UsageStore,
    counted: u64,
    /// Terms of both ends, and the count when they were announced.
    terms: Terms,
    since: u64,
}

impl MeteredCarrier {
    pub(super) fn new(
        task: CarrierTask,
        link: Arc<Link>,
        usage: UsageStore,
        terms: Terms,
    ) -> MeteredCarrier {
        let mut metered = MeteredCarrier {
            task,
            link,
            usage,
            counted: 0,
            terms,
            since: 0,
        };
        metered.count();
        metered
    }

    /// Counts the traffic since the last call, and announces the link's new terms if they have changed.
    pub(super) fn update(&mut self) {
        self.count();
        let terms = self.usage.terms(&self.link);
        let used = Bytes::new(self.counted - self.since);
        if terms.need_announcement(&self.terms, used) {
            self.task.set_terms(terms);
            self.terms = terms;
            self.since = self.counted;
        }
    }

    fn count(&mut self) {
        if self.link.quota_policy.is_metered() {
            // If the socket returns no statistics, nothing more can be counted.
            let carried = self.task.carried().unwrap_or(self.counted);
            let more = carried.saturating_sub(self.counted);
            self.usage.charge(&self.link, more);
            self.counted += more;
        }
    }
}

impl Drop for MeteredCarrier {
    fn drop(&mut self) {
        self.count();
    }
}
