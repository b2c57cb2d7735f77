//! Cookies: a responder under load checks an initiator's address before it does any computation for it, as in
//! WireGuard (whitepaper, sections 5.3 and 5.4.7).
//!
//! A cookie is a MAC of the initiator's address and port. It is encrypted under a key derived from the
//! responder's public key, with the mark of the hello as associated data. Only an end that knows this key and
//! has seen this hello can make one. The initiator proves that it has the cookie by a MAC of its next hello.

use chacha20poly1305::aead::{AeadInPlace, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};

use super::handshake::{COOKIE, COOKIE_LEN, HELLO_PROOF, MARK_LEN};
use crate::keys::PublicKey;
use crate::noise::TAG_LEN;

pub type Cookie = [u8; COOKIE_LEN];

const NONCE_LEN: usize = 24;
/// Length of a cookie message. It is shorter than any hello, so it amplifies nothing.
pub const COOKIE_MESSAGE_LEN: usize = 2 + NONCE_LEN + COOKIE_LEN + TAG_LEN;

/// Keys derived from the responder's public key, for the marks of hellos and for cookies.
pub struct HelloKeys {
    mark: hmac::Key,
    cookie: XChaCha20Poly1305,
}

impl HelloKeys {
    #[must_use]
    pub fn of(responder: &PublicKey) -> HelloKeys {
        let public = &responder.as_bytes()[..];
        let mark = [b"ropewalk tunnel mark", public].concat();
        let cookie = [b"ropewalk tunnel cookie", public].concat();
        let cookie = digest::digest(&digest::SHA256, &cookie);
        HelloKeys {
            mark: hmac::Key::new(hmac::HMAC_SHA256, &mark),
            cookie: XChaCha20Poly1305::new_from_slice(cookie.as_ref()).expect("a key of 32 bytes"),
        }
    }

    /// Computes the mark of a hello (mac1), which shows that its sender knows the responder's public key.
    #[must_use]
    pub fn mark(&self, message: &[u8]) -> [u8; MARK_LEN] {
        first(hmac::sign(&self.mark, message))
    }

    /// Encrypts a cookie in reply to the hello with that mark on that link.
    #[must_use]
    pub fn seal_cookie(&self, link: u8, mark: &[u8], cookie: Cookie) -> [u8; COOKIE_MESSAGE_LEN] {
        let mut out = [0; COOKIE_MESSAGE_LEN];
        out[..2].copy_from_slice(&[COOKIE, link]);
        let (nonce, rest) = out[2..].split_at_mut(NONCE_LEN);
        let filled = SystemRandom::new().fill(nonce);
        filled.expect("the system has randomness");
        let (sealed, tag) = rest.split_at_mut(COOKIE_LEN);
        sealed.copy_from_slice(&cookie);
        let made = self
            .cookie
            .encrypt_in_place_detached(XNonce::from_slice(nonce), mark, sealed);
        tag.copy_from_slice(&made.expect("16 bytes are not too many"));
        out
    }

    /// Decrypts a cookie; returns `None` unless it replies to the hello with that mark.
    #[must_use]
    pub fn open_cookie(&self, mark: &[u8], message: &[u8]) -> Option<Cookie> {
        let message: &[u8; COOKIE_MESSAGE_LEN] = message.try_into().ok()?;
        let (nonce, rest) = message[2..].split_at(NONCE_LEN);
        let (sealed, tag) = rest.split_at(COOKIE_LEN);
        let mut cookie: Cookie = sealed.try_into().ok()?;
        let (nonce, tag) = (XNonce::from_slice(nonce), Tag::from_slice(tag));
        self.cookie
            .decrypt_in_place_detached(nonce, mark, &mut cookie, tag)
            .ok()?;
        Some(cookie)
    }
}

/// Computes the proof (mac2) that a hello's sender has a cookie: a MAC under the cookie of all other bytes of
/// the hello.
#[must_use]
pub fn proof(cookie: &Cookie, hello: &[u8]) -> [u8; COOKIE_LEN] {
    let mut mac = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, cookie));
    mac.update(&hello[..HELLO_PROOF.start]);
    mac.update(&hello[HELLO_PROOF.end..]);
    first(mac.sign())
}

pub fn first(tag: hmac::Tag) -> [u8; COOKIE_LEN] {
    let mut out = [0; COOKIE_LEN];
    out.copy_from_slice(&tag.as_ref()[..COOKIE_LEN]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SecretKey;
    use proptest::prelude::*;

    fn keys(byte: u8) -> HelloKeys {
        HelloKeys::of(&SecretKey::from_bytes([byte; 32]).public())
    }

    const ONE: [u8; COOKIE_LEN] = [1; COOKIE_LEN];

    #[test]
    fn cookie_message_has_kind_link_nonce_and_cookie() {
        let message = keys(2).seal_cookie(7, &[9; MARK_LEN], ONE);
        assert_eq!((message.len(), &message[..2]), (58, &[3, 7][..]));
        assert_ne!(message[26..42], ONE);
        let again = keys(2).seal_cookie(7, &[9; MARK_LEN], ONE);
        assert_ne!(message[2..26], again[2..26], "a nonce was used twice");
        assert_eq!(keys(2).open_cookie(&[9; MARK_LEN], &message), Some(ONE));
    }

    #[test]
    fn cookie_opens_only_for_its_hello_and_responder() {
        let message = keys(2).seal_cookie(0, &[9; MARK_LEN], ONE);
        assert_eq!(keys(2).open_cookie(&[8; MARK_LEN], &message), None);
        assert_eq!(keys(3).open_cookie(&[9; MARK_LEN], &message), None);
        for index in 2..message.len() {
            let mut forged = message;
            forged[index] ^= 1;
            assert_eq!(keys(2).open_cookie(&[9; MARK_LEN], &forged), None);
        }
        for len in 0..message.len() {
            assert_eq!(keys(2).open_cookie(&[9; MARK_LEN], &message[..len]), None);
        }
    }

    #[test]
    fn proof_covers_all_other_bytes() {
        let hello: Vec<u8> = (0..166).map(|byte| byte as u8).collect();
        let made = proof(&ONE, &hello);
        assert_ne!(made, proof(&[2; COOKIE_LEN], &hello));
        for index in 0..hello.len() {
            let mut changed = hello.clone();
            changed[index] ^= 1;
            let is_same = proof(&ONE, &changed) == made;
            assert_eq!(is_same, HELLO_PROOF.contains(&index), "byte {index}");
        }
    }

    proptest! {
        #[test]
        fn forged_cookies_never_open(mut bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            prop_assert_eq!(keys(2).open_cookie(&[9; MARK_LEN], &bytes), None);
            bytes.resize(COOKIE_MESSAGE_LEN, 0);
            prop_assert_eq!(keys(2).open_cookie(&[9; MARK_LEN], &bytes), None);
        }
    }
}
