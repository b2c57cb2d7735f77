//! MPTCP of an ns-3 module (profile `mptcp-ns3`): sender, receiver, and the opening of subflows.
//!
//! As in the module, the other subflows follow the first after an exchange of addresses. The papers do not
//! describe the module's headers: packets have the lengths of RFC 8684 for the same content.

mod opening;

use std::collections::VecDeque;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_striping::Terms;
use ropewalk_transport::mptcp_ns3::{Ack, Data, Policy, Receiver, Sender, Settings};
use ropewalk_transport::{Counters, Flags, Options, SackList, Segment, SubflowState};

use super::sending_host::{CLIENT, Delivered, Incoming, Outgoing, SERVER, SendingHost};
use crate::application::Application;
use crate::event_recorders::EventRecorders;
use crate::sink::Sink;
use opening::{Message, Opening};

const SYN: Flags = Flags::SYN.with(Flags::TIMESTAMPS);
/// Mark of addresses; no other segment has these flags.
const ADDRESSES: Flags = Flags::SYN.with(Flags::ACK).with(Flags::TIMESTAMPS);
/// ADD_ADDR of an IPv4 address (RFC 8684, 3.4.1), one for each subflow.
const ADD_ADDR_LEN: u32 = 16;
const DATA: Flags = Flags::TIMESTAMPS
    .with(Flags::DATA_ACK)
    .with(Flags::DATA_SEQ_64);
const ACK: Flags = Flags::ACK
    .with(Flags::TIMESTAMPS)
    .with(Flags::DATA_ACK)
    .with(Flags::DATA_ACK_64);

#[derive(Debug)]
pub(crate) struct MptcpNs3 {
    sender: Sender,
    receiver: Receiver,
    opening: Opening,
    /// Messages that the server must answer.
    answers: VecDeque<Message>,
    headers: u32,
    /// Random losses of ACKs, for F-RTO.
    random: Pcg64Mcg,
}

impl MptcpNs3 {
    /// Creates subflows of these costs, with this many bytes of headers before a segment.
    pub(crate) fn new(
        settings: Settings,
        costs: &[f64],
        headers: u32,
        random: Pcg64Mcg,
    ) -> MptcpNs3 {
        let subflows = costs.len();
        let mut sender = Sender::new(settings, subflows);
        for (subflow, cost) in costs.iter().enumerate() {
            sender.set_cost(subflow, *cost);
        }
        MptcpNs3 {
            sender,
            receiver: Receiver::new(settings.policy, subflows),
            opening: Opening::new(subflows, settings.wait_for_all),
            answers: VecDeque::new(),
            headers,
            random,
        }
    }

    /// Applies new terms; the module uses only costs.
    pub(crate) fn set_terms(&mut self, terms: &[Terms]) {
        for subflow in 0..self.sender.subflows() {
            self.sender
                .set_cost(subflow, terms[subflow % terms.len()].cost);
        }
    }

    pub(crate) fn start(&mut self, _: Time) {
        self.opening.start();
    }

    pub(crate) fn handle_packet<R: EventRecorders>(
        &mut self,
        now: Time,
        packet: &Incoming<'_>,
        _: &mut R,
    ) -> Delivered {
        let (segment, subflow) = (packet.segment, packet.subflow);
        let mut delivered = 0;
        match (packet.end, message(subflow, segment)) {
            (SERVER, Some(message)) => self.answers.push_back(message),
            (SERVER, None) => delivered = self.receiver.handle(&data(subflow, segment)),
            (_, Some(message)) => {
                self.opening.handle_answer(now, message);
                self.open(now);
            }
            (_, None) => {
                let (sender, random) = (&mut self.sender, &mut self.random);
                let draw = || random.next_u32() as f64 / (f64::from(u32::MAX) + 1.0);
                sender.handle(now, &ack(subflow, segment), draw);
            }
        }
        Delivered { bytes: delivered }
    }

    pub(crate) fn handle_timeout<R: EventRecorders>(&mut self, now: Time, end: usize, _: &mut R) {
        if end == CLIENT {
            self.sender.handle_timeout(now);
            self.opening.handle_timeout(now);
            self.open(now);
        }
    }

    fn open(&mut self, now: Time) {
        while let Some(subflow) = self.opening.poll_open(now) {
            self.sender.open(subflow);
        }
    }

    /// Returns no key: captures do not show its packets.
    pub(crate) fn key(&self, _end: usize) -> u64 {
        0
    }

    pub(crate) fn subflows(&self) -> usize {
        self.sender.subflows()
    }

    pub(crate) fn policy(&self) -> Policy {
        self.sender.policy()
    }

    pub(crate) fn state(&self, subflow: usize) -> &SubflowState {
        self.sender.state(subflow)
    }

    pub(crate) fn counters(&self, subflow: usize) -> Counters {
        self.sender.counters(subflow)
    }

    pub(crate) fn duplicates(&self, subflow: usize) -> u64 {
        self.receiver.duplicates(subflow)
    }

    pub(crate) fn delivered_by(&self, subflow: usize) -> u64 {
        self.receiver.delivered_by(subflow)
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }

    pub(crate) fn reorder_buffer(&self) -> u64 {
        self.receiver.stored_bytes()
    }

    pub(crate) fn reorder_buffer_max(&self) -> u64 {
        self.receiver.stored_bytes_max()
    }

    pub(crate) fn reorder_segments_max(&self) -> usize {
        self.receiver.stored_segments_max()
    }

    /// Returns the module's gThroughput, in bit/s; `None` before the first ACK.
    pub(crate) fn throughput(&self) -> Option<f64> {
        self.sender.throughput()
    }

    pub(crate) fn restart_reorder_buffer_max(&mut self) {
        self.receiver.restart_maxima();
        self.sender.restart_throughput();
    }

    pub(crate) fn packets(&self) -> (u64, u64) {
        self.receiver.packets()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_finished()
    }

    fn outgoing(&self, end: usize, subflow: usize, segment: &Segment) -> Outgoing {
        Outgoing {
            end,
            route: subflow,
            subflow,
            generation: 0,
            slot: 0,
            size: self.headers + segment.header_len() + segment.len,
        }
    }
}

impl Sink for Sender {
    fn write(&mut self, most: u64) -> u64 {
        Sender::write(self, most)
    }
    fn close(&mut self) {
        Sender::close(self);
    }
}

impl SendingHost for MptcpNs3 {
    fn poll_application(&mut self, now: Time, end: usize, application: &mut Application) {
        if end == CLIENT {
            application.fill(now, &mut self.sender);
        }
    }

    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        _: &mut R,
    ) -> Option<Outgoing> {
        let opening = match end {
            CLIENT => self.opening.poll_transmit(now),
            _ => self.answers.pop_front(),
        };
        if let Some(message) = opening {
            let (flags, addresses) = match message {
                Message::Syn(_) => (SYN, 0),
                Message::Addresses => (ADDRESSES, self.subflows() as u32),
            };
            *segment = Segment {
                flags,
                ..Segment::EMPTY
            };
            let mut outgoing = self.outgoing(end, message.subflow(), segment);
            outgoing.size += ADD_ADDR_LEN * addresses;
            return Some(outgoing);
        }
        let subflow = if end == CLIENT {
            let data = self.sender.poll_transmit(now)?;
            *segment = Segment {
                seq: data.number,
                data_seq: data.data,
                ts_val: data.stamp,
                len: data.len,
                flags: DATA,
                ..Segment::EMPTY
            };
            data.subflow
        } else {
            let ack = self.receiver.poll_ack()?;
            *segment = Segment {
                ack: ack.next,
                ts_ecr: ack.echo,
                flags: ACK,
                options: report(&ack),
                ..Segment::EMPTY
            };
            ack.subflow
        };
        Some(self.outgoing(end, subflow, segment))
    }

    fn poll_timeouts(&mut self, end: usize) -> [Option<Time>; 2] {
        if end != CLIENT {
            return [None, None];
        }
        let timers = [self.opening.poll_timeout(), self.sender.poll_timeout()];
        [timers.into_iter().flatten().min(), None]
    }
}

/// Message of the opening in a segment, if any.
fn message(subflow: usize, segment: &Segment) -> Option<Message> {
    match segment.flags {
        SYN => Some(Message::Syn(subflow)),
        ADDRESSES => Some(Message::Addresses),
        _ => None,
    }
}

/// Converts a data segment, with its data numbers in place of sequence numbers.
fn data(subflow: usize, segment: &Segment) -> Data {
    Data {
        subflow,
        number: segment.seq,
        data: segment.data_seq,
        len: segment.len,
        stamp: segment.ts_val,
    }
}

/// Converts an ACK, with its report in place of SACK blocks.
fn ack(subflow: usize, segment: &Segment) -> Ack {
    let mut blocks = match &segment.options {
        Options::Sack(list) => Some(list.iter(segment.ack)).into_iter().flatten(),
        _ => None.into_iter().flatten(),
    };
    Ack {
        subflow,
        next: segment.ack,
        echo: segment.ts_ecr,
        report: blocks.next().zip(blocks.next()).map(<[_; 2]>::from),
    }
}

fn report(ack: &Ack) -> Options {
    let Some(report) = ack.report else {
        return Options::None;
    };
    let mut list = SackList::default();
    let fits = report
        .iter()
        .all(|(start, end)| list.push(ack.next, *start, *end));
    debug_assert!(fits, "two blocks, of numbers of segments");
    Options::Sack(list)
}
