use ropewalk_quantities::Time;

/// Timer of a subflow's unacknowledged data. A single timer serves three purposes, which replace each other,
/// as in Linux (`icsk_pending`, include/net/inet_connection_sock.h).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    /// Expiry, or [`Time::MAX`].
    pub(crate) at: Time,
    pub(crate) purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Mark everything lost (RFC 6298).
    Timeout,
    /// Check again which segments are late enough to be lost (RFC 8985, 6.3).
    Reordering,
    /// Send a tail loss probe (RFC 8985, 7.3).
    Probe,
}

impl RetransmissionTimer {
    pub(crate) const OFF: RetransmissionTimer = RetransmissionTimer {
        at: Time::MAX,
        purpose: Purpose::Timeout,
    };

    #[inline]
    pub(crate) fn new(purpose: Purpose, at: Time) -> RetransmissionTimer {
        RetransmissionTimer { at, purpose }
    }

    #[inline]
    pub(crate) fn is_off(self) -> bool {
        self.at == Time::MAX
    }
}
