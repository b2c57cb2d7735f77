//! Parsing of a frame's headers down to the TCP segment.

use etherparse::ip_number;

use crate::record::Direction;

use super::bytes::Bytes;
use super::content::Content;
use super::fragments::{FragmentId, Fragments};
use super::network::{self, Payload};
use super::next::{CUT_SHORT, Next};
use super::tcp;
use super::tunnel::{self, Unwrapping};
use super::{link, wifi};

/// Ethernet's minimum frame length without check sequence.
const MIN_ETHERNET: usize = 60;
const DEEPEST: usize = 8;
const MOST_HEADERS: usize = 32;

/// Parser of frames, with fragments in reassembly.
#[derive(Debug)]
pub(super) struct Layers {
    unwrapping: Unwrapping,
    fragments: Fragments,
}

impl Layers {
    pub(super) fn new(unwrapping: Unwrapping) -> Layers {
        Layers {
            unwrapping,
            fragments: Fragments::default(),
        }
    }

    pub(super) fn lost_fragments(&self) -> u64 {
        self.fragments.lost()
    }

    /// Parses a frame: its direction, if the link header has one, and its packets (several in an
    /// 802.11 aggregate).
    pub(super) fn read(
        &mut self,
        link_type: u16,
        frame: Bytes<'_>,
    ) -> (Option<Direction>, Vec<Content>) {
        let (link_type, frame) = match link_type {
            link::PER_PACKET_INFORMATION => {
                link::after_information(frame).unwrap_or((link_type, frame))
            }
            _ => (link_type, frame),
        };
        let is_wifi = matches!(link_type, link::WIFI | link::WIFI_WITH_RADIOTAP);
        let packets = match link_type {
            link::WIFI => wifi::read(frame),
            link::WIFI_WITH_RADIOTAP => wifi::read_radiotap(frame),
            _ => link::read(link_type, frame).map(|next| vec![next]),
        };
        let mut packets = packets.unwrap_or_default();
        if packets.is_empty() {
            packets.push(Next::skipped(CUT_SHORT));
        }
        let contents = packets.into_iter().map(|next| {
            let mut content = Content::default();
            self.follow(next, &mut content, DEEPEST);
            let is_padded = link_type == link::ETHERNET && frame.on_wire <= MIN_ETHERNET;
            if is_padded || is_wifi {
                content.trailing = 0;
            }
            content
        });
        let contents = contents.collect();
        (link::direction(link_type, frame), contents)
    }

    fn follow(&mut self, mut next: Next<'_>, content: &mut Content, depth: usize) {
        for _ in 0..MOST_HEADERS {
            let following = match next {
                Next::Ethernet(frame) => link::ethernet(frame),
                Next::EtherType(kind, packet) => link::by_ether_type(kind, packet),
                Next::Llc(packet) => link::llc(packet),
                Next::Pppoe(packet) => link::pppoe(packet),
                Next::Ppp(packet) => link::ppp(packet),
                Next::Mpls(packet) => link::mpls(packet),
                Next::Ip(packet) => return self.packet(packet, content, depth),
                Next::Skipped(reason) => {
                    content.skipped = Some(reason);
                    return;
                }
            };
            next = following.unwrap_or(Next::skipped(CUT_SHORT));
        }
        content.skipped = Some("too many headers".into());
    }

    fn packet(&mut self, packet: Bytes<'_>, content: &mut Content, depth: usize) {
        if depth == 0 {
            content.skipped = Some("too many packets inside each other".into());
            return;
        }
        let Some(payload) = network::read(packet, content) else {
            return;
        };
        let Some((identification, place)) = payload.fragment else {
            return self.upper(&payload, content, depth);
        };
        if !payload.bytes.is_whole() {
            content.skipped = Some(CUT_SHORT.into());
            return;
        }
        let id = FragmentId {
            source: payload.source,
            destination: payload.destination,
            identification,
            protocol: payload.protocol,
        };
        if let Some(whole) = self.fragments.add(id, place, payload.bytes.data) {
            let whole = network::after_fragments(Payload {
                bytes: Bytes::whole(&whole),
                fragment: None,
                ..payload
            });
            self.upper(&whole, content, depth);
        }
    }

    fn upper(&mut self, payload: &Payload<'_>, content: &mut Content, depth: usize) {
        let inside = match payload.protocol {
            ip_number::TCP => {
                content.segment = tcp::read(payload, content);
                None
            }
            ip_number::UDP => tunnel::udp(payload, self.unwrapping, content),
            ip_number::IPV4 | ip_number::IPV6 => Some(("IP in IP", Next::Ip(payload.bytes))),
            ip_number::MPLS_IN_IP => Some(("MPLS", Next::Mpls(payload.bytes))),
            ip_number::GRE => {
                let next = tunnel::gre(payload).unwrap_or(Next::skipped(CUT_SHORT));
                Some(("GRE", next))
            }
            other => content.skip(tunnel::protocol_name(other)),
        };
        if let Some((name, next)) = inside {
            content.enter(name);
            self.follow(next, content, depth - 1);
        }
    }
}
