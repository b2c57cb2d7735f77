//! Request at the beginning of a stream, and the answer to it.
//!
//! Both have a few bytes and precede the stream's data. So opening a stream needs no frame of its own and is
//! as reliable as the data.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ropewalk_quantities::Time;

use crate::classes::{LONGEST, Urgency};

/// Longest name of a host (RFC 1035, section 2.3.4).
pub const MAX_HOST_LEN: usize = 255;

const CONNECT: u8 = 1;
const DATAGRAMS: u8 = 2;
const MEASURE: u8 = 5;
/// Connection with deadlines.
const CONNECT_BY: u8 = 6;
const TUNNEL: u8 = 7;

/// Replaces the milliseconds if there is no deadline.
const NO_DEADLINE: u16 = u16::MAX;

// As in SOCKS (RFC 1928, section 5).
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Host, by address or by name, and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Host; the relay resolves names.
    pub host: Host,
    /// Port; never zero for a connection.
    pub port: u16,
}

/// Host of a target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// IP address.
    Address(IpAddr),
    /// Name: 1 to [`MAX_HOST_LEN`] bytes of visible ASCII.
    Name(String),
}

/// Request of the end that opens a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// TCP connection to a target; the stream carries its bytes, with this urgency.
    Connect(Target, Urgency),
    /// UDP socket; the stream carries datagrams (see [`crate::datagram`]).
    Datagrams,
    /// Measurement of the link; the stream carries its messages (see [`crate::measure`]).
    Measure,
    /// The relay's end of a tunnel; the stream carries datagrams of the tunnel, each after its length in two bytes.
    Tunnel,
}

/// Answer to a request. All numbers except [`Status::Done`]'s are SOCKS replies (RFC 1928, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    /// Success; the stream's data follow.
    Done = 0,
    /// Any other failure.
    Failed = 1,
    /// The relay's rules do not allow it.
    NotAllowed = 2,
    /// There is no route.
    NetworkUnreachable = 3,
    /// The host does not answer, or its name has no address.
    HostUnreachable = 4,
    /// The target refused.
    Refused = 5,
    /// The target did not answer in time.
    TimedOut = 6,
    /// The relay does not know the request.
    Unknown = 7,
    /// The relay's limit of streams is reached, or the association has ended.
    Limit = 9,
}

/// Error of bytes that are not a request, or not an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the first bytes of a stream are not a request")]
pub struct Malformed;

impl Request {
    /// Longest request.
    pub const MAX_LEN: usize = 1 + URGENCY_LEN + Target::MAX_LEN;

    /// Encodes the request.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Request::MAX_LEN);
        match self {
            Request::Connect(target, urgency) => {
                if *urgency == Urgency::default() {
                    out.push(CONNECT);
                } else {
                    out.push(CONNECT_BY);
                    emit_urgency(*urgency, &mut out);
                }
                target.emit(&mut out);
            }
            Request::Datagrams => out.push(DATAGRAMS),
            Request::Measure => out.push(MEASURE),
            Request::Tunnel => out.push(TUNNEL),
        }
        out
    }

    /// Parses the request at the front of `bytes`; returns it and its length, `None` if it is incomplete.
    /// Errors: it is malformed.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Malformed> {
        let Some((&kind, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        let request = match kind {
            CONNECT => {
                let parsed = Target::parse(rest)?;
                parsed.map(|(target, len)| (Request::Connect(target, Urgency::default()), 1 + len))
            }
            CONNECT_BY => {
                let Some((urgency, rest)) = rest.split_first_chunk() else {
                    return Ok(None);
                };
                let urgency = parse_urgency(*urgency)?;
                Target::parse(rest)?
                    .map(|(target, len)| (Request::Connect(target, urgency), 1 + URGENCY_LEN + len))
            }
            DATAGRAMS => Some((Request::Datagrams, 1)),
            MEASURE => Some((Request::Measure, 1)),
            TUNNEL => Some((Request::Tunnel, 1)),
            _ => return Err(Malformed),
        };
        Ok(request)
    }
}

/// Length of the number of interactive bytes and the milliseconds.
const URGENCY_LEN: usize = 6;

fn emit_urgency(urgency: Urgency, out: &mut Vec<u8>) {
    let millis = |within: Time| (within.as_nanos() / 1_000_000) as u16;
    out.extend(urgency.small.to_be_bytes());
    out.extend(urgency.within.map_or(NO_DEADLINE, millis).to_be_bytes());
}

fn parse_urgency([a, b, c, d, e, f]: [u8; URGENCY_LEN]) -> Result<Urgency, Malformed> {
    let within = match u16::from_be_bytes([e, f]) {
        NO_DEADLINE => None,
        millis => Some(Time::from_millis(u64::from(millis))),
    };
    match within {
        Some(within) if within > LONGEST => Err(Malformed),
        within => Ok(Urgency {
            small: u32::from_be_bytes([a, b, c, d]),
            within,
        }),
    }
}

impl Target {
    /// Longest target.
    pub const MAX_LEN: usize = 2 + MAX_HOST_LEN + 2;

    /// Returns the address, unless it is a name.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        match self.host {
            Host::Address(ip) => Some(SocketAddr::new(ip, self.port)),
            Host::Name(_) => None,
        }
    }

    /// Appends kind, host and port, encoded as in SOCKS (RFC 1928, section 5).
    pub fn emit(&self, out: &mut Vec<u8>) {
        match &self.host {
            Host::Address(IpAddr::V4(ip)) => {
                out.push(IPV4);
                out.extend(ip.octets());
            }
            Host::Address(IpAddr::V6(ip)) => {
                out.push(IPV6);
                out.extend(ip.octets());
            }
            Host::Name(name) => {
                out.extend([NAME, name.len() as u8]);
                out.extend(name.as_bytes());
            }
        }
        out.extend(self.port.to_be_bytes());
    }

    /// Parses the target at the front of `bytes`; returns it and its length, `None` if it is incomplete.
    /// Errors: its address type is unknown, or its name has invalid characters.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Target, usize)>, Malformed> {
        let Some((&kind, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        let (at, len) = match (kind, rest.first()) {
            (IPV4, _) => (1, 4),
            (IPV6, _) => (1, 16),
            (NAME, Some(&len)) => (2, usize::from(len)),
            (NAME, None) => return Ok(None),
            _ => return Err(Malformed),
        };
        let end = at + len;
        let Some(port) = bytes.get(end..end + 2) else {
            return Ok(None);
        };
        let port = u16::from_be_bytes([port[0], port[1]]);
        let host = &bytes[at..end];
        let host = if let Ok(octets) = <[u8; 4]>::try_from(host)
            && kind == IPV4
        {
            Host::Address(Ipv4Addr::from(octets).into())
        } else if let Ok(octets) = <[u8; 16]>::try_from(host)
            && kind == IPV6
        {
            Host::Address(IpAddr::from(Ipv6Addr::from(octets)).to_canonical())
        } else {
            let name = std::str::from_utf8(host).map_err(|_| Malformed)?;
            name.parse().map_err(|_| Malformed)?
        };
        Ok(Some((Target { host, port }, end + 2)))
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Target {
        Target {
            host: Host::Address(address.ip().to_canonical()),
            port: address.port(),
        }
    }
}

impl FromStr for Host {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Host, Malformed> {
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Host::Address(ip.to_canonical()));
        }
        let is_name = (1..=MAX_HOST_LEN).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic())
            && !text.contains(['[', ']', '/', ':', '@', '\\', '"']);
        match is_name {
            true => Ok(Host::Name(text.to_owned())),
            false => Err(Malformed),
        }
    }
}

/// Parses `HOST:PORT`, an IPv6 address in brackets.
impl FromStr for Target {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Target, Malformed> {
        let (host, port) = text.rsplit_once(':').ok_or(Malformed)?;
        let host = match host.strip_prefix('[') {
            Some(host) => {
                let address = host.strip_suffix(']').ok_or(Malformed)?;
                Host::Address(IpAddr::V6(address.parse().map_err(|_| Malformed)?).to_canonical())
            }
            None if host.contains(':') => return Err(Malformed),
            None => host.parse()?,
        };
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = Some(port).filter(|_| is_number).ok_or(Malformed)?;
        Ok(Target {
            host,
            port: port.parse().map_err(|_| Malformed)?,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(ip) => SocketAddr::new(*ip, self.port).fmt(f),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

impl Status {
    /// Returns the status of that number; unknown numbers are [`Status::Failed`].
    #[must_use]
    pub fn from_byte(byte: u8) -> Status {
        match byte {
            0 => Status::Done,
            2 => Status::NotAllowed,
            3 => Status::NetworkUnreachable,
            4 => Status::HostUnreachable,
            5 => Status::Refused,
            6 => Status::TimedOut,
            7 => Status::Unknown,
            9 => Status::Limit,
            _ => Status::Failed,
        }
    }

    /// Returns the status for an error of connect(2).
    #[must_use]
    pub fn of_error(error: &std::io::Error) -> Status {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::ConnectionRefused => Status::Refused,
            ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => Status::NetworkUnreachable,
            ErrorKind::HostUnreachable | ErrorKind::NotFound => Status::HostUnreachable,
            ErrorKind::TimedOut => Status::TimedOut,
            ErrorKind::PermissionDenied => Status::NotAllowed,
            _ => Status::Failed,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Done => "done",
            Status::Failed => "failed",
            Status::NotAllowed => "not allowed by the relay's rules",
            Status::NetworkUnreachable => "network unreachable",
            Status::HostUnreachable => "host unreachable",
            Status::Refused => "connection refused",
            Status::TimedOut => "timed out",
            Status::Unknown => "not known at the relay",
            Status::Limit => "no stream can be opened",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_are_these_bytes() {
        let by = |text: &str, urgency| Request::Connect(text.parse().unwrap(), urgency).to_bytes();
        let request = |text: &str| by(text, Urgency::default());
        let urgency = Urgency {
            small: 0x0102,
            within: Some(Time::from_millis(200)),
        };
        let urgent = by("10.0.0.1:443", urgency);
        assert_eq!(
            urgent,
            b"\x06\x00\x00\x01\x02\x00\xc8\x01\x0a\x00\x00\x01\x01\xbb"
        );
        let urgency = Urgency {
            small: 1,
            within: None,
        };
        assert_eq!(
            by("a.b:80", urgency),
            b"\x06\x00\x00\x00\x01\xff\xff\x03\x03a.b\x00\x50"
        );
        assert_eq!(request("10.0.0.1:443"), b"\x01\x01\x0a\x00\x00\x01\x01\xbb");
        assert_eq!(request("a.b:80"), b"\x01\x03\x03a.b\x00\x50");
        assert_eq!(Request::Datagrams.to_bytes(), b"\x02");
        assert_eq!(Request::Measure.to_bytes(), b"\x05");
        let request = Request::Connect("[2001:db8::1]:9".parse().unwrap(), Urgency::default());
        let bytes = request.to_bytes();
        assert_eq!(&bytes[..6], b"\x01\x04\x20\x01\x0d\xb8");
        assert_eq!(Request::parse(&bytes), Ok(Some((request, bytes.len()))));
        for cut in 0..bytes.len() {
            assert_eq!(Request::parse(&bytes[..cut]), Ok(None));
        }
    }

    #[test]
    fn invalid_target_is_refused() {
        for text in [
            "", ":80", "a", "a:", "a:+8", "a:65536", "a b:1", "a/b:1", "[::1:2", "::1:2", "u@h:1",
            "[a]:1", "a:b:1",
        ] {
            assert_eq!(text.parse::<Target>(), Err(Malformed), "{text:?}");
        }
        assert!(Request::parse(b"\x01\x03\x00\x00\x50").is_err());
        assert!(Request::parse(b"\x01\x03\x01\xff\x00\x50").is_err());
        assert!(Request::parse(b"\x01\x02").is_err());
        assert!(Request::parse(b"\x09").is_err());
        assert!(Request::parse(b"\x06\x00\x00\x00\x00\xea\x61\x01").is_err());
    }

    #[test]
    fn mapped_addresses_are_ipv4() {
        let target: Target = "[::ffff:127.0.0.1]:1".parse().unwrap();
        assert_eq!(target, "127.0.0.1:1".parse().unwrap());
    }

    proptest! {
        #[test]
        fn parsed_request_round_trips(mut bytes in prop::collection::vec(any::<u8>(), 1..300), kind in 1u8..7) {
            bytes[0] = kind;
            if let Ok(Some((request, len))) = Request::parse(&bytes) {
                let again = request.to_bytes();
                prop_assert_eq!(Request::parse(&again), Ok(Some((request, again.len()))));
                prop_assert!(len <= Request::MAX_LEN && again.len() <= len);
            }
        }

        #[test]
        fn targets_round_trip_as_text(host in "[a-z0-9-]{1,20}(\\.[a-z]{1,5})?", port: u16) {
            let target: Target = format!("{host}:{port}").parse().unwrap();
            prop_assert_eq!(target.to_string().parse::<Target>(), Ok(target));
        }
    }
}
