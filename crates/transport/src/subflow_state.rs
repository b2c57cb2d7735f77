use ropewalk_quantities::Time;

/// State of a subflow that congestion control and scheduling may read; amounts are bytes of payload. A
/// connection has one table of these; a subflow's index in it is its number.
#[derive(Clone, Debug)]
pub struct SubflowState {
    /// Established, not closing and not failed: it may carry data, and takes part in coupling.
    pub usable: bool,
    /// Maximum payload of a segment.
    pub mss: u64,
    /// Congestion window, in bytes.
    pub cwnd: u64,
    /// Slow-start threshold, in bytes; until the first loss the initial one, by default `u64::MAX`.
    pub ssthresh: u64,
    /// Sent and neither acknowledged nor marked lost (RFC 6675's pipe).
    pub in_flight: u64,
    /// Assigned to the subflow by the scheduler and not sent.
    pub queued: u64,
    /// Assigned to the subflow so far, sent or not.
    pub assigned: u64,
    /// Memory limit of its send queue (Linux's `sk_sndbuf`).
    pub send_buffer: u64,
    /// Cumulatively acknowledged so far.
    pub acknowledged: u64,
    /// Smoothed round-trip time (RFC 6298); zero until the first sample.
    pub srtt: Time,
    /// Mean deviation of the round-trip time (RFC 6298).
    pub rttvar: Time,
    /// Minimum round-trip time since the subflow's start; [`Time::MAX`] until the first sample.
    pub min_rtt: Time,
    /// Newest round-trip time sample.
    pub latest_rtt: Time,
    /// Sum of the round-trip samples.
    pub rtt_sum: Time,
    /// Number of the samples, modulo 2^32.
    pub rtt_samples: u32,
    /// Smoothed delivery rate, in bytes per second; zero until it was measured.
    pub delivery_rate: f64,
    /// Acknowledged since the last loss (OLIA's l1).
    pub acked_since_loss: u64,
    /// Acknowledged between the last two losses (OLIA's l2).
    pub acked_between_losses: u64,
    /// Cost of its data in comparison with other subflows; the unit is the user's.
    pub cost: f64,
    /// A higher number counts as more expensive than a lower one, at any cost.
    pub priority: u8,
    /// It carries new data only while no other subflow is usable (RFC 8684, section 3.3.8).
    pub backup: bool,
    /// In loss recovery or after a timeout, with lost data still outstanding.
    pub in_recovery: bool,
}

impl SubflowState {
    /// Bytes that the congestion window allows now.
    #[inline]
    pub fn room(&self) -> u64 {
        self.cwnd.saturating_sub(self.in_flight + self.queued)
    }

    /// Whether another full segment may be sent now.
    #[inline]
    pub fn can_send(&self) -> bool {
        self.usable && self.room() >= self.mss
    }
}

impl SubflowState {
    /// Sort key by price: cheaper ones come first.
    #[inline]
    pub fn price(&self) -> (u8, f64) {
        (self.priority, self.cost)
    }

    /// Expected rate in bytes per second, if known.
    #[inline]
    pub fn rate(&self) -> Option<f64> {
        if self.delivery_rate > 0.0 {
            Some(self.delivery_rate)
        } else if self.srtt.as_nanos() > 0 {
            Some(self.cwnd as f64 / self.srtt.as_secs_f64())
        } else {
            None
        }
    }

    /// Expected rate in bytes per second; if unknown, a window per tenth of a second.
    pub fn rate_or_guess(&self) -> f64 {
        self.rate().unwrap_or(self.cwnd as f64 / 0.1)
    }
}

impl Default for SubflowState {
    fn default() -> SubflowState {
        SubflowState {
            usable: false,
            mss: 1448,
            cwnd: 10 * 1448,
            ssthresh: u64::MAX,
            in_flight: 0,
            queued: 0,
            assigned: 0,
            send_buffer: u64::MAX,
            acknowledged: 0,
            srtt: Time::ZERO,
            rttvar: Time::ZERO,
            min_rtt: Time::MAX,
            latest_rtt: Time::ZERO,
            rtt_samples: 0,
            rtt_sum: Time::ZERO,
            delivery_rate: 0.0,
            acked_since_loss: 0,
            acked_between_losses: 0,
            cost: 0.0,
            priority: 0,
            backup: false,
            in_recovery: false,
        }
    }
}
