//! Parser of request heads.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::fields::{Framing, FramingError, HeaderFields, MAX_FIELDS, Sorted, emit, emit_framing};
use crate::proxy::passwords::Passwords;
use crate::request::Target;

/// Longest head of a request, in bytes.
pub const LONGEST: usize = 16 << 10;

/// Reason why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// It is malformed or ambiguous.
    #[error("not a request: {0}")]
    Malformed(&'static str),
    /// Its head is too long.
    #[error("a head of more than {LONGEST} bytes or {MAX_FIELDS} fields")]
    TooLarge,
    /// Its version is neither HTTP/1.0 nor HTTP/1.1.
    #[error("not HTTP/1.0 or HTTP/1.1")]
    Version,
    /// Its target's scheme is not `http:`.
    #[error("a target of another scheme; allowed: http")]
    Scheme,
    /// It has a transfer coding other than `chunked`.
    #[error("a transfer coding; allowed: chunked")]
    Coding,
    /// Its method is not supported by proxies.
    #[error("method {0:?}")]
    Method(String),
    /// The password is missing or wrong.
    #[error("wrong user or password")]
    Password,
}

/// Request of a program.
#[derive(Debug)]
pub struct HttpRequest {
    /// HTTP method.
    pub method: String,
    /// Host to forward it to.
    pub target: Target,
    /// Framing of its body.
    pub body: Framing,
    /// Whether the program may send another request afterwards.
    pub is_persistent: bool,
    /// Minor version: 0 or 1.
    pub minor: u8,
    /// The target without scheme and host (RFC 9112, section 3.2.1), or `*`.
    path: String,
    authority: String,
    fields: HeaderFields,
    forwards: Option<u64>,
}

/// Parses the request at the front of `bytes`; returns it and the length of its head, `None` if it is
/// incomplete. Errors: it is invalid, or not allowed.
pub fn parse(
    bytes: &[u8],
    passwords: Option<&Passwords>,
) -> Result<Option<(HttpRequest, usize)>, RequestError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut head = httparse::Request::new(&mut headers);
    let len = match head.parse(bytes) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(RequestError::TooLarge),
        Err(httparse::Error::Version) => return Err(RequestError::Version),
        Err(httparse::Error::Token) => return Err(RequestError::Malformed("no method")),
        Err(_) => return Err(RequestError::Malformed("no head of HTTP")),
    };
    let (Some(method), Some(target), Some(minor)) = (head.method, head.path, head.version) else {
        return Ok(None);
    };
    if len > LONGEST {
        return Err(RequestError::TooLarge);
    }
    let is_allowed = |passwords| is_allowed(passwords, head.headers);
    if !passwords.is_none_or(is_allowed) {
        return Err(RequestError::Password);
    }
    let sorted = Sorted::new(head.headers);
    let (authority, path) = match method {
        "CONNECT" => (target, "".to_owned()),
        "TRACE" => return Err(RequestError::Method(method.to_owned())),
        _ => {
            let hosts = head.headers.iter();
            let hosts = hosts.filter(|field| field.name.eq_ignore_ascii_case("host"));
            // RFC 9112, section 3.2: the target's host takes precedence over the field.
            match (hosts.count(), minor) {
                (1, _) | (0, 0) => {}
                _ => return Err(RequestError::Malformed("no host, or several")),
            }
            absolute(method, target)?
        }
    };
    let forwards = head.headers.iter();
    let mut forwards = forwards.filter(|field| field.name.eq_ignore_ascii_case("max-forwards"));
    let request = HttpRequest {
        target: match method {
            "CONNECT" => target.parse(),
            _ => with_port(authority).parse(),
        }
        .map_err(|_| RequestError::Malformed("no host and port"))?,
        body: match method {
            "CONNECT" => Framing::Empty,
            _ => sorted.request(minor).map_err(|error| match error {
                FramingError::Ambiguous => RequestError::Malformed("its length is ambiguous"),
                FramingError::Coding => RequestError::Coding,
            })?,
        },
        // RFC 9112, section 9.3: connections of HTTP/1.0 clients are not persistent.
        is_persistent: minor == 1 && !sorted.closes,
        minor,
        path,
        authority: authority.to_owned(),
        forwards: forwards
            .next()
            .and_then(|field| std::str::from_utf8(field.value).ok()?.parse().ok()),
        method: method.to_owned(),
        fields: sorted.end_to_end,
    };
    Ok(Some((request, len)))
}

impl HttpRequest {
    /// Whether its method is CONNECT.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        self.method == "CONNECT"
    }

    /// Whether it may be repeated without a response (RFC 9110, section 9.2.2), and can: it has no body.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS") && self.body == Framing::Empty
    }

    /// Whether the proxy answers it itself: OPTIONS with Max-Forwards 0 (RFC 9110, section 7.6.2).
    #[must_use]
    pub fn ends_here(&self) -> bool {
        self.method == "OPTIONS" && self.forwards == Some(0)
    }

    /// Returns its head for the host.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let HttpRequest {
            method,
            path,
            authority,
            minor,
            ..
        } = self;
        let mut out = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
        let is_count = |name: &str| name.eq_ignore_ascii_case("max-forwards");
        match (method.as_str(), self.forwards) {
            ("OPTIONS", Some(count)) => {
                let fields = self.fields.iter().filter(|(name, _)| !is_count(name));
                emit(&fields.cloned().collect(), &mut out);
                let count = count.saturating_sub(1);
                out.extend_from_slice(format!("Max-Forwards: {count}\r\n").as_bytes());
            }
            _ => emit(&self.fields, &mut out),
        }
        out.extend_from_slice(format!("Via: 1.{minor} ropewalk\r\n").as_bytes());
        emit_framing(self.body, &mut out);
        out
    }
}

/// Splits a target in absolute form into host and path (RFC 9112, section 3.2.2).
fn absolute<'a>(method: &str, target: &'a str) -> Result<(&'a str, String), RequestError> {
    let Some((scheme, rest)) = target.split_once("://") else {
        return Err(RequestError::Malformed("a target without a host"));
    };
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(RequestError::Scheme);
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // The proxy must not forward user information and fragments (RFC 9110, sections 4.2.4 and 7.1).
    if authority.contains('@') || path.contains('#') {
        return Err(RequestError::Malformed(
            "a user or a fragment in the target",
        ));
    }
    let path = match path {
        "" if method == "OPTIONS" => "*".to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        query => format!("/{query}"),
    };
    Ok((authority, path))
}

/// Appends the default port of `http:` if there is none.
fn with_port(authority: &str) -> String {
    let host_end = authority.rfind(']').map_or(0, |end| end + 1);
    match authority[host_end..].split_once(':') {
        Some((_, "")) => format!("{authority}80"),
        Some(_) => authority.to_owned(),
        None => format!("{authority}:80"),
    }
}

fn is_allowed(passwords: &Passwords, headers: &[httparse::Header<'_>]) -> bool {
    let mut fields = headers.iter();
    let field = fields.find(|field| field.name.eq_ignore_ascii_case("proxy-authorization"));
    let credentials = field.and_then(|field| {
        let value = std::str::from_utf8(field.value).ok()?;
        let (scheme, credentials) = value.trim().split_once(' ')?;
        let is_basic = scheme.eq_ignore_ascii_case("basic");
        is_basic.then(|| STANDARD.decode(credentials.trim()).ok())?
    });
    credentials.is_some_and(|text| {
        let colon = text.iter().position(|byte| *byte == b':');
        colon.is_some_and(|at| passwords.allow(&text[..at], &text[at + 1..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(text: &str) -> Result<HttpRequest, RequestError> {
        parse(text.as_bytes(), None).map(|parsed| parsed.expect("all of it").0)
    }

    #[test]
    fn connects_and_takes_no_more_than_the_head() {
        let text = b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\nhello";
        let (request, len) = parse(text, None).unwrap().unwrap();
        assert!(request.is_connect());
        assert_eq!(request.target, "example.org:443".parse().unwrap());
        assert_eq!(&text[len..], b"hello");
        let request = self::request("CONNECT [2001:db8::1]:80 HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!(request.target, "[2001:db8::1]:80".parse().unwrap());
        assert!(parse(b"CONNECT a:1 HTTP/1.1\r\n", None).unwrap().is_none());
    }

    #[test]
    fn a_request_is_forwarded_as_these_bytes() {
        let text = "GET http://Example.org:8080/a?b HTTP/1.1\r\nHost: other\r\nAccept: */*\r\n\
                    Proxy-Connection: Keep-Alive\r\nConnection: x-hop\r\nX-Hop: 1\r\n\
                    Via: 1.0 fred\r\nTE: trailers\r\nUpgrade: h2c\r\nKeep-Alive: 5\r\n\r\n";
        let got = request(text).unwrap();
        assert_eq!(got.target, "Example.org:8080".parse().unwrap());
        assert!(got.is_persistent && got.is_repeatable());
        assert_eq!(
            String::from_utf8(got.head()).unwrap(),
            "GET /a?b HTTP/1.1\r\nHost: Example.org:8080\r\nAccept: */*\r\nVia: 1.0 fred\r\n\
             Via: 1.1 ropewalk\r\n\r\n"
        );
        let text = "POST http://[2001:db8::1]?x HTTP/1.0\r\nContent-Length: 3\r\n\r\n";
        let got = request(text).unwrap();
        assert_eq!(got.target, "[2001:db8::1]:80".parse().unwrap());
        assert!(!got.is_persistent && !got.is_repeatable());
        assert_eq!(
            String::from_utf8(got.head()).unwrap(),
            "POST /?x HTTP/1.1\r\nHost: [2001:db8::1]\r\nVia: 1.0 ropewalk\r\nContent-Length: 3\r\n\r\n"
        );
        let text = "OPTIONS http://a HTTP/1.1\r\nHost: a\r\nMax-Forwards: 2\r\n\r\n";
        assert_eq!(
            String::from_utf8(request(text).unwrap().head()).unwrap(),
            "OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 1\r\nVia: 1.1 ropewalk\r\n\r\n"
        );
        let text = "OPTIONS http://a HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n";
        assert!(request(text).unwrap().ends_here());
        assert_eq!(
            request("GET http://a: HTTP/1.0\r\n\r\n")
                .unwrap()
                .target
                .port,
            80
        );
    }

    #[test]
    fn invalid_request_is_refused() {
        let with = |line: &str, fields: &str| format!("{line}\r\nHost: a\r\n{fields}\r\n");
        let get = "GET http://a/ HTTP/1.1";
        for text in [
            with("GET / HTTP/1.1", ""),
            with("GET a HTTP/1.1", ""),
            with("GET * HTTP/1.1", ""),
            with("GET http:///a HTTP/1.1", ""),
            with("GET http://u:p@a/ HTTP/1.1", ""),
            with("GET http://a/#b HTTP/1.1", ""),
            with("GET http://a:b/ HTTP/1.1", ""),
            with("GET http://a:1:2/ HTTP/1.1", ""),
            with("GET  http://a/ HTTP/1.1", ""),
            with("GET http://a/ HTTP/1.1 x", ""),
            with("CONNECT a HTTP/1.1", ""),
            with("CONNECT a:1", ""),
            with(get, "Host: b\r\n"),
            "GET http://a/ HTTP/1.1\r\n\r\n".to_owned(),
            // Smuggling: two lengths, a folded field, space before a colon, a bare CR.
            with(get, "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
            with(get, "Content-Length: 1\r\nContent-Length: 1\r\n"),
            with(get, "X: a\r\n b\r\n"),
            with(get, "Content-Length : 1\r\n"),
            with(get, "X: a\rContent-Length: 1\r\n"),
            with(get, "X: a\0\r\n"),
            with(get, " X: a\r\n"),
        ] {
            let got = request(&text);
            assert!(
                matches!(got, Err(RequestError::Malformed(_))),
                "{text:?}: {got:?}"
            );
        }
        for (text, why) in [
            (with("GET http://a/ HTTP/2.0", ""), RequestError::Version),
            (with("GET https://a/ HTTP/1.1", ""), RequestError::Scheme),
            (with("GET ftp://a/ HTTP/1.1", ""), RequestError::Scheme),
            (
                with("TRACE http://a/ HTTP/1.1", ""),
                RequestError::Method("TRACE".to_owned()),
            ),
            (
                with(get, "Transfer-Encoding: gzip, chunked\r\n"),
                RequestError::Coding,
            ),
            (with(get, &"X: y\r\n".repeat(200)), RequestError::TooLarge),
            (
                with(get, &format!("X: {}\r\n", "y".repeat(LONGEST))),
                RequestError::TooLarge,
            ),
        ] {
            assert_eq!(request(&text).err(), Some(why));
        }
    }

    #[test]
    fn asks_for_a_password_if_there_is_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "ada:pass").unwrap();
        let passwords = Passwords::read(file.path()).unwrap();
        for line in ["CONNECT a:1 HTTP/1.1", "GET http://a/ HTTP/1.1"] {
            let with = |field: &str| {
                let text = format!("{line}\r\nHost: a\r\n{field}\r\n\r\n");
                parse(text.as_bytes(), Some(&passwords)).map(|parsed| parsed.unwrap().0)
            };
            let right = with("proxy-authorization: basic YWRhOnBhc3M=").unwrap();
            let head = String::from_utf8(right.head()).unwrap();
            assert!(!head.to_lowercase().contains("authorization"), "{head}");
            for field in [
                "X: y",
                "Proxy-Authorization: Basic YWRhOng=",
                "Proxy-Authorization: Basic !",
                "Proxy-Authorization: Digest YWRhOnBhc3M=",
            ] {
                assert_eq!(with(field).err(), Some(RequestError::Password), "{field}");
            }
        }
    }

    proptest! {
        #[test]
        fn forwarded_request_has_one_host_and_one_length(fields in prop::collection::vec(("[A-Za-z-]{1,20}", "[ -~]{0,20}"), 0..6), extra in prop::sample::select(vec!["", "Content-Length: 7", "Transfer-Encoding: chunked", "Connection: content-length, host"])) {
            let mut text = "POST http://a/ HTTP/1.1\r\nHost: a\r\n".to_owned();
            for (name, value) in fields {
                text += &format!("{name}: {value}\r\n");
            }
            text += &format!("{extra}\r\n");
            if !extra.is_empty() {
                text += "\r\n";
            }
            if let Ok(Some((request, _))) = parse(text.as_bytes(), None) {
                let head = String::from_utf8(request.head()).unwrap().to_lowercase();
                prop_assert_eq!(head.matches("\r\nhost:").count(), 1);
                let framed = head.matches("\r\ncontent-length:").count() + head.matches("\r\ntransfer-encoding:").count();
                prop_assert_eq!(framed, usize::from(request.body != Framing::Empty));
                prop_assert!(head.ends_with("\r\n\r\n") && head.matches("\r\n\r\n").count() == 1);
            }
        }
    }
}
