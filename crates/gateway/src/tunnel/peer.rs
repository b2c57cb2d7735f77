//! Peer of a tunnel: its keys, its links, its sender and receiver.

use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{
    AnnouncedTerms, IPV6_MIN_MTU, LinkTerms, PathMtuConfig, Receiver, ReceiverConfig,
    SINGLE_PACKET_OVERHEAD, Sender, SenderConfig,
};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};

use super::batch::Batch;
use super::client_rate::ClientRate;
use super::handshake::random;
use super::link_path::{LinkPath, Path, PongEffect, Probes};
use super::path_mtu_notice::PathMtuNotice;
use super::refusal::Refusal;
use super::super_packet::Piece;
use crate::noise::{SessionKeys, TAG_LEN};

mod at_once;
mod sealing;
mod status;

/// Lifetime of keys, as a time and in bytes, after which the initiator makes new ones.
pub const KEY_LIFE: Duration = Duration::from_secs(120);
const KEY_BYTES: u64 = 1 << 35;
const KEY_END: Duration = Duration::from_secs(600);

/// A received packet in the reordering buffer.
#[derive(Debug)]
pub struct ReceivedPacket {
    pub bytes: Vec<u8>,
    /// Whether its checksum covers the pseudo-header only.
    pub partial_checksum: bool,
}

/// Keys of a session, and its identifiers at both ends.
#[derive(Debug)]
pub struct Keys {
    /// From the handshake; `None` if datagrams are not encrypted.
    pub session: Option<SessionKeys>,
    /// Identifier in datagrams to us.
    pub ours: u32,
    /// Identifier in datagrams to the peer.
    pub theirs: u32,
    /// Random number of the peer's process.
    pub instance: u64,
    pub since: Instant,
}

impl Keys {
    fn tag_len(&self) -> usize {
        self.session.as_ref().map_or(0, |_| TAG_LEN)
    }
}

#[derive(Debug)]
pub struct Peer {
    pub name: String,
    /// Its addresses in the tunnel, the only allowed sources of its packets; `None` for a relay, whose
    /// packets may have any source.
    pub addresses: Option<Vec<IpAddr>>,
    pub sender: Sender<Piece>,
    pub receiver: Receiver<ReceivedPacket>,
    pub announced: AnnouncedTerms,
    pub limit: ClientRate,
    /// Start of the time in which a datagram in flight should be answered, and nothing authenticated was received.
    pub unanswered: Option<Instant>,
    configs: (SenderConfig, ReceiverConfig),
    /// The sender's configuration, adapted to the client's addresses.
    config: SenderConfig,
    current: Option<Keys>,
    previous: Option<Keys>,
    /// A handshake that the peer has not confirmed yet.
    next: Option<OfferedKeys>,
    /// Source of the last confirmed handshake. The peer receives there, since it got its answer.
    proven: Option<SocketAddr>,
    /// The peer has confirmed a handshake, so its addresses must be looked up again.
    has_moved: bool,
    paths: Vec<LinkPath>,
    /// Pings to a new address of a link, to be sent.
    probes: Option<(usize, Probes)>,
    /// Terms of all links that were announced, including links without a path.
    terms: Vec<LinkTerms>,
    batches: Vec<Batch>,
    path_mtus: Vec<PathMtuNotice>,
    sealed: u64,
}

/// Keys of a handshake that the peer has not used yet, with its new addresses.
#[derive(Debug)]
struct OfferedKeys {
    keys: Keys,
    addresses: Vec<IpAddr>,
    from: SocketAddr,
}

impl Peer {
    #[must_use]
    pub fn new(
        name: String,
        addresses: Option<Vec<IpAddr>>,
        configs: (SenderConfig, ReceiverConfig),
    ) -> Peer {
        Peer {
            name,
            addresses,
            sender: Sender::new(configs.0),
            receiver: Receiver::new(configs.1),
            announced: AnnouncedTerms::default(),
            limit: ClientRate::default(),
            unanswered: None,
            configs,
            config: configs.0,
            current: None,
            previous: None,
            next: None,
            proven: None,
            has_moved: false,
            paths: Vec::new(),
            probes: None,
            terms: Vec::new(),
            batches: Vec::new(),
            path_mtus: Vec::new(),
            sealed: 0,
        }
    }

    /// Uses keys that the peer has already, since it sent the answer.
    pub fn use_keys(&mut self, keys: Keys) {
        let other_run = self
            .current
            .as_ref()
            .is_some_and(|old| old.instance != keys.instance);
        self.previous = self.current.replace(keys);
        self.sealed = 0;
        if other_run {
            self.restart_sequences();
        }
    }

    /// Prepares the keys that the peer gets with our answer to its hello, and its addresses. They take effect
    /// when the peer uses the keys, since the handshake may be a replay.
    pub fn offer_keys(&mut self, keys: Keys, addresses: Vec<IpAddr>, from: SocketAddr) {
        self.next = Some(OfferedKeys {
            keys,
            addresses,
            from,
        });
    }

    /// Returns whether the peer has confirmed a handshake since the last call, possibly with other addresses.
    pub fn has_moved(&mut self) -> bool {
        mem::take(&mut self.has_moved)
    }

    /// Restarts the sequences of both ends, since the peer's process was restarted.
    fn restart_sequences(&mut self) {
        self.previous = None;
        self.sender = Sender::new(self.config);
        self.receiver = Receiver::new(self.configs.1);
        self.paths.clear();
        self.probes = None;
        self.terms.clear();
        self.announced = AnnouncedTerms::default();
        self.batches.clear();
        self.path_mtus.clear();
    }

    /// Ends the session: the peer must do another handshake.
    pub fn close_session(&mut self) {
        (self.current, self.previous, self.next) = (None, None, None);
        self.proven = None;
        self.addresses = Some(Vec::new());
        self.restart_sequences();
    }

    pub fn add_path(&mut self, now: Time, link: u8, path: Path) {
        let link = usize::from(link);
        self.add_links(now, link);
        self.paths[link] = LinkPath::to(path);
        self.sender.set_up(link, true);
    }

    /// Adds links up to this one, without paths.
    fn add_links(&mut self, now: Time, link: usize) {
        while self.paths.len() <= link {
            self.paths.push(LinkPath::default());
            self.batches.push(Batch::default());
            self.path_mtus.push(PathMtuNotice::default());
            let number = self.sender.add_link(now);
            self.sender.set_up(number, false);
            self.sender.set_terms(now, number, self.terms(number));
        }
    }

    #[must_use]
    pub fn terms(&self, link: usize) -> LinkTerms {
        self.terms.get(link).copied().unwrap_or_default()
    }

    /// Sets the terms of a link, now or when it gets a path.
    pub fn set_terms(&mut self, now: Time, link: usize, terms: LinkTerms) {
        if self.terms.len() <= link {
            self.terms.resize(link + 1, LinkTerms::default());
        }
        self.terms[link] = terms;
        if link < self.sender.links() {
            self.sender.set_terms(now, link, terms);
        }
    }

    /// Decrypts a datagram in place; returns its frames. On success the datagram is authenticated, new and counted.
    pub fn open<'a>(
        &mut self,
        now: (Instant, Time),
        header: TunnelHeader,
        datagram: &'a mut [u8],
        wire_len: u32,
        path: Path,
    ) -> Result<&'a [u8], Refusal> {
        if !self.receiver.is_new(header.link, header.sequence) && self.next.is_none() {
            return Err(Refusal::Replayed);
        }
        let next = self.next.as_ref().map(|offer| &offer.keys);
        let known = [next, self.current.as_ref(), self.previous.as_ref()];
        let is_this = |keys: &&Keys| keys.ours == header.session;
        let keys = known.into_iter().flatten().find(is_this);
        let keys = keys.filter(|keys| now.0 <= keys.since + KEY_END);
        let keys = keys.ok_or(Refusal::UnknownSession)?;
        let (head, sealed) = datagram.split_at_mut(TunnelHeader::LEN);
        let opened: &[u8] = match &keys.session {
            Some(session) => session
                .open
                .open(header.number(), head, sealed)
                .map_err(|_| Refusal::Forged)?,
            None => sealed,
        };
        let (clock, frames) = opened
            .split_first_chunk::<{ TunnelFrame::CLOCK_LEN }>()
            .ok_or(Refusal::Malformed)?;
        let clock = u32::from_be_bytes(*clock);
        let is_next = |offer: &mut OfferedKeys| offer.keys.ours == header.session;
        if let Some(offer) = self.next.take_if(is_next) {
            self.config = for_addresses(self.configs.0, &offer.addresses);
            if self.paths.is_empty() {
                self.sender = Sender::new(self.config);
            }
            self.addresses = Some(offer.addresses);
            self.proven = Some(offer.from);
            self.has_moved = true;
            self.use_keys(offer.keys);
        }
        let (link, sequence) = (header.link, header.sequence);
        if !self.receiver.take(now.1, link, sequence, wire_len, clock) {
            return Err(Refusal::Replayed);
        }
        self.unanswered = None;
        self.note_path(now.1, header, path, wire_len);
        self.sender.on_heard(now.1, usize::from(link));
        Ok(frames)
    }

    /// Follows the source of a link's newest datagram, once it is validated.
    fn note_path(&mut self, now: Time, header: TunnelHeader, path: Path, wire_len: u32) {
        let link = usize::from(header.link);
        if link >= self.paths.len() {
            self.add_links(now, link);
            // The link of the handshake.
            if self.proven == Some(path.remote) {
                self.add_path(now, header.link, path);
            }
        }
        let draw = || random() as u32;
        let probes = self.paths[link].on_datagram(now, header.sequence, path, wire_len, draw);
        if probes.iter().any(Option::is_some) {
            self.probes = Some((link, probes));
        }
    }

    /// Sends the due pings that validate a new address of a link.
    pub fn send_probes(&mut self, now: Time, mut send: impl FnMut(&Path, &[u8], usize) -> bool) {
        let Some((link, probes)) = self.probes.take() else {
            return;
        };
        self.flush(now, &mut send);
        for (path, token) in probes.into_iter().flatten() {
            let fill = |_: &mut _, out: &mut Vec<u8>| TunnelFrame::Ping(token).emit(out);
            self.seal_to(path, Sender::send_answer, now, link, fill, &mut send);
            self.flush_to(path, now, link, &mut send);
        }
    }

    /// Handles a pong on a link, to an address validation or to the sender's own ping.
    pub fn on_pong(&mut self, now: Time, link: usize, token: u32) {
        let pong = match self.paths.get_mut(link) {
            Some(path) => path.on_pong(now, token),
            None => PongEffect::Other,
        };
        match pong {
            PongEffect::Other => self.sender.on_pong(now, link, token),
            PongEffect::Stays => {}
            PongEffect::Moves => {
                self.sender.set_up(link, true);
                self.sender.on_new_path(now, link);
            }
        }
    }

    #[must_use]
    pub fn has_remote(&self, matches: impl Fn(&SocketAddr) -> bool) -> bool {
        self.paths.iter().any(|path| path.has_remote(&matches))
    }

    #[must_use]
    pub fn is_open(&self, now: Instant) -> bool {
        self.current
            .as_ref()
            .is_some_and(|keys| now < keys.since + KEY_END)
    }

    #[must_use]
    pub fn needs_keys(&self, now: Instant) -> bool {
        let old = self
            .current
            .as_ref()
            .is_none_or(|keys| now >= keys.since + KEY_LIFE);
        old || self.sealed > KEY_BYTES
    }

    /// Returns the longest packet that all of its links carry; `None` if there is no link. With IPv6
    /// addresses it is at least 1280: narrower links carry such packets in fragments.
    #[must_use]
    pub fn mtu(&self) -> Option<u32> {
        let links = self.paths.iter().enumerate().filter_map(|(link, path)| {
            let overhead = ip_udp_len(&path.active()?.remote) + SINGLE_PACKET_OVERHEAD;
            Some(self.sender.path_mtu(link)?.saturating_sub(overhead))
        });
        let has_ipv6 = self.config.path_mtu.least > self.config.path_mtu.base;
        let least = if has_ipv6 { IPV6_MIN_MTU } else { 0 };
        links.min().map(|mtu| mtu.max(least))
    }

    /// Announces new path MTUs of the links to the peer.
    pub fn announce_path_mtus(
        &mut self,
        now: Time,
        mut send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        for link in 0..self.path_mtus.len() {
            let bytes = self.sender.link(link).path_mtu as u16;
            if !self.path_mtus[link].is_due(now, bytes) {
                continue;
            }
            let Some(by) = self.sender.quickest(now, 100) else {
                return;
            };
            self.path_mtus[link].on_announced(now, bytes);
            let frame = TunnelFrame::PathMtu {
                link: link as u8,
                bytes,
            };
            self.answer(now, by, &frame, &mut send);
        }
        self.flush(now, send);
    }

    pub fn on_path_mtu(&mut self, link: u8, bytes: u16) {
        if let Some(notice) = self.path_mtus.get_mut(usize::from(link)) {
            notice.on_peer_path_mtu(bytes);
        }
    }

    pub fn sessions(&self) -> impl Iterator<Item = u32> + '_ {
        let next = self.next.as_ref().map(|offer| &offer.keys);
        [self.current.as_ref(), self.previous.as_ref(), next]
            .into_iter()
            .flatten()
            .map(|keys| keys.ours)
    }

    /// Returns whether a datagram is in flight, and nothing was received for `span`.
    #[must_use]
    pub fn is_silent_for(&self, now: Instant, span: Duration) -> bool {
        self.unanswered.is_some_and(|since| now >= since + span)
    }

    /// Returns the answer timeout of its slowest link, if a round trip is known.
    #[must_use]
    pub fn answer_timeout(&self) -> Option<Duration> {
        let timeout = self.sender.answer_timeout()?;
        Some(Duration::from_nanos(timeout.as_nanos()))
    }
}

/// The client's addresses, not the relay's, decide whether each link must carry IPv6's least packet.
fn for_addresses(config: SenderConfig, addresses: &[IpAddr]) -> SenderConfig {
    let has_ipv6 = addresses.iter().any(IpAddr::is_ipv6);
    let path_mtu = PathMtuConfig {
        least: if has_ipv6 {
            config.path_mtu.least
        } else {
            config.path_mtu.base
        },
        ..config.path_mtu
    };
    SenderConfig { path_mtu, ..config }
}

#[must_use]
pub fn ip_udp_len(remote: &SocketAddr) -> u32 {
    let mapped = matches!(remote, SocketAddr::V6(six) if six.ip().to_ipv4_mapped().is_some());
    if remote.is_ipv4() || mapped { 28 } else { 48 }
}
