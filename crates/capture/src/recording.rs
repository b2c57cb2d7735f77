//! A run's packets and its sender's thoughts, into files.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ropewalk_network::DropReason;
use ropewalk_network::radio::{Ear, Heard};
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{FlowFacts, Observer, Sighting, Told};
use ropewalk_transport::Flags;

use crate::air_tap::AirTap;
use crate::error::FileError;
use crate::observation_point::ObservationPoint;
use crate::sender_log::SenderLog;
use crate::tap::{Tag, Tap};

/// Which files a run leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Packets, if they are wanted.
    pub packets: Option<PacketPlan>,
    /// What the sender thinks, as qlog, if it is wanted.
    pub qlog: Option<PathBuf>,
}

/// Which packets are captured, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketPlan {
    /// The file; its ending says the format.
    pub path: PathBuf,
    /// Where in the network.
    pub place: ObservationPoint,
    /// How many bytes of each packet are kept; all if `None`.
    pub snaplen: Option<u32>,
}

/// Watches a run and writes what it sees to files.
///
/// Dropped unfinished, it leaves none of them. A file that cannot be written ends the run early.
#[derive(Debug)]
pub struct Recording {
    tap: Option<Tap>,
    /// The same in the air.
    air: Option<AirTap>,
    log: Option<SenderLog>,
    abandoned: Arc<AtomicBool>,
}

impl Recording {
    /// Begins the files of a run.
    ///
    /// # Errors
    /// A file cannot be begun.
    pub fn create(plan: &Plan, scenario: &Scenario, seed: u64) -> Result<Recording, FileError> {
        let title = match scenario.title.as_str() {
            "" => format!("seed {seed}"),
            title => format!("{title}, seed {seed}"),
        };
        let (mut tap, mut air) = (None, None);
        if let Some(PacketPlan {
            path,
            place,
            snaplen,
        }) = &plan.packets
        {
            if place.ears(scenario).is_empty() {
                tap = Some(Tap::create(path, *place, *snaplen, scenario, &title)?);
            } else {
                air = Some(AirTap::create(path, *place, *snaplen, scenario, &title)?);
            }
        }
        let log = plan
            .qlog
            .as_ref()
            .map(|path| SenderLog::create(path, scenario, &title));
        Ok(Recording {
            tap,
            air,
            log: log.transpose()?,
            abandoned: Arc::default(),
        })
    }

    /// Set it from another thread, and the run ends early.
    pub fn abandoned(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.abandoned)
    }

    /// Completes the files; says how many packets were captured, if any were to be. One that was
    /// abandoned has none.
    ///
    /// # Errors
    /// A file could not be written: it is not there.
    pub fn finish(self) -> Result<Option<u64>, FileError> {
        if self.abandoned.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let packets = self.tap.map(Tap::finish).transpose()?;
        let frames = self.air.map(AirTap::finish).transpose()?;
        self.log.map_or(Ok(()), SenderLog::finish)?;
        Ok(packets.or(frames))
    }
}

impl Recording {
    /// The tap, for a packet with a segment or a datagram's payload: what a tunnel's ends say to each
    /// other is not shown.
    fn tap_of(&mut self, sighting: &Sighting<'_>) -> Option<&mut Tap> {
        self.tap.as_mut().filter(|_| has_segment(sighting))
    }
}

fn has_segment(sighting: &Sighting<'_>) -> bool {
    sighting.segment.flags != Flags::NONE || sighting.segment.len > 0
}

impl Observer for Recording {
    type Tag = Tag;
    const WATCHES: bool = true;

    fn gave_up(&self) -> bool {
        self.tap.as_ref().is_some_and(Tap::failed)
            || self.air.as_ref().is_some_and(AirTap::failed)
            || self.log.as_ref().is_some_and(SenderLog::failed)
            || self.abandoned.load(Ordering::Relaxed)
    }

    fn flow(&mut self, flow: usize, facts: &FlowFacts<'_>) {
        if let Some(tap) = &mut self.tap {
            tap.flow(flow, facts);
        }
        if let Some(air) = &mut self.air {
            air.flow(flow, facts);
        }
    }

    fn enters(&mut self, sighting: &Sighting<'_>, tag: &mut Tag) {
        if let Some(tap) = self.tap_of(sighting) {
            tap.enters(sighting, tag);
        }
        if let Some(air) = &mut self.air
            && has_segment(sighting)
        {
            air.enters(sighting, tag);
        }
    }

    fn dropped(&mut self, sighting: &Sighting<'_>, tag: Tag, reason: DropReason) {
        if let Some(tap) = self.tap_of(sighting) {
            tap.dropped(sighting, tag, reason);
        }
    }

    fn leaves(&mut self, sighting: &Sighting<'_>, tag: &mut Tag) {
        if let Some(tap) = self.tap_of(sighting) {
            tap.leaves(sighting, tag);
        }
    }

    fn arrives(&mut self, sighting: &Sighting<'_>, tag: Tag, duplicate: bool) {
        if let Some(tap) = self.tap_of(sighting) {
            tap.arrives(tag, duplicate);
        }
    }

    fn ears(&self) -> Vec<(usize, Ear)> {
        self.air.as_ref().map_or_else(Vec::new, AirTap::ears)
    }

    fn heard(&mut self, channel: usize, frame: &Heard<()>, packet: Option<(Sighting<'_>, Tag)>) {
        if let Some(air) = &mut self.air {
            air.heard(channel, frame, packet);
        }
    }

    fn told(&mut self, told: &Told) {
        if let Some(log) = &mut self.log
            && told.flow == 0
        {
            log.told(told);
        }
    }
}
