//! Links in real time: the same ones that the simulator runs in simulated time.
//!
//! Each path has a device at the client and one at the server. What the kernel sends into one of them passes
//! the path's links and is written to the other at the time that the last link says. One thread serves all
//! devices: it sleeps, with a resolution of nanoseconds, until the next packet is due or a device has a
//! packet, and never spins.

mod lateness;
mod pool;
mod run;

use std::fs::File;
use std::io;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use ropewalk_network::{Counters, Network, RouteId};
use ropewalk_quantities::{Bytes, Time};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;

pub use lateness::{Lateness, LatenessSummary};
pub(crate) use run::Packet;

use crate::capture::Tap;
use crate::machine::{EMULATOR, Waits};
use run::Run;

/// The links and devices of an emulator.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Its links have the scenario's numbers.
    pub(crate) network: Network<Packet>,
    /// Paths, in the order of their numbers.
    pub(crate) paths: Vec<PathDevices>,
    /// The longest packet, in bytes.
    pub(crate) mtu: usize,
    /// The counters of links are also recorded at this time.
    pub(crate) warmup: Time,
}

/// A path and its devices.
#[derive(Debug)]
pub(crate) struct PathDevices {
    /// The devices at the client and at the server.
    pub(crate) devices: [File; 2],
    /// The hops from client to server, and from server to client.
    pub(crate) routes: [RouteId; 2],
}

/// The results of an emulator.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Those of each link, in both directions.
    pub links: Vec<[DirectionCarried; 2]>,
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// Packets that were delivered.
    pub packets: u64,
    /// Packets that the receiving kernel did not accept.
    pub refused: u64,
    /// Whether the thread ran with a real-time priority.
    pub real_time: bool,
    /// CPU time of the thread, in seconds.
    pub cpu_s: f64,
    /// How long the thread waited for a processor; `None` if the kernel does not count that.
    pub waits: Option<Waits>,
    /// How long it ran.
    pub duration: Time,
    /// How many packets were captured, if any were to be.
    pub captured: Option<u64>,
}

/// The results of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCarried {
    /// The counters at the end of the warm-up.
    pub before: Counters,
    /// The counters at the end of the run.
    pub after: Counters,
    /// Bytes transmitted between the two, lost ones included.
    pub transmitted: u64,
    /// What could have been transmitted; `None` if that is unlimited.
    pub capacity: Option<Bytes>,
}

/// A running emulator; it ends when this is dropped.
#[derive(Debug)]
pub struct Emulator {
    /// `None` once it has been joined.
    thread: Option<JoinHandle<io::Result<Carried>>>,
    stop: OwnedFd,
}

impl Emulator {
    /// Starts it; the links' time counts from `epoch`.
    ///
    /// # Errors
    /// The system has no thread, or no file for it to wait on.
    pub(crate) fn start(setup: Setup, epoch: Instant, tap: Option<Tap>) -> io::Result<Emulator> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let run = Run::new(setup, epoch, &stop, tap)?;
        let thread = thread::Builder::new()
            .name(EMULATOR.to_owned())
            .spawn(move || run.run())?;
        Ok(Emulator {
            thread: Some(thread),
            stop,
        })
    }

    /// Stops it; packets on their way are discarded.
    ///
    /// # Errors
    /// A device failed, or the capture could not be written.
    pub fn stop(mut self) -> io::Result<Carried> {
        self.join().expect("nobody else has waited for it")
    }

    fn join(&mut self) -> Option<io::Result<Carried>> {
        let thread = self.thread.take()?;
        if let Err(error) = rustix::io::write(&self.stop, &1_u64.to_ne_bytes()) {
            return Some(Err(error.into()));
        }
        match thread.join() {
            Ok(carried) => Some(carried),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        if !thread::panicking() {
            // A failure cannot be reported any more.
            let _ = self.join();
        }
    }
}
