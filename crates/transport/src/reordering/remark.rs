//! Remarks of a policy about an acknowledgement, besides the actions it asks for.

/// A step that was taken, or a sign that was ignored, and why.
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
    /// It advances: new data are sent first (2b).
    NewDataFirst,
    /// The next one acknowledges nothing that was sent only once, or data that were sent since: the timeout
    /// counts as genuine (3a).
    Confirmed,
    /// It acknowledges data that were never retransmitted: the timeout was spurious (3b).
    Spurious,
}

/// Why a report of a duplicate is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// A window of acknowledgements may have been lost (step A.1).
    AcksLost,
    /// The reported segment was retransmitted more than once (step A.3).
    SentMoreThanTwice,
    /// It was never retransmitted: the network duplicates segments, and further reports are ignored (step
    /// A.4).
    CopiedByNetwork,
    /// It answers a tail loss probe (RFC 8985, section 7.4).
    AnswersProbe,
}
