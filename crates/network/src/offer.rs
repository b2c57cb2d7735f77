//! Fate of a packet that a hop is offered.

/// Fate of a packet that a hop was offered.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Accepted. It will leave a wired link; a medium may still drop it.
    Accepted,
    /// It will not leave the hop.
    Dropped(DropReason),
}

/// Why a packet does not leave a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// It was lost at random, after its transmission time was used.
    Loss,
    /// The link was down, or went down before the packet was through.
    Outage,
    /// All transmissions in a medium failed (802.11: dot11ShortRetryLimit, dot11LongRetryLimit).
    RetryLimit,
    /// It waited too long in a medium's queue (802.11: MSDU lifetime).
    Lifetime,
}
