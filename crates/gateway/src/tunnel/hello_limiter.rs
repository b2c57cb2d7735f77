//! Limit of the hellos that a responder answers, checked before any expensive computation.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use ring::hmac;
use ring::rand::SystemRandom;
use subtle::ConstantTimeEq;

use super::cookie::{self, Cookie};
use super::handshake::{COOKIE_LEN, HELLO_PROOF};
use super::rate_limiter::{RateLimit, RateLimiter};
use crate::source::source;

/// Hellos without the proof of a cookie.
const WITHOUT_PROOF: RateLimit = RateLimit::per_second(20, 20);
/// Hellos with a proof, from each source. A client sends two per second until it is answered.
const PER_SOURCE: RateLimit = RateLimit::per_second(10, 20);
/// Hellos with a proof, from all sources without a connected client. Each takes up to 0.2 ms.
const STRANGERS: RateLimit = RateLimit::per_second(200, 20);
const NO_PROOF: [u8; COOKIE_LEN] = [0; COOKIE_LEN];
/// Lifetime of the secret that cookies are made with.
const SECRET_LIFE: Duration = Duration::from_secs(60);
/// Number of limiters that sources are hashed to.
const LIMITERS: usize = 4096;

/// Limiter of hellos. Its memory is constant, and so is its work for each hello.
///
/// A hello above the limit must prove its source by a cookie. Each proven source has its own limiter.
/// Sources are hashed to limiters under a key that is renewed with the secret, so no source can choose with which
/// others it shares a limiter.
pub struct HelloLimiter {
    epoch: Instant,
    secret: hmac::Key,
    hasher: RandomState,
    since: Instant,
    without_proof: RateLimiter,
    strangers: RateLimiter,
    sources: Box<[RateLimiter; LIMITERS]>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum HelloDecision {
    Read,
    /// Reply with this cookie.
    Cookie(Cookie),
    /// Drop it: its source sends too many.
    Drop,
}

impl HelloLimiter {
    #[must_use]
    pub fn new(now: Instant) -> HelloLimiter {
        HelloLimiter {
            epoch: now,
            secret: secret(),
            hasher: RandomState::new(),
            since: now,
            without_proof: RateLimiter::default(),
            strangers: RateLimiter::default(),
            sources: Box::new([RateLimiter::default(); LIMITERS]),
        }
    }

    /// Decides about a hello. `is_known` returns whether a client is connected from its source.
    #[must_use]
    pub fn check(
        &mut self,
        now: Instant,
        from: SocketAddr,
        hello: &[u8],
        is_known: impl FnOnce(IpAddr) -> bool,
    ) -> HelloDecision {
        if now >= self.since + SECRET_LIFE {
            (self.secret, self.hasher, self.since) = (secret(), RandomState::new(), now);
        }
        let time = now.duration_since(self.epoch).as_nanos() as u64;
        if self.without_proof.take(time, WITHOUT_PROOF) {
            return HelloDecision::Read;
        }
        let cookie = self.cookie(from);
        let proof = &hello[HELLO_PROOF];
        if proof == NO_PROOF || !bool::from(proof.ct_eq(&cookie::proof(&cookie, hello))) {
            return HelloDecision::Cookie(cookie);
        }
        let source = source(from.ip());
        let slot = self.slot(source);
        let is_allowed = self.sources[slot].take(time, PER_SOURCE)
            && (self.strangers.take(time, STRANGERS) || is_known(source));
        match is_allowed {
            true => HelloDecision::Read,
            false => HelloDecision::Drop,
        }
    }

    fn slot(&self, source: IpAddr) -> usize {
        self.hasher.hash_one(source) as usize % LIMITERS
    }

    fn cookie(&self, from: SocketAddr) -> Cookie {
        let ip = match from.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        let mut address = [0; 18];
        address[..16].copy_from_slice(&ip.octets());
        address[16..].copy_from_slice(&from.port().to_be_bytes());
        cookie::first(hmac::sign(&self.secret, &address))
    }
}

fn secret() -> hmac::Key {
    hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).expect("the system has randomness")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: [u8; 166] = [0; 166];

    fn with(cookie: &Cookie) -> [u8; 166] {
        let mut hello = PLAIN;
        hello[HELLO_PROOF].copy_from_slice(&cookie::proof(cookie, &PLAIN));
        hello
    }

    /// A limiter that accepts no more hellos without a cookie.
    fn limiter(now: Instant) -> HelloLimiter {
        let mut limiter = HelloLimiter::new(now);
        let from = "192.0.2.1:1".parse().unwrap();
        for _ in 0..WITHOUT_PROOF.burst {
            let verdict = limiter.check(now, from, &PLAIN, |_| false);
            assert_eq!(verdict, HelloDecision::Read);
        }
        limiter
    }

    fn cookie(limiter: &mut HelloLimiter, now: Instant, from: SocketAddr) -> Cookie {
        match limiter.check(now, from, &PLAIN, |_| false) {
            HelloDecision::Cookie(cookie) => cookie,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hello_above_the_free_rate_needs_a_cookie() {
        let now = Instant::now();
        let mut limiter = limiter(now);
        let [here, there] = ["10.0.0.1:1", "10.0.0.1:2"].map(|text| text.parse().unwrap());
        let own = cookie(&mut limiter, now, here);
        let mut check = |now, from, hello: [u8; 166]| limiter.check(now, from, &hello, |_| false);
        assert_eq!(check(now, here, with(&own)), HelloDecision::Read);
        assert!(matches!(
            check(now, there, with(&own)),
            HelloDecision::Cookie(_)
        ));
        let mut bare = PLAIN;
        bare[HELLO_PROOF].copy_from_slice(&own);
        assert!(matches!(check(now, here, bare), HelloDecision::Cookie(_)));
        let later = now + Duration::from_secs(1);
        assert_eq!(check(later, there, PLAIN), HelloDecision::Read);
    }

    #[test]
    fn flood_with_valid_cookies_does_not_block_other_sources() {
        let start = Instant::now();
        let mut limiter = limiter(start);
        let attacker: SocketAddr = "10.0.0.1:1".parse().unwrap();
        let mut others = (2..).map(|host| SocketAddr::from(([10, 0, 0, host], 1)));
        let slot = limiter.slot(attacker.ip());
        let client = others
            .find(|other| limiter.slot(other.ip()) != slot)
            .unwrap();
        let mut read = 0;
        for ms in 0..10_000 {
            let now = start + Duration::from_millis(ms);
            // Uses up the limit of hellos without a cookie, too.
            let own = match limiter.check(now, attacker, &PLAIN, |_| false) {
                HelloDecision::Cookie(own) => own,
                _ => continue,
            };
            let verdict = limiter.check(now, attacker, &with(&own), |_| false);
            read += usize::from(verdict == HelloDecision::Read);
            if ms % 500 == 1 {
                let own = cookie(&mut limiter, now, client);
                let verdict = limiter.check(now, client, &with(&own), |_| false);
                assert_eq!(verdict, HelloDecision::Read, "{ms} ms");
            }
        }
        assert!(read <= 121, "{read} hellos of the attacker were read");
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_limiter() {
        let now = Instant::now();
        let mut limiter = limiter(now);
        let mut read = 0;
        for host in 0..200 {
            let from = format!("[2001:db8::{host:x}]:1").parse().unwrap();
            let own = cookie(&mut limiter, now, from);
            let verdict = limiter.check(now, from, &with(&own), |_| false);
            read += usize::from(verdict == HelloDecision::Read);
        }
        assert_eq!(read, PER_SOURCE.burst as usize);
    }

    #[test]
    fn known_source_is_read_while_strangers_exhaust_their_rate() {
        let now = Instant::now();
        let mut limiter = limiter(now);
        let mut read = 0;
        for host in 0..200 {
            let from = format!("10.0.{host}.1:1").parse().unwrap();
            let own = cookie(&mut limiter, now, from);
            let verdict = limiter.check(now, from, &with(&own), |_| false);
            read += usize::from(verdict == HelloDecision::Read);
        }
        assert_eq!(read, STRANGERS.burst as usize);
        let from: SocketAddr = "10.1.0.1:1".parse().unwrap();
        let own = cookie(&mut limiter, now, from);
        let verdict = limiter.check(now, from, &with(&own), |source| source == from.ip());
        assert_eq!(verdict, HelloDecision::Read);
    }
}
