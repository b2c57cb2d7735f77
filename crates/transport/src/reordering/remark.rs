//! What a policy has to say of an acknowledgement beside what it wants done.

/// A step that was taken, or a sign that was passed over, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// F-RTO took a step (RFC 5682); Linux's, too.
    Step(FrtoStep),
    /// A report of a duplicate was ignored (RFC 3708, section 3).
    Ignored(Ignored),
}

/// Steps of RFC 5682, section 2.1 or, with SACK, 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrtoStep {
    /// The first acknowledgement after the timeout covers all that was sent (2a), or without SACK
    /// less than all that was sent again, or is a duplicate: the timeout is believed.
    Believed,
    /// It advances: new data goes first (2b).
    NewDataFirst,
    /// The next tells of nothing that was sent once, or of what was sent since: the timeout is
    /// believed (3a).
    Confirmed,
    /// It tells of data that was never sent again: the timeout was for nothing (3b).
    Spurious,
}

/// Why a report of a duplicate says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// A window of acknowledgements may have been lost (step A.1).
    AcksLost,
    /// What is reported was sent again more than once (step A.3).
    SentMoreThanTwice,
    /// It was never sent again: the network makes copies, and no report counts any more (step A.4).
    CopiedByNetwork,
    /// It is the answer to a tail loss probe (RFC 8985, section 7.4).
    AnswersProbe,
}
