//! Headers of a packet, as far as they were read, and the TCP segment in it.

use std::borrow::Cow;

use super::bytes::Bytes;
use super::checked::Checked;
use super::fault::Fault;
use super::next::CUT_SHORT;
use super::segment::Segment;

/// Headers of a packet, as far as they were read, and the TCP segment in it.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The TCP segment, if there is one.
    pub segment: Option<Segment>,
    /// Why the packet is not examined: "ARP", "802.11 protected". A fragment that waits for others has neither
    /// a segment nor a reason.
    pub skipped: Option<Cow<'static, str>>,
    /// Violations of IP, UDP and TCP by the headers; checksums are not among them.
    pub faults: Vec<Fault>,
    /// Whether an IP length field is 0: the host left cutting to its network device, or a packet above 64 KiB.
    pub zero_length: bool,
    /// Whether an IP packet is longer than its frame, so that a part of it is missing.
    pub is_short: bool,
    /// Bytes behind the IP packet, beyond Ethernet's padding.
    pub trailing: usize,
    /// The identification of IPv4, of the innermost header.
    pub identification: Option<u16>,
    /// The hop limit or time to live of the innermost header; 0 if there is none.
    pub hop_limit: u8,
    /// The IPv4 header checksum; the worst, if there are several headers.
    pub ip_checksum: Checked,
    /// The UDP checksum; the worst, if there are several headers.
    pub udp_checksum: Checked,
    /// Names of tunnels, outermost first: "GRE", "VXLAN".
    pub tunnels: Vec<&'static str>,
}

impl Content {
    /// Ends with a reason not to examine the packet.
    pub(super) fn skip<T>(&mut self, reason: impl Into<Cow<'static, str>>) -> Option<T> {
        self.skipped = Some(reason.into());
        None
    }

    /// Ends with a violation that hides the rest of the packet.
    pub(super) fn broken<T>(&mut self, header: &str, fault: Fault) -> Option<T> {
        self.faults.push(fault);
        self.skip(format!("broken {header}"))
    }

    /// Ends at a header that the capture, or the packet itself, has only in part.
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

    /// Enters a tunnel: the violations found so far belong to the outer packet.
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
