//! What told that losses were none, and that segments overtake each other.

/// What told that losses were none; in brackets, how nstat calls Linux's count of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// All that was sent again is reported to have arrived twice (`TCPDSACKUndo`).
    Duplicates,
    /// In fast recovery a timestamp from before the first retransmission came back (`TCPPartialUndo`).
    Late,
    /// At the end of fast recovery, either of these (`TCPFullUndo`).
    AtTheEnd,
    /// After a timeout, either of these (`TCPLossUndo`).
    LateAfterTimeout,
    /// After a timeout, data were acknowledged that were never sent again (`TCPSpuriousRTOs`, which
    /// `TCPLossUndo` counts, too).
    NeverResent,
    /// Soon after it, data or an acknowledgement was overtaken (TCP-DOOR).
    Overtaken,
}

impl Evidence {
    /// How many kinds there are.
    pub const COUNT: usize = Evidence::Overtaken as usize + 1;
}

/// How it was seen that segments overtake each other; in brackets, how nstat calls Linux's count of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// A segment that was sent once is acknowledged after one that follows it (`TCPSACKReorder`).
    Acknowledged,
    /// A timestamp from before the first retransmission came back (`TCPTSReorder`).
    Echoed,
}

impl Sighting {
    /// How many kinds there are.
    pub const COUNT: usize = Sighting::Echoed as usize + 1;
}
