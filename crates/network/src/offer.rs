//! Fate of a packet offered to a hop.

/// Fate of a packet offered to a hop.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The packet will leave a wired link; a medium may still drop it.
    Accepted,
    /// The packet will not leave the hop.
    Dropped(DropReason),
}

/// Reason why a packet does not leave a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// Random loss, after the transmission time was used.
    Loss,
    /// The link was down, or went down before the packet left.
    Outage,
    /// All transmissions in a medium failed (802.11: dot11ShortRetryLimit, dot11LongRetryLimit).
    RetryLimit,
    /// The packet was too long in the queue of a medium (802.11: MSDU lifetime).
    Lifetime,
}
