//! Packet loop of the emulator.

use std::io;
use std::num::NonZeroU64;
use std::time::Instant;

use ropewalk_network::{
    Advance, Direction, DropReason, HopEvent, LinkId, Network, NetworkObserver,
};
use ropewalk_quantities::Time;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};

use super::lateness::Lateness;
use super::pool::Pool;
use super::{EmulatorResult, PathDevices, Setup};
use crate::capture::Tap;
use crate::machine::Waits;
use crate::syscalls::schedule_fifo;

/// Above all ordinary threads; below the kernel's own interrupt threads at 50.
const PRIORITY: i32 = 40;
const BATCH: usize = 32;
/// epoll number of the file that ends the loop; devices count from zero.
const STOP: u64 = u64::MAX;

/// A packet in flight: the slot of its bytes, and its route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    slot: u32,
    len: u32,
    path: u16,
    to_client: bool,
}

#[derive(Debug)]
pub(super) struct Run {
    network: Network<Packet>,
    paths: Vec<PathDevices>,
    watch: PacketStore,
    epoch: Instant,
    epoll: OwnedFd,
    warmup: Option<Time>,
    carried: EmulatorResult,
}

/// Stores the bytes of packets in flight, and captures them at the observation point.
#[derive(Debug)]
struct PacketStore {
    pool: Pool,
    tap: Option<Tap>,
}

impl Packet {
    fn bytes<'a>(&self, pool: &'a Pool) -> &'a [u8] {
        &pool.slot(self.slot)[..self.len as usize]
    }
}

impl NetworkObserver<Packet> for PacketStore {
    const ENABLED: bool = true;

    fn enters(&mut self, at: &HopEvent, packet: &mut Packet) {
        let bytes = packet.bytes(&self.pool);
        if let Some(tap) = &mut self.tap {
            tap.enters(at, bytes);
        }
    }

    fn leaves(&mut self, at: &HopEvent, packet: &mut Packet) {
        let bytes = packet.bytes(&self.pool);
        if let Some(tap) = &mut self.tap {
            tap.leaves(at, bytes);
        }
    }

    fn dropped(&mut self, at: &HopEvent, packet: &mut Packet, reason: DropReason) {
        if let Some(tap) = &mut self.tap {
            tap.dropped(at, reason);
        }
        self.pool.give(packet.slot);
    }
}

impl Run {
    /// Prepares the loop, which ends when `stop` becomes readable.
    pub(super) fn new(
        setup: Setup,
        epoch: Instant,
        stop: &OwnedFd,
        tap: Option<Tap>,
    ) -> io::Result<Run> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let readable = epoll::EventFlags::IN;
        epoll::add(&epoll, stop, epoll::EventData::new_u64(STOP), readable)?;
        let devices = setup.paths.iter().flat_map(|path| &path.devices);
        for (number, device) in (0..).zip(devices) {
            epoll::add(&epoll, device, epoll::EventData::new_u64(number), readable)?;
        }
        let carried = EmulatorResult {
            links: vec![Default::default(); setup.network.topology().links().len()],
            lateness: Lateness::default(),
            packets: 0,
            refused: 0,
            real_time: false,
            cpu_s: 0.0,
            waits: None,
            duration: Time::ZERO,
            captured: None,
        };
        Ok(Run {
            network: setup.network,
            paths: setup.paths,
            watch: PacketStore {
                pool: Pool::new(setup.mtu),
                tap,
            },
            epoch,
            epoll,
            warmup: Some(setup.warmup),
            carried,
        })
    }

    pub(super) fn run(mut self) -> io::Result<EmulatorResult> {
        // Otherwise the timers of ordinary threads are up to 50 us late (prctl(2)).
        set_current_timer_slack(NonZeroU64::new(1))?;
        self.carried.real_time = schedule_fifo(PRIORITY).is_ok();
        let mut events = Vec::with_capacity(2 * self.paths.len() + 1);
        loop {
            self.deliver_due()?;
            let timeout = self.timeout();
            events.clear();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    STOP => return self.finish(),
                    device => self.read_device(device as usize)?,
                }
            }
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.epoch.elapsed().as_nanos() as u64)
    }

    fn timeout(&self) -> Option<Timespec> {
        let due = self.next();
        let due = due.into_iter().chain(self.warmup).min()?;
        let left = due.saturating_sub(self.now()).as_nanos();
        Some(Timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        })
    }

    fn next(&self) -> Option<Time> {
        self.network.next().map(|key| key.time)
    }

    fn read_device(&mut self, device: usize) -> io::Result<()> {
        let (path, end) = (device / 2, device % 2);
        for _ in 0..BATCH {
            let slot = self.watch.pool.take();
            let file = &self.paths[path].devices[end];
            match rustix::io::read(file, self.watch.pool.slot_mut(slot)) {
                Ok(length) => {
                    // The network requires all events in time order.
                    let now = self.deliver_due()?;
                    let mut packet = Packet {
                        slot,
                        len: length as u32,
                        path: path as u16,
                        to_client: end == 1,
                    };
                    if is_multicast(packet.bytes(&self.watch.pool)) {
                        self.watch.pool.give(slot);
                        continue;
                    }
                    let (route, size) = (self.paths[path].routes[end], packet.len);
                    let _ = self
                        .network
                        .offer(now, route, size, &mut packet, &mut self.watch);
                }
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.watch.pool.give(slot);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Delivers all due packets in time order; returns the time of the last check.
    fn deliver_due(&mut self) -> io::Result<Time> {
        let mut now = self.now();
        loop {
            if self.warmup.is_some_and(|warmup| warmup <= now)
                && self.next().is_none_or(|due| Some(due) >= self.warmup)
            {
                self.note_warmup();
            }
            if self.next().is_none_or(|due| due > now) {
                return Ok(now);
            }
            self.deliver_next(now)?;
            now = self.now();
        }
    }

    fn deliver_next(&mut self, now: Time) -> io::Result<()> {
        let Advance::Arrived(arrival) = self.network.advance(now, &mut self.watch) else {
            return Ok(());
        };
        let (due, packet) = (arrival.time, *arrival.packet);
        let late = self.now().saturating_sub(due);
        self.carried.lateness.record(late);
        let path = &self.paths[usize::from(packet.path)];
        let device = &path.devices[usize::from(!packet.to_client)];
        match rustix::io::write(device, packet.bytes(&self.watch.pool)) {
            Ok(_) => self.carried.packets += 1,
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM | Errno::INVAL) => {
                self.carried.refused += 1;
            }
            Err(error) => return Err(error.into()),
        }
        self.watch.pool.give(packet.slot);
        Ok(())
    }

    fn note_warmup(&mut self) {
        if let Some(warmup) = self.warmup.take() {
            for (link, direction) in directions(&self.network) {
                let hop = self.network.link_mut(link, direction);
                let carried = &mut self.carried.links[link.index()][direction as usize];
                carried.before = hop.counters();
                carried.transmitted = hop.transmitted(warmup).as_u64();
            }
            self.carried.duration = warmup;
        }
    }

    fn finish(mut self) -> io::Result<EmulatorResult> {
        let now = self.now();
        if self.warmup.is_some() {
            // The run ended within the warm-up: nothing was measured.
            self.warmup = Some(now);
            self.note_warmup();
        }
        let warmup = self.carried.duration;
        for (link, direction) in directions(&self.network) {
            let hop = self.network.link_mut(link, direction);
            let carried = &mut self.carried.links[link.index()][direction as usize];
            carried.after = hop.counters();
            carried.transmitted = hop.transmitted(now).as_u64() - carried.transmitted;
            carried.capacity = hop.capacity_between(warmup, now);
        }
        let spent = clock_gettime(ClockId::ThreadCPUTime);
        self.carried.cpu_s = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
        self.carried.waits = Waits::of_this_thread();
        self.carried.duration = now;
        self.carried.captured = self.watch.tap.map(Tap::finish).transpose()?;
        Ok(self.carried)
    }
}

fn directions(network: &Network<Packet>) -> impl Iterator<Item = (LinkId, Direction)> + use<> {
    let links = network.topology().links();
    links.flat_map(|link| Direction::BOTH.map(|direction| (link, direction)))
}

/// Whether to discard a packet of the kernel to its neighbours (MLD, router solicitation), which is
/// not part of the run.
fn is_multicast(packet: &[u8]) -> bool {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => packet.get(16).is_some_and(|byte| byte >> 4 == 0xe),
        Some(6) => packet.get(24) == Some(&0xff),
        _ => true,
    }
}
