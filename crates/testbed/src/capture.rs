//! A capture of a run: packets as the emulator saw them, in a file that a thread of its own writes.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use ropewalk_capture::{
    Direction, FileError, Interface, InterfaceCounts, PacketFile, Place, Record, Settings,
};
use ropewalk_network::{Capacity, Offer};
use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

/// So much goes to the writing thread at once.
const BATCH_BYTES: usize = 1 << 18;

/// Takes note of the packets that pass a place, those of all flows.
#[derive(Debug)]
pub struct Tap {
    place: Place,
    /// Interface of each link, if it has one here.
    interfaces: Vec<Option<usize>>,
    counts: Vec<InterfaceCounts>,
    batch: Batch,
    batches: mpsc::Sender<Batch>,
    writer: JoinHandle<Result<PacketFile, FileError>>,
}

/// Packets on their way to the file.
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
    /// What became of it at the link that it was offered to.
    offer: Offer,
}

impl Tap {
    /// Begins the file; its ending says the format.
    ///
    /// # Errors
    /// The file cannot be begun.
    pub fn create(
        path: &Path,
        place: Place,
        scenario: &Scenario,
        title: &str,
    ) -> Result<Tap, FileError> {
        let links = place.links(scenario);
        let interface = |&link: &usize| Interface {
            name: scenario.links[link].name.clone(),
            speed: match scenario.links[link].forward.capacity {
                Capacity::Rate(rate) => Some(rate),
                Capacity::Unlimited | Capacity::Trace(_) => None,
            },
        };
        let interfaces: Vec<Interface> = links.iter().map(interface).collect();
        let settings = Settings {
            snaplen: None,
            comment: format!("{title}, captured {}", place.describe(scenario)),
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

    /// A packet is offered to a direction of a link (link `l` there is `2 l`, back is `2 l + 1`).
    pub(crate) fn enters(
        &mut self,
        time: Time,
        hop: usize,
        first: bool,
        bytes: &[u8],
        offer: Offer,
    ) {
        let (link, back) = (hop / 2, hop % 2 == 1);
        let here = match self.place {
            Place::Sender => first && !back,
            Place::Receiver => first && back,
            Place::Link(place) => link == place && !back,
        };
        if here {
            self.see(time, link, Direction::Outbound, bytes, offer);
        }
    }

    /// A packet comes out of a direction of a link.
    pub(crate) fn leaves(&mut self, time: Time, hop: usize, last: bool, bytes: &[u8]) {
        let (link, back) = (hop / 2, hop % 2 == 1);
        let here = match self.place {
            Place::Sender => last && back,
            Place::Receiver => last && !back,
            Place::Link(place) => link == place && back,
        };
        if here {
            self.see(time, link, Direction::Inbound, bytes, Offer::Accepted);
        }
    }

    /// Completes the file; gives the number of packets in it.
    ///
    /// # Errors
    /// The file could not be written: it is not there.
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

    fn see(&mut self, time: Time, link: usize, direction: Direction, bytes: &[u8], offer: Offer) {
        let Some(interface) = self.interfaces[link] else {
            return;
        };
        let counts = &mut self.counts[interface];
        counts.received += 1;
        counts.dropped += u64::from(offer == Offer::Dropped);
        let start = self.batch.bytes.len();
        self.batch.bytes.extend_from_slice(bytes);
        self.batch.packets.push(Seen {
            time,
            interface,
            direction,
            bytes: start..start + bytes.len(),
            offer,
        });
        if self.batch.bytes.len() >= BATCH_BYTES {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let next = Batch {
            bytes: Vec::with_capacity(BATCH_BYTES + u16::MAX as usize),
            packets: Vec::with_capacity(self.batch.packets.len()),
        };
        // A writer that is gone says why when it is joined.
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
            let comment = match seen.offer {
                Offer::Accepted => None,
                Offer::Dropped => Some(format!("dropped: the queue of {link} was full")),
                Offer::Lost => Some(format!("lost on {link}")),
            };
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
