//! Header fields: those of a single hop, and the framing of a message.

pub const MAX_FIELDS: usize = 128;

/// Fields that are not forwarded, in addition to the fields in `Connection`: hop-by-hop fields (RFC 9110,
/// section 7.6.1), and the fields that the proxy generates, framing and host.
const HOP_BY_HOP: [&str; 13] = [
    "connection",
    "content-length",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Marking of the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Empty,
    Length(u64),
    Chunked,
    UntilEnd,
}

pub type HeaderFields = Vec<(String, Vec<u8>)>;

/// Fields of a message, sorted: framing, connection, and end-to-end fields.
#[derive(Debug, Default)]
pub struct Sorted {
    pub end_to_end: HeaderFields,
    lengths: Vec<Vec<u8>>,
    codings: Vec<Vec<u8>>,
    /// Whether the connection ends after this message.
    pub closes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    #[error("an ambiguous or missing length")]
    Ambiguous,
    #[error("a transfer coding other than chunked")]
    Coding,
}

impl Sorted {
    pub fn new(headers: &[httparse::Header<'_>]) -> Sorted {
        let values = |name: &str| {
            let named = headers.iter();
            let named = named.filter(|header| header.name.eq_ignore_ascii_case(name));
            named.map(|header| header.value.to_vec()).collect()
        };
        let options: Vec<Vec<u8>> = values("connection");
        let options: Vec<String> = options
            .iter()
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(|option| String::from_utf8_lossy(option).trim().to_ascii_lowercase())
            .collect();
        let is_for_all = |header: &&httparse::Header<'_>| {
            let name = header.name.to_ascii_lowercase();
            !HOP_BY_HOP.contains(&name.as_str()) && !options.contains(&name)
        };
        let for_all = headers.iter().filter(is_for_all);
        Sorted {
            end_to_end: for_all
                .map(|header| (header.name.to_owned(), header.value.to_vec()))
                .collect(),
            lengths: values("content-length"),
            codings: values("transfer-encoding"),
            closes: options.iter().any(|option| option == "close"),
        }
    }

    /// Returns the framing of a request (RFC 9112, section 6.3): one length, or chunks. Both, several
    /// lengths, or chunks in HTTP/1.0 are rejected. Errors: it has another framing.
    pub fn request(&self, minor: u8) -> Result<Framing, FramingError> {
        match (&self.lengths[..], &self.codings[..]) {
            ([], []) => Ok(Framing::Empty),
            ([length], []) => parse_length(length).map(Framing::Length),
            ([], [coding]) if is_chunked(coding) && minor == 1 => Ok(Framing::Chunked),
            ([], [coding]) if !is_chunked(coding) => Err(FramingError::Coding),
            _ => Err(FramingError::Ambiguous),
        }
    }

    /// Returns the framing of a response that has a body; equal lengths may repeat. Errors: it is ambiguous.
    pub fn response(&self, minor: u8) -> Result<Framing, FramingError> {
        match (&self.lengths[..], &self.codings[..]) {
            ([], []) => Ok(Framing::UntilEnd),
            (lengths, []) => {
                let mut all = lengths
                    .iter()
                    .flat_map(|value| value.split(|byte| *byte == b','));
                let first = parse_length(all.next().unwrap_or_default())?;
                match all.all(|other| parse_length(other) == Ok(first)) {
                    true => Ok(Framing::Length(first)),
                    false => Err(FramingError::Ambiguous),
                }
            }
            ([], [coding]) if is_chunked(coding) && minor == 1 => Ok(Framing::Chunked),
            ([], _) => Err(FramingError::Coding),
            _ => Err(FramingError::Ambiguous),
        }
    }

    pub fn length(&self) -> Option<u64> {
        let [length] = &self.lengths[..] else {
            return None;
        };
        parse_length(length).ok()
    }
}

/// Parses digits only: parsers differ about signs and spaces.
fn parse_length(text: &[u8]) -> Result<u64, FramingError> {
    let text = text.trim_ascii();
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(text).ok().filter(|_| is_number);
    let number = number.and_then(|text| text.parse().ok());
    number.ok_or(FramingError::Ambiguous)
}

fn is_chunked(coding: &[u8]) -> bool {
    coding.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// Appends fields to a message's head.
pub fn emit(fields: &HeaderFields, out: &mut Vec<u8>) {
    for (name, value) in fields {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends the framing fields, and the end of the head.
pub fn emit_framing(framing: Framing, out: &mut Vec<u8>) {
    match framing {
        Framing::Empty | Framing::UntilEnd => {}
        Framing::Length(length) => {
            out.extend_from_slice(format!("Content-Length: {length}\r\n").as_bytes());
        }
        Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(text: &str) -> Sorted {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let text = format!("{text}\r\n");
        let parsed = httparse::parse_headers(text.as_bytes(), &mut headers).unwrap();
        Sorted::new(parsed.unwrap().1)
    }

    #[test]
    fn fields_of_one_hop_are_left_out() {
        let got = sorted(
            "Accept: a\r\nConnection: Keep-Alive, x-own\r\nX-Own: 1\r\nTE: trailers\r\nTrailer: a\r\n\
             Proxy-Connection: keep-alive\r\nKeep-Alive: 1\r\nUpgrade: h2c\r\nHTTP2-Settings: a\r\n\
             Proxy-Authorization: Basic a\r\nHost: b\r\nContent-Length: 3\r\nx-other: é\r\n",
        );
        let names: Vec<&str> = got
            .end_to_end
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["Accept", "x-other"]);
        assert!(!got.closes);
        assert_eq!(got.request(1), Ok(Framing::Length(3)));
        assert!(sorted("Connection: a\r\nConnection: b , Close\r\n").closes);
    }

    #[test]
    fn requests_are_framed_in_one_way_or_refused() {
        let (ambiguous, coding) = (Err(FramingError::Ambiguous), Err(FramingError::Coding));
        for (text, framing) in [
            ("", Ok(Framing::Empty)),
            ("Content-Length: 0\r\n", Ok(Framing::Length(0))),
            (
                "content-length: 18446744073709551615\r\n",
                Ok(Framing::Length(u64::MAX)),
            ),
            ("Transfer-Encoding: Chunked\r\n", Ok(Framing::Chunked)),
            (
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                ambiguous,
            ),
            (
                "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                ambiguous,
            ),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", ambiguous),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", ambiguous),
            ("Content-Length: 5, 5\r\n", ambiguous),
            ("Content-Length: +5\r\n", ambiguous),
            ("Content-Length: -5\r\n", ambiguous),
            ("Content-Length: 0x5\r\n", ambiguous),
            ("Content-Length: 5 6\r\n", ambiguous),
            ("Content-Length:\r\n", ambiguous),
            ("Content-Length: 18446744073709551616\r\n", ambiguous),
            ("Transfer-Encoding: gzip, chunked\r\n", coding),
            ("Transfer-Encoding: chunked, identity\r\n", coding),
            ("Transfer-Encoding: xchunked\r\n", coding),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                ambiguous,
            ),
        ] {
            assert_eq!(sorted(text).request(1), framing, "{text:?}");
        }
        assert_eq!(
            sorted("Transfer-Encoding: chunked\r\n").request(0),
            ambiguous
        );
    }

    #[test]
    fn responses_are_framed_in_one_way_or_refused() {
        let (ambiguous, coding) = (Err(FramingError::Ambiguous), Err(FramingError::Coding));
        for (text, framing) in [
            ("", Ok(Framing::UntilEnd)),
            ("Content-Length: 5\r\n", Ok(Framing::Length(5))),
            (
                "Content-Length: 5, 5\r\nContent-Length: 5\r\n",
                Ok(Framing::Length(5)),
            ),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", ambiguous),
            ("Transfer-Encoding: chunked\r\n", Ok(Framing::Chunked)),
            ("Transfer-Encoding: gzip, chunked\r\n", coding),
            (
                "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                ambiguous,
            ),
        ] {
            assert_eq!(sorted(text).response(1), framing, "{text:?}");
        }
    }
}
