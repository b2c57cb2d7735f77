//! Reasons for refusing a datagram or a packet, and their counts.

use std::collections::BTreeMap;

/// Reason for refusing a datagram or a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not a datagram of a tunnel: too short, of an unknown kind, or with malformed frames.
    Malformed,
    /// Its session does not exist, or has ended.
    UnknownSession,
    /// It fails authentication.
    Forged,
    /// It was received before.
    Replayed,
    /// The inner packet's source address does not belong to the client.
    ForeignSource,
    /// A handshake for another key than this end's, or not from the relay.
    WrongKey,
    /// A handshake of a client that is not in the list.
    UnknownClient,
    /// A handshake that was received before.
    ReplayedHandshake,
    /// A handshake of a client that claims another client's address in the tunnel.
    ForeignAddress,
    /// The relay refuses this client, since it claims another client's address.
    RefusedByRelay,
    /// A handshake that must be repeated with a cookie, since there are many.
    CookieWanted,
    /// A handshake beyond the rate limit of its source.
    TooManyHandshakes,
    /// A datagram to a client from another address than the one of the relay that its link uses.
    ForeignPath,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Refusal; 13] = [
        Refusal::Malformed,
        Refusal::UnknownSession,
        Refusal::Forged,
        Refusal::Replayed,
        Refusal::ForeignSource,
        Refusal::WrongKey,
        Refusal::UnknownClient,
        Refusal::ReplayedHandshake,
        Refusal::ForeignAddress,
        Refusal::RefusedByRelay,
        Refusal::CookieWanted,
        Refusal::TooManyHandshakes,
        Refusal::ForeignPath,
    ];

    /// Returns its name in the status.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Malformed => "malformed",
            Refusal::UnknownSession => "unknown-session",
            Refusal::Forged => "forged",
            Refusal::Replayed => "replayed",
            Refusal::ForeignSource => "foreign-source",
            Refusal::WrongKey => "wrong-key",
            Refusal::UnknownClient => "unknown-client",
            Refusal::ReplayedHandshake => "replayed-handshake",
            Refusal::ForeignAddress => "foreign-address",
            Refusal::RefusedByRelay => "turned-away",
            Refusal::CookieWanted => "cookie-wanted",
            Refusal::TooManyHandshakes => "too-many-handshakes",
            Refusal::ForeignPath => "foreign-path",
        }
    }

    /// Returns the message to log, at most once a minute per source; `None` for reasons that occur in normal
    /// operation.
    pub(super) fn log_message(self) -> Option<&'static str> {
        match self {
            Refusal::Malformed => Some("not a datagram of a tunnel"),
            Refusal::Forged => Some("a datagram encrypted with other keys"),
            Refusal::ForeignSource => {
                Some("a packet whose source address does not belong to its sender")
            }
            Refusal::WrongKey => Some("a handshake for or with another key"),
            Refusal::UnknownClient => Some("a client that is not in the list"),
            Refusal::ReplayedHandshake => Some("a repeated handshake"),
            Refusal::ForeignAddress => {
                Some("a client with an address in the tunnel that its line of --clients lacks")
            }
            Refusal::RefusedByRelay => Some(
                "the relay refuses an --address of this end; its --clients lists the allowed ones",
            ),
            Refusal::TooManyHandshakes => Some("more handshakes than one source may send"),
            Refusal::ForeignPath => Some("a datagram that is not from the relay's address"),
            Refusal::UnknownSession | Refusal::Replayed | Refusal::CookieWanted => None,
        }
    }
}

/// Counts of refused datagrams, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalCounts([u64; Refusal::ALL.len()]);

impl RefusalCounts {
    pub(super) fn count(&mut self, why: Refusal) {
        self.0[why as usize] += 1;
    }

    /// Returns the counts by the names of the reasons, including zeros.
    #[must_use]
    pub fn by_reason(&self) -> BTreeMap<String, u64> {
        let counts = Refusal::ALL.map(|why| (why.name().to_owned(), self.of(why)));
        counts.into_iter().collect()
    }

    /// Returns the count for a reason.
    #[must_use]
    pub fn of(&self, why: Refusal) -> u64 {
        self.0[why as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_own_count() {
        let mut refused = RefusalCounts::default();
        for (times, why) in (0..).zip(Refusal::ALL) {
            for _ in 0..times {
                refused.count(why);
            }
        }
        assert_eq!(
            Refusal::ALL.map(|why| refused.of(why)),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
        );
    }
}
