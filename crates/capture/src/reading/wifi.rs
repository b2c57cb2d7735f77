//! Data frames of IEEE 802.11 (IEEE 802.11-2020, 9.3.2), with or without a radiotap header.

use super::bytes::Bytes;
use super::next::Next;

const DATA: u8 = 2;
/// Subtype bits of data frames: no data, and QoS.
const NO_DATA: u8 = 0x4;
const QOS: u8 = 0x8;
const TO_AND_FROM_DS: u8 = 0x03;
const MORE_FRAGMENTS: u8 = 0x04;
const PROTECTED: u8 = 0x40;
const ORDER: u8 = 0x80;
/// Bit of QoS control: the body is an aggregate (A-MSDU, 9.3.2.2).
const A_MSDU: u8 = 0x80;
/// Two addresses and a length, before each packet of an aggregate.
const PACKET_HEADER: usize = 14;
/// Largest number of packets in an aggregate, which has up to 11454 bytes in packets of at least
/// 14.
const MOST_PACKETS: usize = 1024;
/// Radiotap: bits of the present fields and of the flags.
const HAS_TIME: u8 = 0x01;
const HAS_FLAGS: u8 = 0x02;
const MORE_PRESENT: u8 = 0x80;
const BODY_IS_PADDED: u8 = 0x20;
const BAD_FCS: u8 = 0x40;

/// Parses a frame with a radiotap header (radiotap.org); `None` if it was not captured in full.
pub(super) fn read_radiotap(frame: Bytes<'_>) -> Option<Vec<Next<'_>>> {
    let flags = radiotap_flags(frame)?;
    if flags & BAD_FCS != 0 {
        return Some(vec![Next::skipped("802.11 received in error")]);
    }
    let rest = frame.after(frame.u16_le(2)?.into())?;
    packets(rest, flags & BODY_IS_PADDED != 0)
}

/// Parses a frame without a radiotap header; `None` if its headers were not captured in full.
pub(super) fn read(frame: Bytes<'_>) -> Option<Vec<Next<'_>>> {
    packets(frame, false)
}

/// Radiotap flags. They follow the bitmaps of present fields and, if present, 8 bytes of time.
fn radiotap_flags(frame: Bytes<'_>) -> Option<u8> {
    let present = frame.u8(4)?;
    let mut at = 8;
    while frame.u8(at - 1)? & MORE_PRESENT != 0 {
        at += 4;
    }
    if present & HAS_FLAGS == 0 {
        return Some(0);
    }
    if present & HAS_TIME != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    frame.u8(at)
}

fn packets(frame: Bytes<'_>, is_padded: bool) -> Option<Vec<Next<'_>>> {
    let control = frame.u8(0)?;
    let flags = frame.u8(1)?;
    let subtype = control >> 4;
    let reason = match (control & 3, control >> 2 & 3) {
        (1.., _) => "802.11 of another version",
        (_, 0) => "802.11 management",
        (_, 1) => "802.11 control",
        (_, DATA) if subtype & NO_DATA != 0 => "802.11 without data",
        (_, DATA) if flags & PROTECTED != 0 => "802.11 protected",
        // The low four bits of the sequence field number the fragments (9.2.4.4).
        (_, DATA) if flags & MORE_FRAGMENTS != 0 || frame.u8(22)? & 0x0f != 0 => "802.11 fragment",
        (_, DATA) => "",
        _ => "802.11 extension",
    };
    if !reason.is_empty() {
        return Some(vec![Next::skipped(reason)]);
    }
    let mut len = match flags & TO_AND_FROM_DS {
        TO_AND_FROM_DS => 30,
        _ => 24,
    };
    let mut is_aggregate = false;
    if subtype & QOS != 0 {
        is_aggregate = frame.u8(len)? & A_MSDU != 0;
        len += 2;
        if flags & ORDER != 0 {
            len += 4;
        }
    }
    if is_padded {
        len = len.next_multiple_of(4);
    }
    let body = frame.after(len)?;
    Some(match is_aggregate {
        true => aggregate(body),
        false => vec![Next::Llc(body)],
    })
}

/// Packets of an A-MSDU; all but the last are padded to four bytes.
fn aggregate(mut rest: Bytes<'_>) -> Vec<Next<'_>> {
    let mut packets = Vec::new();
    while packets.len() < MOST_PACKETS {
        let Some(len @ 1..) = rest.u16(PACKET_HEADER - 2) else {
            break;
        };
        let end = PACKET_HEADER + usize::from(len);
        packets.push(Next::Ethernet(rest.up_to(end)));
        match rest.after(end.next_multiple_of(4)) {
            Some(next) => rest = next,
            None => break,
        }
    }
    packets
}
