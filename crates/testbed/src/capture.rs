//! Packet capture of a run, written to a file by a separate thread.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use ropewalk_capture::{
    Direction, FileError, InterfaceCounts, ObservationPoint, PacketFile, Record, Settings,
};
use ropewalk_network::{Direction as Way, DropReason, HopEvent};
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

const BATCH_BYTES: usize = 1 << 18;

/// Captures the packets of all flows at an observation point.
#[derive(Debug)]
pub struct Tap {
    place: ObservationPoint,
    interfaces: Vec<Option<usize>>,
    counts: Vec<InterfaceCounts>,
    batch: Batch,
    batches: mpsc::Sender<Batch>,
    writer: JoinHandle<Result<PacketFile, FileError>>,
}

#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    packets: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    time: Time,
    interface: usize,
    direction: Direction,
    bytes: Range<usize>,
    dropped: Option<DropReason>,
}

impl Tap {
    /// Creates the file in the format of its extension. Fails if the file cannot be created.
    pub fn create(
        path: &Path,
        place: ObservationPoint,
        scenario: &Scenario,
        title: &str,
    ) -> Result<Tap, FileError> {
        let links = place.links(scenario);
        let interfaces = place.interfaces(scenario);
        let settings = Settings {
            snaplen: None,
            comment: format!("{title}, captured {}", place.describe(scenario)),
            ..Settings::default()
        };
        let file = PacketFile::create(path, &interfaces, &settings)?;
        let names = interfaces.into_iter().map(|interface| interface.name);
        let names: Vec<String> = names.collect();
        let (batches, queue) = mpsc::channel();
        Ok(Tap {
            place,
            interfaces: (0..scenario.links.len())
                .map(|link| links.iter().position(|&other| other == link))
                .collect(),
            counts: vec![InterfaceCounts::default(); links.len()],
            batch: Batch::default(),
            batches,
            writer: thread::spawn(move || write(file, &queue, &names)),
        })
    }

    pub(crate) fn enters(&mut self, at: &HopEvent, bytes: &[u8]) {
        if let Some(link) = self.outbound(at) {
            self.see(at.time, link, Direction::Outbound, bytes);
        }
    }

    /// Marks the last offered packet as dropped by the hop.
    pub(crate) fn dropped(&mut self, at: &HopEvent, reason: DropReason) {
        let Some(interface) = self.outbound(at).and_then(|link| self.interfaces[link]) else {
            return;
        };
        self.counts[interface].dropped += u64::from(reason == DropReason::QueueFull);
        if let Some(seen) = self.batch.packets.last_mut() {
            seen.dropped = Some(reason);
        }
    }

    pub(crate) fn leaves(&mut self, at: &HopEvent, bytes: &[u8]) {
        let Some((link, way)) = at.link else {
            return;
        };
        let last = at.hops_left == 0;
        let here = match self.place {
            ObservationPoint::Sender => last && way == Way::Reverse,
            ObservationPoint::Receiver => last && way == Way::Forward,
            ObservationPoint::Link(place) => link.index() == place && way == Way::Reverse,
            ObservationPoint::Channel(_) | ObservationPoint::Node(_) => false,
        };
        if here {
            self.see(at.time, link.index(), Direction::Inbound, bytes);
        }
    }

    /// The link whose observation point an offered packet passes, if any.
    fn outbound(&self, at: &HopEvent) -> Option<usize> {
        let (link, way) = at.link?;
        let here = match self.place {
            ObservationPoint::Sender => at.first_hop && way == Way::Forward,
            ObservationPoint::Receiver => at.first_hop && way == Way::Reverse,
            ObservationPoint::Link(place) => link.index() == place && way == Way::Forward,
            ObservationPoint::Channel(_) | ObservationPoint::Node(_) => false,
        };
        here.then(|| link.index())
    }

    /// Completes the file and returns its number of packets. Fails if the file cannot be written,
    /// which then does not appear.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.hand_over();
        drop(self.batches);
        let written = match self.writer.join() {
            Ok(written) => written,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let finished = written.and_then(|file| file.finish(&self.counts));
        finished.map_err(io::Error::other)
    }

    fn see(&mut self, time: Time, link: usize, direction: Direction, bytes: &[u8]) {
        let Some(interface) = self.interfaces[link] else {
            return;
        };
        // Not right after recording a packet, which may still turn out to be dropped.
        if self.batch.bytes.len() >= BATCH_BYTES {
            self.hand_over();
        }
        let counts = &mut self.counts[interface];
        counts.received += 1;
        let start = self.batch.bytes.len();
        self.batch.bytes.extend_from_slice(bytes);
        self.batch.packets.push(Seen {
            time,
            interface,
            direction,
            bytes: start..start + bytes.len(),
            dropped: None,
        });
    }

    fn hand_over(&mut self) {
        let next = Batch {
            bytes: Vec::with_capacity(BATCH_BYTES + u16::MAX as usize),
            packets: Vec::with_capacity(self.batch.packets.len()),
        };
        // If the writing thread has ended, joining it returns its error.
        let _ = self.batches.send(std::mem::replace(&mut self.batch, next));
    }
}

fn write(
    mut file: PacketFile,
    batches: &mpsc::Receiver<Batch>,
    names: &[String],
) -> Result<PacketFile, FileError> {
    for batch in batches {
        for seen in &batch.packets {
            let link = &names[seen.interface];
            let comment = seen.dropped.map(|reason| match reason {
                DropReason::QueueFull => format!("dropped: the queue of {link} was full"),
                _ => format!("lost on {link}"),
            });
            file.write(&Record {
                time: seen.time,
                interface: seen.interface,
                direction: seen.direction,
                bytes: &batch.bytes[seen.bytes.clone()],
                comment: comment.as_deref(),
            })?;
        }
    }
    Ok(file)
}
