//! Path MTU discovery by probes (DPLPMTUD, RFC 8899): the longest datagram that a link carries.
//!
//! A probe is a ping padded to the size in question, followed by a short ping. If both are answered, the link
//! carries that size. If only the short one is, the probe was lost, after [`MAX_PROBES`] of them because of
//! its size. If neither is, the link is silent, which gives no information on sizes.
//!
//! Unlike in RFC 8899, MAX_PLPMTU is assumed and probed first: an ordinary link then never carries less.
//!
//! As the last resort, a datagram that is longer than [`PathMtu::max_unfragmented`] is sent in IP fragments.
//! This happens in two cases:
//!
//! - From the first lost probe of a size in use until the search has found another. So a falling path MTU
//!   costs a round trip or two.
//! - On a link that does not carry the longest packet that its device must be able to send
//!   ([`PathMtuConfig::least`]). Such a link is also probed with fragments, since many firewalls drop them.
//!   Example: a device with IPv6 needs 1348 bytes on IPv4 links. A link of 1300 bytes carries a packet of
//!   1280 bytes in two fragments.

use std::mem;

use ropewalk_quantities::Time;

/// Recommended BASE_PLPMTU of RFC 8899, section 5.1.2.
pub const BASE_PLPMTU: u32 = 1200;
/// After this many lost probes a size counts as too long (section 5.1.2).
pub const MAX_PROBES: u32 = 3;
/// Limits of the time to wait for the answers to a probe and its short ping (section 5.1.1).
const PROBE_TIMER: Time = Time::from_secs(1);
const MAX_PROBE_TIMER: Time = Time::from_secs(8);
/// A probe counts as lost if its answer is later than that to the short ping by a quarter of the round trip,
/// or by this: more than reordering.
const OVERTAKING: Time = Time::from_millis(20);
/// After a loss the PLPMTU is confirmed, at most this often.
const CONFIRMATION_TIMER: Time = Time::from_secs(1);
/// A larger size is tried again after this time (section 5.1.1).
const PMTU_RAISE_TIMER: Time = Time::from_secs(600);
/// A link that does not carry BASE_PLPMTU is probed again after this time.
const ERROR_TIMER: Time = Time::from_secs(10);
/// How long a search goes on before a lower PLPMTU is reported: senders keep to a reported one for minutes.
const SETTLING: Time = Time::from_secs(2);
const GRANULARITY: u32 = 8;
/// Common MTUs: IPv6's minimum, tunnels and overlays over Ethernet, PPPoE, FDDI and ATM.
const COMMON: [u32; 14] = [
    1280, 1320, 1358, 1380, 1400, 1420, 1440, 1450, 1460, 1472, 1480, 1492, 4352, 4470,
];

/// The range in which a link's PLPMTU is searched, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathMtuConfig {
    /// BASE_PLPMTU: a link that carries less is not used.
    pub base: u32,
    /// MAX_PLPMTU.
    pub max: u32,
    /// Length of the datagrams that each link must carry, if need be in fragments.
    pub least: u32,
}

/// RFC 8200, section 5.
pub const IPV6_MIN_MTU: u32 = 1280;
/// In place of the size in the token of a probe that is sent in fragments.
const IN_FRAGMENTS: u32 = 1;

impl PathMtuConfig {
    /// Returns the range for a device on links that are first tried with `link_mtu`. Linux removes a device's
    /// IPv6 addresses if its MTU is below IPv6's minimum: with such addresses each link must carry a packet
    /// of that length, with `beside` bytes of overhead.
    #[must_use]
    pub fn of_device(link_mtu: u32, has_ipv6: bool, beside: u32) -> PathMtuConfig {
        let base = BASE_PLPMTU.min(link_mtu);
        PathMtuConfig {
            base,
            max: link_mtu,
            least: if has_ipv6 {
                IPV6_MIN_MTU + beside
            } else {
                base
            },
        }
    }
}

impl Default for PathMtuConfig {
    fn default() -> PathMtuConfig {
        PathMtuConfig {
            base: BASE_PLPMTU,
            max: 1500,
            least: BASE_PLPMTU,
        }
    }
}

/// A ping that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Repeated by the answer: it names the size and identifies the probe.
    pub token: u32,
    /// Pad the ping to this length; `None` for the short one that follows.
    pub bytes: Option<u32>,
    /// It may be sent in fragments.
    pub in_fragments: bool,
}

/// The search for the PLPMTU of one link, in one direction.
#[derive(Clone, Debug)]
pub struct PathMtu {
    config: PathMtuConfig,
    phase: SearchPhase,
    plpmtu: u32,
    /// The largest acknowledged size; zero if there is none.
    low: u32,
    /// The smallest size that is too long.
    high: u32,
    carries_fragments: bool,
    probe: Option<SentProbe>,
    /// PROBE_COUNT: probes of this size that were lost in a row.
    lost: u32,
    number: u16,
    /// Probes sent since the path last changed.
    sent: u16,
    probe_timer: Time,
    /// When the next probe of a search may be sent.
    due: Time,
    since: Time,
    confirmed_at: Time,
    /// Something was lost since the last confirmation.
    doubtful: bool,
    raise_at: Time,
}

/// Phase of the search (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchPhase {
    Base,
    Search,
    /// Datagrams in fragments are being probed.
    Fragments,
    SearchComplete,
    /// The link does not carry BASE_PLPMTU, or less than needed and no fragments.
    Error,
}

#[derive(Clone, Copy, Debug)]
struct SentProbe {
    number: u16,
    bytes: u32,
    at: Time,
    followed: bool,
    heard: bool,
    until: Time,
}

impl PathMtu {
    /// Begins a search on an unknown link.
    #[must_use]
    pub fn new(now: Time, config: PathMtuConfig) -> PathMtu {
        PathMtu {
            config,
            phase: SearchPhase::Search,
            plpmtu: config.max,
            low: 0,
            high: config.max + 1,
            carries_fragments: false,
            probe: None,
            lost: 0,
            number: 0,
            sent: 0,
            probe_timer: PROBE_TIMER,
            due: now,
            since: now,
            confirmed_at: now,
            doubtful: false,
            raise_at: now,
        }
    }

    /// Returns the PLPMTU; zero if the link does not carry the required length.
    #[must_use]
    pub fn plpmtu(&self) -> u32 {
        self.plpmtu
    }

    /// Returns the length of the longest datagram to send in one piece. Longer ones are sent in fragments.
    #[must_use]
    pub fn max_unfragmented(&self) -> u32 {
        let is_doubted = self.lost > 0 && self.phase == SearchPhase::SearchComplete;
        let is_untested = self.lost == 0 && self.high > self.config.max;
        match (is_doubted, is_untested) {
            (true, _) => self.config.base,
            (false, true) => self.plpmtu.max(self.confirmed()),
            (false, false) => self.confirmed(),
        }
    }

    /// Returns the longest acknowledged length, or BASE_PLPMTU.
    #[must_use]
    pub fn confirmed(&self) -> u32 {
        self.low.max(self.config.base)
    }

    /// Searches the MTU of a new path of the link.
    pub fn on_new_path(&mut self, now: Time) {
        self.forget(now);
        self.phase = SearchPhase::Search;
        self.high = self.config.max + 1;
    }

    /// Notes that a datagram on the link was lost.
    pub fn on_loss(&mut self) {
        self.doubtful = true;
    }

    /// Processes the answer to the ping with this token; late answers count.
    pub fn on_pong(&mut self, now: Time, token: u32) {
        let (number, bytes) = split(token);
        let probe = self.probe.as_mut().filter(|probe| probe.number == number);
        if bytes == 0 {
            if let Some(probe) = probe {
                let round_trip = now.saturating_sub(probe.at);
                probe.heard = true;
                probe.until = now + OVERTAKING.max(round_trip / 4);
                self.probe_timer = PROBE_TIMER.max(round_trip * 2);
            }
            return;
        }
        let known = self.number.wrapping_sub(number) < self.sent;
        let is_size = (self.config.base..=self.config.max).contains(&bytes);
        if !known || !(is_size || bytes == IN_FRAGMENTS) {
            return;
        }
        if probe.is_some() {
            self.probe = None;
            self.due = now;
        }
        match bytes {
            IN_FRAGMENTS => self.acknowledge_fragments(now),
            _ => self.acknowledge(now, bytes),
        }
    }

    /// Notes that the network interface refuses the probe for its length.
    pub fn on_too_long(&mut self, now: Time) {
        if let Some(probe) = self.probe.take() {
            self.on_failed(now, probe.bytes);
        }
    }

    /// Notes that the network interface refuses another datagram of this length: its MTU has fallen.
    pub fn on_refused(&mut self, now: Time, bytes: u32) {
        if bytes <= self.max_unfragmented() && self.phase != SearchPhase::Error {
            self.on_black_hole(now, bytes);
        }
    }

    /// Returns the ping that is due.
    #[must_use]
    pub fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        if let Some(probe) = &mut self.probe {
            let follows = !mem::replace(&mut probe.followed, true);
            return follows.then_some(Probe {
                token: u32::from(probe.number) << 16,
                bytes: None,
                in_fragments: false,
            });
        }
        let (at, bytes) = self.next()?;
        if now < at {
            return None;
        }
        if self.phase == SearchPhase::SearchComplete && bytes > self.low {
            self.phase = SearchPhase::Search;
            self.high = self.config.max + 1;
            self.since = now;
        }
        // Zero is the token of pings that are not probes.
        self.number = self.number.wrapping_add(1).max(1);
        self.sent = self.sent.saturating_add(1);
        self.probe = Some(SentProbe {
            number: self.number,
            bytes,
            at: now,
            followed: false,
            heard: false,
            until: now + self.probe_timer,
        });
        let in_fragments = self.phase == SearchPhase::Fragments;
        let size = if in_fragments { IN_FRAGMENTS } else { bytes };
        Some(Probe {
            token: u32::from(self.number) << 16 | size,
            bytes: Some(bytes),
            in_fragments,
        })
    }

    /// Handles timeouts; call it at the time of [`poll_timeout`](PathMtu::poll_timeout). Returns whether a
    /// probe was lost on a link that carried the short ping.
    pub fn handle_timeout(&mut self, now: Time) -> bool {
        if self.settles_at().is_some_and(|at| at <= now) {
            self.plpmtu = self.confirmed();
        }
        let Some(probe) = self.probe.take_if(|probe| probe.until <= now) else {
            return false;
        };
        self.due = now;
        if !probe.heard {
            self.probe_timer = (self.probe_timer * 2).min(MAX_PROBE_TIMER);
            return false;
        }
        self.lost += 1;
        if self.lost >= MAX_PROBES {
            self.on_failed(now, probe.bytes);
        }
        true
    }

    /// Returns when to call [`handle_timeout`](PathMtu::handle_timeout) or
    /// [`poll_probe`](PathMtu::poll_probe). It may change after each call of the others.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let next = match (self.probe, self.phase) {
            (Some(probe), _) => Some(probe.until),
            (None, SearchPhase::SearchComplete) => self.next().map(|(at, _)| at),
            (None, _) => Some(self.due),
        };
        match (next, self.settles_at()) {
            (Some(next), Some(settles)) => Some(next.min(settles)),
            (next, settles) => next.or(settles),
        }
    }

    fn next(&self) -> Option<(Time, u32)> {
        match self.phase {
            SearchPhase::Base | SearchPhase::Error => Some((self.due, self.config.base)),
            SearchPhase::Search => Some((self.due, self.candidate())),
            SearchPhase::Fragments => Some((self.due, self.config.least)),
            SearchPhase::SearchComplete => {
                let at = self.due.max(self.confirmed_at + CONFIRMATION_TIMER);
                let confirmation = self.doubtful.then_some((at, self.low));
                let raise =
                    (self.low < self.config.max).then_some((self.raise_at, self.config.max));
                match (confirmation, raise) {
                    (Some(confirmation), Some(raise)) => Some(confirmation.min(raise)),
                    (confirmation, raise) => confirmation.or(raise),
                }
            }
        }
    }

    /// MAX_PLPMTU first; then the common size nearest to the middle of the remaining range, or the middle
    /// itself.
    fn candidate(&self) -> u32 {
        if self.high > self.config.max {
            return self.config.max;
        }
        let middle = self.low.midpoint(self.high);
        let left = self.low + 1..self.high;
        let common = COMMON.into_iter().filter(|size| left.contains(size));
        let nearest = common.min_by_key(|size| size.abs_diff(middle));
        nearest.unwrap_or(middle)
    }

    fn acknowledge(&mut self, now: Time, bytes: u32) {
        self.lost = 0;
        self.confirmed_at = now;
        self.doubtful = false;
        self.low = self.low.max(bytes);
        if self.plpmtu > 0 || self.carries_least() {
            self.plpmtu = self.plpmtu.max(self.low);
        }
        if matches!(self.phase, SearchPhase::Error) || self.low >= self.high {
            self.high = self.config.max + 1;
        }
        if self.phase != SearchPhase::SearchComplete {
            self.phase = SearchPhase::Search;
            self.finish(now);
        }
    }

    fn acknowledge_fragments(&mut self, now: Time) {
        self.lost = 0;
        self.carries_fragments = true;
        if self.phase == SearchPhase::Fragments {
            self.phase = SearchPhase::Search;
            self.finish(now);
        }
    }

    fn carries_least(&self) -> bool {
        self.low >= self.config.least || self.carries_fragments
    }

    fn on_failed(&mut self, now: Time, bytes: u32) {
        self.lost = 0;
        self.due = now;
        match self.phase {
            SearchPhase::Search => {
                self.high = bytes;
                if self.low == 0 {
                    self.phase = SearchPhase::Base;
                }
                self.finish(now);
            }
            SearchPhase::Base | SearchPhase::Fragments | SearchPhase::Error => {
                self.phase = SearchPhase::Error;
                self.plpmtu = 0;
                self.due = now + ERROR_TIMER;
            }
            SearchPhase::SearchComplete => self.on_black_hole(now, bytes),
        }
    }

    /// Restarts the search below a size that is no longer carried (section 4.3).
    fn on_black_hole(&mut self, now: Time, bytes: u32) {
        self.forget(now);
        self.phase = SearchPhase::Base;
        self.high = bytes;
    }

    /// Ends the search if the range is small enough.
    fn finish(&mut self, now: Time) {
        let found = self.low == self.config.max || self.high - self.low <= GRANULARITY;
        if self.phase != SearchPhase::Search || !found {
            return;
        }
        if self.plpmtu > 0 || self.carries_least() {
            self.plpmtu = self.low;
        }
        if self.carries_least() {
            self.phase = SearchPhase::SearchComplete;
            self.raise_at = now + PMTU_RAISE_TIMER;
        } else {
            self.phase = SearchPhase::Fragments;
        }
    }

    fn forget(&mut self, now: Time) {
        self.low = 0;
        self.carries_fragments = false;
        self.sent = 0;
        self.probe = None;
        self.lost = 0;
        self.due = now;
        self.since = now;
        self.doubtful = false;
    }

    /// Returns when to lower a PLPMTU that is too long although no other has been found.
    fn settles_at(&self) -> Option<Time> {
        let too_long = self.plpmtu >= self.high && self.plpmtu > self.confirmed();
        too_long.then_some(self.since + SETTLING)
    }
}

fn split(token: u32) -> (u16, u32) {
    ((token >> 16) as u16, token & 0xffff)
}

#[cfg(test)]
mod tests;
