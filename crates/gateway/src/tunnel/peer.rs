//! The peer of a tunnel: its keys, its links, its sender and receiver.

use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{
    AnnouncedTerms, ENVELOPE, IPV6_MIN_MTU, LinkTerms, PathMtuConfig, Receiver, ReceiverConfig,
    Sender, SenderConfig,
};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};

use super::batch::Batch;
use super::client_rate::ClientRate;
use super::handshake::random;
use super::link_path::{LinkPath, Path, Pong, Probes};
use super::path_mtu_notice::PathMtuNotice;
use super::refusal::Refusal;
use super::super_packet::Piece;
use crate::noise::{Session, TAG_LEN};

mod sealing;
mod status;

/// After this time, or this many bytes, the initiator makes new keys.
pub const KEY_LIFE: Duration = Duration::from_secs(120);
const KEY_BYTES: u64 = 1 << 35;
/// Keys are rejected after this time.
const KEY_END: Duration = Duration::from_secs(600);

/// A received packet that waits for others.
#[derive(Debug)]
pub struct Waiting {
    /// The IP packet.
    pub bytes: Vec<u8>,
    /// Whether its checksum covers the pseudo-header only.
    pub partial_checksum: bool,
}

/// Keys of a session, and its identifiers at both ends.
#[derive(Debug)]
pub struct Keys {
    /// From the handshake; `None` if datagrams are not encrypted.
    pub session: Option<Session>,
    /// Identifier in datagrams to us.
    pub ours: u32,
    /// Identifier in datagrams to the peer.
    pub theirs: u32,
    /// Random number of the peer's process.
    pub instance: u64,
    /// When they were made.
    pub since: Instant,
}

impl Keys {
    /// Length of the authentication tag.
    fn tag_len(&self) -> usize {
        self.session.as_ref().map_or(0, |_| TAG_LEN)
    }
}

/// The peer of a tunnel.
#[derive(Debug)]
pub struct Peer {
    /// For messages.
    pub name: String,
    /// Its addresses in the tunnel, which are the only allowed source addresses of its packets; `None` for a
    /// relay, whose packets may have any.
    pub addresses: Option<Vec<IpAddr>>,
    /// What is sent to it.
    pub sender: Sender<Piece>,
    /// What is received from it.
    pub receiver: Receiver<Waiting>,
    /// Terms that a client has announced.
    pub announced: AnnouncedTerms,
    /// The client's rate limit.
    pub limit: ClientRate,
    /// Since when something is in flight that should be answered, and nothing authenticated was received.
    pub unanswered: Option<Instant>,
    configs: (SenderConfig, ReceiverConfig),
    /// The sender's, as the client's addresses require.
    config: SenderConfig,
    current: Option<Keys>,
    previous: Option<Keys>,
    /// A handshake that the peer has not confirmed yet.
    next: Option<Offer>,
    /// The source of the last confirmed handshake: the peer receives there, since it got its answer.
    proven: Option<SocketAddr>,
    /// It has confirmed a handshake, after which its addresses are to be looked up.
    has_moved: bool,
    paths: Vec<LinkPath>,
    /// Pings to a new address of a link, to be sent.
    probes: Option<(usize, Probes)>,
    /// Terms of all links that were announced, including links without a path.
    terms: Vec<LinkTerms>,
    batches: Vec<Batch>,
    /// The path MTU of each link, as both ends tell it.
    path_mtus: Vec<PathMtuNotice>,
    sealed: u64,
}

/// The keys of a handshake, with what takes effect together with them.
#[derive(Debug)]
struct Offer {
    keys: Keys,
    /// The peer's addresses in the tunnel.
    addresses: Vec<IpAddr>,
    /// The source of its hello.
    from: SocketAddr,
}

impl Peer {
    /// A peer from which nothing was received.
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
            self.begin_anew();
        }
    }

    /// Prepares keys that the peer gets with our answer to its hello, and the addresses that come with them. They
    /// take effect when the peer uses them, since the handshake may be a replay.
    pub fn offer_keys(&mut self, keys: Keys, addresses: Vec<IpAddr>, from: SocketAddr) {
        self.next = Some(Offer {
            keys,
            addresses,
            from,
        });
    }

    /// Whether it has confirmed a handshake since the last call, possibly with other addresses.
    pub fn has_moved(&mut self) -> bool {
        mem::take(&mut self.has_moved)
    }

    /// The peer's process was restarted: all sequences begin anew, and so do ours.
    fn begin_anew(&mut self) {
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
    pub fn shut(&mut self) {
        (self.current, self.previous, self.next) = (None, None, None);
        self.proven = None;
        self.addresses = Some(Vec::new());
        self.begin_anew();
    }

    /// Sets the path of a link, as the initiator knows it.
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

    /// The terms of a link.
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

    /// Decrypts a datagram in place; returns its frames. On success it is authenticated and new, and counted.
    ///
    /// # Errors
    /// Otherwise.
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
        let is_next = |offer: &mut Offer| offer.keys.ours == header.session;
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

    /// Sends the pings that validate a new address of a link, if any are due.
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

    /// A pong on a link: of the validation of an address, or of the sender's own ping.
    pub fn on_pong(&mut self, now: Time, link: usize, token: u32) {
        let pong = match self.paths.get_mut(link) {
            Some(path) => path.on_pong(now, token),
            None => Pong::Other,
        };
        match pong {
            Pong::Other => self.sender.on_pong(now, link, token),
            Pong::Stays => {}
            Pong::Moves => {
                self.sender.set_up(link, true);
                self.sender.on_new_path(now, link);
            }
        }
    }

    /// Whether a link leads to such an address.
    #[must_use]
    pub fn leads_to(&self, is_it: impl Fn(&SocketAddr) -> bool) -> bool {
        self.paths.iter().any(|path| path.leads_to(&is_it))
    }

    /// Whether there are keys to encrypt with.
    #[must_use]
    pub fn is_open(&self, now: Instant) -> bool {
        self.current
            .as_ref()
            .is_some_and(|keys| now < keys.since + KEY_END)
    }

    /// Whether new keys should be made.
    #[must_use]
    pub fn wants_keys(&self, now: Instant) -> bool {
        let old = self
            .current
            .as_ref()
            .is_none_or(|keys| now >= keys.since + KEY_LIFE);
        old || self.sealed > KEY_BYTES
    }

    /// Longest packet that all of its links carry; `None` if there is no link. With IPv6 addresses it is 1280 at
    /// least: narrower links carry such packets in fragments.
    #[must_use]
    pub fn mtu(&self) -> Option<u32> {
        let links = self.paths.iter().enumerate().filter_map(|(link, path)| {
            let beside = ip_udp_len(&path.active()?.remote) + ENVELOPE;
            Some(self.sender.path_mtu(link)?.saturating_sub(beside))
        });
        let has_ipv6 = self.config.path_mtu.least > self.config.path_mtu.base;
        let least = if has_ipv6 { IPV6_MIN_MTU } else { 0 };
        links.min().map(|mtu| mtu.max(least))
    }

    /// Tells the peer the path MTUs of its links that are news to it.
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
            self.path_mtus[link].on_told(now, bytes);
            let frame = TunnelFrame::PathMtu {
                link: link as u8,
                bytes,
            };
            self.answer(now, by, &frame, &mut send);
        }
        self.flush(now, send);
    }

    /// The peer has told its path MTU of a link.
    pub fn on_path_mtu(&mut self, link: u8, bytes: u16) {
        if let Some(notice) = self.path_mtus.get_mut(usize::from(link)) {
            notice.on_theirs(bytes);
        }
    }

    /// Identifiers of the sessions with this peer.
    pub fn sessions(&self) -> impl Iterator<Item = u32> + '_ {
        let next = self.next.as_ref().map(|offer| &offer.keys);
        [self.current.as_ref(), self.previous.as_ref(), next]
            .into_iter()
            .flatten()
            .map(|keys| keys.ours)
    }

    /// Whether something is in flight, and nothing was heard for this long.
    #[must_use]
    pub fn is_silent_for(&self, now: Instant, span: Duration) -> bool {
        self.unanswered.is_some_and(|since| now >= since + span)
    }

    /// How long its slowest link may take to answer, if a round trip is known.
    #[must_use]
    pub fn answer_timeout(&self) -> Option<Duration> {
        let timeout = self.sender.answer_timeout()?;
        Some(Duration::from_nanos(timeout.as_nanos()))
    }
}

/// Whether each link must carry IPv6's least packet depends on the client's addresses, not on those of the relay.
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

/// Length of the IP and UDP headers of a datagram to that address.
#[must_use]
pub fn ip_udp_len(remote: &SocketAddr) -> u32 {
    let mapped = matches!(remote, SocketAddr::V6(six) if six.ip().to_ipv4_mapped().is_some());
    if remote.is_ipv4() || mapped { 28 } else { 48 }
}
