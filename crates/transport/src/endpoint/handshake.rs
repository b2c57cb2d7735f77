//! Opening of subflows: TCP's three-way handshake (RFC 9293), MP_CAPABLE and MP_JOIN (RFC 8684, 3.1 and 3.2).

use std::sync::Arc;

use ropewalk_quantities::Time;

use crate::Extensions;
use crate::endpoint::Endpoint;
use crate::multipath::keys::{Keys, token, truncate_64, truncate_160};
use crate::segment::{Flags, Options, Segment, SynMultipath, SynOptions};
use crate::subflow::State;

/// Space for options in a TCP header (RFC 9293, 3.1).
const MAX_OPTIONS: u32 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) role: Role,
    /// MPTCP was negotiated (before the handshake: is requested).
    pub(super) multipath: bool,
    /// The peer has proven that it has the keys (RFC 8684, 3.1), so subflows may join.
    pub(super) fully_established: bool,
    pub(super) keys: Keys,
    /// Flags of every segment after the handshake, and the number of SACK blocks that fit next to its
    /// options.
    pub(super) base_flags: Flags,
    pub(super) sack_blocks: u8,
}

impl Handshake {
    pub(super) fn new(role: Role, multipath: bool, keys: Keys) -> Handshake {
        Handshake {
            role,
            multipath,
            fully_established: false,
            keys,
            base_flags: Flags::ACK,
            sack_blocks: 0,
        }
    }
}

impl Endpoint {
    pub(super) fn open_subflow(&mut self, subflow: usize) {
        let flow = &mut self.subflows[subflow];
        flow.state = State::SynSent;
        flow.pending.syn = true;
        self.output.control.insert(subflow);
    }

    pub(super) fn join_all(&mut self) {
        if self.handshake.role == Role::Client {
            for subflow in 1..self.subflows.len() {
                if self.subflows[subflow].state == State::Closed {
                    self.open_subflow(subflow);
                }
            }
        }
    }

    /// Handles a segment for a subflow whose handshake may be incomplete; returns whether to process the rest
    /// of it.
    pub(super) fn handle_handshake(
        &mut self,
        now: Time,
        subflow: usize,
        segment: &Segment,
    ) -> bool {
        if segment.flags.contains(Flags::RST) {
            self.handle_reset(subflow, segment);
            return false;
        }
        match self.subflows[subflow].state {
            State::Listen => {
                self.handle_syn(subflow, segment);
                false
            }
            State::SynSent => self.handle_syn_ack(now, subflow, segment),
            State::SynReceived => self.handle_third(now, subflow, segment),
            State::PreEstablished => {
                let acknowledged =
                    !segment.flags.contains(Flags::SYN) && segment.flags.contains(Flags::ACK);
                if acknowledged {
                    self.establish(now, subflow, None);
                } else {
                    self.send_control(subflow, |pending| pending.third = true);
                }
                acknowledged
            }
            State::Established if segment.flags.contains(Flags::SYN) => {
                // The peer did not receive the third segment.
                self.send_control(subflow, |pending| pending.third = true);
                false
            }
            State::Established if matches!(segment.options, Options::MpJoin { .. }) => {
                // The peer did not receive the fourth segment, before which it sends no data.
                self.acknowledge_keys(subflow);
                true
            }
            State::Established | State::TimeWait => true,
            State::Closed => {
                if self.handshake.role == Role::Server || self.events.connected {
                    self.send_control(subflow, |pending| pending.rst = true);
                }
                false
            }
        }
    }

    fn send_control(
        &mut self,
        subflow: usize,
        set: impl FnOnce(&mut crate::subflow::PendingControl),
    ) {
        set(&mut self.subflows[subflow].pending);
        self.output.control.insert(subflow);
    }

    fn handle_syn(&mut self, subflow: usize, segment: &Segment) {
        let Options::Syn(syn) = segment.options else {
            return;
        };
        if !segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::ACK) {
            return;
        }
        match syn.multipath {
            SynMultipath::Join {
                token: theirs,
                nonce,
            } => {
                if !self.handshake.multipath
                    || !self.handshake.fully_established
                    || theirs != token(self.handshake.keys.own)
                {
                    self.send_control(subflow, |pending| pending.rst = true);
                    return;
                }
                self.subflows[subflow].remote_nonce = nonce;
            }
            SynMultipath::Capable { checksum, .. } if subflow == 0 => {
                let checksum = checksum || self.config.extensions.checksum;
                self.agree(Extensions {
                    checksum,
                    ..self.config.extensions
                });
            }
            _ if subflow == 0 => self.handshake.multipath = false,
            // A middlebox removed MP_JOIN: for a listener, this is a connection of its own.
            SynMultipath::None => self.subflows[subflow].is_plain = true,
            _ => return,
        }
        self.negotiate(subflow, segment, &syn);
        let flow = &mut self.subflows[subflow];
        flow.state = State::SynReceived;
        self.send_control(subflow, |pending| pending.syn = true);
    }

    fn handle_syn_ack(&mut self, now: Time, subflow: usize, segment: &Segment) -> bool {
        let Options::Syn(syn) = segment.options else {
            return false;
        };
        if !segment.flags.contains(Flags::SYN.with(Flags::ACK)) || segment.ack != 1 {
            return false;
        }
        let join = match syn.multipath {
            SynMultipath::JoinReply { hmac, nonce } => {
                let flow = &mut self.subflows[subflow];
                let expected = self.handshake.keys.remote_hmac(flow.nonce, nonce);
                if truncate_64(&expected) != hmac {
                    self.send_control(subflow, |pending| pending.rst = true);
                    self.fail_subflow(subflow);
                    return false;
                }
                flow.remote_nonce = nonce;
                true
            }
            SynMultipath::Capable {
                key: Some(key),
                checksum,
            } if subflow == 0 && self.handshake.multipath => {
                self.handshake.keys.remote = key;
                let checksum = checksum || self.config.extensions.checksum;
                self.agree(Extensions {
                    checksum,
                    ..self.config.extensions
                });
                false
            }
            _ if subflow == 0 => {
                self.handshake.multipath = false;
                false
            }
            _ => {
                self.send_control(subflow, |pending| pending.rst = true);
                self.fail_subflow(subflow);
                return false;
            }
        };
        self.negotiate(subflow, segment, &syn);
        let flow = &mut self.subflows[subflow];
        flow.pending.third = true;
        self.output.control.insert(subflow);
        let rtt = flow.handshake_sent.map(|sent| now - sent);
        if join {
            flow.state = State::PreEstablished;
            if let Some(rtt) = rtt {
                self.table[subflow].latest_rtt = rtt;
            }
        } else {
            self.tx.on_ack(0, u64::from(segment.window));
            self.establish(now, subflow, rtt);
        }
        false
    }

    fn handle_third(&mut self, now: Time, subflow: usize, segment: &Segment) -> bool {
        if segment.flags.contains(Flags::SYN) {
            // The SYN was retransmitted: our SYN-ACK was lost.
            self.send_control(subflow, |pending| pending.syn = true);
            return false;
        }
        if !segment.flags.contains(Flags::ACK) || segment.ack != 1 {
            return false;
        }
        if subflow > 0 {
            let Options::MpJoin { hmac } = segment.options else {
                return false;
            };
            let flow = &self.subflows[subflow];
            let expected = self
                .handshake
                .keys
                .remote_hmac(flow.nonce, flow.remote_nonce);
            if truncate_160(&expected) != hmac {
                self.send_control(subflow, |pending| pending.rst = true);
                self.fail_subflow(subflow);
                return false;
            }
        } else if self.handshake.multipath {
            let Options::MpCapable {
                sender_key,
                receiver_key,
                ..
            } = segment.options
            else {
                return false;
            };
            if receiver_key != self.handshake.keys.own {
                self.send_control(subflow, |pending| pending.rst = true);
                self.fail_subflow(subflow);
                return false;
            }
            self.handshake.keys.remote = sender_key;
            self.handshake.fully_established = true;
            // No DATA_ACK, but a window, which applies to the connection (RFC 8684, 3.3.1).
            self.tx.on_ack(0, u64::from(segment.window));
        }
        let rtt = self.subflows[subflow].handshake_sent.map(|sent| now - sent);
        self.establish(now, subflow, rtt);
        if self.handshake.multipath {
            self.acknowledge_keys(subflow);
        }
        true
    }

    /// Sends the fourth segment, which acknowledges the keys or the join.
    fn acknowledge_keys(&mut self, subflow: usize) {
        self.subflows[subflow].receiver.acknowledge_now();
        self.output.acks.insert(subflow);
    }

    fn negotiate(&mut self, subflow: usize, segment: &Segment, syn: &SynOptions) {
        let own = self.config.extensions;
        self.agree(Extensions {
            sack: syn.sack && own.sack,
            timestamps: segment.flags.contains(Flags::TIMESTAMPS) && own.timestamps,
            ..own
        });
        if syn.window_scale.is_none() {
            self.rx.forgo_scale();
        }
        self.subflows[subflow].peer_mss = syn.mss;
        self.limit_segments(subflow);
        let mut flags = self.handshake.base_flags.with(Flags::ACK);
        if self.config.extensions.timestamps {
            flags = flags.with(Flags::TIMESTAMPS);
        }
        if self.handshake.multipath {
            flags = flags.with(Flags::DATA_ACK);
        }
        if self.config.numbers_segments() {
            flags = flags.with(Flags::NUMBERED);
        }
        self.set_base_flags(flags);
        let flow = &mut self.subflows[subflow];
        flow.sender.negotiate(&self.config);
        flow.receiver.on_syn(segment, self.config.extensions.sack);
    }

    /// Applies the negotiated options. The config is shared until it differs for a connection.
    fn agree(&mut self, agreed: Extensions) {
        if self.config.extensions != agreed {
            Arc::make_mut(&mut self.config).extensions = agreed;
        }
    }

    pub(super) fn set_base_flags(&mut self, flags: Flags) {
        self.handshake.base_flags = flags;
        let full = Segment {
            flags,
            ..Segment::EMPTY
        };
        // RFC 2018, section 3: 8 bytes per block, preceded by 4 with padding.
        let room = MAX_OPTIONS - (full.header_len() - 20);
        self.handshake.sack_blocks = ((room - 4) / 8).min(4) as u8;
    }

    /// Acknowledges data with 64 bits, since the peer maps its data with 64 bits (as in Linux), unless
    /// transmission numbers leave no space.
    #[inline(never)]
    pub(super) fn acknowledge_in_64_bits(&mut self) {
        if self.handshake.base_flags.contains(Flags::NUMBERED) {
            return;
        }
        self.set_base_flags(self.handshake.base_flags.with(Flags::DATA_ACK_64));
        for subflow in 0..self.subflows.len() {
            if self.subflows[subflow].peer_mss > 0 {
                self.limit_segments(subflow);
            }
        }
    }

    /// RFC 6691: the peer's MSS does not count options, which reduce a segment's payload.
    pub(super) fn limit_segments(&mut self, subflow: usize) {
        let room = self.segment_room(subflow);
        self.table[subflow].mss = self.config.segment.as_u64().min(room);
    }

    /// Maximum payload that the peer accepts next to the options of a data segment.
    pub(super) fn segment_room(&self, subflow: usize) -> u64 {
        let long_ack = self.handshake.base_flags.contains(Flags::DATA_ACK_64);
        let options =
            self.config.data_option_len(self.handshake.multipath) + if long_ack { 4 } else { 0 };
        let mss = u64::from(self.subflows[subflow].peer_mss);
        mss.saturating_sub(options).max(1)
    }

    fn establish(&mut self, now: Time, subflow: usize, rtt: Option<Time>) {
        let mss = self.table[subflow].mss;
        let cwnd = self.config.initial_window.bytes(mss);
        let state = &mut self.table[subflow];
        let rtt = rtt.or((state.latest_rtt > Time::ZERO).then_some(state.latest_rtt));
        state.cwnd = cwnd;
        state.ssthresh = self
            .config
            .initial_ssthresh
            .map_or(u64::MAX, |bytes| bytes.as_u64());
        state.usable = true;
        let flow = &mut self.subflows[subflow];
        flow.state = State::Established;
        flow.sender.on_established(now, rtt, state);
        self.expand_send_buffer_to_window(subflow);
        self.events.established(subflow);
        self.output.data = true;
    }

    fn handle_reset(&mut self, subflow: usize, segment: &Segment) {
        let flow = &self.subflows[subflow];
        match flow.state {
            State::Closed | State::Listen => return,
            State::SynSent if segment.ack != 1 => return,
            // RFC 5961, section 3.2: only a RST at exactly the expected offset is valid.
            State::Established if segment.seq != flow.receiver.nxt => return,
            _ => {}
        }
        if let Options::MpFastClose { receiver_key } = segment.options
            && receiver_key == self.handshake.keys.own
        {
            for number in 0..self.subflows.len() {
                self.close_subflow(number);
            }
            self.events.aborted();
            return;
        }
        self.fail_subflow(subflow);
    }

    pub(super) fn syn_segment(&mut self, now: Time, subflow: usize) -> Segment {
        let flow = &mut self.subflows[subflow];
        let answer = flow.state == State::SynReceived;
        let is_multipath = self.handshake.multipath && !flow.is_plain;
        let multipath = match (is_multipath, subflow, answer) {
            (false, _, _) => SynMultipath::None,
            (true, 0, _) => SynMultipath::Capable {
                key: answer.then_some(self.handshake.keys.own),
                checksum: self.config.extensions.checksum,
            },
            (true, _, false) => SynMultipath::Join {
                token: token(self.handshake.keys.remote),
                nonce: flow.nonce,
            },
            (true, _, true) => SynMultipath::JoinReply {
                hmac: truncate_64(&self.handshake.keys.own_hmac(flow.nonce, flow.remote_nonce)),
                nonce: flow.nonce,
            },
        };
        let options = self.config.data_option_len(self.handshake.multipath);
        let mss = self.config.segment.as_u64() + options;
        flow.handshake_sent = (flow.sender.backoff() == 0).then_some(now);
        flow.sender.arm_handshake(now);
        self.timers.note(flow.sender.timer_at());
        let mut flags = Flags::SYN;
        if answer {
            flags = flags.with(Flags::ACK);
        }
        if self.config.extensions.timestamps {
            flags = flags.with(Flags::TIMESTAMPS);
        }
        Segment {
            seq: 0,
            ack: u64::from(answer),
            data_seq: 0,
            data_ack: 0,
            ts_val: now,
            ts_ecr: flow.receiver.ts_recent,
            len: 0,
            window: self.rx.syn_window(self.handshake.multipath),
            flags,
            number: 0,
            options: Options::Syn(SynOptions {
                mss: u16::try_from(mss).unwrap_or(u16::MAX),
                window_scale: self.rx.scale,
                sack: self.config.extensions.sack,
                multipath,
            }),
        }
    }

    pub(super) fn third_option(&self, subflow: usize) -> Options {
        if !self.handshake.multipath || self.handshake.role == Role::Server {
            return Options::None;
        }
        if subflow == 0 {
            return Options::MpCapable {
                sender_key: self.handshake.keys.own,
                receiver_key: self.handshake.keys.remote,
                checksum: self.config.extensions.checksum,
            };
        }
        let flow = &self.subflows[subflow];
        let hmac = self.handshake.keys.own_hmac(flow.nonce, flow.remote_nonce);
        Options::MpJoin {
            hmac: truncate_160(&hmac),
        }
    }
}
