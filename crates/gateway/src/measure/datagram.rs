//! UDP datagrams of a measurement.
//!
//! All fields are big endian: the session's token (16 bytes), kind (u8), train number (u32), index in the
//! train (u32), send time by the sender's clock (u64, ns); then padding.

/// Bytes before the padding.
pub const HEADER_LEN: usize = 16 + 1 + 4 + 4 + 8;

/// Random number that the relay assigns to a session, sent over the authenticated stream.
pub type SessionToken = [u8; 16];

/// Datagram without its padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeDatagram {
    /// Token of its session.
    pub token: SessionToken,
    /// Its purpose.
    pub kind: DatagramKind,
    /// Number of its train, or of the echo.
    pub train: u32,
    /// Its index in the train.
    pub index: u32,
    /// Send time by the sender's clock.
    pub sent_ns: u64,
}

/// Purpose of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// Request for a [`DatagramKind::Answer`].
    Echo = 1,
    /// A returned [`DatagramKind::Echo`], otherwise unchanged.
    Answer = 2,
    /// Part of a train.
    Train = 3,
    /// From the relay: a number that the client must repeat on the stream before it gets trains.
    Challenge = 4,
}

impl ProbeDatagram {
    /// Writes the header to the front of `out`; the rest is padding and left as it is.
    ///
    /// # Panics
    /// If `out` is shorter than [`HEADER_LEN`].
    pub fn emit(&self, out: &mut [u8]) {
        out[..16].copy_from_slice(&self.token);
        out[16] = self.kind as u8;
        out[17..21].copy_from_slice(&self.train.to_be_bytes());
        out[21..25].copy_from_slice(&self.index.to_be_bytes());
        out[25..HEADER_LEN].copy_from_slice(&self.sent_ns.to_be_bytes());
    }

    /// Parses a datagram; `None` if it is malformed.
    pub fn parse(bytes: &[u8]) -> Option<ProbeDatagram> {
        let (token, rest) = bytes.split_first_chunk()?;
        let (&[kind], rest) = rest.split_first_chunk()?;
        let (train, rest) = rest.split_first_chunk()?;
        let (index, rest) = rest.split_first_chunk()?;
        let (sent_ns, _) = rest.split_first_chunk()?;
        let kinds = [
            DatagramKind::Echo,
            DatagramKind::Answer,
            DatagramKind::Train,
            DatagramKind::Challenge,
        ];
        Some(ProbeDatagram {
            token: *token,
            kind: kinds.into_iter().find(|known| *known as u8 == kind)?,
            train: u32::from_be_bytes(*train),
            index: u32::from_be_bytes(*index),
            sent_ns: u64::from_be_bytes(*sent_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_datagram_is_these_bytes() {
        let datagram = ProbeDatagram {
            token: *b"0123456789abcdef",
            kind: DatagramKind::Train,
            train: 7,
            index: 0x0102,
            sent_ns: 1_000_000_000,
        };
        let mut bytes = [0xaa; HEADER_LEN + 2];
        datagram.emit(&mut bytes);
        let expected = b"0123456789abcdef\x03\0\0\0\x07\0\0\x01\x02\0\0\0\0\x3b\x9a\xca\0\xaa\xaa";
        assert_eq!(&bytes, expected);
        assert_eq!(ProbeDatagram::parse(&bytes), Some(datagram));
        for cut in 0..HEADER_LEN {
            assert_eq!(ProbeDatagram::parse(&bytes[..cut]), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(datagram) = ProbeDatagram::parse(&bytes) {
                let mut again = bytes.clone();
                datagram.emit(&mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
