//! Middleboxes of links.

use ropewalk_quantities::named;

named! {
    /// MPTCP options that a middlebox removes, in both directions (RFC 8684, 3.7).
    #[derive(PartialOrd, Ord)]
    pub enum StripsMptcp {
        /// Those of segments without SYN.
        AfterSyn = "after-syn",
        /// Those of all segments.
        All = "all",
    }
}
