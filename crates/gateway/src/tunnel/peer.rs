//! The other end of a tunnel: its keys, its links, and what goes there and comes from it.

use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::tunnel::{
    ENVELOPE, Inbound, LinkTerms, Ping, Receiver, ReceiverConfig, SaidTerms, Sender, SenderConfig,
};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};

use super::batch::Batch;
use super::refusal::Refusal;
use super::status::{PeerLink, PeerStatus, Received};
use super::super_packet::Piece;
use crate::noise::{Session, TAG_LEN};
use crate::quota::Standing;

/// A key is used for so long, and for so many bytes, before the initiator makes another.
pub const KEY_LIFE: Duration = Duration::from_secs(120);
const KEY_BYTES: u64 = 1 << 35;
/// No key is used for longer.
const KEY_END: Duration = Duration::from_secs(600);

/// A packet of the peer that waits for others.
#[derive(Debug)]
pub struct Waiting {
    /// From its IP header on.
    pub bytes: Vec<u8>,
    /// Whether its checksum is that of the pseudo-header alone.
    pub partial_checksum: bool,
}

/// Keys of a session, and its numbers at both ends.
#[derive(Debug)]
pub struct Keys {
    /// Made by the handshake; `None` if datagrams are not sealed.
    pub session: Option<Session>,
    /// What is sent to us says this.
    pub ours: u32,
    /// What we send says this.
    pub theirs: u32,
    /// The peer's run of its program.
    pub instance: u64,
    /// Since when.
    pub since: Instant,
}

impl Keys {
    /// What a sealed datagram has at its end.
    fn tag_len(&self) -> usize {
        self.session.as_ref().map_or(0, |_| TAG_LEN)
    }
}

/// Where the datagrams of a link go.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Which of our sockets.
    pub socket: usize,
    /// The peer's address on this link.
    pub remote: SocketAddr,
    /// The address of ours that it knows, if the socket has several.
    pub local: Option<IpAddr>,
    /// The newest sequence that came from there: a later one tells of a new address.
    newest: u64,
}

/// The other end of a tunnel.
#[derive(Debug)]
pub struct Peer {
    /// For messages.
    pub name: String,
    /// Its addresses within the tunnel, the only ones that it may speak from; a client lets its relay
    /// speak from any.
    pub addresses: Option<Vec<IpAddr>>,
    /// What goes there.
    pub sender: Sender<Piece>,
    /// What comes from there.
    pub receiver: Receiver<Waiting>,
    /// What a client has said of the terms of links.
    pub said: SaidTerms,
    /// Since when something is under way that is answered, and nothing genuine was heard.
    pub unanswered: Option<Instant>,
    configs: (SenderConfig, ReceiverConfig),
    current: Option<Keys>,
    previous: Option<Keys>,
    /// Of a handshake that the peer has not confirmed yet, and the addresses that it is for.
    next: Option<(Keys, Vec<IpAddr>)>,
    /// It has confirmed one, and its addresses are to be looked at.
    has_moved: bool,
    paths: Vec<Option<Path>>,
    /// On what terms links are used, there or not, as far as somebody has said.
    terms: Vec<LinkTerms>,
    batches: Vec<Batch>,
    sealed: u64,
}

impl Peer {
    /// A peer of which nothing was heard.
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
            said: SaidTerms::default(),
            unanswered: None,
            configs,
            current: None,
            previous: None,
            next: None,
            has_moved: false,
            paths: Vec::new(),
            terms: Vec::new(),
            batches: Vec::new(),
            sealed: 0,
        }
    }

    /// Keys that the peer has already, since it answered.
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

    /// Keys that the peer will have when it gets our answer, and the addresses that it will speak
    /// from then. Nothing changes before it uses them: the handshake may be a replay.
    pub fn offer_keys(&mut self, keys: Keys, addresses: Vec<IpAddr>) {
        self.next = Some((keys, addresses));
    }

    /// Whether it has come in since this was asked last, maybe with other addresses.
    pub fn has_moved(&mut self) -> bool {
        mem::take(&mut self.has_moved)
    }

    /// The peer is another run of its program: its numbers begin anew, and so do ours.
    fn begin_anew(&mut self) {
        self.previous = None;
        self.sender = Sender::new(self.configs.0);
        self.receiver = Receiver::new(self.configs.1);
        self.paths.clear();
        self.terms.clear();
        self.said = SaidTerms::default();
        self.batches.clear();
    }

    /// It may not speak any more, until there is another handshake.
    pub fn shut(&mut self) {
        (self.current, self.previous, self.next) = (None, None, None);
        self.addresses = Some(Vec::new());
        self.begin_anew();
    }

    /// A link as the initiator knows it.
    pub fn add_path(&mut self, now: Time, link: u8, path: Path) {
        let link = usize::from(link);
        while self.paths.len() <= link {
            self.paths.push(None);
            self.batches.push(Batch::default());
            let number = self.sender.add_link(now);
            self.sender.set_up(number, false);
            self.sender.set_terms(now, number, self.terms(number));
        }
        self.paths[link] = Some(path);
        self.sender.set_up(link, true);
    }

    /// On what terms a link is used.
    #[must_use]
    pub fn terms(&self, link: usize) -> LinkTerms {
        self.terms.get(link).copied().unwrap_or_default()
    }

    /// A link is used on these terms from now on, or once it is there.
    pub fn set_terms(&mut self, now: Time, link: usize, terms: LinkTerms) {
        if self.terms.len() <= link {
            self.terms.resize(link + 1, LinkTerms::default());
        }
        self.terms[link] = terms;
        if link < self.sender.links() {
            self.sender.set_terms(now, link, terms);
        }
    }

    /// Opens a datagram in place: what is in it after the clock. It is known to be genuine and new
    /// then, and is counted.
    ///
    /// # Errors
    /// It is not.
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
        let next = self.next.as_ref().map(|(keys, _)| keys);
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
        let is_next = |(keys, _): &mut (Keys, Vec<IpAddr>)| keys.ours == header.session;
        if let Some((keys, addresses)) = self.next.take_if(is_next) {
            self.addresses = Some(addresses);
            self.has_moved = true;
            self.use_keys(keys);
        }
        let (link, sequence) = (header.link, header.sequence);
        if !self.receiver.take(now.1, link, sequence, wire_len, clock) {
            return Err(Refusal::Replayed);
        }
        self.unanswered = None;
        self.note_path(now.1, header, path);
        self.sender.on_heard(now.1, usize::from(link));
        Ok(frames)
    }

    /// A link leads where its newest datagram came from.
    fn note_path(&mut self, now: Time, header: TunnelHeader, path: Path) {
        match self.paths.get_mut(usize::from(header.link)) {
            Some(Some(known)) => {
                if header.sequence >= known.newest {
                    if known.remote != path.remote {
                        let link = usize::from(header.link);
                        self.sender.on_new_path(now, link);
                    }
                    *known = Path {
                        newest: header.sequence,
                        ..path
                    };
                }
            }
            _ => self.add_path(now, header.link, path),
        }
    }

    /// Whether there are keys to seal with.
    #[must_use]
    pub fn is_open(&self, now: Instant) -> bool {
        self.current
            .as_ref()
            .is_some_and(|keys| now < keys.since + KEY_END)
    }

    /// Whether the keys have been used long enough.
    #[must_use]
    pub fn wants_keys(&self, now: Instant) -> bool {
        let old = self
            .current
            .as_ref()
            .is_none_or(|keys| now >= keys.since + KEY_LIFE);
        old || self.sealed > KEY_BYTES
    }

    /// A datagram on a link with the packets or the ping that `fill` appends; `send` gets batches
    /// that are full, and says whether the interface takes datagrams of that length.
    pub fn seal(
        &mut self,
        now: Time,
        link: usize,
        fill: impl FnOnce(&mut Sender<Piece>, &mut Vec<u8>),
        send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        self.unanswered.get_or_insert_with(Instant::now);
        self.seal_as(Sender::send, now, link, fill, send);
    }

    /// A datagram on a link with another frame.
    pub fn answer(
        &mut self,
        now: Time,
        link: usize,
        frame: &TunnelFrame<'_>,
        send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        let fill = |_: &mut _, out: &mut Vec<u8>| frame.emit(out);
        self.seal_as(Sender::send_answer, now, link, fill, send);
    }

    fn seal_as(
        &mut self,
        number: fn(&mut Sender<Piece>, Time, usize, u32) -> u64,
        now: Time,
        link: usize,
        fill: impl FnOnce(&mut Sender<Piece>, &mut Vec<u8>),
        mut send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        let (Some(keys), Some(Some(path))) = (&self.current, self.paths.get(link)) else {
            return;
        };
        let batch = &mut self.batches[link];
        let start = batch.begin();
        let out = batch.bytes();
        out.extend_from_slice(&[0; TunnelHeader::LEN]);
        out.extend_from_slice(&((now.as_nanos() / 1000) as u32).to_be_bytes());
        fill(&mut self.sender, out);
        let len = out.len() - start + keys.tag_len();
        let wire_len = len as u32 + ip_udp_len(&path.remote);
        let header = TunnelHeader {
            link: link as u8,
            session: keys.theirs,
            sequence: number(&mut self.sender, now, link, wire_len),
        };
        let (head, body) = out[start..].split_at_mut(TunnelHeader::LEN);
        head.copy_from_slice(&header.to_bytes());
        if let Some(session) = &keys.session {
            let tag = session.seal.seal(header.number(), head, body);
            out.extend_from_slice(&tag);
        }
        self.sealed += len as u64;
        batch.end(start, |bytes, segment| {
            send(path, bytes, segment);
        });
    }

    /// A ping; a long one, a probe of the path MTU or of a packet train, leaves by itself.
    pub fn ping(
        &mut self,
        now: Time,
        ping: Ping,
        mut send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        let emit = |_: &mut _, out: &mut Vec<u8>| TunnelFrame::Ping(ping.token).emit(out);
        let Some(bytes) = ping.bytes else {
            self.seal(now, ping.link, emit, send);
            return;
        };
        let Some(Some(path)) = self.paths.get(ping.link) else {
            return;
        };
        let tag_len = self.current.as_ref().map_or(0, Keys::tag_len);
        let padded = (bytes - ip_udp_len(&path.remote)) as usize - tag_len;
        let padded = |sender: &mut _, out: &mut Vec<u8>| {
            emit(sender, out);
            out.resize(padded, 0);
        };
        self.flush(&mut send);
        let mut fits = true;
        let mut send = |path: &Path, bytes: &[u8], segment| {
            fits &= send(path, bytes, segment);
            fits
        };
        self.seal(now, ping.link, padded, &mut send);
        self.flush(send);
        if !fits && ping.token != 0 {
            self.sender.on_too_long(now, ping.link);
        }
    }

    /// Sends what is left in batches.
    pub fn flush(&mut self, mut send: impl FnMut(&Path, &[u8], usize) -> bool) {
        for (batch, path) in self.batches.iter_mut().zip(&self.paths) {
            if let Some(path) = path {
                batch.flush(|bytes, segment| {
                    send(path, bytes, segment);
                });
            }
        }
    }

    /// Longest packet that each of its links carries; `None` if there is no link.
    #[must_use]
    pub fn mtu(&self) -> Option<u32> {
        let links = self.paths.iter().enumerate().filter_map(|(link, path)| {
            let beside = ip_udp_len(&path.as_ref()?.remote) + ENVELOPE;
            Some(self.sender.path_mtu(link)?.saturating_sub(beside))
        });
        links.min()
    }

    /// Numbers of the sessions that lead here.
    pub fn sessions(&self) -> impl Iterator<Item = u32> + '_ {
        let next = self.next.as_ref().map(|(keys, _)| keys);
        [self.current.as_ref(), self.previous.as_ref(), next]
            .into_iter()
            .flatten()
            .map(|keys| keys.ours)
    }

    /// What goes to it and comes from it; `about` says how a link is called and stands, unless it was
    /// taken away.
    #[must_use]
    pub fn status(
        &self,
        now: (Instant, Time),
        about: impl Fn(usize) -> Option<(String, Option<Standing>)>,
    ) -> PeerStatus {
        let (waiting, room) = self.sender.backlog();
        let links = (0..self.sender.links()).filter_map(|number| {
            let (name, standing) = about(number)?;
            let received = self
                .receiver
                .link(number)
                .map_or_else(Received::default, |link| {
                    let (datagrams, bytes) = link.counts();
                    Received {
                        datagrams,
                        bytes,
                        reordered: link.reordered(),
                    }
                });
            Some(PeerLink {
                name,
                standing,
                sent: self.sender.link(number),
                received,
                heard: self
                    .receiver
                    .link(number)
                    .and_then(Inbound::heard_at)
                    .map(|at| now.0 - Duration::from_nanos(now.1.saturating_sub(at).as_nanos())),
            })
        });
        PeerStatus {
            name: self.name.clone(),
            open: self.is_open(now.0),
            mtu: self.mtu(),
            sent: self.sender.counters(),
            backlog: (Bytes::new(waiting), Bytes::new(room)),
            received: self.receiver.counters(),
            held: Bytes::new(self.receiver.held()),
            skew: self.receiver.skew(now.1),
            links: links.collect(),
        }
    }
}

impl Path {
    /// By this socket to that address.
    #[must_use]
    pub fn new(socket: usize, remote: SocketAddr, local: Option<IpAddr>) -> Path {
        Path {
            socket,
            remote,
            local,
            newest: 0,
        }
    }
}

/// What IP and UDP put before a datagram to that address.
#[must_use]
pub fn ip_udp_len(remote: &SocketAddr) -> u32 {
    let mapped = matches!(remote, SocketAddr::V6(six) if six.ip().to_ipv4_mapped().is_some());
    if remote.is_ipv4() || mapped { 28 } else { 48 }
}
