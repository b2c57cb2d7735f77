//! What becomes of a packet that a hop is offered.

/// What became of a packet that a hop was offered.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It was taken. Out of a wired link it will come; a medium may drop it yet.
    Accepted,
    /// It will not come out.
    Dropped(DropReason),
}

/// Why a packet does not come out of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// It found the queue full.
    QueueFull,
    /// It was lost by chance, after it had taken its time on the link.
    Loss,
    /// The link was down, or went down before the packet was through.
    Outage,
    /// A medium sent it as often as it may, in vain (802.11: dot11ShortRetryLimit, dot11LongRetryLimit).
    RetryLimit,
    /// It waited in a medium's queue for longer than it may (802.11: MSDU lifetime).
    Lifetime,
}
