use ropewalk_quantities::Time;

/// The timer of a subflow's unacknowledged data. A single timer serves three purposes, as in Linux
/// (`icsk_pending`, include/net/inet_connection_sock.h): each replaces the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    at: Time,
    purpose: Purpose,
}

/// What to do when it expires.
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
    /// Not running.
    pub(crate) const OFF: RetransmissionTimer = RetransmissionTimer {
        at: Time::MAX,
        purpose: Purpose::Timeout,
    };

    /// Expires at this time.
    #[inline]
    pub(crate) fn new(purpose: Purpose, at: Time) -> RetransmissionTimer {
        RetransmissionTimer { at, purpose }
    }

    /// When it expires, or [`Time::MAX`].
    #[inline]
    pub(crate) fn at(self) -> Time {
        self.at
    }

    #[inline]
    pub(crate) fn is_off(self) -> bool {
        self.at == Time::MAX
    }

    #[inline]
    pub(crate) fn purpose(self) -> Purpose {
        self.purpose
    }
}
