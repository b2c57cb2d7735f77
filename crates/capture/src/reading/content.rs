//! Parsed headers of a packet, with its TCP segment.

use std::borrow::Cow;

use super::bytes::Bytes;
use super::checksum_state::ChecksumState;
use super::fault::Fault;
use super::next::CUT_SHORT;
use super::segment::Segment;

/// Headers of a packet as far as they could be parsed, with its TCP segment.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The TCP segment, if there is one.
    pub segment: Option<Segment>,
    /// Reason not to examine the packet: "ARP", "802.11 protected". A fragment in reassembly has
    /// neither segment nor reason.
    pub skipped: Option<Cow<'static, str>>,
    /// Violations in IP, UDP and TCP headers, except checksums.
    pub faults: Vec<Fault>,
    /// An IP length field is 0, as with segmentation offload or a packet above 64 KiB.
    pub zero_length: bool,
    /// An IP packet exceeds its frame, so that its end is missing.
    pub is_short: bool,
    /// Bytes after the IP packet, beyond Ethernet's padding.
    pub trailing: usize,
    /// IPv4 identification of the innermost header.
    pub identification: Option<u16>,
    /// Hop limit or time to live of the innermost header; 0 without one.
    pub hop_limit: u8,
    /// IPv4 header checksum; the worst of several.
    pub ip_checksum: ChecksumState,
    /// UDP checksum; the worst of several.
    pub udp_checksum: ChecksumState,
    /// Names of tunnels, outermost first: "GRE", "VXLAN".
    pub tunnels: Vec<&'static str>,
}

impl Content {
    pub(super) fn skip<T>(&mut self, reason: impl Into<Cow<'static, str>>) -> Option<T> {
        self.skipped = Some(reason.into());
        None
    }

    /// Ends parsing with a violation that hides the rest of the packet.
    pub(super) fn broken<T>(&mut self, header: &str, fault: Fault) -> Option<T> {
        self.faults.push(fault);
        self.skip(format!("broken {header}"))
    }

    /// Ends parsing at a header that the capture or the packet has only in part.
    pub(super) fn cut<T>(
        &mut self,
        header: &str,
        bytes: Bytes<'_>,
        needed: usize,
        clause: &'static str,
        name: &str,
    ) -> Option<T> {
        if bytes.on_wire >= needed {
            return self.skip(CUT_SHORT);
        }
        let fault = format!("{} bytes of {name} of {needed}", bytes.on_wire);
        self.broken(header, Fault::new(clause, fault))
    }

    /// Enters a tunnel: earlier violations belong to the outer packet.
    pub(super) fn enter(&mut self, tunnel: &'static str) {
        const OUTER: &str = "outer packet: ";
        for fault in &mut self.faults {
            if !fault.text.starts_with(OUTER) {
                fault.text.insert_str(0, OUTER);
            }
        }
        self.tunnels.push(tunnel);
    }
}
