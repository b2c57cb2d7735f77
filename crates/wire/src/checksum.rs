//! The internet checksum (RFC 1071): the ones' complement sum of 16-bit words.

use core::net::{Ipv4Addr, Ipv6Addr};

/// A partial sum. Pieces are added in packet order. After a piece of odd length the next one begins
/// in the middle of a word, as if both had been added as one.
///
/// A packet with a correct checksum field sums to zero: see [`finish`](Checksum::finish).
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum {
    /// Modulo 2^64 - 1, a multiple of 2^16 - 1, of words in native byte order (RFC 1071, section
    /// 2).
    sum: u64,
    odd: bool,
}

impl Checksum {
    /// The sum of no bytes.
    #[inline]
    pub const fn new() -> Checksum {
        Checksum { sum: 0, odd: false }
    }

    /// Sum of an IPv4 pseudo-header (RFC 9293, section 3.1; RFC 768).
    #[inline]
    pub fn pseudo_header_v4(
        source: Ipv4Addr,
        destination: Ipv4Addr,
        protocol: u8,
        len: usize,
    ) -> Checksum {
        Checksum::new()
            .add_u32(source.to_bits())
            .add_u32(destination.to_bits())
            .add_u64(u64::from(protocol) + len as u64)
    }

    /// Sum of an IPv6 pseudo-header (RFC 8200, section 8.1).
    #[inline]
    pub fn pseudo_header_v6(
        source: Ipv6Addr,
        destination: Ipv6Addr,
        protocol: u8,
        len: usize,
    ) -> Checksum {
        Checksum::new()
            .add_bytes(&source.octets())
            .add_bytes(&destination.octets())
            .add_u64(u64::from(protocol) + len as u64)
    }

    /// Adds bytes.
    #[inline]
    #[must_use]
    pub fn add_bytes(self, bytes: &[u8]) -> Checksum {
        self.add(sum_of(bytes), bytes.len() % 2 == 1)
    }

    /// Adds a two-byte number.
    #[inline]
    #[must_use]
    pub fn add_u16(self, value: u16) -> Checksum {
        self.add(u64::from(value.to_be()), false)
    }

    /// Adds a four-byte number.
    #[inline]
    #[must_use]
    pub fn add_u32(self, value: u32) -> Checksum {
        self.add(u64::from(value.to_be()), false)
    }

    /// Adds an eight-byte number.
    #[inline]
    #[must_use]
    pub fn add_u64(self, value: u64) -> Checksum {
        self.add(value.to_be(), false)
    }

    /// Adds another sum, as if its bytes followed.
    #[inline]
    #[must_use]
    pub fn add_sum(self, other: Checksum) -> Checksum {
        self.add(other.sum, other.odd)
    }

    /// The checksum: the complement of the sum. Zero if the bytes contain their correct checksum.
    #[inline]
    #[must_use]
    pub fn finish(self) -> u16 {
        !u16::from_be(fold(self.sum))
    }

    #[inline]
    fn add(self, sum: u64, odd: bool) -> Checksum {
        // After an odd byte the halves of all words are swapped (RFC 1071, section 2).
        let sum = if self.odd {
            u64::from(fold(sum).swap_bytes())
        } else {
            sum
        };
        Checksum {
            sum: add_ones_complement(self.sum, sum),
            odd: self.odd != odd,
        }
    }
}

#[inline]
fn add_ones_complement(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u64::from(carry)
}

#[inline]
fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    ((sum >> 16) + (sum & 0xffff)) as u16
}

/// Sum of the bytes' native 32-bit words, zero-padded. Independent 64-bit lanes need no carries and
/// let the compiler vectorise.
fn sum_of(bytes: &[u8]) -> u64 {
    let mut lanes = [0_u64; 8];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<4>().0) {
            *lane += u64::from(u32::from_ne_bytes(*word));
        }
    }
    let (words, last) = rest.as_chunks::<4>();
    let mut end = [0; 4];
    end[..last.len()].copy_from_slice(last);
    let sum = lanes.iter().sum::<u64>() + u64::from(u32::from_ne_bytes(end));
    words
        .iter()
        .fold(sum, |sum, word| sum + u64::from(u32::from_ne_bytes(*word)))
}
