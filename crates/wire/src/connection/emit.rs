//! Conversion of an endpoint's segment to a TCP header with options.

use ropewalk_transport::{Flags, Options, SackList, Segment, SynMultipath, SynOptions};

use super::{Connection, Side};
use crate::checksum::Checksum;
use crate::mptcp::{Capable, CapableForm, DataSeq, Dss, Join, Mapping, MptcpOption, dss_checksum};
use crate::tcp::{TcpFlags, TcpHeader};
use crate::tcp_options::{SackBlocks, TcpOption};

/// Most options on a segment: on a SYN.
const MAX: usize = 5;

/// A segment in wire format, without ports and payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireSegment {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// Scaled window.
    pub window: u16,
    options: [TcpOption<'static>; MAX],
    count: usize,
}

impl WireSegment {
    /// Options, in order.
    pub fn options(&self) -> &[TcpOption<'static>] {
        &self.options[..self.count]
    }

    /// The TCP header with these ports.
    pub fn header(&self, source_port: u16, destination_port: u16) -> TcpHeader {
        TcpHeader {
            source_port,
            destination_port,
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            urgent: 0,
        }
    }

    fn push(&mut self, option: TcpOption<'static>) {
        self.options[self.count] = option;
        self.count += 1;
    }

    fn push_multipath(&mut self, option: MptcpOption) {
        self.push(TcpOption::Multipath(option));
    }
}

impl Connection {
    /// Converts a segment that `from` sends on a subflow to wire format. `payload` is the sum of
    /// its payload, for the mapping's checksum.
    ///
    /// Options are in Linux's order and take [`Segment::header_len`] less 20 bytes.
    ///
    /// # Panics
    /// If there is no such subflow.
    pub fn emit(
        &mut self,
        from: Side,
        subflow: usize,
        segment: &Segment,
        payload: Checksum,
    ) -> WireSegment {
        self.learn(from, subflow, segment);
        let own = &self.subflows[subflow][from as usize];
        let peer = &self.subflows[subflow][!from as usize];
        let acknowledges = segment.flags.contains(Flags::ACK);
        let scaled = if segment.flags.contains(Flags::SYN) {
            segment.window
        } else {
            segment.window >> self.shift(subflow, from)
        };
        let mut wire = WireSegment {
            seq: own.sequence_number(segment.seq),
            ack: if acknowledges {
                peer.sequence_number(segment.ack)
            } else {
                0
            },
            flags: control_bits(segment.flags),
            window: u16::try_from(scaled).unwrap_or(u16::MAX),
            options: [TcpOption::SackPermitted; MAX],
            count: 0,
        };
        if let Options::Syn(syn) = &segment.options {
            wire.push(TcpOption::MaximumSegmentSize(syn.mss));
            if syn.sack {
                wire.push(TcpOption::SackPermitted);
            }
        }
        if segment.flags.contains(Flags::TIMESTAMPS) {
            let echo = if acknowledges {
                peer.timestamp(segment.ts_ecr)
            } else {
                0
            };
            let value = own.timestamp(segment.ts_val);
            wire.push(TcpOption::Timestamps { value, echo });
        }
        let out_of_order = segment.flags.contains(Flags::OUT_OF_ORDER);
        if let Some(number) = segment.number() {
            wire.push(TcpOption::Transmission {
                number,
                out_of_order,
            });
        } else if out_of_order {
            wire.push(TcpOption::OutOfOrder);
        }
        if segment.flags.contains(Flags::DATA_ACK) {
            wire.push_multipath(MptcpOption::Dss(self.dss(from, segment, payload)));
        }
        match &segment.options {
            Options::None => {}
            Options::Sack(list) => {
                let blocks = list.iter(segment.ack);
                let numbers = blocks
                    .map(|(start, end)| (peer.sequence_number(start), peer.sequence_number(end)));
                if let Some(blocks) = sack_blocks(list, numbers) {
                    wire.push(TcpOption::Sack(blocks));
                }
            }
            Options::Syn(syn) => {
                if let Some(scale) = syn.window_scale {
                    wire.push(TcpOption::WindowScale(scale));
                }
                if let Some(option) = syn_option(syn, own.start.address_id) {
                    wire.push_multipath(option);
                }
            }
            &Options::MpCapable {
                sender_key,
                receiver_key,
                checksum,
            } => {
                let form = if segment.len > 0 {
                    let len = segment.len as u16;
                    let first = self.data[from as usize].first;
                    CapableForm::Data {
                        sender_key,
                        receiver_key,
                        len,
                        checksum: checksum.then(|| dss_checksum(first, 1, len, payload)),
                    }
                } else {
                    CapableForm::Ack {
                        sender_key,
                        receiver_key,
                    }
                };
                wire.push_multipath(capable(form, checksum));
            }
            &Options::MpJoin { hmac } => wire.push_multipath(MptcpOption::Join(Join::Ack { hmac })),
            &Options::MpFastClose { receiver_key } => {
                wire.push_multipath(MptcpOption::FastClose { receiver_key });
            }
        }
        wire
    }

    /// Records a segment that `from` sends: a SYN's options apply to all later segments.
    ///
    /// # Panics
    /// If there is no such subflow.
    pub fn learn(&mut self, from: Side, subflow: usize, segment: &Segment) {
        if let Options::Syn(syn) = &segment.options {
            self.subflows[subflow][from as usize].scale = syn.window_scale;
            self.note_capable(from, syn);
        }
    }

    fn dss(&self, from: Side, segment: &Segment, payload: Checksum) -> Dss {
        let peer = &self.data[!from as usize];
        let number = |first: u64, offset: u64, is_long: bool| {
            let number = first.wrapping_add(offset);
            if is_long {
                DataSeq::Long(number)
            } else {
                DataSeq::Short(number as u32)
            }
        };
        let long_ack = segment.flags.contains(Flags::DATA_ACK_64);
        Dss {
            data_ack: Some(number(peer.first, segment.data_ack, long_ack)),
            mapping: segment.is_mapped().then(|| {
                let first = self.data[from as usize].first;
                let data_fin = u16::from(segment.flags.contains(Flags::DATA_FIN));
                // A lone DATA_FIN maps one data sequence number and no subflow sequence number (RFC
                // 8684, 3.3.3).
                let subflow_seq = if segment.len > 0 {
                    segment.seq as u32
                } else {
                    0
                };
                let len = (segment.len as u16).wrapping_add(data_fin);
                let data_seq = first.wrapping_add(segment.data_seq);
                let checksum = segment.flags.contains(Flags::CHECKSUM);
                Mapping {
                    data_seq: number(
                        first,
                        segment.data_seq,
                        segment.flags.contains(Flags::DATA_SEQ_64),
                    ),
                    subflow_seq,
                    len,
                    checksum: checksum.then(|| dss_checksum(data_seq, subflow_seq, len, payload)),
                }
            }),
            data_fin: segment.flags.contains(Flags::DATA_FIN),
        }
    }

    /// MPTCP is negotiated once the SYN-ACK has a key.
    pub(super) fn note_capable(&mut self, from: Side, syn: &SynOptions) {
        if let (Side::Server, SynMultipath::Capable { key: Some(key), .. }) = (from, syn.multipath)
        {
            self.multipath = true;
            self.set_key(from, key);
        }
    }
}

fn control_bits(flags: Flags) -> TcpFlags {
    [
        (Flags::SYN, TcpFlags::SYN),
        (Flags::ACK, TcpFlags::ACK),
        (Flags::FIN, TcpFlags::FIN),
        (Flags::RST, TcpFlags::RST),
    ]
    .into_iter()
    .filter(|(flag, _)| flags.contains(*flag))
    .fold(TcpFlags::NONE, |bits, (_, bit)| bits.with(bit))
}

fn sack_blocks(list: &SackList, numbers: impl Iterator<Item = (u32, u32)>) -> Option<SackBlocks> {
    let mut blocks = [(0, 0); 4];
    for (block, number) in blocks.iter_mut().zip(numbers) {
        *block = number;
    }
    SackBlocks::new(&blocks[..list.len()])
}

fn syn_option(syn: &SynOptions, address_id: u8) -> Option<MptcpOption> {
    Some(match syn.multipath {
        SynMultipath::None => return None,
        SynMultipath::Capable { key, checksum } => {
            let form = key.map_or(CapableForm::Syn, |sender_key| CapableForm::SynAck {
                sender_key,
            });
            capable(form, checksum)
        }
        SynMultipath::Join { token, nonce } => MptcpOption::Join(Join::Syn {
            backup: false,
            address_id,
            token,
            nonce,
        }),
        SynMultipath::JoinReply { hmac, nonce } => MptcpOption::Join(Join::SynAck {
            backup: false,
            address_id,
            hmac,
            nonce,
        }),
    })
}

fn capable(form: CapableForm, checksum_required: bool) -> MptcpOption {
    MptcpOption::Capable(Capable {
        checksum_required,
        ..Capable::new(form)
    })
}
