//! Pending output of an endpoint.

use crate::scheduling::SubflowSet;

/// Subflows with pending output other than new data, and whether there may be new data to send.
#[derive(Debug, Default)]
pub(super) struct PendingOutput {
    /// A control segment: SYN, the third of the handshake, FIN, RST, a window probe.
    pub(super) control: SubflowSet,
    pub(super) acks: SubflowSet,
    pub(super) probes: SubflowSet,
    pub(super) recovering: SubflowSet,
    /// The state has changed since data were last found to be blocked.
    pub(super) data: bool,
}

impl PendingOutput {
    #[inline]
    pub(super) fn is_quiet(&self) -> bool {
        !self.data && self.control.with_all(self.acks).is_empty()
    }

    #[inline]
    pub(super) fn before_new_data(&self) -> SubflowSet {
        self.control.with_all(self.recovering).with_all(self.probes)
    }
}
