//! Access to header fields: network byte order, fixed offsets.

use crate::error::Malformed;

#[inline]
pub(crate) fn at_least(needed: usize, bytes: &[u8]) -> Result<(), Malformed> {
    let got = bytes.len();
    match got < needed {
        true => Err(Malformed::Truncated { needed, got }),
        false => Ok(()),
    }
}

/// `N` bytes from `at`. Callers have checked the length.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a slice of N bytes")
}

#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(bytes, at))
}

#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array(bytes, at))
}

#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(array(bytes, at))
}

#[inline]
pub(crate) fn put<const N: usize>(out: &mut [u8], at: usize, value: [u8; N]) -> usize {
    out[at..at + N].copy_from_slice(&value);
    at + N
}
