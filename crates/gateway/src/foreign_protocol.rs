//! Detection of the protocol of a peer that does not speak Ropewalk's, by its first bytes.
//!
//! For example, `HTTP/1.1 302 Found` is HTTP, and `15 03 03 00 02 02 46` is an alert of TLS.

use std::fmt;

/// Maximum number of bytes that [`ForeignProtocol::of`] needs.
pub(crate) const LOOK: usize = 16;
/// Minimum number of bytes that identify a protocol.
const FEWEST: usize = 3;
/// Bytes of an unknown protocol that are shown.
const SHOWN: usize = 8;

const HTTP: &str = "HTTP";
/// Beginnings of a peer's first message, in lower case.
const TEXTS: [(&str, &str); 25] = [
    // Responses and requests (RFC 9112, sections 3 and 4; RFC 9113, section 3.4), and pages without a head.
    ("http/", HTTP),
    ("get ", HTTP),
    ("head ", HTTP),
    ("post ", HTTP),
    ("put ", HTTP),
    ("delete ", HTTP),
    ("connect ", HTTP),
    ("options ", HTTP),
    ("trace ", HTTP),
    ("patch ", HTTP),
    ("pri * http", HTTP),
    ("<!doctype", HTTP),
    ("<html", HTTP),
    // RFC 4253, section 4.2.
    ("ssh-", "SSH"),
    // RFC 5321, section 4.1.1.1.
    ("ehlo ", "SMTP"),
    ("helo ", "SMTP"),
    // RFC 1939, section 3.
    ("+ok", "POP3"),
    // RFC 3501, section 7.1.
    ("* ok", "IMAP"),
    ("* bye", "IMAP"),
    ("* preauth", "IMAP"),
    // RFC 6143, section 7.1.1.
    ("rfb ", "VNC"),
    ("-err", "Redis"),
    ("<?xml", "XML"),
    ("<stream", "XML"),
    ("proxy tcp", "the PROXY protocol"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignProtocol {
    Known(&'static str),
    Unknown(Vec<u8>),
}

impl ForeignProtocol {
    /// Detects the protocol by its first bytes.
    pub fn of(first: &[u8]) -> ForeignProtocol {
        match of_text(first).or_else(|| of_bytes(first)) {
            Some(name) => ForeignProtocol::Known(name),
            None => ForeignProtocol::Unknown(first[..first.len().min(SHOWN)].to_vec()),
        }
    }

    /// Names the protocol of an answer. Networks that require a login first answer HTTP to everything.
    pub fn as_answer(&self) -> String {
        match self {
            ForeignProtocol::Known(HTTP) => "HTTP (a captive portal?)".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for ForeignProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForeignProtocol::Known(name) => f.write_str(name),
            ForeignProtocol::Unknown(first) => {
                f.write_str("it begins with 0x")?;
                first.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

fn of_text(first: &[u8]) -> Option<&'static str> {
    let lower = first.to_ascii_lowercase();
    let lower = lower.trim_ascii_start();
    let begins = |text: &&(&str, &str)| {
        let text = text.0.as_bytes();
        let common = lower.len().min(text.len());
        common >= FEWEST.min(text.len()) && lower[..common] == text[..common]
    };
    let known = TEXTS.iter().find(begins).map(|(_, name)| *name);
    // Three digits of a reply (RFC 5321, section 4.2; RFC 959, section 4.2).
    known.or(match lower {
        [b'1'..=b'5', b'0'..=b'9', b'0'..=b'9', b' ' | b'-', ..] => Some("SMTP or FTP"),
        _ => None,
    })
}

fn of_bytes(first: &[u8]) -> Option<&'static str> {
    match first {
        // Records of an alert and of a handshake (RFC 8446, section 5.1).
        [0x15 | 0x16, 3, 0..=4, ..] => Some("TLS"),
        // A client's methods, or a server's choice (RFC 1928, section 3).
        [5, 0..=9 | 0xff, ..] => Some("SOCKS5"),
        [4, 1 | 2, ..] => Some("SOCKS4"),
        // Remote desktop: a TPKT header (RFC 2126, section 4.3).
        [3, 0, 0, ..] => Some("RDP"),
        // A frame SETTINGS or GOAWAY of stream 0 (RFC 9113, section 4.1).
        [0, _, _, 4 | 7, _, 0, 0, 0, 0, ..] => Some("HTTP/2"),
        // The first packet of a server, with version 10 of its protocol.
        [_, _, 0, 0, 10, ..] => Some("MySQL"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_name_the_protocol() {
        for (first, expected) in [
            (&b"HTTP/1.1 400 Bad Request\r\n"[..], "HTTP"),
            (b"http/1.0 302", "HTTP"),
            (b"\r\n<!DOCTYPE html>", "HTTP"),
            (b"<HTML><head>", "HTTP"),
            (b"GET /", "HTTP"),
            (b"CONNEC", "HTTP"),
            (b"PRI * HTTP/2.0", "HTTP"),
            (b"\x15\x03\x01\x00\x02\x02\x46", "TLS"),
            (b"\x16\x03\x01\x02\x00\x01", "TLS"),
            (b"SSH-2.0-OpenSSH_9.2", "SSH"),
            (b"220 mail.example ESMTP", "SMTP or FTP"),
            (b"220-Welcome", "SMTP or FTP"),
            (b"554 5.7.1 no", "SMTP or FTP"),
            (b"EHLO a.example", "SMTP"),
            (b"+OK ready", "POP3"),
            (b"* OK IMAP4rev1", "IMAP"),
            (b"RFB 003.008\n", "VNC"),
            (b"-ERR unknown command", "Redis"),
            (b"\x05\xff", "SOCKS5"),
            (b"\x05\x00", "SOCKS5"),
            (b"\x05\x01\x00", "SOCKS5"),
            (b"\x04\x01\x00\x50", "SOCKS4"),
            (b"\x03\x00\x00\x13", "RDP"),
            (b"\x00\x00\x12\x04\x00\x00\x00\x00\x00", "HTTP/2"),
            (b"\x4a\x00\x00\x00\x0a8.0", "MySQL"),
            (b"\xde\xad\xbe\xef", "it begins with 0xdeadbeef"),
            (b"0123456789", "it begins with 0x3031323334353637"),
            (b"HT", "it begins with 0x4854"),
        ] {
            assert_eq!(
                ForeignProtocol::of(first).to_string(),
                expected,
                "{first:?}"
            );
        }
    }

    #[test]
    fn only_http_answers_hint_at_a_captive_portal() {
        let answer = |first| ForeignProtocol::of(first).as_answer();
        assert_eq!(answer(b"HTTP/1.1 200 OK"), "HTTP (a captive portal?)");
        assert_eq!(answer(b"SSH-2.0-x"), "SSH");
    }
}
