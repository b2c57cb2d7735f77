//! The TCP header (RFC 9293, section 3.1), on the `etherparse` crate.

use std::net::SocketAddr;

use etherparse::{TcpHeader, TcpHeaderSlice};

use super::content::Content;
use super::fault::Fault;
use super::network::Payload;
use super::next::CUT_SHORT;
use super::options::Options;
use super::segment::Segment;

/// Parses the segment of an IP packet. Without one, the content has the reason.
pub(super) fn read(payload: &Payload<'_>, content: &mut Content) -> Option<Segment> {
    const CLAUSE: &str = "RFC 9293, 3.1";
    let bytes = payload.bytes;
    let Some(offset) = bytes.u8(12).filter(|_| bytes.on_wire >= TcpHeader::MIN_LEN) else {
        return content.cut(
            "TCP header",
            bytes,
            TcpHeader::MIN_LEN,
            CLAUSE,
            "a TCP header",
        );
    };
    let header_len = usize::from(offset >> 4) * 4;
    if header_len < TcpHeader::MIN_LEN || header_len > bytes.on_wire {
        let on_wire = bytes.on_wire;
        let fault = format!("TCP data offset of {header_len} bytes in a segment of {on_wire}");
        return content.broken("TCP header", Fault::new(CLAUSE, fault));
    }
    let Ok(header) = TcpHeaderSlice::from_slice(bytes.data) else {
        return content.skip(CUT_SHORT);
    };
    let body = bytes.after(header_len)?;
    Some(Segment {
        source: SocketAddr::new(payload.source, header.source_port()),
        destination: SocketAddr::new(payload.destination, header.destination_port()),
        sequence: header.sequence_number(),
        acknowledgement: header.acknowledgment_number(),
        flags: u16::from(header.ns()) << 8 | u16::from(header.slice()[13]),
        reserved: header.slice()[12] >> 1 & 0x07,
        window: header.window_size(),
        urgent: header.urgent_pointer(),
        options: Options::read(header.options()),
        payload: body.data.to_vec(),
        len: body.on_wire,
        checksum: payload.checked(bytes, header.checksum()),
    })
}
