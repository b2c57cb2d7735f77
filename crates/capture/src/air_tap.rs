//! Capture of 802.11 frames at an observation point.

use std::path::Path;

use ropewalk_network::radio::{CapturePoint, DATA_OVERHEAD_BYTES, RecordedFrame};
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{FlowInfo, ObservedPacket};

use crate::air::AirCapture;
use crate::error::FileError;
use crate::flows::{Flows, sent};
use crate::observation_point::ObservationPoint;
use crate::tap::Tag;

/// Captures the frames of a channel, or of a node's radios.
#[derive(Debug)]
pub(crate) struct AirTap {
    capture_points: Vec<(usize, CapturePoint)>,
    flows: Flows,
    bytes: Vec<u8>,
    file: AirCapture,
    failure: Option<FileError>,
}

impl AirTap {
    pub(crate) fn create(
        path: &Path,
        place: ObservationPoint,
        snaplen: Option<u32>,
        scenario: &Scenario,
        title: &str,
    ) -> Result<AirTap, FileError> {
        let capture_points = place.capture_points(scenario);
        let name = |(channel, _): &(usize, CapturePoint)| {
            let channel = &scenario.wireless.channels[*channel];
            channel.config.name.as_str()
        };
        let names: Vec<&str> = capture_points.iter().map(name).collect();
        let comment = format!("{title}, captured {}", place.describe(scenario));
        Ok(AirTap {
            file: AirCapture::create(path, &names, snaplen, &comment)?,
            capture_points,
            flows: Flows::default(),
            bytes: Vec::new(),
            failure: None,
        })
    }

    pub(crate) fn capture_points(&self) -> Vec<(usize, CapturePoint)> {
        self.capture_points.clone()
    }

    pub(crate) fn flow(&mut self, flow: usize, facts: &FlowInfo<'_>) {
        self.flows.add(flow, facts);
    }

    pub(crate) fn enters(&mut self, observed: &ObservedPacket<'_>, tag: &mut Tag) {
        if observed.first_hop {
            *tag = Tag::numbered(self.flows.leaves_host(observed));
        }
    }

    /// Records the end of a frame. A packet of a tunnel or an association is longer than its
    /// captured segment: zeros fill the rest.
    pub(crate) fn frame_recorded(
        &mut self,
        channel: usize,
        frame: &RecordedFrame<()>,
        packet: Option<(ObservedPacket<'_>, Tag)>,
    ) {
        let interface = self
            .capture_points
            .iter()
            .position(|(number, _)| *number == channel);
        let Some(interface) = interface.filter(|_| self.failure.is_none()) else {
            return;
        };
        self.bytes.clear();
        if let Some((observed, tag)) = packet {
            let sent = sent(&observed, tag.identification);
            self.flows.write(observed.flow, &sent, &mut self.bytes);
            self.bytes
                .resize((frame.bytes - DATA_OVERHEAD_BYTES) as usize, 0);
        }
        self.failure = self.file.write(interface, frame, &self.bytes).err();
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn finish(self) -> Result<u64, FileError> {
        match self.failure {
            None => self.file.finish(),
            Some(failure) => Err(failure),
        }
    }
}
