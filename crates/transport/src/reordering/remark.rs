//! Remarks of a policy for the recorder.

/// A step that a policy took, or a report that it ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A step of F-RTO (RFC 5682), also of Linux's.
    Step(FrtoStep),
    /// A report of a duplicate was ignored (RFC 3708, section 3).
    Ignored(Ignored),
}

/// Steps of RFC 5682, section 2.1 or, with SACK, 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrtoStep {
    /// The first acknowledgement after the timeout covers everything sent (2a), or without SACK less than
    /// everything retransmitted, or is a duplicate: the timeout counts as genuine.
    Believed,
    /// The first acknowledgement advances: new data are sent first (2b).
    NewDataFirst,
    /// The next one acknowledges no data that were sent only once, or data that were sent since: the timeout
    /// counts as genuine (3a).
    Confirmed,
    /// The next one acknowledges data that were never retransmitted: the timeout was spurious (3b).
    Spurious,
}

/// Reason to ignore a report of a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// A window of acknowledgements may have been lost (step A.1).
    AcksLost,
    /// The reported segment was retransmitted more than once (step A.3).
    SentMoreThanTwice,
    /// The reported segment was never retransmitted: the network duplicates segments, and further reports are
    /// ignored (step A.4).
    CopiedByNetwork,
    /// The report answers a tail loss probe (RFC 8985, section 7.4).
    AnswersProbe,
}
