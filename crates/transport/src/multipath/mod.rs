//! Data level of MPTCP (RFC 8684): several TCP subflows as one connection.

pub(crate) mod data_receiver;
pub(crate) mod data_sender;
pub mod keys;
pub(crate) mod peer_window;
pub(crate) mod receive_autotuning;

/// How the subflows of a connection share its window and help each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowsConfig {
    /// Number of MPTCP subflows on each path.
    pub per_path: u32,
    /// Share the window among subflows as Linux does (`ack_update_msk`, `mptcp_data_queue_ofo`,
    /// `mptcp_cleanup_rbuf`, `__mptcp_retrans`): a data acknowledgement counts from the window that its subflow
    /// had last, the receiver drops what is beyond its window although the subflow has acknowledged it, and a
    /// timer of the connection sends it again. Reading that doubles the window is told on all subflows, and the
    /// receive buffer grows with it (`mptcp_rcv_space_adjust`).
    pub linux_window: bool,
    /// Opportunistic retransmission: resend on a free subflow what blocks the receive window (Raiciu et al.,
    /// NSDI 2012).
    pub opportunistic_retransmission: bool,
    /// Penalisation: halve the window of the subflow that blocks the receive window (the same).
    pub penalisation: bool,
}
