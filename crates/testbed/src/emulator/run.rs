//! The loop that carries packets.

use std::io;
use std::num::NonZeroU64;
use std::time::Instant;

use ropewalk_network::{Link, Offer};
use ropewalk_quantities::Time;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use rustix::time::{ClockId, clock_gettime};

use super::lateness::Lateness;
use super::pool::Pool;
use super::{Carried, HopCarried, Network, Path};
use crate::capture::Tap;
use crate::syscalls::schedule_fifo;

/// Above all ordinary threads; below what the kernel itself may run at 50 (threaded interrupts).
const PRIORITY: i32 = 40;
/// How many packets are taken of a device before the others have their turn.
const BATCH: usize = 32;
/// What epoll says of the file that ends the loop; devices are numbered from zero.
const STOP: u64 = u64::MAX;

/// A packet on its way: where its bytes are, and where it goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    slot: u32,
    path: u16,
    /// How many hops of its route it has behind it, but for the one that it is on.
    passed: u8,
    to_client: bool,
}

#[derive(Debug)]
pub(super) struct Run {
    hops: Vec<Link<Packet>>,
    paths: Vec<Path>,
    pool: Pool,
    epoch: Instant,
    epoll: OwnedFd,
    /// The next packet's order.
    order: u64,
    warmup: Option<Time>,
    carried: Carried,
    tap: Option<Tap>,
}

impl Run {
    /// Ready to run; it ends when `stop` can be read.
    pub(super) fn new(
        network: Network,
        epoch: Instant,
        stop: &OwnedFd,
        tap: Option<Tap>,
    ) -> io::Result<Run> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let readable = epoll::EventFlags::IN;
        epoll::add(&epoll, stop, epoll::EventData::new_u64(STOP), readable)?;
        let devices = network.paths.iter().flat_map(|path| &path.devices);
        for (number, device) in (0..).zip(devices) {
            epoll::add(&epoll, device, epoll::EventData::new_u64(number), readable)?;
        }
        let carried = Carried {
            hops: vec![HopCarried::default(); network.hops.len()],
            lateness: Lateness::default(),
            packets: 0,
            refused: 0,
            real_time: false,
            cpu_s: 0.0,
            duration: Time::ZERO,
            captured: None,
        };
        Ok(Run {
            hops: network.hops,
            paths: network.paths,
            pool: Pool::new(network.mtu),
            epoch,
            epoll,
            order: 0,
            warmup: Some(network.warmup),
            carried,
            tap,
        })
    }

    /// Carries packets until it is told to stop.
    pub(super) fn run(mut self) -> io::Result<Carried> {
        // Without it the timers of ordinary threads are up to 50 us late (prctl(2)).
        set_current_timer_slack(NonZeroU64::new(1))?;
        self.carried.real_time = schedule_fifo(PRIORITY).is_ok();
        let mut events = Vec::with_capacity(2 * self.paths.len() + 1);
        loop {
            self.hand_on_until_now()?;
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
                    device => self.take_in(device as usize)?,
                }
            }
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.epoch.elapsed().as_nanos() as u64)
    }

    /// How long nothing is due; `None` for ever.
    fn timeout(&self) -> Option<Timespec> {
        let due = self.next().map(|(due, _)| due);
        let due = due.into_iter().chain(self.warmup).min()?;
        let left = due.saturating_sub(self.now()).as_nanos();
        Some(Timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        })
    }

    /// The hop whose first packet comes out soonest, and when.
    fn next(&self) -> Option<(Time, usize)> {
        let heads = self.hops.iter().enumerate();
        let heads = heads.filter_map(|(hop, link)| Some((link.head()?, hop)));
        heads.min().map(|((due, _), hop)| (due, hop))
    }

    /// Takes packets that the kernel has sent into a device.
    fn take_in(&mut self, device: usize) -> io::Result<()> {
        let (path, end) = (device / 2, device % 2);
        for _ in 0..BATCH {
            let slot = self.pool.take();
            let file = &self.paths[path].devices[end];
            match rustix::io::read(file, self.pool.slot_mut(slot)) {
                Ok(length) => {
                    // Links want to be told of everything in the order of time.
                    let now = self.hand_on_until_now()?;
                    if is_multicast(&self.pool.slot(slot)[..length]) {
                        self.pool.give(slot);
                        continue;
                    }
                    let packet = Packet {
                        slot,
                        path: path as u16,
                        passed: 0,
                        to_client: end == 1,
                    };
                    self.enter(now, length as u32, packet);
                }
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.pool.give(slot);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Offers a packet to the hop that it has come to.
    fn enter(&mut self, time: Time, size: u32, packet: Packet) {
        let route = &self.paths[usize::from(packet.path)].routes[usize::from(packet.to_client)];
        let hop = usize::from(route[usize::from(packet.passed)]);
        let offer = self.hops[hop].push(time, size, self.order, packet);
        self.order += 1;
        if let Some(tap) = &mut self.tap {
            let bytes = &self.pool.slot(packet.slot)[..size as usize];
            tap.enters(time, hop, packet.passed == 0, bytes, offer);
        }
        if offer != Offer::Accepted {
            self.pool.give(packet.slot);
        }
    }

    /// Hands on all that is due, in the order of time; gives the time that it was last.
    fn hand_on_until_now(&mut self) -> io::Result<Time> {
        let mut now = self.now();
        loop {
            if self.warmup.is_some_and(|warmup| warmup <= now)
                && self.next().is_none_or(|(due, _)| Some(due) >= self.warmup)
            {
                self.note_warmup();
            }
            match self.next() {
                Some((due, hop)) if due <= now => self.hand_on(hop)?,
                _ => return Ok(now),
            }
            now = self.now();
        }
    }

    fn hand_on(&mut self, hop: usize) -> io::Result<()> {
        let (due, size, &packet) = self.hops[hop].pop();
        let path = &self.paths[usize::from(packet.path)];
        let last = path.routes[usize::from(packet.to_client)].len() - 1;
        if let Some(tap) = &mut self.tap {
            let bytes = &self.pool.slot(packet.slot)[..size as usize];
            tap.leaves(due, hop, usize::from(packet.passed) == last, bytes);
        }
        if usize::from(packet.passed) < last {
            let passed = packet.passed + 1;
            self.enter(due, size, Packet { passed, ..packet });
            return Ok(());
        }
        let late = self.now().saturating_sub(due);
        self.carried.lateness.record(late);
        let device = &path.devices[usize::from(!packet.to_client)];
        let bytes = &self.pool.slot(packet.slot)[..size as usize];
        match rustix::io::write(device, bytes) {
            Ok(_) => self.carried.packets += 1,
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM | Errno::INVAL) => {
                self.carried.refused += 1;
            }
            Err(error) => return Err(error.into()),
        }
        self.pool.give(packet.slot);
        Ok(())
    }

    /// What is measured begins here.
    fn note_warmup(&mut self) {
        if let Some(warmup) = self.warmup.take() {
            for (link, carried) in self.hops.iter_mut().zip(&mut self.carried.hops) {
                carried.before = link.counters();
                carried.transmitted = link.transmitted(warmup).as_u64();
            }
            self.carried.duration = warmup;
        }
    }

    fn finish(mut self) -> io::Result<Carried> {
        let now = self.now();
        if self.warmup.is_some() {
            // It ended within the warm-up: nothing was measured.
            self.warmup = Some(now);
            self.note_warmup();
        }
        let warmup = self.carried.duration;
        for (link, carried) in self.hops.iter_mut().zip(&mut self.carried.hops) {
            carried.after = link.counters();
            carried.transmitted = link.transmitted(now).as_u64() - carried.transmitted;
            carried.capacity = link.capacity_between(warmup, now);
        }
        let spent = clock_gettime(ClockId::ThreadCPUTime);
        self.carried.cpu_s = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
        self.carried.duration = now;
        self.carried.captured = self.tap.map(Tap::finish).transpose()?;
        Ok(self.carried)
    }
}

/// What the kernel says of itself to the neighbours (MLD, router solicitations) is no part of a
/// run: a device of its own would have swallowed it.
fn is_multicast(packet: &[u8]) -> bool {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => packet.get(16).is_some_and(|byte| byte >> 4 == 0xe),
        Some(6) => packet.get(24) == Some(&0xff),
        _ => true,
    }
}
