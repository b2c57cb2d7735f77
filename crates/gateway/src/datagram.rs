//! Encoding of datagrams on a stream, each to or from a target.
//!
//! Each is the length of the rest (two bytes), a target ([`Target::emit`]), and the payload.

use crate::request::{Malformed, Target};

/// Longest payload: that of a UDP datagram over IPv4 (RFC 768), less a target.
pub const MAX_PAYLOAD: usize = 65_507 - Target::MAX_LEN;

/// Longest datagram on a stream.
pub const MAX_LEN: usize = 2 + Target::MAX_LEN + MAX_PAYLOAD;

/// Datagram on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Destination or source.
    pub peer: Target,
    /// At most [`MAX_PAYLOAD`] bytes.
    pub payload: &'a [u8],
}

/// Appends a datagram to `out`.
///
/// # Panics
/// If the payload is longer than [`MAX_PAYLOAD`].
pub fn emit(target: &Target, payload: &[u8], out: &mut Vec<u8>) {
    assert!(payload.len() <= MAX_PAYLOAD);
    let start = out.len();
    out.extend([0, 0]);
    target.emit(out);
    out.extend_from_slice(payload);
    let len = (out.len() - start - 2) as u16;
    out[start..start + 2].copy_from_slice(&len.to_be_bytes());
}

/// Parses the datagram at the front of `bytes`; returns it and its length, `None` if it is incomplete.
/// Errors: it is malformed.
pub fn parse(bytes: &[u8]) -> Result<Option<(Datagram<'_>, usize)>, Malformed> {
    let Some((len, rest)) = bytes.split_first_chunk() else {
        return Ok(None);
    };
    let len = usize::from(u16::from_be_bytes(*len));
    let Some(datagram) = rest.get(..len) else {
        return Ok(None);
    };
    let (peer, at) = Target::parse(datagram)?.ok_or(Malformed)?;
    if len - at > MAX_PAYLOAD {
        return Err(Malformed);
    }
    let payload = &datagram[at..];
    Ok(Some((Datagram { peer, payload }, 2 + len)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_datagram_is_these_bytes() {
        let mut bytes = Vec::new();
        let target: Target = "10.0.0.1:53".parse().unwrap();
        emit(&target, b"hi", &mut bytes);
        assert_eq!(bytes, b"\x00\x09\x01\x0a\x00\x00\x01\x00\x35hi");
        let datagram = Datagram {
            peer: target,
            payload: b"hi",
        };
        assert_eq!(parse(&bytes), Ok(Some((datagram, 11))));
        for cut in 0..bytes.len() {
            assert_eq!(parse(&bytes[..cut]), Ok(None));
        }
        assert_eq!(parse(b"\x00\x02\x01\x0a"), Err(Malformed));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            if let Ok(Some((datagram, len))) = parse(&bytes) {
                prop_assert!(datagram.payload.len() < len && len <= bytes.len());
            }
        }
    }
}
