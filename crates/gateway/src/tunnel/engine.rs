//! Event loop between the device and the sockets.

#[cfg(any(test, fuzzing))]
pub mod any_datagrams;
#[cfg(test)]
mod at_once_tests;
mod incoming;
mod link_watch;
mod mtu;
mod name_resolution;
mod outgoing;
mod reload;
mod sessions;
mod states;
mod terms;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{ReceiverConfig, SenderConfig, TermsAnnouncer};
use ropewalk_wire::IpView;
use ropewalk_wire::gateway::tunnel::TunnelFrame;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;

use super::coalescer::Coalescer;
use super::config::{Config, RelayEndpoint, Role};
use super::control::Control;
use super::device::Device;
use super::dialer::Dialer;
use super::foreign_sources::ForeignSources;
use super::link_path::Path;
use super::link_policies::LinkPolicies;
use super::network_changes::NetworkChanges;
use super::oversize::Oversize;
use super::peer::Peer;
use super::refusal::RefusalCounts;
use super::responder::HandshakeResponder;
use super::socket::ReceiveBuffers;
use super::sockets::TunnelSockets;
use super::status::{PeerStatus, TunnelStatus};
use super::super_packet::PacketPool;
use crate::Link;
use crate::keys::PublicKey;
use crate::refusal_log::RefusalLog;
use crate::relay_name::NameResolver;
use crate::status::document::SessionState;
use link_watch::LinkWatch;
use name_resolution::NameResolution;
use states::StateLog;

/// Event sources of epoll besides the sockets, which are numbered from zero: device, control, network changes.
const DEVICE: u64 = u64::MAX;
const CONTROL: u64 = u64::MAX - 1;
const NETWORK: u64 = u64::MAX - 2;
/// The relay's socket for hellos.
const HELLOS: usize = 1;
/// Largest number of super-packets, or batches of datagrams, to handle before polling other sources.
const MAX_BATCHES: usize = 16;
const STATUS_INTERVAL: Duration = Duration::from_millis(100);

pub enum HandshakeRole {
    /// A client: connects to a relay, which is peer 0.
    Initiator(Box<Dialer>),
    /// A relay: clients connect to it.
    Responder(Box<HandshakeResponder>),
}

pub struct Engine {
    epoch: Instant,
    end: HandshakeRole,
    device: Device,
    sockets: TunnelSockets,
    watch: LinkWatch,
    names: Option<NameResolution>,
    /// A client's relays, and the number of the one in use.
    relays: Vec<RelayEndpoint>,
    relay: usize,
    peers: Vec<Peer>,
    sessions: HashMap<u32, usize>,
    addresses: HashMap<IpAddr, usize>,
    keys: HashMap<PublicKey, usize>,
    configs: (SenderConfig, ReceiverConfig),
    /// Greatest MTU of the device, and the one last set.
    mtus: (u16, u16),
    oversize: Oversize,
    /// Whether the device has a carrier only while the relay is reached.
    follows_relay: bool,
    /// A client's check of the sources of packets.
    foreign: Option<ForeignSources>,
    coalescer: Coalescer,
    pool: PacketPool,
    buffers: Option<ReceiveBuffers>,
    /// A client's ranks and quotas of links, and the terms announced to the relay.
    policies: LinkPolicies,
    announcer: TermsAnnouncer,
    control: Control,
    published_at: Instant,
    /// Something has changed since the last status update.
    status_changed: bool,
    state_log: StateLog,
    status: TunnelStatus,
    refused: RefusalCounts,
    refusals: RefusalLog,
}

impl Engine {
    #[must_use]
    pub fn new(
        end: HandshakeRole,
        (device, foreign): (Device, Option<ForeignSources>),
        (sockets, changes, names): (TunnelSockets, Option<NetworkChanges>, Option<NameResolver>),
        config: &Config,
        control: Control,
    ) -> Engine {
        let epoch = Instant::now();
        let configs = (config.sender(), config.receiver());
        let links: &[Link] = match &config.role {
            Role::Listen { .. } => &[],
            Role::Dial { links, .. } => links,
        };
        let policies = LinkPolicies::new(links, config.usage.clone());
        let peers = match &end {
            HandshakeRole::Initiator(_) => vec![Peer::new("relay".to_owned(), None, configs)],
            HandshakeRole::Responder(_) => Vec::new(),
        };
        Engine {
            epoch,
            end,
            device,
            sockets,
            watch: LinkWatch::new(epoch, changes),
            names: names
                .map(|resolver| NameResolution::new(epoch, resolver, config.relay_name.clone())),
            relays: config.relays(),
            relay: 0,
            peers,
            sessions: HashMap::new(),
            addresses: HashMap::new(),
            keys: HashMap::new(),
            configs,
            mtus: (config.mtu(), config.mtu()),
            oversize: Oversize::default(),
            follows_relay: config.follows_relay,
            foreign,
            coalescer: Coalescer::default(),
            pool: PacketPool::default(),
            buffers: Some(ReceiveBuffers::new()),
            policies,
            announcer: TermsAnnouncer::default(),
            status: control.status(),
            control,
            published_at: epoch,
            status_changed: true,
            state_log: StateLog::default(),
            refused: RefusalCounts::default(),
            refusals: RefusalLog::default(),
        }
    }

    /// Carries packets until it is stopped, or the device or a socket fails.
    pub fn run(mut self) -> io::Result<()> {
        let epoll = self.create_epoll()?;
        let mut events = Vec::with_capacity(self.sockets.len() + 2);
        loop {
            let timeout = self.timeout();
            events.clear();
            match epoll::wait(&epoll, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.status_changed |= !events.is_empty();
            let mut hellos = false;
            for event in &events {
                match event.data.u64() {
                    CONTROL => {
                        let (is_to_stop, reload) = self.control.take();
                        if is_to_stop {
                            self.close();
                            self.count_carried();
                            self.publish();
                            return Ok(());
                        }
                        if let Some(reload) = reload {
                            self.reload(reload);
                        }
                        self.use_relay(self.control.relay());
                        self.apply_resolutions(&epoll)?;
                    }
                    DEVICE => self.take_packets()?,
                    NETWORK => self.on_network_change(),
                    socket if self.is_for_hellos(socket as usize) => hellos = true,
                    socket => self.take_datagrams(socket as usize)?,
                }
            }
            if hellos {
                self.take_datagrams(HELLOS)?;
            }
            self.check_links(&epoll)?;
            self.handle_timers();
            self.update_terms();
            self.update_mtu();
            self.deliver();
            self.transmit();
            if self.status_changed && self.published_at.elapsed() >= STATUS_INTERVAL {
                self.publish();
            }
        }
    }

    fn publish(&mut self) {
        let now = self.now();
        let sockets = &self.sockets;
        for peer in self.peers.iter_mut().filter(|peer| peer.is_open(now.0)) {
            peer.announce_path_mtus(now.1, sending(sockets));
        }
        let policies = &self.policies;
        let about = |number| match number < policies.len() {
            true => Some((
                policies.name(number)?.to_owned(),
                policies.quota_status(number),
            )),
            false => Some((number.to_string(), None)),
        };
        let peers = self.peers.iter();
        let count = policies.len();
        let peers = peers.map(|peer| peer.status(now, count, about));
        let mut peers: Vec<PeerStatus> = peers.collect();
        match &self.end {
            HandshakeRole::Initiator(_) => {
                self.explain(now.0, &mut peers[0]);
                self.state_log.follow(now.0, &peers[0]);
                let is_reached = self.control.is_reached_otherwise();
                if is_reached || self.follows_relay {
                    let is_up = peers[0].session == SessionState::Up;
                    self.device.set_carrier(is_reached || is_up);
                }
            }
            HandshakeRole::Responder(_) => mtu::warn_of_narrow_links(&self.status.peers, &peers),
        }
        self.status.peers = peers;
        self.status.refused = self.refused;
        self.control.publish(self.status.clone());
        self.published_at = now.0;
        self.status_changed = false;
    }

    fn create_epoll(&self) -> io::Result<OwnedFd> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let readable = epoll::EventFlags::IN;
        let stop = epoll::EventData::new_u64(CONTROL);
        epoll::add(&epoll, self.control.wake_fd(), stop, readable)?;
        let device = &self.device.file;
        epoll::add(&epoll, device, epoll::EventData::new_u64(DEVICE), readable)?;
        if let Some(changes) = self.watch.changes() {
            epoll::add(
                &epoll,
                changes,
                epoll::EventData::new_u64(NETWORK),
                readable,
            )?;
        }
        for (number, _) in self.sockets.iter() {
            self.add_socket(&epoll, number)?;
        }
        Ok(epoll)
    }

    /// Adds a socket to `epoll`; its predecessor was removed when it was closed.
    fn add_socket(&self, epoll: &OwnedFd, number: usize) -> io::Result<()> {
        if let Some(socket) = self.sockets.get(number) {
            let data = epoll::EventData::new_u64(number as u64);
            epoll::add(epoll, socket.as_fd(), data, epoll::EventFlags::IN)?;
        }
        Ok(())
    }

    fn now(&self) -> (Instant, Time) {
        let now = Instant::now();
        (now, Time::from_nanos((now - self.epoch).as_nanos() as u64))
    }

    /// Returns how long to wait for events; `None` if nothing is due.
    fn timeout(&mut self) -> Option<Timespec> {
        let (instant, now) = self.now();
        let polls = self.peers.iter_mut().flat_map(|peer| {
            let open = peer.is_open(instant);
            let mut sends_at = peer.sender.poll_timeout();
            let ready_at = peer.limit.ready_at();
            if ready_at > now {
                // Packets delayed by the client's rate have no other timer.
                let delayed = peer.sender.backlog().0 > 0;
                let delayed = delayed.then_some(ready_at);
                sends_at = sends_at.map(|at| at.max(ready_at)).or(delayed);
            }
            [sends_at.filter(|_| open), peer.receiver.poll_timeout()]
        });
        let mut remaining = polls
            .flatten()
            .min()
            .map(|at| at.saturating_sub(now).as_nanos());
        if let HandshakeRole::Initiator(dialer) = &self.end {
            let due = [
                dialer.due_at(instant, &self.peers[0]),
                self.watch.due(),
                self.names.as_ref().and_then(NameResolution::due),
            ];
            let due = due.into_iter().flatten().min();
            let due = due.map(|due| due.saturating_duration_since(instant).as_nanos() as u64);
            let terms = self.terms_due(self.peers[0].is_open(instant));
            let terms = terms.map(|at| at.saturating_sub(now).as_nanos());
            remaining = remaining.into_iter().chain(due).chain(terms).min();
        }
        if self.status_changed {
            let due = STATUS_INTERVAL
                .saturating_sub(instant - self.published_at)
                .as_nanos() as u64;
            remaining = Some(remaining.map_or(due, |remaining| remaining.min(due)));
        }
        remaining.map(|remaining| Timespec {
            tv_sec: (remaining / 1_000_000_000) as i64,
            tv_nsec: (remaining % 1_000_000_000) as i64,
        })
    }

    fn handle_timers(&mut self) {
        let now = self.now();
        for peer in &mut self.peers {
            let is_due = peer.sender.poll_timeout().is_some_and(|at| at <= now.1);
            if is_due && peer.is_open(now.0) {
                self.status_changed = true;
                for ping in peer.sender.handle_timeout(now.1) {
                    peer.ping(now.1, ping, sending(&self.sockets));
                }
            }
        }
        self.send_hello(now.0);
    }

    fn close(&mut self) {
        let (_, now) = self.now();
        for peer in &mut self.peers {
            if let Some(link) = peer.sender.quickest(now, 100) {
                peer.answer(now, link, &TunnelFrame::Close, sending(&self.sockets));
            }
            peer.flush(now, sending(&self.sockets));
        }
    }
}

/// Passes a packet to the kernel. A packet that the kernel rejects is lost, as on any network.
fn write(device: &File, bytes: &[u8]) {
    let _ = rustix::io::write(device, bytes);
}

fn sending(sockets: &TunnelSockets) -> impl FnMut(&Path, &[u8], usize) -> bool + '_ {
    |path, bytes, segment| sockets.send(path, bytes, segment)
}

fn source(packet: &[u8]) -> Option<IpAddr> {
    IpView::parse(packet).ok().map(|packet| packet.source())
}
