//! What an endpoint has to send.

use crate::scheduling::SubflowSet;

/// Which subflows have something to send beside new data, and whether there may be data to send.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// A control segment: SYN, the third of the handshake, FIN, RST, a window probe.
    pub(super) control: SubflowSet,
    /// An acknowledgement.
    pub(super) acks: SubflowSet,
    /// A tail loss probe.
    pub(super) probes: SubflowSet,
    /// Subflows in loss recovery, which may have something to retransmit.
    pub(super) recovering: SubflowSet,
    /// Something has changed since data were last found to have to wait.
    pub(super) data: bool,
}

impl Due {
    /// Whether nothing is to be sent.
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        !self.data && self.control.with_all(self.acks).is_empty()
    }

    /// Subflows with something that goes before new data.
    #[inline]
    pub(super) fn before_new_data(&self) -> SubflowSet {
        self.control.with_all(self.recovering).with_all(self.probes)
    }
}
