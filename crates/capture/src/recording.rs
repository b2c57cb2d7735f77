//! Recording of a run's packets and sender state.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ropewalk_network::DropReason;
use ropewalk_network::radio::{CapturePoint, RecordedFrame};
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{EndpointEvent, FlowInfo, ObservedPacket, Observer};
use ropewalk_transport::Flags;

use crate::air_tap::AirTap;
use crate::error::FileError;
use crate::observation_point::ObservationPoint;
use crate::sender_log::SenderLog;
use crate::tap::{Tag, Tap};

/// Files to write for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Packet file, if any.
    pub packets: Option<PacketPlan>,
    /// qlog file of the sender's state, if any.
    pub qlog: Option<PathBuf>,
}

/// Packets to capture, and their file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketPlan {
    /// File name, whose extension selects the format.
    pub path: PathBuf,
    /// Place of the capture.
    pub place: ObservationPoint,
    /// Number of bytes kept per packet; `None`: all.
    pub snaplen: Option<u32>,
}

/// Observes a run and writes its files.
///
/// If dropped unfinished, no file appears. A file error ends the run early.
#[derive(Debug)]
pub struct Recording {
    tap: Option<Tap>,
    air: Option<AirTap>,
    log: Option<SenderLog>,
    abandoned: Arc<AtomicBool>,
}

impl Recording {
    /// Creates the files of a run. Fails if a file cannot be created.
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
            if place.capture_points(scenario).is_empty() {
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

    /// Flag for other threads to end the run early.
    pub fn abandoned(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.abandoned)
    }

    /// Completes the files and returns the number of captured packets, if there is a packet file.
    /// An abandoned run has no files. Fails if a file cannot be written, which then does not
    /// appear.
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
    /// The tap of a packet with a TCP segment or a datagram's payload. Control messages of a tunnel
    /// are not captured.
    fn tap_of(&mut self, observed: &ObservedPacket<'_>) -> Option<&mut Tap> {
        self.tap.as_mut().filter(|_| has_segment(observed))
    }
}

fn has_segment(observed: &ObservedPacket<'_>) -> bool {
    observed.segment.flags != Flags::NONE || observed.segment.len > 0
}

impl Observer for Recording {
    type Tag = Tag;
    const ENABLED: bool = true;

    fn should_stop(&self) -> bool {
        self.tap.as_ref().is_some_and(Tap::failed)
            || self.air.as_ref().is_some_and(AirTap::failed)
            || self.log.as_ref().is_some_and(SenderLog::failed)
            || self.abandoned.load(Ordering::Relaxed)
    }

    fn flow(&mut self, flow: usize, facts: &FlowInfo<'_>) {
        if let Some(tap) = &mut self.tap {
            tap.flow(flow, facts);
        }
        if let Some(air) = &mut self.air {
            air.flow(flow, facts);
        }
    }

    fn enters(&mut self, observed: &ObservedPacket<'_>, tag: &mut Tag) {
        if let Some(tap) = self.tap_of(observed) {
            tap.enters(observed, tag);
        }
        if let Some(air) = &mut self.air
            && has_segment(observed)
        {
            air.enters(observed, tag);
        }
    }

    fn dropped(&mut self, observed: &ObservedPacket<'_>, tag: Tag, reason: DropReason) {
        if let Some(tap) = self.tap_of(observed) {
            tap.dropped(observed, tag, reason);
        }
    }

    fn leaves(&mut self, observed: &ObservedPacket<'_>, tag: &mut Tag) {
        if let Some(tap) = self.tap_of(observed) {
            tap.leaves(observed, tag);
        }
    }

    fn arrives(&mut self, observed: &ObservedPacket<'_>, tag: Tag, duplicate: bool) {
        if let Some(tap) = self.tap_of(observed) {
            tap.arrives(tag, duplicate);
        }
    }

    fn capture_points(&self) -> Vec<(usize, CapturePoint)> {
        self.air
            .as_ref()
            .map_or_else(Vec::new, AirTap::capture_points)
    }

    fn frame_recorded(
        &mut self,
        channel: usize,
        frame: &RecordedFrame<()>,
        packet: Option<(ObservedPacket<'_>, Tag)>,
    ) {
        if let Some(air) = &mut self.air {
            air.frame_recorded(channel, frame, packet);
        }
    }

    fn event(&mut self, event: &EndpointEvent) {
        if let Some(log) = &mut self.log
            && event.flow == 0
        {
            log.event(event);
        }
    }
}
