//! Fallback to TCP where MPTCP options do not pass (RFC 8684, 3.7): a peer without MPTCP, or a middlebox.
//!
//! If SYN or SYN-ACK have no option, the handshake does not negotiate MPTCP. This file handles options that are
//! missing later. An infinite mapping is not sent: both ends notice, since both directions lose their options.

use crate::endpoint::Endpoint;
use crate::endpoint::data_timer::DataTimer;
use crate::range_set::RangeSet;
use crate::segment::{Flags, Options, Segment};
use crate::subflow::State;
use ropewalk_quantities::Time;

impl Endpoint {
    /// Whether this connection requested MPTCP, or could accept it, and is a TCP connection.
    pub fn fell_back(&self) -> bool {
        self.config.multipath && !self.handshake.multipath
    }

    /// Whether all data use the first subflow, without a scheduler: TCP, or MPTCP with one subflow.
    #[inline]
    pub(super) fn is_single(&self) -> bool {
        self.subflows.len() == 1 || !self.handshake.multipath
    }

    /// Whether a segment has no MPTCP option on a subflow that has negotiated MPTCP, and thus may end it.
    /// An acknowledgement of the SYN alone is no evidence, except for the server, which expects the keys.
    #[inline]
    pub(super) fn misses_options(&self, subflow: usize, segment: &Segment) -> bool {
        if !self.handshake.multipath || segment.flags.contains(Flags::DATA_ACK) {
            return false;
        }
        let control = segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::RST);
        let has_option = matches!(
            segment.options,
            Options::MpCapable { .. } | Options::MpJoin { .. } | Options::MpFastClose { .. }
        );
        let is_evidence = match self.subflows[subflow].state {
            State::SynReceived | State::PreEstablished => true,
            State::Established => segment.ack > 1 || segment.len > 0,
            State::Closed | State::Listen | State::SynSent | State::TimeWait => false,
        };
        is_evidence && !control && !has_option
    }

    /// Handles such a segment; returns whether to process the rest of it. The first subflow continues as TCP
    /// unless others have joined. Any other subflow is reset.
    #[inline(never)]
    pub(super) fn handle_missing_options(&mut self, subflow: usize) -> bool {
        let joined = self.subflows[1..]
            .iter()
            .any(|flow| !matches!(flow.state, State::Closed | State::Listen));
        if subflow == 0 && !joined {
            self.fall_back();
            return true;
        }
        self.subflows[subflow].pending.rst = true;
        self.output.control.insert(subflow);
        self.fail_subflow(subflow);
        false
    }

    /// Continues as TCP. All data are on the first subflow, where their offsets are the stream's.
    fn fall_back(&mut self) {
        self.handshake.multipath = false;
        let dss = Flags::DATA_ACK.with(Flags::DATA_ACK_64);
        self.set_base_flags(self.handshake.base_flags.without(dss));
        self.limit_segments(0);
        // TCP sends the data that the scheduler has assigned, and nothing out of order.
        if let Some((first, _)) = self.subflows[0].queue.pop_front() {
            self.subflows[0].queue.clear();
            self.queues.empty(0);
            self.table[0].assigned -= self.table[0].queued;
            self.table[0].queued = 0;
            self.tx.unassign(first);
        }
        self.tx.reinject = RangeSet::default();
        self.tx.fin_at = Time::MAX;
        self.timers.data = DataTimer::OFF;
    }
}
