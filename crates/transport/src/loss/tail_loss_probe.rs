//! Tail loss probe (RFC 8985, section 7): when acknowledgements stay away for two round trips, send
//! one more segment, so that what comes back tells of losses before the retransmission timer does.
//!
//! As Linux has it (`tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`).

/// The probe of a subflow that is under way, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TailLossProbe {
    pub(crate) on: bool,
    pub(crate) sent: Option<Probe>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Next offset to send for the first time, when it was sent (TLP.end_seq).
    pub(crate) end: u64,
    /// It was a segment sent again (TLP.is_retrans).
    pub(crate) again: bool,
}

impl TailLossProbe {
    pub(crate) fn new(on: bool) -> TailLossProbe {
        TailLossProbe { on, sent: None }
    }

    /// Losses are known by other means now.
    pub(crate) fn forget(&mut self) {
        self.sent = None;
    }

    /// A D-SACK of a range that ends there says that the probe was for nothing.
    pub(crate) fn is_answered_by(&self, dsack_end: u64) -> bool {
        self.sent
            .is_some_and(|probe| probe.again && probe.end == dsack_end)
    }
}
