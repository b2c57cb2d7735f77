//! Tail loss probe (RFC 8985, section 7): if no acknowledgement arrives for two round trips, another segment
//! is sent, whose acknowledgement reveals losses before the retransmission timer expires. As in Linux
//! (`tcp_schedule_loss_probe`, `tcp_send_loss_probe`, `tcp_process_tlp_ack`).

#[derive(Clone, Copy, Debug)]
pub(crate) struct TailLossProbe {
    pub(crate) on: bool,
    pub(crate) sent: Option<Probe>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Next new offset when it was sent (TLP.end_seq).
    pub(crate) end: u64,
    /// It was a retransmission (TLP.is_retrans).
    pub(crate) retransmission: bool,
}

impl TailLossProbe {
    pub(crate) fn new(on: bool) -> TailLossProbe {
        TailLossProbe { on, sent: None }
    }

    pub(crate) fn forget(&mut self) {
        self.sent = None;
    }

    /// Whether a D-SACK that ends at this offset shows that the probe was spurious.
    pub(crate) fn is_answered_by(&self, dsack_end: u64) -> bool {
        self.sent
            .is_some_and(|probe| probe.retransmission && probe.end == dsack_end)
    }
}
