//! Capture of packets at an observation point.

use std::path::Path;

use ropewalk_network::DropReason;
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{FlowInfo, ObservedPacket};

use crate::error::FileError;
use crate::flows::{Flows, sent};
use crate::observation_point::ObservationPoint;
use crate::packet_file::PacketFile;
use crate::pending_packets::{Fate, PendingPacket, PendingPackets, Ticket};
use crate::record::{Direction, InterfaceCounts, LinkType, Record, Settings};

/// Tag of a packet in the network: its number at its host, and its ticket among the captured
/// packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tag {
    pub(crate) identification: u16,
    ticket: Ticket,
}

impl Tag {
    pub(crate) fn numbered(identification: u16) -> Tag {
        Tag {
            identification,
            ticket: Ticket::default(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Tap {
    place: ObservationPoint,
    /// Names of all links, for comments.
    names: Vec<String>,
    interfaces: Vec<Option<usize>>,
    counts: Vec<InterfaceCounts>,
    flows: Flows,
    fates: PendingPackets,
    bytes: Vec<u8>,
    file: PacketFile,
    failure: Option<FileError>,
}

impl Tap {
    pub(crate) fn create(
        path: &Path,
        place: ObservationPoint,
        snaplen: Option<u32>,
        scenario: &Scenario,
        title: &str,
    ) -> Result<Tap, FileError> {
        let links = place.links(scenario);
        let interfaces = place.interfaces(scenario);
        let settings = Settings {
            snaplen,
            comment: format!("{title}, captured {}", place.describe(scenario)),
            link_type: LinkType::Ip,
        };
        let number = |link| links.iter().position(|&other| other == link);
        Ok(Tap {
            place,
            names: scenario
                .links
                .iter()
                .map(|link| link.name.clone())
                .collect(),
            interfaces: (0..scenario.links.len()).map(number).collect(),
            counts: vec![InterfaceCounts::default(); links.len()],
            flows: Flows::default(),
            fates: PendingPackets::default(),
            bytes: Vec::new(),
            file: PacketFile::create(path, &interfaces, &settings)?,
            failure: None,
        })
    }

    pub(crate) fn flow(&mut self, flow: usize, facts: &FlowInfo<'_>) {
        self.flows.add(flow, facts);
    }

    pub(crate) fn enters(&mut self, observed: &ObservedPacket<'_>, tag: &mut Tag) {
        if observed.first_hop {
            *tag = Tag::numbered(self.flows.leaves_host(observed));
        }
        let here = match self.place {
            ObservationPoint::Sender => {
                observed.first_hop && !observed.reverse && observed.flow == 0
            }
            ObservationPoint::Receiver => {
                observed.first_hop && observed.reverse && observed.flow == 0
            }
            ObservationPoint::Link(link) => observed.link == link && !observed.reverse,
            ObservationPoint::Channel(_) | ObservationPoint::Node(_) => false,
        };
        if here {
            self.see(observed, tag, Direction::Outbound);
        }
    }

    pub(crate) fn leaves(&mut self, observed: &ObservedPacket<'_>, tag: &mut Tag) {
        let last_hop = observed.hops_left == 0;
        let here = match self.place {
            ObservationPoint::Sender => last_hop && observed.reverse && observed.flow == 0,
            ObservationPoint::Receiver => last_hop && !observed.reverse && observed.flow == 0,
            ObservationPoint::Link(link) => observed.link == link && observed.reverse,
            ObservationPoint::Channel(_) | ObservationPoint::Node(_) => false,
        };
        if here {
            self.see(observed, tag, Direction::Inbound);
        }
    }

    pub(crate) fn dropped(&mut self, observed: &ObservedPacket<'_>, tag: Tag, reason: DropReason) {
        let dropped = reason == DropReason::QueueFull;
        let here = !observed.reverse || self.place == ObservationPoint::Receiver;
        if let Some(interface) = self.interfaces[observed.link]
            && dropped
            && here
        {
            self.counts[interface].dropped += 1;
        }
        let fate = if dropped {
            Fate::Dropped(observed.link)
        } else {
            Fate::Lost(observed.link)
        };
        self.set_fate(tag, fate);
    }

    pub(crate) fn arrives(&mut self, tag: Tag, duplicate: bool) {
        let fate = if duplicate {
            Fate::Spurious
        } else {
            Fate::Arrived
        };
        self.set_fate(tag, fate);
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn finish(mut self) -> Result<u64, FileError> {
        while let Some(seen) = self.fates.pop_any() {
            self.write(&seen);
        }
        match self.failure {
            None => self.file.finish(&self.counts),
            Some(failure) => Err(failure),
        }
    }

    fn see(&mut self, observed: &ObservedPacket<'_>, tag: &mut Tag, direction: Direction) {
        let Some(interface) = self.interfaces[observed.link] else {
            return;
        };
        self.counts[interface].received += 1;
        tag.ticket = self.fates.push(PendingPacket {
            time: observed.time,
            interface,
            direction,
            flow: observed.flow,
            sent: sent(observed, tag.identification),
            fate: Fate::Open,
        });
    }

    fn set_fate(&mut self, tag: Tag, fate: Fate) {
        self.fates.set_fate(tag.ticket, fate);
        while let Some(seen) = self.fates.pop() {
            self.write(&seen);
        }
    }

    fn write(&mut self, seen: &PendingPacket) {
        if self.failure.is_some() {
            return;
        }
        self.flows.write(seen.flow, &seen.sent, &mut self.bytes);
        let comment = match seen.fate {
            Fate::Arrived => None,
            Fate::Open => Some("in flight when the run ended".to_owned()),
            Fate::Spurious => Some("spurious: the receiver had it".to_owned()),
            Fate::Dropped(link) => Some(format!(
                "dropped: the queue of {} was full",
                self.names[link]
            )),
            Fate::Lost(link) => Some(format!("lost on {}", self.names[link])),
        };
        let written = self.file.write(&Record {
            time: seen.time,
            interface: seen.interface,
            direction: seen.direction,
            bytes: &self.bytes,
            comment: comment.as_deref(),
        });
        self.failure = written.err();
    }
}
