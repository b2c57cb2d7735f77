//! Messages of the handshake, in UDP datagrams of their own, around Noise's messages.
//!
//! ```text
//! hello    1, link u8, proof 16 bytes (zeros if none), mark 16 bytes, Noise's first message
//! answer   2, link u8, initiator's session u32, Noise's second message
//! cookie   3, link u8, nonce 24 bytes, encrypted cookie 32 bytes
//! ```
//!
//! The mark is a MAC of Noise's message under the responder's public key (WireGuard's mac1). Without that
//! key, an end does not even receive a cookie.
//!
//! A responder under load replies only with a [cookie](super::cookie), derived from the initiator's address
//! and a secret. It stores nothing. Only an initiator that receives at its address can repeat its hello with
//! the proof of that cookie (WireGuard's mac2; RFC 9000, section 8.1).

use std::net::IpAddr;
use std::ops::{Range, RangeInclusive};
use std::time::SystemTime;

use ring::rand::{SecureRandom, SystemRandom};

use crate::noise::{HELLO_LEN, Purpose};

pub const HELLO: u8 = 1;
pub const ANSWER: u8 = 2;
pub const COOKIE: u8 = 3;
/// Length in bytes of a cookie, and of its proof.
pub const COOKIE_LEN: usize = 16;
/// Bytes of a hello with the proof of a cookie.
pub const HELLO_PROOF: Range<usize> = 2..2 + COOKIE_LEN;
pub const HELLO_MARK: Range<usize> = HELLO_PROOF.end..HELLO_PROOF.end + MARK_LEN;
pub const MARK_LEN: usize = 16;
/// Length of the bytes before Noise's messages.
pub const HELLO_HEAD: usize = HELLO_MARK.end;
pub const ANSWER_HEAD: usize = 6;
/// Largest number of a client's addresses in the tunnel.
pub const MAX_ADDRESSES: usize = 16;
pub const HELLO_LENGTHS: RangeInclusive<usize> = {
    let head = HELLO_HEAD + HELLO_LEN + HelloPayload::HEAD;
    head + HelloPayload::ADDRESS..=head + MAX_ADDRESSES * HelloPayload::ADDRESS
};

/// Payload of Noise's first message: the initiator's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloPayload {
    /// Its identifier of the session, for datagrams sent to it.
    pub session: u32,
    /// Random number of the process, which reveals restarts.
    pub instance: u64,
    /// Timestamp in nanoseconds since 1970. One not newer than the last is a replay.
    pub time: u64,
    /// Its addresses within the tunnel: 1 to [`MAX_ADDRESSES`].
    pub addresses: Vec<IpAddr>,
}

impl HelloPayload {
    const HEAD: usize = 20;
    const ADDRESS: usize = 16;

    /// Encodes it; IPv4 addresses are mapped to IPv6 (RFC 4291, section 2.5.5.2).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out =
            Vec::with_capacity(HelloPayload::HEAD + HelloPayload::ADDRESS * self.addresses.len());
        out.extend(self.session.to_be_bytes());
        out.extend(self.instance.to_be_bytes());
        out.extend(self.time.to_be_bytes());
        for address in &self.addresses {
            let address = match address {
                IpAddr::V4(address) => address.to_ipv6_mapped(),
                IpAddr::V6(address) => *address,
            };
            out.extend(address.octets());
        }
        out
    }

    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<HelloPayload> {
        let (head, addresses) = bytes.split_first_chunk::<{ HelloPayload::HEAD }>()?;
        let (addresses, rest) = addresses.as_chunks::<{ HelloPayload::ADDRESS }>();
        let is_right = rest.is_empty() && (1..=MAX_ADDRESSES).contains(&addresses.len());
        let canonical = |octets: &[u8; 16]| IpAddr::from(*octets).to_canonical();
        is_right.then_some(HelloPayload {
            session: u32::from_be_bytes(head[..4].try_into().ok()?),
            instance: u64::from_be_bytes(head[4..12].try_into().ok()?),
            time: u64::from_be_bytes(head[12..].try_into().ok()?),
            addresses: addresses.iter().map(canonical).collect(),
        })
    }
}

/// Payload of Noise's second message: the responder's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    Accepted {
        /// The responder's identifier of the session.
        session: u32,
        /// Random number of the process, which reveals restarts.
        instance: u64,
        /// Its clock, in nanoseconds since 1970.
        time: u64,
    },
    /// The client claims an address that is not its own.
    ForeignAddress,
}

impl Acceptance {
    const FOREIGN_ADDRESS: u8 = 1;

    /// Encodes it in 20 bytes, or one byte for a refusal.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            Acceptance::Accepted {
                session,
                instance,
                time,
            } => [
                &session.to_be_bytes()[..],
                &instance.to_be_bytes(),
                &time.to_be_bytes(),
            ]
            .concat(),
            Acceptance::ForeignAddress => vec![Acceptance::FOREIGN_ADDRESS],
        }
    }

    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Acceptance> {
        if bytes == [Acceptance::FOREIGN_ADDRESS] {
            return Some(Acceptance::ForeignAddress);
        }
        let bytes: &[u8; 20] = bytes.try_into().ok()?;
        Some(Acceptance::Accepted {
            session: u32::from_be_bytes(bytes[..4].try_into().ok()?),
            instance: u64::from_be_bytes(bytes[4..12].try_into().ok()?),
            time: u64::from_be_bytes(bytes[12..].try_into().ok()?),
        })
    }
}

#[must_use]
pub fn since_1970() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    time.map_or(0, |time| time.as_nanos() as u64)
}

/// Returns the purpose of the handshake. Both ends must agree whether datagrams are encrypted.
#[must_use]
pub fn purpose(sealed: bool) -> Purpose {
    if sealed {
        Purpose::Tunnel
    } else {
        Purpose::PlainTunnel
    }
}

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
    fn payloads_round_trip() {
        for addresses in [&["10.9.0.2"][..], &["fd00::2"], &["10.9.0.2", "fd00::2"]] {
            let payload = HelloPayload {
                session: 1,
                instance: 2,
                time: 3,
                addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
            };
            assert_eq!(HelloPayload::parse(&payload.to_bytes()), Some(payload));
        }
        for len in [0, 20, 35, 37, 20 + 17 * 16] {
            assert_eq!(HelloPayload::parse(&vec![0; len]), None, "{len}");
        }
        let acceptance = Acceptance::Accepted {
            session: 1,
            instance: 2,
            time: 3,
        };
        let bytes = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3];
        assert_eq!(acceptance.to_bytes(), bytes);
        for acceptance in [acceptance, Acceptance::ForeignAddress] {
            assert_eq!(Acceptance::parse(&acceptance.to_bytes()), Some(acceptance));
        }
        assert_eq!(Acceptance::parse(&[2]), None);
    }
}
