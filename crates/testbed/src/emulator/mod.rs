//! Links on the real clock: the very ones that the simulator runs in virtual time.
//!
//! Each path has a device at the client and one at the server. What the kernel
//! sends into one of them passes the path's links, and is handed to the other
//! when the last link says. One thread serves all: it sleeps until the next
//! packet is due or a device has something, to the nanosecond, and never spins.

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
use run::Run;

/// What an emulator carries packets over.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Its links have the scenario's numbers.
    pub(crate) network: Network<Packet>,
    /// Paths, in the order of their numbers.
    pub(crate) paths: Vec<Path>,
    /// The longest packet, in bytes.
    pub(crate) mtu: usize,
    /// The counters of links are noted down at this time, too.
    pub(crate) warmup: Time,
}

/// A path as an emulator has it.
#[derive(Debug)]
pub(crate) struct Path {
    /// At the client and at the server.
    pub(crate) devices: [File; 2],
    /// From client to server, and from server to client.
    pub(crate) routes: [RouteId; 2],
}

/// What an emulator has done.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Each link's, there and back.
    pub links: Vec<[DirectionCarried; 2]>,
    /// How late packets were handed on.
    pub lateness: Lateness,
    /// Packets that were handed on.
    pub packets: u64,
    /// Packets that the receiving kernel did not take.
    pub refused: u64,
    /// Whether the thread ran with a real-time priority.
    pub real_time: bool,
    /// Processor time of the thread, in seconds.
    pub cpu_s: f64,
    /// How long it ran.
    pub duration: Time,
    /// How many packets were captured, if any were to be.
    pub captured: Option<u64>,
}

/// What one direction of a link has done after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCarried {
    /// At the end of the warm-up.
    pub before: Counters,
    /// At the end.
    pub after: Counters,
    /// Bytes sent between the two, lost ones included.
    pub transmitted: u64,
    /// What could have been; `None` if that is unlimited.
    pub capacity: Option<Bytes>,
}

/// An emulator at work; dropped, it ends.
#[derive(Debug)]
pub struct Emulator {
    /// Until it has been waited for.
    thread: Option<JoinHandle<io::Result<Carried>>>,
    stop: OwnedFd,
}

impl Emulator {
    /// Starts carrying; the links' time counts from `epoch`.
    ///
    /// # Errors
    /// The system has no thread, or no file for it to wait on.
    pub(crate) fn start(setup: Setup, epoch: Instant, tap: Option<Tap>) -> io::Result<Emulator> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let run = Run::new(setup, epoch, &stop, tap)?;
        let thread = thread::Builder::new()
            .name("emulator".to_owned())
            .spawn(move || run.run())?;
        Ok(Emulator {
            thread: Some(thread),
            stop,
        })
    }

    /// Ends it; what is still on its way is not handed on.
    ///
    /// # Errors
    /// A device failed on the way, or the capture could not be written.
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
            // Nobody is left to hear of a failure.
            let _ = self.join();
        }
    }
}
