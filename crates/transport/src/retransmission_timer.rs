use ropewalk_quantities::Time;

/// A subflow's timer for data that is not acknowledged. There is one for three purposes, as in
/// Linux (`icsk_pending`, include/net/inet_connection_sock.h): each puts off the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimer {
    at: Time,
    purpose: Purpose,
}

/// What to do when it runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Take everything for lost (RFC 6298).
    Timeout,
    /// Look again which segments are late enough (RFC 8985, 6.3).
    Reordering,
    /// Send a tail loss probe (RFC 8985, 7.3).
    Probe,
}

impl RetransmissionTimer {
    /// Off.
    pub(crate) const OFF: RetransmissionTimer = RetransmissionTimer {
        at: Time::MAX,
        purpose: Purpose::Timeout,
    };

    /// Runs out then.
    #[inline]
    pub(crate) fn new(purpose: Purpose, at: Time) -> RetransmissionTimer {
        RetransmissionTimer { at, purpose }
    }

    /// When it runs out, or [`Time::MAX`].
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
