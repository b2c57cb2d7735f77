//! Schedule of resolving the relay's name over each link.
//!
//! A link resolves the name when it has no address yet, when it has received nothing from the relay for
//! [`SILENCE`], at a reload, and when its last answer has expired. A link on standby does not.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use tracing::{info, warn};

use super::Engine;
use crate::relay_name::{NameResolver, RelayName, Resolution};

/// A link that has received nothing from the relay for this long resolves the name.
const SILENCE: Duration = Duration::from_secs(3);
/// Initial interval of attempts, which doubles each time.
const INITIAL_INTERVAL: Duration = Duration::from_secs(2);
const MAX_INTERVAL: Duration = Duration::from_secs(60);
const MIN_TTL: Duration = Duration::from_secs(60);
const MAX_TTL: Duration = Duration::from_secs(3600);
/// Interval of checks while a link is silent.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The relay's name, and its state on each link.
pub(super) struct NameResolution {
    resolver: NameResolver,
    /// `None` while the relay has addresses alone.
    name: Option<RelayName>,
    links: Vec<LinkResolution>,
    /// The newest addresses that any link has found, for links whose own attempt fails.
    known: Vec<SocketAddr>,
    checked_at: Instant,
    is_due: bool,
}

/// State of the name on one link.
#[derive(Clone, Debug)]
struct LinkResolution {
    silent_since: Option<Instant>,
    /// Earliest time of the next attempt; zero attempts are running then.
    next: Instant,
    interval: Duration,
    until: Option<Instant>,
    is_pending: bool,
    /// The last failure, which is logged once.
    failure: Option<String>,
}

impl LinkResolution {
    fn new(now: Instant) -> LinkResolution {
        LinkResolution {
            silent_since: None,
            next: now,
            interval: INITIAL_INTERVAL,
            until: None,
            is_pending: false,
            failure: None,
        }
    }

    /// Whether the name must be resolved now. `has_address`: the link knows an address of the relay.
    fn is_due(&mut self, now: Instant, is_silent: bool, has_address: bool) -> bool {
        if is_silent {
            self.silent_since.get_or_insert(now);
        } else {
            (self.silent_since, self.interval) = (None, INITIAL_INTERVAL);
        }
        if self.is_pending || now < self.next {
            return false;
        }
        let is_lost = self
            .silent_since
            .is_some_and(|since| now >= since + SILENCE);
        let is_over = self.until.is_none_or(|until| now >= until);
        if !(is_lost || is_over || !has_address) {
            return false;
        }
        self.is_pending = true;
        self.next = now + self.interval;
        self.interval = (self.interval * 2).min(MAX_INTERVAL);
        true
    }
}

impl NameResolution {
    pub(super) fn new(
        now: Instant,
        resolver: NameResolver,
        name: Option<RelayName>,
    ) -> NameResolution {
        NameResolution {
            resolver,
            name,
            links: Vec::new(),
            known: Vec::new(),
            checked_at: now,
            is_due: true,
        }
    }

    /// Replaces the name by that of another relay, and resolves it on all links.
    pub(super) fn set_name(&mut self, now: Instant, name: Option<RelayName>) {
        self.name = name;
        self.links.clear();
        self.known.clear();
        (self.checked_at, self.is_due) = (now, true);
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.name.as_ref()?;
        if self.is_due {
            return Some(self.checked_at);
        }
        let silent = self.links.iter().any(|link| link.silent_since.is_some());
        let silent = silent.then(|| self.checked_at + CHECK_INTERVAL);
        let over = self.links.iter().filter(|link| !link.is_pending);
        let over = over
            .filter_map(|link| Some(link.until?.max(link.next)))
            .min();
        silent.into_iter().chain(over).min()
    }

    pub(super) fn failure(&self, link: usize) -> Option<String> {
        let failure = self.links.get(link)?.failure.as_ref()?;
        Some(format!("the name of the relay does not resolve: {failure}"))
    }

    /// Makes links that do not hear the relay resolve the name at once, since the network has changed.
    fn retry_silent_links(&mut self, now: Instant) {
        for link in &mut self.links {
            if link.silent_since.is_some() {
                link.next = link.next.min(now + Duration::from_secs(1));
                link.interval = INITIAL_INTERVAL;
                link.silent_since = Some(now - SILENCE);
            }
        }
        self.is_due = true;
    }

    pub(super) fn retry_all_links(&mut self) {
        for link in &mut self.links {
            (link.until, link.next, link.interval) = (None, self.checked_at, INITIAL_INTERVAL);
        }
        self.is_due = true;
    }
}

impl Engine {
    pub(super) fn on_network_change(&mut self) {
        self.watch.on_change();
        if let Some(names) = &mut self.names {
            names.retry_silent_links(Instant::now());
        }
    }

    /// Starts resolving the relay's name over each link where that is due.
    pub(super) fn resolve_names(&mut self, now: Instant) {
        let Some(mut names) = self.names.take() else {
            return;
        };
        let is_due = names.due().is_some_and(|due| due <= now)
            || self.watch.due().is_some_and(|due| due <= now);
        if let Some(name) = names.name.clone().filter(|_| is_due) {
            names.checked_at = now;
            names.is_due = false;
            names
                .links
                .resize(self.sockets.len(), LinkResolution::new(now));
            for number in 0..self.sockets.len() {
                let Some(link) = self.sockets.link(number) else {
                    continue;
                };
                if link.relay.is_some() || self.policies.terms(number).standby {
                    continue;
                }
                let has_address = self.sockets.relay(number).is_some();
                let is_silent = self.sockets.get(number).is_none() || self.is_silent(number);
                if names.links[number].is_due(now, is_silent, has_address) {
                    names.resolver.resolve(&name, number, link.clone());
                }
            }
        }
        self.names = Some(names);
    }

    pub(super) fn apply_resolutions(&mut self, epoll: &OwnedFd) -> io::Result<()> {
        let now = Instant::now();
        for resolution in self.control.take_resolutions() {
            let Resolution { relay, link, found } = resolution;
            let name = self.policies.name(link).map(str::to_owned);
            let (Some(names), Some(name)) = (&mut self.names, name) else {
                continue;
            };
            let Some(known) = names.links.get_mut(link) else {
                continue;
            };
            if names.name.as_ref() != Some(&relay) {
                continue;
            }
            known.is_pending = false;
            let relays = match found {
                Ok(found) => {
                    let ttl = found.until.saturating_duration_since(now);
                    known.until = Some(now + ttl.clamp(MIN_TTL, MAX_TTL));
                    known.failure = None;
                    names.known.clone_from(&found.relays);
                    found.relays
                }
                Err(error) => {
                    known.until = Some(known.next);
                    if known.failure.as_ref() != Some(&error) {
                        warn!("link {name}: the name of the relay does not resolve: {error}");
                        known.failure = Some(error);
                    }
                    names.known.clone()
                }
            };
            let before = self.sockets.relay(link);
            let is_heard = self.sockets.get(link).is_some() && !self.is_silent(link);
            let change = self.sockets.set_relays(link, &relays, is_heard);
            if let Some(relay) = self
                .sockets
                .relay(link)
                .filter(|_| self.sockets.relay(link) != before)
            {
                info!("link {name}: the relay is at {relay}");
            }
            if let Some(change) = change {
                self.on_link_change(epoll, link, change)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn is_due_doubles_its_interval_during_silence() {
        let start = Instant::now();
        let mut link = LinkResolution::new(start);
        assert!(link.is_due(start, true, false), "without an address");
        link.is_pending = false;
        link.until = Some(start + MAX_TTL);
        let mut attempts = Vec::new();
        for second in 0..300 {
            let now = start + SECOND * second;
            if link.is_due(now, second >= 100, true) {
                attempts.push(second);
                link.is_pending = false;
            }
        }
        assert_eq!(attempts, [103, 105, 109, 117, 133, 165, 225, 285]);
        // Once the relay is heard, the next silence starts from zero.
        let now = start + SECOND * 300;
        assert!(!link.is_due(now, false, true));
        assert!(!link.is_due(now + SECOND * 60, true, true));
        assert!(link.is_due(now + SECOND * 63, true, true));
    }

    #[test]
    fn is_due_when_the_time_to_live_expires() {
        let start = Instant::now();
        let mut link = LinkResolution::new(start);
        link.until = Some(start + MIN_TTL);
        assert!(!link.is_due(start + SECOND * 59, false, true));
        assert!(link.is_due(start + SECOND * 60, false, true));
        assert!(
            !link.is_due(start + SECOND * 300, false, true),
            "it is under way"
        );
    }
}
