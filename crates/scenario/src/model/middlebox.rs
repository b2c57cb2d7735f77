//! Middleboxes of links.

/// MPTCP options that a middlebox removes, in both directions (RFC 8684, 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StripsMptcp {
    /// Those of segments without SYN.
    AfterSyn,
    /// Those of all segments.
    All,
}

named!(StripsMptcp: AfterSyn = "after-syn", All = "all");
