//! How a link stands: what its quota leaves, and what it has cost.

use std::time::Duration;

use ropewalk_quantities::Bytes;

use crate::status::document;

/// What a link that is counted has carried, and may still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Of a byte, in millionths, if told.
    pub cost: Option<f64>,
    /// In this period.
    pub used: Bytes,
    /// Today.
    pub used_today: Bytes,
    /// What quota and day leave, the lesser.
    pub left: Option<Bytes>,
    /// For how long the quota lasts, as [`Allowance::lasts`](super::Allowance::lasts).
    pub lasts: Option<Duration>,
}

impl Standing {
    /// Puts it into what is shown of the link.
    pub(crate) fn show(&self, shown: &mut document::Link) {
        let (used, used_today) = (self.used.as_u64(), self.used_today.as_u64());
        let price = |bytes: u64| Some(self.cost? * bytes as f64 / 1e6);
        shown.used_bytes = Some(used);
        shown.used_today_bytes = Some(used_today);
        (shown.spent, shown.spent_today) = (price(used), price(used_today));
        shown.quota_left_bytes = self.left.map(Bytes::as_u64);
        shown.quota_lasts_s = self.lasts.map(|lasts| lasts.as_secs_f64());
    }
}
