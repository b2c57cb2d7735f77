use std::collections::VecDeque;

use ropewalk_quantities::Time;

use crate::Config;
use crate::multipath::peer_window::PeerWindow;
use crate::receiver::Receiver;
use crate::sender::Sender;

/// A subflow: a TCP connection with handshake, both halves, and close (RFC 9293).
#[derive(Debug)]
pub(crate) struct Subflow {
    pub(crate) state: State,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) pending: PendingControl,
    /// Nonces of a join (RFC 8684, 3.2): own, and the peer's.
    pub(crate) nonce: u32,
    pub(crate) remote_nonce: u32,
    /// Its SYN had no MPTCP option, so that it does not join.
    pub(crate) is_plain: bool,
    pub(crate) peer_mss: u16,
    /// Time of the SYN or SYN-ACK, for the first RTT sample; `None` if it was retransmitted.
    pub(crate) handshake_sent: Option<Time>,
    /// Assigned by the scheduler and not sent: data offset and length.
    pub(crate) queue: VecDeque<(u64, u32)>,
    /// End of the last segment smaller than a full one (`snd_sml`).
    pub(crate) small_end: u64,
    pub(crate) fin: Option<u64>,
    pub(crate) time_wait_until: Time,
    /// The window for which its send buffer was last sized; 0 before it was established.
    pub(crate) buffered_cwnd: u64,
    pub(crate) peer_window: PeerWindow,
    pub(crate) penalised: Time,
    /// Bytes that were new at data level when they arrived on this subflow.
    pub(crate) delivered: u64,
}

/// States of RFC 9293, except for which side closed first, which follows from `fin` and the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    /// A join's third segment was sent and is not yet acknowledged: no data may be sent (RFC 8684, 3.2).
    PreEstablished,
    Established,
    /// Both FINs were acknowledged, and ours was the first.
    TimeWait,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingControl {
    pub(crate) syn: bool,
    pub(crate) third: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    pub(crate) probe: bool,
}

impl Subflow {
    pub(crate) fn new(config: &Config, nonce: u32, state: State) -> Subflow {
        Subflow {
            state,
            sender: Sender::new(config),
            receiver: Receiver::new(config),
            pending: PendingControl::default(),
            nonce,
            remote_nonce: 0,
            is_plain: false,
            peer_mss: 0,
            handshake_sent: None,
            queue: VecDeque::new(),
            small_end: 0,
            fin: None,
            time_wait_until: Time::MAX,
            buffered_cwnd: 0,
            peer_window: PeerWindow::default(),
            penalised: Time::ZERO,
            delivered: 0,
        }
    }

    pub(crate) fn release_memory(&mut self) {
        self.queue.shrink_to_fit();
        self.sender.release_memory();
        self.receiver.release_memory();
    }

    pub(crate) fn fin_acked(&self) -> bool {
        self.fin.is_some_and(|fin| self.sender.una > fin)
    }

    /// Whether a segment smaller than a full one must wait: another is unacknowledged (`tcp_nagle_test`).
    #[inline]
    pub(crate) fn holds_small(&self) -> bool {
        self.small_end > self.sender.una
    }

    #[inline]
    pub(crate) fn next_timer(&self) -> Time {
        self.sender
            .timer_at()
            .min(self.receiver.ack_at)
            .min(self.time_wait_until)
    }
}
