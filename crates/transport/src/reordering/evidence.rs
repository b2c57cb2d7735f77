//! Evidence of spurious losses and of reordering.

/// Evidence that losses were spurious; in parentheses, the name of Linux's counter in nstat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Everything retransmitted was reported as duplicate (`TCPDSACKUndo`).
    Duplicates,
    /// In fast recovery, a timestamp from before the first retransmission was echoed (`TCPPartialUndo`).
    Late,
    /// At the end of fast recovery, either of these (`TCPFullUndo`).
    AtTheEnd,
    /// After a timeout, either of these (`TCPLossUndo`).
    LateAfterTimeout,
    /// After a timeout, data that were never retransmitted were acknowledged (`TCPSpuriousRTOs`; also counted
    /// in `TCPLossUndo`).
    NeverResent,
    /// Soon after the loss, data or an acknowledgement was found to be reordered (TCP-DOOR).
    Overtaken,
}

impl Evidence {
    /// Number of kinds.
    pub const COUNT: usize = Evidence::Overtaken as usize + 1;
}

/// Detection of reordering; in parentheses, the name of Linux's counter in nstat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderingSign {
    /// A segment that was sent once was acknowledged after a later one (`TCPSACKReorder`).
    Acknowledged,
    /// A timestamp from before the first retransmission was echoed (`TCPTSReorder`).
    Echoed,
}

impl ReorderingSign {
    /// Number of kinds.
    pub const COUNT: usize = ReorderingSign::Echoed as usize + 1;
}
