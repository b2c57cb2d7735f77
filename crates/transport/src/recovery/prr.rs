/// Proportional rate reduction (RFC 6937), with its slow-start reduction bound: in recovery, send in
/// proportion to the delivered data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    delivered: u64,
    out: u64,
    flight_at_start: u64,
}

impl Prr {
    pub(crate) fn new(flight_at_start: u64) -> Prr {
        Prr {
            delivered: 0,
            out: 0,
            flight_at_start,
        }
    }

    #[inline]
    pub(crate) fn count_sent(&mut self, len: u64) {
        self.out += len;
    }

    /// Bytes that may be sent after an acknowledgement of `delivered` bytes (section 3); one more segment if
    /// it made `progress`.
    pub(crate) fn allowance(
        &mut self,
        delivered: u64,
        progress: bool,
        pipe: u64,
        ssthresh: u64,
        mss: u64,
    ) -> u64 {
        self.delivered += delivered;
        if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            let target = share.div_ceil(u128::from(self.flight_at_start.max(1))) as u64;
            target.saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered);
            let limit = if progress { limit + mss } else { limit };
            (ssthresh - pipe).min(limit)
        }
    }
}
