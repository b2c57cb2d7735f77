//! The simulator's links in real time.
//!
//! Each path has a device at the client and one at the server. Packets that the kernel sends into
//! one of them pass the path's links and are written to the other at the time given by the last
//! link. One thread serves all devices: it sleeps, with nanosecond resolution, until a packet is
//! due or a device has one, and never spins.

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

#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) network: Network<Packet>,
    pub(crate) paths: Vec<PathDevices>,
    pub(crate) mtu: usize,
    /// End of the warm-up, when the links' counters are recorded, too.
    pub(crate) warmup: Time,
}

#[derive(Debug)]
pub(crate) struct PathDevices {
    pub(crate) devices: [File; 2],
    pub(crate) routes: [RouteId; 2],
}

/// Results of an emulator.
#[derive(Clone, Debug)]
pub struct EmulatorResult {
    /// Results of each link in both directions.
    pub links: Vec<[DirectionResult; 2]>,
    /// Lateness of deliveries.
    pub lateness: Lateness,
    /// FlowResult packets.
    pub packets: u64,
    /// Packets that the receiving kernel rejected.
    pub refused: u64,
    /// Whether the thread had a real-time priority.
    pub real_time: bool,
    /// CPU time of the thread, in seconds.
    pub cpu_s: f64,
    /// Time that the thread waited for a processor; `None` if the kernel does not count it.
    pub waits: Option<Waits>,
    /// Duration of the emulation.
    pub duration: Time,
    /// Number of captured packets, if there is a capture.
    pub captured: Option<u64>,
}

/// Results of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionResult {
    /// Counters at the end of the warm-up.
    pub before: Counters,
    /// Counters at the end of the run.
    pub after: Counters,
    /// Bytes transmitted between both, lost ones included.
    pub transmitted: u64,
    /// Bytes that could have been transmitted; `None` if unlimited.
    pub capacity: Option<Bytes>,
}

/// A running emulator, which ends on drop.
#[derive(Debug)]
pub struct Emulator {
    thread: Option<JoinHandle<io::Result<EmulatorResult>>>,
    stop: OwnedFd,
}

impl Emulator {
    /// Starts the emulator; the links' time counts from `epoch`. Fails if the system has no thread,
    /// or no file for it to wait on.
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

    /// Stops the emulator and discards packets in flight. Fails if a device failed, or the capture
    /// could not be written.
    pub fn stop(mut self) -> io::Result<EmulatorResult> {
        self.join().expect("nobody else has waited for it")
    }

    fn join(&mut self) -> Option<io::Result<EmulatorResult>> {
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
            let _ = self.join();
        }
    }
}
