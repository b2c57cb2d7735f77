//! Destination of a link's datagrams, and the validation of new addresses of the peer (RFC 9000, sections
//! 8.2, 9.3 and 9.4).
//!
//! An authentic datagram can come from an address that is not its sender's: an attacker on the path can
//! repeat it from another one before the original arrives. So a new address is a *candidate*. A ping with a
//! random token is sent to it, and a ping with another token to the address in use:
//!
//! | pong | effect |
//! | --- | --- |
//! | the candidate's | the link moves to the candidate |
//! | that of the address in use, before or after | the link stays, or returns; other addresses are ignored for 2 s |
//!
//! A candidate gets at most three times the bytes received from it. A link without an address sends only
//! pongs and feedback to the candidate, within this limit.

use std::net::{IpAddr, SocketAddr};

use ropewalk_quantities::Time;

/// Bytes that may be sent to a candidate for each byte received from it (RFC 9000, section 8.1).
const AMPLIFICATION: u64 = 3;
/// Least interval of pings to a candidate.
const PROBE_INTERVAL: Time = Time::from_millis(50);
/// Time after which another new address replaces a candidate.
const CANDIDATE_TIMEOUT: Time = Time::from_millis(500);
/// Time within which a pong from the previous address makes the link return to it.
const RETURN_TIMEOUT: Time = Time::from_secs(3);
/// Time for which new addresses are ignored after the address in use has answered.
const IGNORE_TIME: Time = Time::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Number of our socket.
    pub socket: usize,
    pub remote: SocketAddr,
    /// The local address that the peer knows, if the socket has several.
    pub local: Option<IpAddr>,
    /// Longest datagram to send in one piece, IP header included. Longer ones are sent in fragments.
    pub whole: u32,
}

impl Path {
    #[must_use]
    pub fn new(socket: usize, remote: SocketAddr, local: Option<IpAddr>) -> Path {
        Path {
            socket,
            remote,
            local,
            whole: u32::MAX,
        }
    }
}

#[derive(Debug, Default)]
pub struct LinkPath {
    active: Option<Path>,
    candidate: Option<Candidate>,
    /// The address before the last move.
    previous: Option<PreviousPath>,
    /// The newest sequence received: only a later datagram from another address creates a candidate.
    newest: u64,
    /// Until then, new addresses are ignored.
    ignore_until: Time,
}

#[derive(Debug)]
struct Candidate {
    path: Path,
    /// Bytes received from it and sent to it.
    received: u64,
    sent: u64,
    /// Tokens of the pings to it, and to the address in use.
    tokens: [u32; 2],
    since: Time,
    /// Earliest time of its next ping.
    due: Time,
}

/// The previous address, as long as a pong from it makes the link return.
#[derive(Debug)]
struct PreviousPath {
    path: Path,
    token: u32,
    until: Time,
}

/// Pings that validate a new address: each has a path and a token.
pub type Probes = [Option<(Path, u32)>; 2];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PongEffect {
    /// None: it answers another ping.
    Other,
    /// The link keeps its address.
    Stays,
    /// The link gets its first address, or another one.
    Moves,
}

impl LinkPath {
    #[must_use]
    pub fn to(path: Path) -> LinkPath {
        LinkPath {
            active: Some(path),
            ..LinkPath::default()
        }
    }

    #[must_use]
    pub fn active(&self) -> Option<&Path> {
        self.active.as_ref()
    }

    /// Returns the path for the link's datagrams, as far as [`spend`](LinkPath::spend) allows.
    #[must_use]
    pub fn destination(&self) -> Option<Path> {
        let candidate = || Some(self.candidate.as_ref()?.path);
        self.active.or_else(candidate)
    }

    /// Counts a datagram of `bytes` bytes to this path; returns false if that is too much for a candidate.
    #[must_use]
    pub fn spend(&mut self, to: &Path, bytes: u32) -> bool {
        match &mut self.candidate {
            Some(candidate) if candidate.path.remote == to.remote => {
                let sent = candidate.sent + u64::from(bytes);
                let is_allowed = sent <= AMPLIFICATION * candidate.received;
                if is_allowed {
                    candidate.sent = sent;
                }
                is_allowed
            }
            _ => true,
        }
    }

    /// Handles an authentic, new datagram of `bytes` bytes from this path; returns pings to send. `draw`
    /// returns random tokens.
    #[must_use]
    pub fn on_datagram(
        &mut self,
        now: Time,
        sequence: u64,
        path: Path,
        bytes: u32,
        draw: impl Fn() -> u32,
    ) -> Probes {
        if sequence < self.newest {
            return Probes::default();
        }
        self.newest = sequence;
        if let Some(active) = &mut self.active {
            if active.remote == path.remote {
                *active = path;
                return Probes::default();
            }
            if now < self.ignore_until {
                return Probes::default();
            }
        }
        let is_other = |candidate: &Candidate| {
            candidate.path.remote != path.remote && now >= candidate.since + CANDIDATE_TIMEOUT
        };
        if self.candidate.as_ref().is_some_and(is_other) {
            self.candidate = None;
        }
        let candidate = self.candidate.get_or_insert_with(|| Candidate {
            path,
            received: 0,
            sent: 0,
            tokens: [draw(), draw()],
            since: now,
            due: now,
        });
        if candidate.path.remote != path.remote {
            return Probes::default();
        }
        candidate.path = path;
        candidate.received += u64::from(bytes);
        if now < candidate.due {
            return Probes::default();
        }
        candidate.due = now + PROBE_INTERVAL;
        let [to_it, to_active] = candidate.tokens;
        [
            Some((path, to_it)),
            self.active.map(|active| (active, to_active)),
        ]
    }

    /// Handles a pong with this token on the link.
    #[must_use]
    pub fn on_pong(&mut self, now: Time, token: u32) -> PongEffect {
        if let Some(candidate) = self.candidate.take_if(|known| known.tokens[0] == token) {
            let active = self.active.replace(candidate.path);
            self.previous = active.map(|path| PreviousPath {
                path,
                token: candidate.tokens[1],
                until: now + RETURN_TIMEOUT,
            });
            return PongEffect::Moves;
        }
        let in_use = |known: &mut Candidate| known.tokens[1] == token;
        if self.active.is_some() && self.candidate.take_if(in_use).is_some() {
            self.ignore_until = now + IGNORE_TIME;
            return PongEffect::Stays;
        }
        let returns = |previous: &mut PreviousPath| previous.token == token;
        if let Some(previous) = self.previous.take_if(returns)
            && now < previous.until
        {
            self.active = Some(previous.path);
            self.candidate = None;
            self.ignore_until = now + IGNORE_TIME;
            return PongEffect::Moves;
        }
        PongEffect::Other
    }

    #[must_use]
    pub fn has_remote(&self, matches: impl Fn(&SocketAddr) -> bool) -> bool {
        self.active
            .as_ref()
            .is_some_and(|path| matches(&path.remote))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    const OLD: u16 = 1;
    const NEW: u16 = 2;
    const OTHER: u16 = 3;

    fn path(port: u16) -> Path {
        Path::new(0, ([192, 0, 2, 1], port).into(), None)
    }

    fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// A link to `OLD`, with tokens 1, 2, 3 and so on.
    struct TestLink {
        path: LinkPath,
        sequence: u64,
        tokens: Cell<u32>,
    }

    impl TestLink {
        fn new() -> TestLink {
            TestLink {
                path: LinkPath::to(path(OLD)),
                sequence: 0,
                tokens: Cell::new(0),
            }
        }

        /// Receives 100 bytes from this port; returns the ports that are pinged, with the tokens.
        fn receive(&mut self, now: Time, from: u16) -> Vec<(u16, u32)> {
            self.sequence += 1;
            let draw = || {
                self.tokens.set(self.tokens.get() + 1);
                self.tokens.get()
            };
            let probes = self
                .path
                .on_datagram(now, self.sequence, path(from), 100, draw);
            let probes = probes.into_iter().flatten();
            let sent = probes.filter(|(path, _)| self.path.spend(path, 67));
            sent.map(|(path, token)| (path.remote.port(), token))
                .collect()
        }

        fn remote_port(&self) -> u16 {
            self.path.active().unwrap().remote.port()
        }
    }

    #[test]
    fn datagram_from_another_address_does_not_move_the_link() {
        let mut link = TestLink::new();
        assert_eq!(link.receive(ms(0), OLD), []);
        assert_eq!(link.receive(ms(1), NEW), [(NEW, 1), (OLD, 2)]);
        assert_eq!(link.remote_port(), OLD);
        assert_eq!(link.receive(ms(2), NEW), []);
        assert_eq!(link.receive(ms(51), NEW), [(NEW, 1), (OLD, 2)]);
        assert_eq!(link.path.on_pong(ms(52), 3), PongEffect::Other);
        assert_eq!(link.remote_port(), OLD);
    }

    #[test]
    fn rebound_nat_is_followed_at_the_first_pong() {
        let mut link = TestLink::new();
        assert_eq!(link.receive(ms(1), NEW), [(NEW, 1), (OLD, 2)]);
        assert_eq!(link.path.on_pong(ms(21), 1), PongEffect::Moves);
        assert_eq!(link.remote_port(), NEW);
        assert_eq!(link.receive(ms(22), NEW), []);
    }

    #[test]
    fn mirrored_datagrams_are_ignored_while_the_active_address_answers() {
        let mut link = TestLink::new();
        assert_eq!(link.receive(ms(0), NEW), [(NEW, 1), (OLD, 2)]);
        assert_eq!(link.path.on_pong(ms(20), 2), PongEffect::Stays);
        for at in 21..2000 {
            assert_eq!(link.receive(ms(at), NEW), []);
        }
        assert_eq!(link.remote_port(), OLD);
        // It may be the only address later.
        assert_eq!(link.receive(ms(2020), NEW), [(NEW, 3), (OLD, 4)]);
    }

    #[test]
    fn link_returns_from_a_mirror_when_the_previous_address_answers() {
        let mut link = TestLink::new();
        assert_eq!(link.receive(ms(0), NEW), [(NEW, 1), (OLD, 2)]);
        assert_eq!(link.path.on_pong(ms(10), 1), PongEffect::Moves);
        assert_eq!(link.remote_port(), NEW);
        assert_eq!(link.path.on_pong(ms(20), 2), PongEffect::Moves);
        assert_eq!(link.remote_port(), OLD);
        assert_eq!(link.receive(ms(30), NEW), []);
        assert_eq!(link.path.on_pong(ms(40), 2), PongEffect::Other);
        assert_eq!(link.path.on_pong(ms(40), 1), PongEffect::Other);
    }

    #[test]
    fn late_pong_of_the_previous_address_does_not_move_the_link() {
        let mut link = TestLink::new();
        assert_eq!(link.receive(ms(0), NEW), [(NEW, 1), (OLD, 2)]);
        assert_eq!(link.path.on_pong(ms(10), 1), PongEffect::Moves);
        assert_eq!(link.path.on_pong(ms(3010), 2), PongEffect::Other);
        assert_eq!(link.remote_port(), NEW);
    }

    #[test]
    fn late_datagrams_from_another_address_are_ignored() {
        let mut link = TestLink::new();
        link.sequence = 10;
        assert_eq!(link.receive(ms(0), OLD), []);
        link.sequence = 5;
        assert_eq!(link.receive(ms(1), NEW), []);
    }

    #[test]
    fn third_address_is_ignored_until_the_candidate_times_out() {
        let mut link = TestLink::new();
        assert_eq!(link.receive(ms(0), NEW), [(NEW, 1), (OLD, 2)]);
        assert_eq!(link.receive(ms(60), OTHER), []);
        assert_eq!(link.receive(ms(500), OTHER), [(OTHER, 3), (OLD, 4)]);
        assert_eq!(link.path.on_pong(ms(510), 1), PongEffect::Other);
        assert_eq!(link.path.on_pong(ms(510), 3), PongEffect::Moves);
        assert_eq!(link.remote_port(), OTHER);
    }

    #[test]
    fn silent_candidate_gets_at_most_three_times_its_bytes() {
        let mut link = TestLink::new();
        link.path = LinkPath::default();
        let mut sent = 0;
        for round in 1..100 {
            sent += 67 * link.receive(ms(round), NEW).len() as u64;
            let to = link.path.destination().unwrap();
            while link.path.spend(&to, 140) {
                sent += 140;
            }
            assert!(sent <= 300 * round, "{sent} bytes for {round} datagrams");
        }
        assert!(link.path.active().is_none());
        assert_eq!(link.path.on_pong(ms(200), 1), PongEffect::Moves);
        assert_eq!(link.remote_port(), NEW);
    }
}
