//! Parts of an endpoint's configuration, one for each part of the endpoint.

use ropewalk_quantities::{Bytes, Time};

/// Options in the SYNs: an option is used if both sides offer it, checksums if either side requires them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions {
    /// Selective acknowledgement (RFC 2018, 6675).
    pub sack: bool,
    /// Timestamps (RFC 7323): 12 bytes per segment, and an RTT sample from each acknowledgement.
    pub timestamps: bool,
    /// DSS checksums (RFC 8684, 3.3.1).
    pub checksum: bool,
}

/// Rules for growth and reduction of the congestion window, besides the congestion control's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Remember for a window of data whether the congestion window was in use, as in Linux
    /// (`tcp_cwnd_validate`). It may then grow if it was full at least once, or in slow start if it is less
    /// than twice the maximum in flight. Otherwise only the sender's most recent limit counts.
    pub validate: bool,
    /// After idling for longer than the RTO, halve the window once per RTO, as in Linux (`tcp_cwnd_restart`);
    /// otherwise, restart from the initial window (RFC 5681, 4.1).
    pub halve_after_idle: bool,
    /// Let an acknowledgement of new data grow the window even if it reports a new gap, as in Linux;
    /// otherwise it counts as a duplicate (RFC 5681, 3.1, by RFC 6675's definition).
    pub grow_in_disorder: bool,
    /// Reduce from the congestion window, not from the data in flight, to whole segments, as in Linux;
    /// `halve_pipe` is then ignored.
    pub reduce_cwnd: bool,
    /// Reduce from the data in the network (RFC 6675's pipe, as in ns-3) rather than from all unacknowledged
    /// data (RFC 5681's FlightSize).
    pub halve_pipe: bool,
    /// Proportional rate reduction in recovery (RFC 6937).
    pub prr: bool,
}

impl WindowConfig {
    /// Settings of Linux.
    pub const LINUX: WindowConfig = WindowConfig {
        validate: true,
        halve_after_idle: true,
        grow_in_disorder: true,
        reduce_cwnd: true,
        halve_pipe: false,
        prr: true,
    };
    /// Settings of RFC 5681.
    pub const RFC: WindowConfig = WindowConfig {
        validate: false,
        halve_after_idle: false,
        grow_in_disorder: false,
        reduce_cwnd: false,
        halve_pipe: false,
        prr: false,
    };
}

/// Methods of loss detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossConfig {
    /// Detect losses by time (RACK, RFC 8985) instead of counting duplicate acknowledgements.
    pub rack: bool,
    /// Send a tail loss probe before the retransmission timeout (TLP, RFC 8985); needs SACK.
    pub tail_loss_probe: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
}

impl LossConfig {
    /// Settings of Linux.
    pub const LINUX: LossConfig = LossConfig {
        rack: true,
        tail_loss_probe: true,
        limited_transmit: true,
    };
    /// Settings of RFC 5681 and RFC 3042.
    pub const RFC: LossConfig = LossConfig {
        rack: false,
        tail_loss_probe: false,
        limited_transmit: true,
    };
}

/// RTT sampling and the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Minimum retransmission timeout.
    pub min: Time,
    /// Apply `min` to the variance term, so that the timeout is at least SRTT plus `min`, as in Linux;
    /// otherwise to the whole timeout, as in RFC 6298.
    pub min_on_variance: bool,
    /// Maximum retransmission timeout.
    pub max: Time,
    /// Retransmission timeout before the first RTT sample (RFC 6298: 1 s).
    pub initial: Time,
    /// Take samples also from selective acknowledgements of segments that were sent once, as in Linux;
    /// otherwise only when the left edge of the window moves (RFC 7323, 4.1).
    pub from_sack: bool,
}

impl RtoConfig {
    /// Settings of Linux.
    pub const LINUX: RtoConfig = RtoConfig {
        min: Time::from_millis(200),
        min_on_variance: true,
        max: Time::from_secs(120),
        initial: Time::from_secs(1),
        from_sack: true,
    };
    /// Settings of RFC 6298.
    pub const RFC: RtoConfig = RtoConfig {
        min: Time::from_secs(1),
        min_on_variance: false,
        max: Time::from_secs(60),
        from_sack: false,
        ..RtoConfig::LINUX
    };
}

/// When a receiver acknowledges, and which segments it discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Acknowledge at least every this many full segments; 1 acknowledges each segment.
    pub delayed_ack: u32,
    /// Longest delay of an acknowledgement (RFC 5681: at most 500 ms).
    pub delayed_ack_timeout: Time,
    /// Acknowledge the first segments of a connection one by one, and a segment shorter than the longest so
    /// far at once (Linux's quick ACK).
    pub quick_ack: bool,
    /// Discard segments whose timestamp is older than the one to echo (PAWS, RFC 7323, section 5); needs
    /// timestamps.
    pub paws: bool,
}

impl ReceiverConfig {
    /// Settings of Linux.
    pub const LINUX: ReceiverConfig = ReceiverConfig {
        delayed_ack: 2,
        delayed_ack_timeout: Time::from_millis(40),
        quick_ack: true,
        paws: true,
    };
    /// Settings of RFC 5681 and RFC 7323.
    pub const RFC: ReceiverConfig = ReceiverConfig {
        delayed_ack_timeout: Time::from_millis(200),
        quick_ack: false,
        ..ReceiverConfig::LINUX
    };
}

/// Send buffer: the limit of data written and not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendBufferConfig {
    /// Size of the buffer.
    pub size: Bytes,
    /// Let the send buffer start small and grow up to `size` with the congestion window while the application
    /// is blocked, as in Linux (`tcp_sndbuf_expand`). It counts memory rather than payload, and a blocked
    /// application may write again when a third is free. With MPTCP each subflow's buffer grows, and the
    /// connection's is their sum (`__mptcp_sync_sndbuf`).
    pub autotuning: bool,
}

/// Receive buffer, and the fraction of it that the peer may fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiveBufferConfig {
    /// Size of the buffer: the limit of the advertised window.
    pub size: Bytes,
    /// Fraction that may be advertised; Linux keeps the rest for overhead
    /// ([`linux_window_share`](crate::Config::linux_window_share)).
    pub window_share: f64,
    /// Subtract data behind a gap from the advertised window a second time, as Linux computes it
    /// (`__tcp_select_window`).
    pub charge_reordered: bool,
}

/// Interaction of the subflows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowsConfig {
    /// Number of MPTCP subflows on each path.
    pub per_path: u32,
    /// Send no data before all subflows are open, for at most a second. Only the ns-3 module's MPTCP
    /// ([`mptcp_ns3`](crate::mptcp_ns3)) waits.
    pub wait_for_all: bool,
    /// Share the window among subflows as Linux does (`ack_update_msk`, `mptcp_data_queue_ofo`,
    /// `mptcp_cleanup_rbuf`, `__mptcp_retrans`). A data acknowledgement counts from the window that its
    /// subflow received last. The receiver drops data beyond its window although the subflow has acknowledged
    /// them, and a timer of the connection retransmits them. When reading doubles the window, all subflows
    /// announce it, and the receive buffer grows with it (`mptcp_rcv_space_adjust`).
    pub linux_window: bool,
    /// Opportunistic retransmission: retransmit data that block the receive window on a free subflow (Raiciu
    /// et al., NSDI 2012).
    pub opportunistic_retransmission: bool,
    /// Penalisation: halve the window of the subflow that blocks the receive window (Raiciu et al., NSDI
    /// 2012).
    pub penalisation: bool,
}
