//! What stands before each packet: to whom it belongs, and its place.

/// The header of a packet: two numbers of 32 bits (elahi-2011, section 2).
///
/// It does not say how long the packet is, so both ends must know: all but the
/// last are of one length where the application writes faster than they leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Tells the associations of a host from each other.
    pub association: u32,
    /// Counts the packets of an association, and begins again after 2^32.
    pub sequence: u32,
}

impl Header {
    /// Its length on the wire, in bytes.
    pub const LEN: u64 = 8;

    /// As it goes on the wire, most significant byte first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Header::LEN as usize] {
        let both = u64::from(self.association) << 32 | u64::from(self.sequence);
        both.to_be_bytes()
    }

    /// As it came from the wire.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Header::LEN as usize]) -> Header {
        let both = u64::from_be_bytes(bytes);
        Header {
            association: (both >> 32) as u32,
            sequence: both as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn its_bytes_are_association_then_sequence() {
        let header = Header {
            association: 0x0102_0304,
            sequence: 0xfffe_fd00,
        };
        let bytes = [1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0];
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(Header::from_bytes(bytes), header);
    }

    proptest! {
        #[test]
        fn any_eight_bytes_are_a_header(bytes: [u8; 8]) {
            prop_assert_eq!(Header::from_bytes(bytes).to_bytes(), bytes);
        }
    }
}
