//! Bytes that a carrier has carried, and the limits of its terms.

use ropewalk_quantities::Time;

use crate::Terms;
use crate::rate_limiter::RateLimiter;

#[derive(Clone, Debug)]
pub(crate) struct Usage {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) resent: u64,
    pub(crate) quota_left: Option<u64>,
    throttle: Option<RateLimiter>,
}

impl Usage {
    pub(crate) fn new(terms: &Terms) -> Usage {
        Usage {
            sent: 0,
            received: 0,
            resent: 0,
            quota_left: terms.quota.map(|quota| quota.as_u64()),
            throttle: terms.rate.map(RateLimiter::new),
        }
    }

    /// Applies new terms: the quota begins again, and so does the rate limit if it changes.
    pub(crate) fn set_terms(&mut self, before: &Terms, terms: &Terms) {
        self.quota_left = terms.quota.map(|quota| quota.as_u64());
        if before.rate != terms.rate {
            self.throttle = terms.rate.map(RateLimiter::new);
        }
    }

    pub(crate) fn count_sent(&mut self, now: Time, wire_len: u64) -> bool {
        self.sent += wire_len;
        if let Some(throttle) = &mut self.throttle {
            throttle.on_sent(now, wire_len);
        }
        self.charge(wire_len)
    }

    /// Counts a received frame. Returns whether that uses up the quota.
    pub(crate) fn count_received(&mut self, wire_len: u64) -> bool {
        self.received += wire_len;
        self.charge(wire_len)
    }

    fn charge(&mut self, wire_len: u64) -> bool {
        let Some(left) = &mut self.quota_left else {
            return false;
        };
        let had_some = *left > 0;
        *left = left.saturating_sub(wire_len);
        had_some && *left == 0
    }

    pub(crate) fn has_quota(&self) -> bool {
        self.quota_left != Some(0)
    }

    /// Returns when its rate limit next lets it send; `None` if it has none.
    pub(crate) fn allowed_at(&self) -> Option<Time> {
        self.throttle.map(|throttle| throttle.allowed_at())
    }

    pub(crate) fn at_most(&self, rate: f64) -> f64 {
        self.throttle
            .map_or(rate, |throttle| rate.min(throttle.bytes_per_second()))
    }
}
