//! The event loop between the device and the sockets.

mod link_watch;
mod mtu;
mod reload;
mod sessions;
mod terms;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{
    Feedback, Flow, ReceiverConfig, Sender, SenderConfig, Shared, TermsAnnouncer, Transmit,
};
use ropewalk_wire::IpView;
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use tracing::info;

use super::coalescer::Coalescer;
use super::config::{Config, Role};
use super::contracts::Contracts;
use super::control::Control;
use super::device::Device;
use super::dialer::Dialer;
use super::handshake::{ANSWER, COOKIE, HELLO};
use super::network_changes::NetworkChanges;
use super::oversize::Oversize;
use super::peer::{Path, Peer, Waiting, ip_udp_len};
use super::refusal::{Refusal, Refused};
use super::responder::HandshakeResponder;
use super::socket::Buffers;
use super::sockets::Sockets;
use super::status::{PeerStatus, Status};
use super::super_packet::{Piece, Pool, SuperPacket};
use crate::Link;
use crate::keys::PublicKey;
use crate::refusals::Refusals;
use link_watch::LinkWatch;

/// Event sources of epoll besides the sockets, which are numbered from zero: the device, control, and changes
/// of the network.
const DEVICE: u64 = u64::MAX;
const TOLD: u64 = u64::MAX - 1;
const NETWORK: u64 = u64::MAX - 2;
/// Most super-packets, and batches of datagrams, that are handled before other sources have their turn.
const TURN: usize = 16;
/// Least interval between status updates.
const PUBLISH: Duration = Duration::from_millis(100);
/// Packets up to this length are copied out of the buffer they were read into.
const SMALL: usize = 4096;

/// Which end this is.
pub enum End {
    /// Connects to a relay, which is peer 0.
    Initiator(Box<Dialer>),
    /// Is connected to by clients.
    Responder(Box<HandshakeResponder>),
}

/// Device, sockets, peers.
pub struct Engine {
    epoch: Instant,
    end: End,
    device: Device,
    sockets: Sockets,
    watch: LinkWatch,
    peers: Vec<Peer>,
    sessions: HashMap<u32, usize>,
    addresses: HashMap<IpAddr, usize>,
    keys: HashMap<PublicKey, usize>,
    configs: (SenderConfig, ReceiverConfig),
    /// Greatest MTU of the device, and the one last set.
    mtus: (u16, u16),
    oversize: Oversize,
    coalescer: Coalescer,
    pool: Pool,
    buffers: Option<Buffers>,
    /// Ranks and quotas of the links, at the dialling end, and what the relay is told of them.
    contracts: Contracts,
    announcer: TermsAnnouncer,
    control: Control,
    published: Instant,
    /// Something has happened since the last status update.
    unpublished: bool,
    status: Status,
    refused: Refused,
    refusals: Refusals,
}

impl Engine {
    /// Before anything was sent.
    #[must_use]
    pub fn new(
        end: End,
        device: Device,
        (sockets, changes): (Sockets, Option<NetworkChanges>),
        config: &Config,
        control: Control,
    ) -> Engine {
        let epoch = Instant::now();
        let configs = (config.sender(), config.receiver());
        let links: &[Link] = match &config.role {
            Role::Listen { .. } => &[],
            Role::Dial { links, .. } => links,
        };
        let contracts = Contracts::new(links, config.book.clone());
        let peers = match &end {
            End::Initiator(_) => vec![Peer::new("relay".to_owned(), None, configs)],
            End::Responder(_) => Vec::new(),
        };
        Engine {
            epoch,
            end,
            device,
            sockets,
            watch: LinkWatch::new(epoch, changes),
            peers,
            sessions: HashMap::new(),
            addresses: HashMap::new(),
            keys: HashMap::new(),
            configs,
            mtus: (config.mtu(), config.mtu()),
            oversize: Oversize::default(),
            coalescer: Coalescer::default(),
            pool: Pool::default(),
            buffers: Some(Buffers::new()),
            contracts,
            announcer: TermsAnnouncer::default(),
            status: control.status(),
            control,
            published: epoch,
            unpublished: false,
            refused: Refused::default(),
            refusals: Refusals::default(),
        }
    }

    /// Carries packets until it is stopped.
    ///
    /// # Errors
    /// The device or a socket fails.
    pub fn run(mut self) -> io::Result<()> {
        let epoll = self.watch()?;
        let mut events = Vec::with_capacity(self.sockets.len() + 2);
        loop {
            let timeout = self.timeout();
            events.clear();
            match epoll::wait(&epoll, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.unpublished |= !events.is_empty();
            for event in &events {
                match event.data.u64() {
                    TOLD => {
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
                    }
                    DEVICE => self.take_packets()?,
                    NETWORK => self.watch.on_change(),
                    socket => self.take_datagrams(socket as usize)?,
                }
            }
            self.look_at_links(&epoll)?;
            self.handle_timers();
            self.follow_terms();
            self.follow_path_mtu();
            self.deliver();
            self.transmit();
            if self.unpublished && self.published.elapsed() >= PUBLISH {
                self.publish();
            }
        }
    }

    fn publish(&mut self) {
        let now = self.now();
        let contracts = &self.contracts;
        let about = |number| match number < contracts.len() {
            true => Some((
                contracts.name(number)?.to_owned(),
                contracts.standing(number),
            )),
            false => Some((number.to_string(), None)),
        };
        let peers = self.peers.iter();
        let peers: Vec<PeerStatus> = peers.map(|peer| peer.status(now, about)).collect();
        mtu::warn_of_narrow_links(&self.status.peers, &peers, self.configs.0.path_mtu.base);
        self.status.peers = peers;
        self.status.refused = self.refused;
        self.control.publish(self.status.clone());
        self.published = now.0;
        self.unpublished = false;
    }

    fn watch(&self) -> io::Result<OwnedFd> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let readable = epoll::EventFlags::IN;
        let stop = epoll::EventData::new_u64(TOLD);
        epoll::add(&epoll, self.control.told(), stop, readable)?;
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
            self.listen_to(&epoll, number)?;
        }
        Ok(epoll)
    }

    /// Adds a socket to `epoll`; its predecessor was removed when it was closed.
    fn listen_to(&self, epoll: &OwnedFd, number: usize) -> io::Result<()> {
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

    /// How long to wait for events; `None` if nothing is due.
    fn timeout(&self) -> Option<Timespec> {
        let (instant, now) = self.now();
        let polls = self.peers.iter().flat_map(|peer| {
            let open = peer.is_open(instant);
            [
                peer.sender.poll_timeout().filter(|_| open),
                peer.receiver.poll_timeout(),
            ]
        });
        let mut left = polls
            .flatten()
            .min()
            .map(|at| at.saturating_sub(now).as_nanos());
        if let End::Initiator(dialer) = &self.end {
            let due = [dialer.due_at(instant, &self.peers[0]), self.watch.due()];
            let due = due.into_iter().flatten().min();
            let due = due.map(|due| due.saturating_duration_since(instant).as_nanos() as u64);
            let terms = self.terms_due(self.peers[0].is_open(instant));
            let terms = terms.map(|at| at.saturating_sub(now).as_nanos());
            left = left.into_iter().chain(due).chain(terms).min();
        }
        if self.unpublished {
            let due = PUBLISH.saturating_sub(instant - self.published).as_nanos() as u64;
            left = Some(left.map_or(due, |left| left.min(due)));
        }
        left.map(|left| Timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        })
    }

    /// Takes packets that the kernel sends into the device.
    fn take_packets(&mut self) -> io::Result<()> {
        let (_, now) = self.now();
        for _ in 0..TURN {
            let mut bytes = self.pool.take();
            match rustix::io::read(&self.device.file, spare_capacity(&mut bytes)) {
                Ok(_) => {}
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.pool.give_back(bytes);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
            if bytes.len() <= SMALL {
                let small = bytes.clone();
                self.pool.give_back(mem::replace(&mut bytes, small));
            }
            let Some(packet) = SuperPacket::parse(bytes, &self.pool) else {
                continue;
            };
            if stays_on_link(packet.packet()) {
                continue;
            }
            let Some(number) = self.peer_of(packet.packet()) else {
                continue;
            };
            if let Some(mtu) = self.least_mtu(number, &packet) {
                self.take_oversize(now, number, packet, mtu);
                continue;
            }
            let flow = Flow::of(packet.packet());
            let sender = &mut self.peers[number].sender;
            for piece in packet.pieces() {
                let len = piece.len() as u32;
                sender.enqueue(now, piece, len, flow);
            }
        }
        Ok(())
    }

    /// The peer to which a packet of the device is routed.
    fn peer_of(&self, packet: &[u8]) -> Option<usize> {
        match self.end {
            End::Initiator(_) => Some(0),
            End::Responder(_) => {
                let destination = IpView::parse(packet).ok()?.destination();
                self.addresses.get(&destination).copied()
            }
        }
    }

    fn take_datagrams(&mut self, socket: usize) -> io::Result<()> {
        let mut buffers = self.buffers.take().unwrap_or_else(Buffers::new);
        for _ in 0..TURN {
            if !self.sockets.receive(socket, &mut buffers)? {
                break;
            }
            let now = self.now();
            let is_link = matches!(self.end, End::Initiator(_));
            for (from, local, datagram) in buffers.datagrams() {
                self.sockets
                    .note_received(socket, &from, datagram.len() as u64);
                // A link sends from the address that it has, which may differ from the previous one.
                let local = local.filter(|_| !is_link);
                let path = Path::new(socket, from, local);
                if let Err(why) = self.on_datagram(now, path, datagram) {
                    self.refuse(from, why);
                }
            }
            self.flush_device();
        }
        self.buffers = Some(buffers);
        Ok(())
    }

    fn refuse(&mut self, from: SocketAddr, why: Refusal) {
        self.refused.count(why);
        if let Some(complaint) = why.complaint() {
            self.refusals.note(from.ip(), why.name(), complaint);
        }
    }

    fn on_datagram(
        &mut self,
        now: (Instant, Time),
        path: Path,
        datagram: &mut [u8],
    ) -> Result<(), Refusal> {
        match (datagram.first(), &mut self.end) {
            (Some(&TunnelHeader::KIND), _) => self.on_frames(now, path, datagram),
            (Some(&HELLO), End::Responder(_)) => self.on_hello(now.0, path, datagram),
            (Some(&ANSWER), End::Initiator(_)) => self.on_answer(now, datagram),
            (Some(&COOKIE), End::Initiator(dialer)) => dialer.on_cookie(datagram),
            _ => Err(Refusal::Malformed),
        }
    }

    /// Handles a datagram of a session.
    fn on_frames(
        &mut self,
        now: (Instant, Time),
        path: Path,
        datagram: &mut [u8],
    ) -> Result<(), Refusal> {
        let header = TunnelHeader::parse(datagram).ok_or(Refusal::Malformed)?;
        let number = self.sessions.get(&header.session);
        let number = *number.ok_or(Refusal::UnknownSession)?;
        let peer = &mut self.peers[number];
        let wire_len = datagram.len() as u32 + ip_udp_len(&path.remote);
        let frames = peer.open(now, header, datagram, wire_len, path)?;
        if peer.has_moved() {
            let own = peer.addresses.as_deref().unwrap_or_default();
            info!("{}: comes from {} as {own:?}", peer.name, path.remote);
            self.addresses.retain(|_, &mut other| other != number);
            let own = own.iter().map(|address| (*address, number));
            self.addresses.extend(own);
        }
        let mut pongs = Vec::new();
        let mut is_answered = peer.sender.is_busy(now.1);
        let mut is_closed = false;
        let mut refused = None;
        for frame in TunnelFrame::parse_all(frames) {
            match frame {
                Ok(TunnelFrame::Packet {
                    sequencing,
                    partial_checksum,
                    bytes,
                }) => {
                    is_answered = true;
                    peer.sender.on_packet(now.1);
                    let is_own = |own: &Vec<_>| source(bytes).is_some_and(|ip| own.contains(&ip));
                    if !peer.addresses.as_ref().is_none_or(is_own) {
                        refused = Some(Refusal::ForeignSource);
                        continue;
                    }
                    if peer.receiver.passes(now.1, sequencing) {
                        let file = &self.device.file;
                        self.coalescer
                            .push(bytes, partial_checksum, |bytes| write(file, bytes));
                    } else {
                        let waiting = Waiting {
                            bytes: bytes.to_vec(),
                            partial_checksum,
                        };
                        // A duplicate is dropped.
                        let _ = peer.receiver.hold(sequencing, waiting, bytes.len() as u32);
                    }
                    deliver(peer, &mut self.coalescer, &self.device, now.1);
                }
                Ok(TunnelFrame::Feedback(feedback)) => {
                    peer.sender.on_feedback(now.1, &feedback);
                    peer.receiver.leave_out(feedback.left_out);
                    peer.receiver.expect_repairs(peer.sender.repair_time());
                }
                Ok(TunnelFrame::Ping(token)) => {
                    is_answered = true;
                    // A ping without a token is answered by feedback alone.
                    pongs.extend((token != 0).then_some(token));
                }
                Ok(TunnelFrame::Pong(token)) => {
                    peer.sender.on_pong(now.1, usize::from(header.link), token);
                }
                Ok(TunnelFrame::Terms {
                    link,
                    version,
                    terms,
                }) if matches!(self.end, End::Responder(_)) => {
                    let said = (link, version, terms);
                    let taken = terms::on_terms(peer, now.1, said, header.link, &self.sockets);
                    refused = taken.err().or(refused);
                }
                Ok(TunnelFrame::TermsSeen { link, version }) => {
                    self.announcer.on_seen(usize::from(link), version);
                }
                Ok(TunnelFrame::Close) => {
                    info!("{}: closed the tunnel", peer.name);
                    is_closed = true;
                }
                Ok(TunnelFrame::Terms { .. }) | Err(_) => refused = Some(Refusal::Malformed),
            }
        }
        if is_answered {
            peer.receiver.answer(now.1, header.link);
        }
        for token in pongs {
            let (link, pong) = (usize::from(header.link), TunnelFrame::Pong(token));
            peer.answer(now.1, link, &pong, sending(&self.sockets));
        }
        if is_closed && matches!(self.end, End::Responder(_)) {
            self.let_out(number);
        }
        refused.map_or(Ok(()), Err)
    }

    fn handle_timers(&mut self) {
        let now = self.now();
        for peer in &mut self.peers {
            let is_due = peer.sender.poll_timeout().is_some_and(|at| at <= now.1);
            if is_due && peer.is_open(now.0) {
                self.unpublished = true;
                for ping in peer.sender.handle_timeout(now.1) {
                    peer.ping(now.1, ping, sending(&self.sockets));
                }
            }
        }
        self.say_hello(now.0);
    }

    /// Writes packets that are due to the device.
    fn deliver(&mut self) {
        let (_, now) = self.now();
        for peer in &mut self.peers {
            deliver(peer, &mut self.coalescer, &self.device, now);
        }
        self.flush_device();
    }

    fn flush_device(&mut self) {
        let file = &self.device.file;
        self.coalescer.flush(|bytes| write(file, bytes));
    }

    /// Sends packets and feedback for which links have room.
    fn transmit(&mut self) {
        let (instant, now) = self.now();
        let sockets = &self.sockets;
        for peer in &mut self.peers {
            if !peer.is_open(instant) {
                continue;
            }
            while let Some(feedback) = peer.receiver.poll_feedback(now) {
                let left_out = peer.sender.left_out();
                let feedback = Feedback {
                    left_out,
                    ..feedback
                };
                let frame = TunnelFrame::Feedback(feedback);
                for link in peer.sender.feedback_links(now, feedback.link) {
                    peer.answer(now, link, &frame, sending(sockets));
                }
            }
            while let Some(first) = peer.sender.poll_transmit(now) {
                let link = first.link;
                let fill = |sender: &mut _, out: &mut Vec<u8>| fill(sender, out, first);
                peer.seal(now, link, fill, sending(sockets));
            }
            peer.flush(sending(sockets));
        }
    }

    /// Tells the peers that the tunnel ends.
    fn close(&mut self) {
        let (_, now) = self.now();
        for peer in &mut self.peers {
            if let Some(link) = peer.sender.quickest(now, 100) {
                peer.answer(now, link, &TunnelFrame::Close, sending(&self.sockets));
            }
            peer.flush(sending(&self.sockets));
        }
    }
}

/// Fills a datagram with a packet, and more if they are short.
fn fill(sender: &mut Sender<Piece>, out: &mut Vec<u8>, first: Transmit<Piece>) {
    let path_mtu = sender.confirmed_path_mtu(first.link);
    let Some(mut shared) = Shared::begin(path_mtu, first.bytes) else {
        TunnelFrame::emit_packet_head(first.sequencing, first.packet.partial_checksum(), None, out);
        first.packet.emit(out);
        return;
    };
    let mut next = Some(first);
    while let Some(packet) = next {
        let len = packet.bytes as u16;
        let partial = packet.packet.partial_checksum();
        TunnelFrame::emit_packet_head(packet.sequencing, partial, Some(len), out);
        packet.packet.emit(out);
        next = sender.poll_more(packet.link, shared.put(packet.bytes));
    }
}

fn deliver(peer: &mut Peer, coalescer: &mut Coalescer, device: &Device, now: Time) {
    while let Some(waiting) = peer.receiver.poll_deliver(now) {
        let file = &device.file;
        coalescer.push(&waiting.bytes, waiting.partial_checksum, |bytes| {
            write(file, bytes)
        });
    }
}

/// Passes a packet to the kernel; one that it does not accept is lost, as on any network.
fn write(device: &File, bytes: &[u8]) {
    let _ = rustix::io::write(device, bytes);
}

fn sending(sockets: &Sockets) -> impl FnMut(&Path, &[u8], usize) -> bool + '_ {
    |path, bytes, segment| sockets.send(path, bytes, segment)
}

/// Link-local packets are not forwarded (RFC 4291, section 2.5.6), such as router solicitations.
fn stays_on_link(packet: &[u8]) -> bool {
    source(packet).is_some_and(|source| match source {
        IpAddr::V4(source) => source.is_link_local(),
        IpAddr::V6(source) => source.is_unicast_link_local() || source.is_unspecified(),
    })
}

fn source(packet: &[u8]) -> Option<IpAddr> {
    IpView::parse(packet).ok().map(|packet| packet.source())
}
