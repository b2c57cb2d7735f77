//! Messages of the handshake, in UDP datagrams of their own, around Noise's.
//!
//! ```text
//! hello    1, link u8, cookie 16 bytes (zeros if none), Noise's first message
//! answer   2, link u8, initiator's session u32, Noise's second message
//! cookie   3, link u8, cookie 16 bytes
//! ```
//!
//! A responder that is asked too often answers with a cookie alone, which it makes of the
//! initiator's address and a secret and does not store; only who can receive at that address can
//! repeat its hello with it (as in RFC 9000, section 8.1, and in WireGuard).

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use subtle::ConstantTimeEq;

use crate::noise::Purpose;

/// First bytes of the datagrams.
pub const HELLO: u8 = 1;
pub const ANSWER: u8 = 2;
pub const COOKIE: u8 = 3;
/// What stands before Noise's messages.
pub const HELLO_HEAD: usize = 18;
pub const ANSWER_HEAD: usize = 6;
pub const COOKIE_LEN: usize = 16;

/// Hellos a second that are read without a cookie.
const FREE: u32 = 20;
/// And with one, from all addresses together.
const MOST: u32 = 500;
/// A secret is used for so long.
const SECRET_LIFE: Duration = Duration::from_secs(60);

/// What an initiator says of itself, within Noise's first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its number of the session, for what is sent to it.
    pub session: u32,
    /// Tells one run of its program from another.
    pub instance: u64,
    /// Nanoseconds since 1970: an older one than the last is a replay.
    pub time: u64,
    /// Its address within the tunnel.
    pub address: IpAddr,
}

impl Offer {
    const LEN: usize = 36;

    /// Its bytes; an IPv4 address as an IPv6 one (RFC 4291, section 2.5.5.2).
    #[must_use]
    pub fn to_bytes(self) -> [u8; Offer::LEN] {
        let mut out = [0; Offer::LEN];
        out[..4].copy_from_slice(&self.session.to_be_bytes());
        out[4..12].copy_from_slice(&self.instance.to_be_bytes());
        out[12..20].copy_from_slice(&self.time.to_be_bytes());
        let address = match self.address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        out[20..].copy_from_slice(&address.octets());
        out
    }

    /// Reads it.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Offer> {
        let bytes: &[u8; Offer::LEN] = bytes.try_into().ok()?;
        let address: [u8; 16] = bytes[20..].try_into().ok()?;
        Some(Offer {
            session: u32::from_be_bytes(bytes[..4].try_into().ok()?),
            instance: u64::from_be_bytes(bytes[4..12].try_into().ok()?),
            time: u64::from_be_bytes(bytes[12..20].try_into().ok()?),
            address: IpAddr::from(address).to_canonical(),
        })
    }
}

/// What a responder says of itself, within Noise's second message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// Its number of the session.
    pub session: u32,
    /// Tells one run of its program from another.
    pub instance: u64,
}

impl Acceptance {
    /// Its bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 12] {
        let mut out = [0; 12];
        out[..4].copy_from_slice(&self.session.to_be_bytes());
        out[4..].copy_from_slice(&self.instance.to_be_bytes());
        out
    }

    /// Reads it.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Acceptance> {
        let bytes: &[u8; 12] = bytes.try_into().ok()?;
        Some(Acceptance {
            session: u32::from_be_bytes(bytes[..4].try_into().ok()?),
            instance: u64::from_be_bytes(bytes[4..].try_into().ok()?),
        })
    }
}

/// Who may be heard, before anything is computed for him.
pub struct Gate {
    secret: hmac::Key,
    since: Instant,
    /// Hellos read in the second that began then.
    second: Instant,
    read: u32,
}

/// What becomes of a hello.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Read it.
    Read,
    /// Answer with this cookie.
    Cookie([u8; COOKIE_LEN]),
}

impl Gate {
    /// A gate with a secret of its own.
    #[must_use]
    pub fn new(now: Instant) -> Gate {
        Gate {
            secret: secret(),
            since: now,
            second: now,
            read: 0,
        }
    }

    /// A hello with this cookie came from there.
    pub fn ask(&mut self, now: Instant, from: SocketAddr, cookie: &[u8]) -> Verdict {
        if now >= self.second + Duration::from_secs(1) {
            self.second = now;
            self.read = 0;
        }
        if now >= self.since + SECRET_LIFE {
            self.secret = secret();
            self.since = now;
        }
        if self.read < FREE {
            self.read += 1;
            return Verdict::Read;
        }
        let expected = self.cookie(from);
        // How long it takes tells nothing of how much of it is right.
        if bool::from(cookie.ct_eq(&expected)) && self.read < MOST {
            self.read += 1;
            return Verdict::Read;
        }
        Verdict::Cookie(expected)
    }

    fn cookie(&self, from: SocketAddr) -> [u8; COOKIE_LEN] {
        let tag = hmac::sign(&self.secret, from.to_string().as_bytes());
        let mut cookie = [0; COOKIE_LEN];
        cookie.copy_from_slice(&tag.as_ref()[..COOKIE_LEN]);
        cookie
    }
}

fn secret() -> hmac::Key {
    hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).expect("the system has randomness")
}

/// What a handshake is for: ends that do not mean the same do not understand each other.
#[must_use]
pub fn purpose(sealed: bool) -> Purpose {
    if sealed {
        Purpose::Tunnel
    } else {
        Purpose::PlainTunnel
    }
}

/// A random number.
#[must_use]
pub fn random() -> u64 {
    let mut bytes = [0; 8];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.expect("the system has randomness");
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_and_acceptances_are_read_as_written() {
        for address in ["10.9.0.2", "fd00::2"] {
            let offer = Offer {
                session: 1,
                instance: 2,
                time: 3,
                address: address.parse().unwrap(),
            };
            assert_eq!(Offer::parse(&offer.to_bytes()), Some(offer));
        }
        assert_eq!(Offer::parse(&[0; 35]), None);
        let acceptance = Acceptance {
            session: 1,
            instance: 2,
        };
        assert_eq!(acceptance.to_bytes(), [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(Acceptance::parse(&acceptance.to_bytes()), Some(acceptance));
    }

    #[test]
    fn a_flood_is_asked_for_a_cookie_that_is_worth_nothing_elsewhere() {
        let now = Instant::now();
        let mut gate = Gate::new(now);
        let (here, there) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.1:2".parse().unwrap());
        for _ in 0..FREE {
            assert_eq!(gate.ask(now, here, &[0; COOKIE_LEN]), Verdict::Read);
        }
        let Verdict::Cookie(cookie) = gate.ask(now, here, &[0; COOKIE_LEN]) else {
            panic!("a hello too many was read");
        };
        assert_eq!(gate.ask(now, here, &cookie), Verdict::Read);
        assert!(matches!(gate.ask(now, there, &cookie), Verdict::Cookie(_)));
        let later = now + Duration::from_secs(1);
        assert_eq!(gate.ask(later, there, &[0; COOKIE_LEN]), Verdict::Read);
    }
}
