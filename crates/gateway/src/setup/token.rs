//! Token: a client's knowledge of its relay, as one word to paste.
//!
//! It contains the client's secret key: anyone who reads it can connect as this client.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::keys::{PublicKey, SecretKey, is_name};
use crate::request::Target;
use crate::tunnel::Prefix;

const BEGINNING: &str = "ropewalk-token-1:";

/// Length of the checksum (SHA-256, truncated), which detects incomplete pastes.
const CHECK: usize = 4;

#[derive(Debug)]
pub(super) struct Token {
    pub host: String,
    pub port: u16,
    pub tunnel_port: u16,
    pub relay_key: PublicKey,
    pub name: String,
    pub key: SecretKey,
    /// Addresses of the client in the tunnel.
    pub addresses: Vec<Prefix>,
    pub dns: Vec<IpAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenError {
    #[error(
        "not a token; allowed: the line that `setup relay` printed, which begins with {BEGINNING:?}"
    )]
    Beginning,
    #[error("the token is incomplete; allowed: the whole line that `setup relay` printed")]
    NotWhole,
}

#[derive(Serialize, Deserialize)]
struct EncodedToken {
    host: String,
    port: u16,
    tunnel_port: u16,
    relay_key: String,
    name: String,
    key: Zeroizing<String>,
    addresses: Vec<String>,
    dns: Vec<IpAddr>,
}

impl Token {
    /// Returns a line without a line end.
    pub fn to_text(&self) -> Zeroizing<String> {
        let written = EncodedToken {
            host: self.host.clone(),
            port: self.port,
            tunnel_port: self.tunnel_port,
            relay_key: self.relay_key.to_string(),
            name: self.name.clone(),
            key: Zeroizing::new(self.key.to_line().trim_end().to_owned()),
            addresses: self.addresses.iter().map(Prefix::to_string).collect(),
            dns: self.dns.clone(),
        };
        let json = serde_json::to_vec(&written).expect("strings and numbers are JSON");
        let mut bytes = Zeroizing::new(json);
        let check = digest(&SHA256, &bytes);
        bytes.extend_from_slice(&check.as_ref()[..CHECK]);
        let text = Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()));
        Zeroizing::new(format!("{BEGINNING}{}", text.as_str()))
    }

    /// Parses a token. Errors: it is malformed or incomplete.
    pub fn from_text(text: &str) -> Result<Token, TokenError> {
        // Terminals and mail programs break long lines.
        let text: String = text.split_whitespace().collect();
        let text = Zeroizing::new(text);
        let rest = text.strip_prefix(BEGINNING).ok_or(TokenError::Beginning)?;
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(rest).unwrap_or_default());
        let split = bytes.len().checked_sub(CHECK).ok_or(TokenError::NotWhole)?;
        let (json, check) = bytes.split_at(split);
        if digest(&SHA256, json).as_ref()[..CHECK] != *check {
            return Err(TokenError::NotWhole);
        }
        let written: EncodedToken =
            serde_json::from_slice(json).map_err(|_| TokenError::NotWhole)?;
        read(written).ok_or(TokenError::NotWhole)
    }
}

fn read(written: EncodedToken) -> Option<Token> {
    let addresses = written.addresses.iter().map(|text| text.parse().ok());
    // It will be written to a file, so it must not contain quotes.
    let _: Target = format!("{}:{}", written.host, written.port).parse().ok()?;
    Some(Token {
        host: written.host,
        port: written.port,
        tunnel_port: written.tunnel_port,
        relay_key: written.relay_key.parse().ok()?,
        name: Some(written.name).filter(|name| is_name(name))?,
        key: SecretKey::from_line(&written.key).ok()?,
        addresses: addresses.collect::<Option<_>>()?,
        dns: written.dns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn token() -> Token {
        Token {
            host: "relay.example.org".to_owned(),
            port: 4433,
            tunnel_port: 4434,
            relay_key: SecretKey::from_bytes([7; 32]).public(),
            name: "van".to_owned(),
            key: SecretKey::from_bytes([8; 32]),
            addresses: vec!["10.9.0.2/24".parse().unwrap()],
            dns: vec!["9.9.9.9".parse().unwrap()],
        }
    }

    #[test]
    fn token_round_trips_even_over_several_lines() {
        let text = token().to_text();
        let (one, two) = text.split_at(40);
        for text in [text.to_string(), format!(" {one}\r\n  {two}\n")] {
            let read = Token::from_text(&text).unwrap();
            assert_eq!(read.key.as_bytes(), &[8; 32]);
            assert_eq!(read.to_text(), token().to_text());
        }
    }

    #[test]
    fn incomplete_token_is_refused() {
        let text = token().to_text();
        for end in BEGINNING.len()..text.len() {
            assert_eq!(
                Token::from_text(&text[..end]).unwrap_err(),
                TokenError::NotWhole
            );
        }
        let mut forged = token();
        forged.host = "a\"\nhook = \"/x".to_owned();
        let error = Token::from_text(&forged.to_text()).unwrap_err();
        assert_eq!(error, TokenError::NotWhole);
        for other in ["", "ropewalk-token-2:abc", "ropewalk-public-key x"] {
            assert_eq!(Token::from_text(other).unwrap_err(), TokenError::Beginning);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_token_or_an_error(text in "(ropewalk-token-1:)?.{0,80}") {
            let _ = Token::from_text(&text);
        }
    }
}
