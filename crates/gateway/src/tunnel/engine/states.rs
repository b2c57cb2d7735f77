//! States of the client's session and links: why a link is not in use, and a log line for each change.

use std::time::{Duration, Instant};

use tracing::{info, warn};

use super::{Engine, HandshakeRole};
use crate::status::document::{LinkState, SessionState};
use crate::tunnel::status::{PeerLink, PeerStatus};

pub(super) const TOO_NARROW: &str =
    "the path MTU is less than 1200 bytes, or less than IPv6 needs and fragments are lost";
/// Time without an answer after which a session is silent.
const SILENCE: Duration = Duration::from_secs(5);
/// Least interval between log lines about a link.
const LOGGED_EVERY: Duration = Duration::from_secs(1);

impl Engine {
    /// Completes the client's status: the session's state, and why links are not in use.
    pub(super) fn explain(&self, now: Instant, status: &mut PeerStatus) {
        let HandshakeRole::Initiator(dialer) = &self.end else {
            return;
        };
        status.session = match self.peers[0].is_open(now) {
            true if self.peers[0].is_silent_for(now, SILENCE) => SessionState::Silent,
            true => SessionState::Up,
            false if dialer.is_refused() => SessionState::Refused,
            false => SessionState::Handshaking,
        };
        let numbers = 0..self.policies.len();
        let listed = numbers.filter(|&number| self.policies.name(number).is_some());
        for (number, link) in listed.zip(&mut status.links) {
            let has_socket = self.sockets.get(number).is_some();
            link.sent.terms = self.policies.terms(number);
            let standby = link.sent.terms.standby;
            link.is_dialled = has_socket && !status.open && !standby;
            link.reason = match (has_socket, standby) {
                (false, _) if self.sockets.relay(number).is_none() => {
                    let failure = self.names.as_ref().and_then(|names| names.failure(number));
                    let resolving = "the name of the relay is being resolved";
                    Some(failure.unwrap_or_else(|| resolving.to_owned()))
                }
                (false, _) => self.sockets.unavailable_reason(number).map(str::to_owned),
                (true, true) => Some("on standby".to_owned()),
                (true, false) => reason(link, status.session).map(str::to_owned),
            };
        }
    }
}

fn reason(link: &PeerLink, session: SessionState) -> Option<&'static str> {
    match link.state() {
        LinkState::Dialling if session == SessionState::Refused => {
            Some("the relay refuses this client")
        }
        LinkState::Dialling => Some("the relay has not answered"),
        LinkState::Suspected => Some("the relay does not answer"),
        LinkState::Down if link.is_too_narrow() => Some(TOO_NARROW),
        LinkState::Down | LinkState::Up => None,
    }
}

#[derive(Debug, Default)]
pub(super) struct StateLog {
    session: Option<SessionState>,
    links: Vec<(String, Logged)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Logged {
    state: LinkState,
    reason: Option<String>,
    at: Instant,
}

impl StateLog {
    pub(super) fn follow(&mut self, now: Instant, status: &PeerStatus) {
        if self.session != Some(status.session) {
            let name = status.session.name();
            match status.session {
                SessionState::Refused | SessionState::Silent => warn!("session: {name}"),
                _ => info!("session: {name}"),
            }
            self.session = Some(status.session);
        }
        for link in &status.links {
            if let Some(line) = self.change(now, link) {
                match link.state() {
                    LinkState::Up | LinkState::Dialling => info!("{line}"),
                    LinkState::Suspected | LinkState::Down => warn!("{line}"),
                }
            }
        }
        let is_listed = |name: &str| status.links.iter().any(|link| link.name == name);
        self.links.retain(|(name, _)| is_listed(name));
    }

    fn change(&mut self, now: Instant, link: &PeerLink) -> Option<String> {
        let logged = Logged {
            state: link.state(),
            reason: link.reason.clone(),
            at: now,
        };
        let known = self.links.iter_mut().find(|(name, _)| *name == link.name);
        match known {
            Some((_, before))
                if (before.state, &before.reason) == (logged.state, &logged.reason)
                    || now < before.at + LOGGED_EVERY =>
            {
                return None;
            }
            Some((_, before)) => *before = logged,
            None => self.links.push((link.name.clone(), logged)),
        }
        let reason = link.reason.as_ref().map(|reason| format!(": {reason}"));
        let reason = reason.unwrap_or_default();
        Some(format!(
            "link {}: {}{reason}",
            link.name,
            link.state().name()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::ReceivedTraffic;
    use ropewalk_striping::tunnel::LinkStatus;

    #[test]
    fn change_logs_at_most_one_line_per_second() {
        let mut link = PeerLink {
            name: "wifi".to_owned(),
            quota: None,
            sent: LinkStatus {
                up: true,
                path_mtu: 1500,
                ..LinkStatus::default()
            },
            received: ReceivedTraffic::default(),
            peer_path_mtu: None,
            heard: None,
            is_dialled: false,
            reason: None,
        };
        let (start, mut log) = (Instant::now(), StateLog::default());
        let first = log.change(start, &link);
        assert_eq!(first.as_deref(), Some("link wifi: up"));
        assert_eq!(log.change(start + LOGGED_EVERY, &link), None);
        link.sent.suspected = true;
        link.reason = reason(&link, SessionState::Up).map(str::to_owned);
        let later = start + LOGGED_EVERY * 2;
        let line = log.change(later, &link);
        assert_eq!(
            line.as_deref(),
            Some("link wifi: suspected: the relay does not answer")
        );
        (link.sent.suspected, link.reason) = (false, None);
        assert_eq!(log.change(later, &link), None, "within a second");
        assert!(log.change(later + LOGGED_EVERY, &link).is_some());
    }
}
