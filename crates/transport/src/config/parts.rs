//! The parts of an endpoint's configuration: one for each part of the endpoint that is made from it.

use ropewalk_quantities::{Bytes, Time};

/// What the two SYNs negotiate: TCP options are used if both sides offer them, checksums if either asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extensions {
    /// Selective acknowledgement (RFC 2018, 6675).
    pub sack: bool,
    /// Timestamps (RFC 7323): 12 bytes per segment, and a round-trip sample from each acknowledgement.
    pub timestamps: bool,
    /// DSS checksums (RFC 8684, 3.3.1).
    pub checksum: bool,
}

/// When a sender lets the congestion window grow, and from what it reduces it; by how much is up to the
/// congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Remember for a window of data whether the congestion window was in use, as in Linux
    /// (`tcp_cwnd_validate`): it may grow if it was full at least once, and in slow start if it is less than
    /// twice the maximum in flight. Otherwise, what last limited the sender decides.
    pub validate: bool,
    /// After idling for more than the timeout, halve the window once per timeout, as in Linux
    /// (`tcp_cwnd_restart`); otherwise, restart from the initial window (RFC 5681, 4.1).
    pub halve_after_idle: bool,
    /// Let an acknowledgement that advances grow the window even if it reports a new gap, as in Linux;
    /// otherwise it counts as a duplicate (RFC 5681, 3.1, by RFC 6675's definition).
    pub grow_in_disorder: bool,
    /// Reduce from the congestion window, however much of it is in flight, and to whole segments, as in Linux;
    /// `halve_pipe` is then ignored.
    pub reduce_cwnd: bool,
    /// Reduce from the data in the network (RFC 6675's pipe, as in ns-3) rather than from everything
    /// unacknowledged (RFC 5681's FlightSize).
    pub halve_pipe: bool,
    /// Proportional rate reduction in recovery (RFC 6937).
    pub prr: bool,
}

impl WindowConfig {
    /// As Linux has it.
    pub const LINUX: WindowConfig = WindowConfig {
        validate: true,
        halve_after_idle: true,
        grow_in_disorder: true,
        reduce_cwnd: true,
        halve_pipe: false,
        prr: true,
    };
    /// As RFC 5681 has it.
    pub const RFC: WindowConfig = WindowConfig {
        validate: false,
        halve_after_idle: false,
        grow_in_disorder: false,
        reduce_cwnd: false,
        halve_pipe: false,
        prr: false,
    };
}

/// By which means losses are detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossConfig {
    /// Detect losses by time rather than by counting duplicate acknowledgements (RACK, RFC 8985).
    pub rack: bool,
    /// Send a tail loss probe before the retransmission timeout (TLP, RFC 8985); needs SACK.
    pub tail_loss_probe: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
}

impl LossConfig {
    /// As Linux has it.
    pub const LINUX: LossConfig = LossConfig {
        rack: true,
        tail_loss_probe: true,
        limited_transmit: true,
    };
    /// RFC 5681 with RFC 3042.
    pub const RFC: LossConfig = LossConfig {
        rack: false,
        tail_loss_probe: false,
        limited_transmit: true,
    };
}

/// How round-trip times are sampled, and what the retransmission timeout makes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Minimum retransmission timeout.
    pub min: Time,
    /// Apply `min` to the variance term, so that the timeout is at least the smoothed round-trip time plus it, as
    /// in Linux; otherwise to the whole timeout, as in RFC 6298.
    pub min_on_variance: bool,
    /// Maximum retransmission timeout.
    pub max: Time,
    /// Retransmission timeout before the first round-trip sample (RFC 6298: 1 s).
    pub initial: Time,
    /// Take samples also from selective acknowledgements of segments that were sent once, as in Linux; otherwise
    /// only when the left edge of the window moves (RFC 7323, 4.1).
    pub from_sack: bool,
}

impl RtoConfig {
    /// As Linux has it.
    pub const LINUX: RtoConfig = RtoConfig {
        min: Time::from_millis(200),
        min_on_variance: true,
        max: Time::from_secs(120),
        initial: Time::from_secs(1),
        from_sack: true,
    };
    /// As RFC 6298 recommends.
    pub const RFC: RtoConfig = RtoConfig {
        min: Time::from_secs(1),
        min_on_variance: false,
        max: Time::from_secs(60),
        from_sack: false,
        ..RtoConfig::LINUX
    };
}

/// What a receiver acknowledges when, and what it discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Acknowledge at least every this many full segments; 1 means each.
    pub delayed_ack: u32,
    /// Acknowledge at the latest after this time (RFC 5681: at most 500 ms).
    pub delayed_ack_timeout: Time,
    /// Acknowledge the first segments of a connection one by one, and at once a segment shorter than usual
    /// (Linux's quick ACK).
    pub quick_ack: bool,
    /// Discard segments whose timestamp is older than the one to echo (PAWS, RFC 7323, section 5); needs
    /// timestamps.
    pub paws: bool,
}

impl ReceiverConfig {
    /// As Linux has it.
    pub const LINUX: ReceiverConfig = ReceiverConfig {
        delayed_ack: 2,
        delayed_ack_timeout: Time::from_millis(40),
        quick_ack: true,
        paws: true,
    };
    /// As RFC 5681 and RFC 7323 recommend.
    pub const RFC: ReceiverConfig = ReceiverConfig {
        delayed_ack_timeout: Time::from_millis(200),
        quick_ack: false,
        ..ReceiverConfig::LINUX
    };
}

/// The send buffer: the bound of data written and not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendBufferConfig {
    /// Its size.
    pub size: Bytes,
    /// `size` is only the maximum of an autotuned send buffer, as in Linux (`tcp_sndbuf_expand`): it starts small
    /// and grows with the congestion window while the application is blocked on it. It accounts for memory rather
    /// than payload, and a blocked application may write again when a third is free. An MPTCP connection's buffer
    /// is the sum of its subflows' (`__mptcp_sync_sndbuf`), each of which grows up to this.
    pub autotuning: bool,
}

/// The receive buffer, and how much of it the peer may fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReceiveBufferConfig {
    /// Its size: the bound of the advertised window.
    pub size: Bytes,
    /// Fraction that may be advertised; Linux keeps the rest for overhead
    /// ([`usual_window_share`](crate::Config::usual_window_share)).
    pub window_share: f64,
    /// Let data behind a gap reduce the advertised window, although the window covers them already, as Linux
    /// computes it (`__tcp_select_window`).
    pub charge_reordered: bool,
}

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
