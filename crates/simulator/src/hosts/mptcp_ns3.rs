//! MPTCP of an ns-3 module (profile `mptcp-ns3`): sender, receiver, and the opening of subflows.
//!
//! All subflows are opened at once, each with its own SYN and SYN-ACK; an unanswered SYN is retransmitted.
//! In the module the other subflows follow the first, after an exchange of addresses. Its example program
//! writes nothing for a second, so all are open before data. The papers do not describe the module's
//! headers: packets have the lengths of RFC 8684 for the same content.

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

/// Timeout of the first SYN (RFC 6298, 2.1); it doubles with each retransmission.
const SYN_TIMEOUT: Time = Time::from_secs(1);
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
    dials: Vec<Dial>,
    answers: VecDeque<usize>,
    headers: u32,
    /// Random losses of ACKs, for F-RTO.
    random: Pcg64Mcg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dial {
    Closed,
    Due {
        attempt: u32,
    },
    /// Sent this many times, and retransmitted at `again`.
    Sent {
        attempt: u32,
        again: Time,
    },
    Open,
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
            dials: vec![Dial::Closed; subflows],
            answers: VecDeque::new(),
            headers,
            random,
        }
    }

    /// Applies new terms; the module uses only costs.
    pub(crate) fn set_terms(&mut self, terms: &[Terms]) {
        for subflow in 0..self.dials.len() {
            self.sender
                .set_cost(subflow, terms[subflow % terms.len()].cost);
        }
    }

    pub(crate) fn start(&mut self, _: Time) {
        for dial in &mut self.dials {
            if *dial == Dial::Closed {
                *dial = Dial::Due { attempt: 1 };
            }
        }
    }

    pub(crate) fn handle_packet<R: EventRecorders>(
        &mut self,
        now: Time,
        packet: &Incoming<'_>,
        _: &mut R,
    ) -> Delivered {
        let (segment, subflow) = (packet.segment, packet.subflow);
        let opens = segment.flags.contains(Flags::SYN);
        let mut delivered = 0;
        if packet.end == SERVER {
            match opens {
                true => self.answers.push_back(subflow),
                false => delivered = self.receiver.handle(&data(subflow, segment)),
            }
        } else if opens {
            self.open(subflow);
        } else {
            let (sender, random) = (&mut self.sender, &mut self.random);
            let draw = || random.next_u32() as f64 / (f64::from(u32::MAX) + 1.0);
            sender.handle(now, &ack(subflow, segment), draw);
        }
        Delivered { bytes: delivered }
    }

    fn open(&mut self, subflow: usize) {
        if let Dial::Sent { .. } = self.dials[subflow] {
            self.sender.open(subflow);
            self.dials[subflow] = Dial::Open;
        }
    }

    pub(crate) fn handle_timeout<R: EventRecorders>(&mut self, now: Time, end: usize, _: &mut R) {
        if end != CLIENT {
            return;
        }
        self.sender.handle_timeout(now);
        for dial in &mut self.dials {
            if let Dial::Sent { attempt, again, .. } = *dial
                && again <= now
            {
                *dial = Dial::Due {
                    attempt: attempt + 1,
                };
            }
        }
    }

    /// Returns the first SYN that is due, as sent now.
    fn poll_syn(&mut self, now: Time) -> Option<usize> {
        let due = |dial: &Dial| matches!(dial, Dial::Due { .. });
        let subflow = self.dials.iter().position(due)?;
        if let Dial::Due { attempt } = self.dials[subflow] {
            let doublings = (attempt - 1).min(6);
            self.dials[subflow] = Dial::Sent {
                attempt,
                again: now + SYN_TIMEOUT * (1 << doublings),
            };
        }
        Some(subflow)
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
            CLIENT => self.poll_syn(now),
            _ => self.answers.pop_front(),
        };
        if let Some(subflow) = opening {
            *segment = Segment {
                flags: Flags::SYN.with(Flags::TIMESTAMPS),
                ..Segment::EMPTY
            };
            return Some(self.outgoing(end, subflow, segment));
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
        let dials = self.dials.iter().filter_map(|dial| match dial {
            Dial::Sent { again, .. } => Some(*again),
            Dial::Closed | Dial::Due { .. } | Dial::Open => None,
        });
        [dials.chain(self.sender.poll_timeout()).min(), None]
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
