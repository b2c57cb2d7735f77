//! Usage and cost of a link, for status.

use std::time::Duration;

use ropewalk_quantities::Bytes;

use crate::status::document;

/// Usage of a counted link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuotaStatus {
    /// Cost of a byte, in millionths, if given.
    pub cost: Option<f64>,
    /// Bytes in this period.
    pub used: Bytes,
    /// Bytes today.
    pub used_today: Bytes,
    /// Bytes left of the period's or the day's quota, whichever is less.
    pub left: Option<Bytes>,
    /// Time until the quota is used up, as [`QuotaPolicy::lasts`](crate::quota_policy::QuotaPolicy::lasts).
    pub lasts: Option<Duration>,
}

impl QuotaStatus {
    pub(crate) fn show(&self, shown: &mut document::LinkSummary) {
        let (used, used_today) = (self.used.as_u64(), self.used_today.as_u64());
        let price = |bytes: u64| Some(self.cost? * bytes as f64 / 1e6);
        shown.used_bytes = Some(used);
        shown.used_today_bytes = Some(used_today);
        (shown.spent, shown.spent_today) = (price(used), price(used_today));
        shown.quota_left_bytes = self.left.map(Bytes::as_u64);
        shown.quota_lasts_s = self.lasts.map(|lasts| lasts.as_secs_f64());
    }
}
