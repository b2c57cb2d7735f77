//! Static X25519 keys (RFC 7748): in memory, as text, and in files.
//!
//! The file of a secret key is one line, `ropewalk-secret-key BASE64`; that of a public one is
//! `ropewalk-public-key BASE64 NAME`. Several of the latter are a list of allowed clients ([`Clients`]).

mod clients;
mod files;

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::Dh;
use zeroize::Zeroizing;

pub use clients::Clients;
pub(crate) use clients::Limits;
pub(crate) use files::{KeyFileError, write_key_files};
pub(crate) use files::{create_file, is_name};
pub use files::{read_public_key, read_secret_key};

/// Bytes of a key.
pub const KEY_LEN: usize = 32;

const SECRET_WORD: &str = "ropewalk-secret-key";
const PUBLIC_WORD: &str = "ropewalk-public-key";

/// Secret key, which is wiped on drop and never printed.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<[u8; KEY_LEN]>);

/// Public key of a secret one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; KEY_LEN]);

/// Reason why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It does not begin with the keyword of its kind.
    #[error("does not begin with {0:?}")]
    Word(&'static str),
    /// It is not the Base64 (RFC 4648) of 32 bytes.
    #[error("not the Base64 of {KEY_LEN} bytes")]
    Base64,
}

impl SecretKey {
    /// Creates a key from the system's random number generator.
    ///
    /// # Panics
    /// If the system has none.
    #[must_use]
    pub fn generate() -> SecretKey {
        use ring::rand::SecureRandom;
        let mut bytes = Zeroizing::new([0; KEY_LEN]);
        ring::rand::SystemRandom::new()
            .fill(&mut *bytes)
            .expect("the system gives random bytes");
        SecretKey(bytes)
    }

    /// Creates a key from its bytes; all values are valid.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY_LEN]) -> SecretKey {
        SecretKey(Zeroizing::new(bytes))
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        let mut dh: Box<dyn Dh> = DefaultResolver
            .resolve_dh(&DHChoice::Curve25519)
            .expect("the resolver has X25519");
        dh.set(self.as_bytes());
        let mut bytes = [0; KEY_LEN];
        bytes.copy_from_slice(dh.pubkey());
        PublicKey(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; KEY_LEN] {
        &self.0
    }

    pub(crate) fn to_line(&self) -> Zeroizing<String> {
        let base64 = Zeroizing::new(STANDARD.encode(self.0.as_slice()));
        Zeroizing::new(format!("{SECRET_WORD} {}\n", base64.as_str()))
    }

    pub(crate) fn from_line(line: &str) -> Result<SecretKey, KeyError> {
        let mut words = line.split_whitespace();
        if words.next() != Some(SECRET_WORD) {
            return Err(KeyError::Word(SECRET_WORD));
        }
        let word = words.next().ok_or(KeyError::Base64)?;
        Ok(SecretKey(Zeroizing::new(decode(word)?)))
    }
}

impl PublicKey {
    /// Creates a key from its bytes; all values are valid.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY_LEN]) -> PublicKey {
        PublicKey(bytes)
    }

    /// Returns its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; KEY_LEN] {
        &self.0
    }

    /// Parses a line `ropewalk-public-key BASE64 ...`; returns the key and the words that follow it.
    pub(crate) fn from_line(
        line: &str,
    ) -> Result<(PublicKey, impl Iterator<Item = &str>), KeyError> {
        let mut words = line.split_whitespace();
        if words.next() != Some(PUBLIC_WORD) {
            return Err(KeyError::Word(PUBLIC_WORD));
        }
        let key = words.next().ok_or(KeyError::Base64)?.parse()?;
        Ok((key, words))
    }

    pub(crate) fn to_line(self, name: &str) -> String {
        format!("{PUBLIC_WORD} {self} {name}\n")
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        decode(text).map(PublicKey)
    }
}

fn decode(text: &str) -> Result<[u8; KEY_LEN], KeyError> {
    let bytes = Zeroizing::new(STANDARD.decode(text).map_err(|_| KeyError::Base64)?);
    bytes.as_slice().try_into().map_err(|_| KeyError::Base64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7748, section 6.1: Alice's keys.
    const SECRET: [u8; 32] = [
        0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2, 0x66,
        0x45, 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9,
        0x2c, 0x2a,
    ];
    const PUBLIC: [u8; 32] = [
        0x85, 0x20, 0xf0, 0x09, 0x89, 0x30, 0xa7, 0x54, 0x74, 0x8b, 0x7d, 0xdc, 0xb4, 0x3e, 0xf7,
        0x5a, 0x0d, 0xbf, 0x3a, 0x0d, 0x26, 0x38, 0x1a, 0xf4, 0xeb, 0xa4, 0xa9, 0x8e, 0xaa, 0x9b,
        0x4e, 0x6a,
    ];

    #[test]
    fn the_public_key_is_that_of_rfc_7748() {
        assert_eq!(
            SecretKey::from_bytes(SECRET).public(),
            PublicKey::from_bytes(PUBLIC)
        );
    }

    #[test]
    fn lines_round_trip() {
        let secret = SecretKey::from_bytes(SECRET);
        let line = secret.to_line();
        assert_eq!(
            line.as_str(),
            "ropewalk-secret-key dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=\n"
        );
        assert_eq!(SecretKey::from_line(&line).unwrap().as_bytes(), &SECRET);

        let line = secret.public().to_line("van");
        let (key, mut rest) = PublicKey::from_line(&line).unwrap();
        assert_eq!(key, secret.public());
        assert_eq!(rest.next(), Some("van"));
    }

    #[test]
    fn invalid_key_is_refused() {
        let line = |line| PublicKey::from_line(line).err();
        assert_eq!(line(""), Some(KeyError::Word(PUBLIC_WORD)));
        assert_eq!(
            line("ropewalk-secret-key dwdt"),
            Some(KeyError::Word(PUBLIC_WORD))
        );
        assert_eq!(line("ropewalk-public-key"), Some(KeyError::Base64));
        assert_eq!(line("ropewalk-public-key dwdt"), Some(KeyError::Base64));
        assert_eq!(line("ropewalk-public-key ?"), Some(KeyError::Base64));
    }

    #[test]
    fn a_secret_key_is_not_printed() {
        let text = format!("{:?}", SecretKey::from_bytes(SECRET));
        assert!(!text.contains("dwdtCnMY"), "{text}");
    }
}
