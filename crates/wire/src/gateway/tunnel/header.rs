//! Header of each datagram of a session.

use crate::field::{put, u32_at, u64_at};

/// Unencrypted, authenticated part of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunnelHeader {
    /// Link, by the initiator's number.
    pub link: u8,
    /// The receiver's identifier of the session.
    pub session: u32,
    /// Number of the datagram on this link and direction, below 2^56.
    pub sequence: u64,
}

impl TunnelHeader {
    /// First byte of a session's datagram; handshakes have others.
    pub const KIND: u8 = 4;
    /// Its length.
    pub const LEN: usize = 14;
    /// Largest link number.
    pub const MAX_LINK: u8 = 63;

    /// Encodes the header.
    #[must_use]
    pub fn to_bytes(self) -> [u8; TunnelHeader::LEN] {
        let mut out = [0; TunnelHeader::LEN];
        let at = put(&mut out, 0, [TunnelHeader::KIND, self.link]);
        let at = put(&mut out, at, self.session.to_be_bytes());
        put(&mut out, at, self.sequence.to_be_bytes());
        out
    }

    /// Parses the header at the front of a datagram; `None` if it is not of a session.
    #[must_use]
    pub fn parse(datagram: &[u8]) -> Option<TunnelHeader> {
        if datagram.len() < TunnelHeader::LEN || datagram[0] != TunnelHeader::KIND {
            return None;
        }
        let header = TunnelHeader {
            link: datagram[1],
            session: u32_at(datagram, 2),
            sequence: u64_at(datagram, 6),
        };
        (header.link <= TunnelHeader::MAX_LINK && header.sequence >> 56 == 0).then_some(header)
    }

    /// Nonce of the encryption, unique in the session.
    #[must_use]
    pub fn number(&self) -> u64 {
        u64::from(self.link) << 56 | self.sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_kind_link_session_sequence() {
        let header = TunnelHeader {
            link: 3,
            session: 0x0102_0304,
            sequence: 0x0011_2233_4455_6677,
        };
        let bytes = [
            4, 3, 1, 2, 3, 4, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
        ];
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(TunnelHeader::parse(&bytes), Some(header));
        assert_eq!(header.number(), 0x0311_2233_4455_6677);
    }

    #[test]
    fn non_header_parses_to_none() {
        assert_eq!(TunnelHeader::parse(&[4; 13]), None);
        assert_eq!(TunnelHeader::parse(&[1; 14]), None);
        let mut link = [0; 14];
        link[..2].copy_from_slice(&[4, 64]);
        assert_eq!(TunnelHeader::parse(&link), None);
        let mut sequence = [0; 14];
        sequence[0] = 4;
        sequence[6] = 1;
        assert_eq!(TunnelHeader::parse(&sequence), None);
    }
}
