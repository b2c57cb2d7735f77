//! Conversion of a TCP segment to an endpoint's segment.

use ropewalk_quantities::Time;
use ropewalk_transport::{Flags, Options, SackList, Segment, SynMultipath, SynOptions};
use thiserror::Error;

use super::{Connection, Side, TICK, nearest};
use crate::checksum::Checksum;
use crate::mptcp::{Capable, CapableForm, DataSeq, Dss, Join, Mapping, MptcpOption, dss_checksum};
use crate::tcp::{TcpFlags, TcpView};
use crate::tcp_options::{SackBlocks, TcpOption};

/// Default without an MSS option (RFC 9293, 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// Largest window scale; larger ones are clamped to it (RFC 7323, 2.3).
const MAX_SCALE: u8 = 14;

/// Reason to drop a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SegmentError {
    /// A sequence number is before the start of the stream.
    #[error("sequence number before the start of its stream")]
    BeforeStart,
    /// The payload of an MPTCP subflow has no mapping (RFC 8684, 3.3.1).
    #[error("payload without a mapping")]
    Unmapped,
    /// The checksum of the mapping is wrong (RFC 8684, 3.3.1).
    #[error("wrong checksum of a mapping")]
    Checksum,
}

/// Options of a segment that endpoints use.
#[derive(Default)]
struct SegmentOptions {
    mss: Option<u16>,
    scale: Option<u8>,
    sack_permitted: bool,
    sack: Option<SackBlocks>,
    timestamps: Option<(u32, u32)>,
    capable: Option<Capable>,
    join: Option<Join>,
    dss: Option<Dss>,
    fast_close: Option<u64>,
    out_of_order: bool,
    number: Option<u16>,
}

impl SegmentOptions {
    /// Ignores malformed and unknown options (RFC 9293, 3.1; RFC 8684, 3).
    fn read(view: &TcpView<'_>) -> SegmentOptions {
        let mut said = SegmentOptions::default();
        for option in view.options().flatten() {
            match option {
                TcpOption::MaximumSegmentSize(size) => said.mss = Some(size),
                TcpOption::WindowScale(scale) => said.scale = Some(scale.min(MAX_SCALE)),
                TcpOption::SackPermitted => said.sack_permitted = true,
                TcpOption::Sack(blocks) => said.sack = Some(blocks),
                TcpOption::Timestamps { value, echo } => said.timestamps = Some((value, echo)),
                TcpOption::Multipath(MptcpOption::Capable(capable)) => said.capable = Some(capable),
                TcpOption::Multipath(MptcpOption::Join(join)) => said.join = Some(join),
                TcpOption::Multipath(MptcpOption::Dss(dss)) => said.dss = Some(dss),
                TcpOption::Multipath(MptcpOption::FastClose { receiver_key }) => {
                    said.fast_close = Some(receiver_key);
                }
                TcpOption::OutOfOrder => said.out_of_order = true,
                TcpOption::Transmission {
                    number,
                    out_of_order,
                } => {
                    said.number = Some(number);
                    said.out_of_order |= out_of_order;
                }
                TcpOption::Multipath(_) | TcpOption::Unknown { .. } => {}
            }
        }
        said
    }
}

impl Connection {
    /// Converts a TCP segment that `from` sent.
    ///
    /// Timestamps have whole milliseconds. The checksum of a mapping is verified if it covers
    /// exactly this segment.
    ///
    /// # Errors
    /// If the numbers, the mapping or the checksum are invalid.
    ///
    /// # Panics
    /// If there is no such subflow.
    pub fn parse(
        &mut self,
        from: Side,
        subflow: usize,
        view: &TcpView<'_>,
    ) -> Result<Segment, SegmentError> {
        let header = view.header();
        let said = SegmentOptions::read(view);
        let mut segment = Segment {
            len: view.payload().len() as u32,
            flags: flags(header.flags),
            ..Segment::EMPTY
        };
        let syn = segment.flags.contains(Flags::SYN);
        if syn {
            let own = &mut self.subflows[subflow][from as usize];
            own.start.isn = header.seq;
            own.scale = said.scale;
            if let Some((value, _)) = said.timestamps {
                own.start.clock = value;
                own.tick = 0;
            }
        }
        segment.window = u32::from(header.window);
        if !syn {
            segment.window <<= self.shift(subflow, from);
        }
        let peer = self.subflows[subflow][!from as usize];
        let own = &mut self.subflows[subflow][from as usize];
        segment.seq = own.offset(header.seq).ok_or(SegmentError::BeforeStart)?;
        if segment.flags.contains(Flags::ACK) {
            segment.ack = peer.offset(header.ack).ok_or(SegmentError::BeforeStart)?;
        }
        own.next = own.next.max(segment.end());
        if let Some((value, echo)) = said.timestamps {
            let tick = own.ticks(value).ok_or(SegmentError::BeforeStart)?;
            own.tick = own.tick.max(tick);
            segment.ts_val = time(tick);
            if segment.flags.contains(Flags::ACK) {
                segment.ts_ecr = time(peer.ticks(echo).ok_or(SegmentError::BeforeStart)?);
            }
            segment.flags = segment.flags.with(Flags::TIMESTAMPS);
        }
        if said.out_of_order {
            segment.flags = segment.flags.with(Flags::OUT_OF_ORDER);
        }
        if let Some(number) = said.number {
            segment.flags = segment.flags.with(Flags::NUMBERED);
            segment.number = number;
        }
        if syn {
            segment.options = self.syn_options(from, &said);
            return Ok(segment);
        }
        if let Some(blocks) = said.sack {
            let mut list = SackList::default();
            for &(start, end) in blocks.as_slice() {
                if let (Some(start), Some(end)) = (peer.offset(start), peer.offset(end)) {
                    list.push(segment.ack, start, end);
                }
            }
            if !list.is_empty() {
                segment.options = Options::Sack(list);
            }
        }
        if let Some(Join::Ack { hmac }) = said.join {
            segment.options = Options::MpJoin { hmac };
        }
        if let Some(receiver_key) = said.fast_close {
            segment.options = Options::MpFastClose { receiver_key };
        }
        if self.agreed(subflow) {
            let payload = Checksum::new().add_bytes(view.payload());
            self.read_capable(from, &said, &mut segment, payload)?;
            self.read_dss(from, subflow, &said, &mut segment, payload)?;
        } else if segment.len > 0 {
            segment.data_seq = segment
                .seq
                .checked_sub(1)
                .ok_or(SegmentError::BeforeStart)?;
        }
        Ok(segment)
    }

    fn syn_options(&mut self, from: Side, said: &SegmentOptions) -> Options {
        let capable = |capable: Capable| {
            let key = match capable.form {
                CapableForm::SynAck { sender_key } => Some(sender_key),
                _ => None,
            };
            SynMultipath::Capable {
                key,
                checksum: capable.checksum_required,
            }
        };
        let multipath = match (said.capable, said.join) {
            (Some(option), _) => capable(option),
            (None, Some(Join::Syn { token, nonce, .. })) => SynMultipath::Join { token, nonce },
            (None, Some(Join::SynAck { hmac, nonce, .. })) => {
                SynMultipath::JoinReply { hmac, nonce }
            }
            (None, Some(Join::Ack { .. }) | None) => SynMultipath::None,
        };
        let syn = SynOptions {
            mss: said.mss.unwrap_or(DEFAULT_MSS),
            window_scale: said.scale,
            sack: said.sack_permitted,
            multipath,
        };
        self.note_capable(from, &syn);
        Options::Syn(syn)
    }

    fn read_capable(
        &mut self,
        from: Side,
        said: &SegmentOptions,
        segment: &mut Segment,
        payload: Checksum,
    ) -> Result<(), SegmentError> {
        let Some(capable) = said.capable else {
            return Ok(());
        };
        let (sender_key, receiver_key) = match capable.form {
            CapableForm::Syn | CapableForm::SynAck { .. } => return Ok(()),
            CapableForm::Ack {
                sender_key,
                receiver_key,
            }
            | CapableForm::Data {
                sender_key,
                receiver_key,
                ..
            } => (sender_key, receiver_key),
        };
        self.set_key(from, sender_key);
        segment.options = Options::MpCapable {
            sender_key,
            receiver_key,
            checksum: capable.checksum_required,
        };
        if segment.len > 0 && (segment.seq != 1 || !maps(capable.form)) {
            // Allowed on the first data only, whose length it contains (section 3.1).
            return Err(SegmentError::Unmapped);
        }
        if let CapableForm::Data { len, checksum, .. } = capable.form {
            let mapping = Mapping {
                data_seq: DataSeq::Long(self.data[from as usize].first),
                subflow_seq: 1,
                len,
                checksum,
            };
            self.map(from, 0, &mapping, false, segment, payload)?;
        }
        Ok(())
    }

    fn read_dss(
        &mut self,
        from: Side,
        subflow: usize,
        said: &SegmentOptions,
        segment: &mut Segment,
        payload: Checksum,
    ) -> Result<(), SegmentError> {
        let dss = said.dss.unwrap_or_default();
        if let Some(data_ack) = dss.data_ack {
            let peer = &self.data[!from as usize];
            segment.data_ack = data_offset(data_ack, peer.first, peer.next)?;
            segment.flags = segment.flags.with(Flags::DATA_ACK);
            if let DataSeq::Long(_) = data_ack {
                segment.flags = segment.flags.with(Flags::DATA_ACK_64);
            }
        }
        if let Some(mapping) = &dss.mapping {
            self.map(from, subflow, mapping, dss.data_fin, segment, payload)?;
        } else if segment.len > 0 && !segment.flags.contains(Flags::DATA_SEQ_64) {
            segment.data_seq = self.mapped_before(from, subflow, segment)?;
        }
        Ok(())
    }

    /// Sets the data offset from the segment's mapping, and stores the mapping for later segments.
    fn map(
        &mut self,
        from: Side,
        subflow: usize,
        mapping: &Mapping,
        data_fin: bool,
        segment: &mut Segment,
        payload: Checksum,
    ) -> Result<(), SegmentError> {
        let numbers = &mut self.subflows[subflow][from as usize];
        let data = &mut self.data[from as usize];
        let data_seq = data_offset(mapping.data_seq, data.first, data.next)?;
        let bytes = u64::from(mapping.len.saturating_sub(u16::from(data_fin)));
        data.next = data.next.max(data_seq + bytes);
        if let DataSeq::Long(_) = mapping.data_seq {
            segment.flags = segment.flags.with(Flags::DATA_SEQ_64);
        }
        if mapping.checksum.is_some() {
            segment.flags = segment.flags.with(Flags::CHECKSUM);
        }
        if bytes == 0 && segment.len > 0 {
            // An infinite mapping, or a DATA_FIN's with other data, does not map this payload.
            return Err(SegmentError::Unmapped);
        }
        if bytes == 0 {
            segment.data_seq = data_seq;
        } else {
            let start =
                nearest(mapping.subflow_seq, segment.seq).ok_or(SegmentError::BeforeStart)?;
            numbers.mapping = Some((start, bytes, data_seq));
            if segment.len > 0 {
                segment.data_seq = self.mapped_before(from, subflow, segment)?;
            }
        }
        if data_fin && segment.data_seq + u64::from(segment.len) == data_seq + bytes {
            segment.flags = segment.flags.with(Flags::DATA_FIN);
        }
        match mapping.checksum {
            Some(checksum) if bytes == u64::from(segment.len) => {
                let data_seq = self.data[from as usize].first.wrapping_add(data_seq);
                let right = dss_checksum(data_seq, mapping.subflow_seq, mapping.len, payload);
                if right == checksum {
                    Ok(())
                } else {
                    Err(SegmentError::Checksum)
                }
            }
            _ => Ok(()),
        }
    }

    /// Sets the data offset from the last mapping received on the subflow.
    fn mapped_before(
        &self,
        from: Side,
        subflow: usize,
        segment: &Segment,
    ) -> Result<u64, SegmentError> {
        let mapping = self.subflows[subflow][from as usize].mapping;
        let (start, bytes, data_seq) = mapping.ok_or(SegmentError::Unmapped)?;
        let skipped = segment
            .seq
            .checked_sub(start)
            .ok_or(SegmentError::Unmapped)?;
        if skipped + u64::from(segment.len) > bytes {
            return Err(SegmentError::Unmapped);
        }
        Ok(data_seq + skipped)
    }
}

fn maps(form: CapableForm) -> bool {
    matches!(form, CapableForm::Data { .. })
}

fn data_offset(number: DataSeq, first: u64, next: u64) -> Result<u64, SegmentError> {
    let number = number.expand(first.wrapping_add(next));
    let offset = number.wrapping_sub(first);
    // In the half of the sequence space before the start.
    if offset > i64::MAX as u64 {
        return Err(SegmentError::BeforeStart);
    }
    Ok(offset)
}

fn time(ticks: u64) -> Time {
    Time::from_nanos(ticks.saturating_mul(TICK.as_nanos()))
}

fn flags(bits: TcpFlags) -> Flags {
    [
        (TcpFlags::SYN, Flags::SYN),
        (TcpFlags::ACK, Flags::ACK),
        (TcpFlags::FIN, Flags::FIN),
        (TcpFlags::RST, Flags::RST),
    ]
    .into_iter()
    .filter(|(bit, _)| bits.contains(*bit))
    .fold(Flags::NONE, |flags, (_, flag)| flags.with(flag))
}
