//! Parser of response heads.

use super::fields::{Framing, FramingError, HeaderFields, MAX_FIELDS, Sorted, emit, emit_framing};
use super::request::HttpRequest;

pub const LONGEST: usize = 64 << 10;

#[derive(Debug)]
pub struct HttpResponse {
    pub code: u16,
    pub body: Framing,
    /// Whether the host accepts another request on this connection.
    pub is_persistent: bool,
    reason: String,
    minor: u8,
    fields: HeaderFields,
    length: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// Its head is malformed or too long, or it is an interim response that was not requested.
    #[error("no response")]
    Malformed,
    #[error(transparent)]
    Framing(#[from] FramingError),
}

/// Parses the response to a request; returns it and its head's length, `None` if incomplete.
pub fn parse(
    bytes: &[u8],
    to: &HttpRequest,
) -> Result<Option<(HttpResponse, usize)>, ResponseError> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut head = httparse::Response::new(&mut headers);
    let len = match head.parse(bytes) {
        Ok(httparse::Status::Complete(len)) if len <= LONGEST => len,
        Ok(httparse::Status::Partial) if bytes.len() <= LONGEST => return Ok(None),
        _ => return Err(ResponseError::Malformed),
    };
    let (Some(code), Some(minor)) = (head.code, head.version) else {
        return Err(ResponseError::Malformed);
    };
    // 101 was not requested, since Upgrade is not forwarded.
    if !(100..600).contains(&code) || code == 101 {
        return Err(ResponseError::Malformed);
    }
    let sorted = Sorted::new(head.headers);
    let is_empty = to.method == "HEAD" || code < 200 || matches!(code, 204 | 304);
    let body = match is_empty {
        true => Framing::Empty,
        false => sorted.response(minor)?,
    };
    let response = HttpResponse {
        code,
        body,
        is_persistent: minor == 1 && !sorted.closes && body != Framing::UntilEnd,
        reason: head.reason.unwrap_or_default().to_owned(),
        minor,
        length: sorted
            .length()
            .filter(|_| is_empty && code >= 200 && code != 204),
        fields: sorted.end_to_end,
    };
    Ok(Some((response, len)))
}

impl HttpResponse {
    pub fn is_interim(&self) -> bool {
        self.code < 200
    }

    /// Returns its head for the program. `is_last` ends the connection. HTTP/1.0 clients get no chunks.
    pub fn head(&self, to: &HttpRequest, is_last: bool) -> Vec<u8> {
        let HttpResponse { code, reason, .. } = self;
        let mut out = format!("HTTP/1.1 {code} {reason}\r\n").into_bytes();
        emit(&self.fields, &mut out);
        out.extend_from_slice(format!("Via: 1.{} ropewalk\r\n", self.minor).as_bytes());
        if is_last && !self.is_interim() {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        let framing = match (self.body, self.length) {
            (Framing::Chunked, _) if to.minor == 0 => Framing::UntilEnd,
            (Framing::Empty, Some(length)) => Framing::Length(length),
            (body, _) => body,
        };
        emit_framing(framing, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::http::request;

    fn request(text: &str) -> HttpRequest {
        request::parse(text.as_bytes(), None).unwrap().unwrap().0
    }

    #[test]
    fn a_response_is_forwarded_as_these_bytes() {
        let get = request("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n");
        let old = request("GET http://a/ HTTP/1.0\r\n\r\n");
        let head = request("HEAD http://a/ HTTP/1.1\r\nHost: a\r\n\r\n");
        let chunked = "HTTP/1.1 200 OK\r\nServer: b\r\nTransfer-Encoding: chunked\r\n\
                       Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nVia: 1.1 c\r\n\r\n";
        let bare = "HTTP/1.0 404 Not Found\r\n\r\n";
        for (text, to, is_last, expected) in [
            (
                chunked,
                &get,
                false,
                "HTTP/1.1 200 OK\r\nServer: b\r\nVia: 1.1 c\r\nVia: 1.1 ropewalk\r\n\
                 Transfer-Encoding: chunked\r\n\r\n",
            ),
            (
                chunked,
                &old,
                true,
                "HTTP/1.1 200 OK\r\nServer: b\r\nVia: 1.1 c\r\nVia: 1.1 ropewalk\r\n\
                 Connection: close\r\n\r\n",
            ),
            (
                bare,
                &get,
                true,
                "HTTP/1.1 404 Not Found\r\nVia: 1.0 ropewalk\r\nConnection: close\r\n\r\n",
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
                &head,
                false,
                "HTTP/1.1 200 OK\r\nVia: 1.1 ropewalk\r\nContent-Length: 5\r\n\r\n",
            ),
            (
                "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n",
                &get,
                true,
                "HTTP/1.1 103 Early Hints\r\nLink: a\r\nVia: 1.1 ropewalk\r\n\r\n",
            ),
        ] {
            let (response, len) = parse(text.as_bytes(), to).unwrap().unwrap();
            assert_eq!(len, text.len());
            let head = String::from_utf8(response.head(to, is_last)).unwrap();
            assert_eq!(head, expected);
        }
        let (response, _) = parse(bare.as_bytes(), &get).unwrap().unwrap();
        assert_eq!(
            (response.body, response.is_persistent),
            (Framing::UntilEnd, false)
        );
    }

    #[test]
    fn invalid_response_is_refused() {
        let get = request("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n");
        for text in [
            "SSH-2.0-OpenSSH\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 999 Odd\r\n\r\n",
        ] {
            assert!(parse(text.as_bytes(), &get).is_err(), "{text:?}");
        }
        assert!(parse(&[b'a'; LONGEST + 1], &get).is_err());
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(LONGEST));
        assert!(parse(endless.as_bytes(), &get).is_err());
        assert!(parse(b"HTTP/1.1 200 O", &get).unwrap().is_none());
    }
}
