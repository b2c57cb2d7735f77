//! Middleboxes of links.

use ropewalk_quantities::named;

named! {
    /// MPTCP options that a middlebox removes, in both directions (RFC 8684, 3.7).
    #[derive(PartialOrd, Ord)]
    pub enum StripsMptcp {
        /// The options of segments without SYN.
        AfterSyn = "after-syn",
        /// The options of all segments.
        All = "all",
    }
}
