//! The internet checksum against RFC 1071's example and against its definition.

mod hex;

use hex::bytes;
use proptest::prelude::*;
use ropewalk_wire::Checksum;

/// The definition of RFC 1071, section 1: 16-bit words, end-around carry, complement.
fn by_definition(bytes: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for (index, byte) in bytes.iter().enumerate() {
        sum += u32::from(*byte) << if index % 2 == 0 { 8 } else { 0 };
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn the_example_of_rfc_1071_section_3() {
    let sum = Checksum::new().add_bytes(&bytes("0001 f203 f4f5 f6f7"));
    assert_eq!(sum.finish(), !0xddf2);
}

#[test]
fn nothing_and_zeros_add_up_to_zero() {
    assert_eq!(Checksum::new().finish(), 0xffff);
    assert_eq!(Checksum::new().add_bytes(&[0; 33]).finish(), 0xffff);
}

#[test]
fn the_largest_bytes_carry_all_the_way() {
    let ones = vec![0xff; 70_001];
    assert_eq!(
        Checksum::new().add_bytes(&ones).finish(),
        by_definition(&ones)
    );
    let sum = Checksum::new()
        .add_u64(u64::MAX)
        .add_u64(u64::MAX)
        .add_u16(1);
    assert_eq!(sum.finish(), !1);
}

/// Sums with one carry more than most.
#[test]
fn words_at_the_edges() {
    let edges = [0x0000_u64, 0x0001, 0x0100, 0xfeff, 0xfffe, 0xffff];
    let edges = || edges.into_iter();
    let words = edges().flat_map(|a| edges().map(move |b| a << 16 | b));
    let words: Vec<u64> = words.collect();
    for word in words
        .iter()
        .flat_map(|a| words.iter().map(move |b| a << 32 | b))
    {
        let expected = by_definition(&word.to_be_bytes());
        assert_eq!(
            Checksum::new().add_u64(word).finish(),
            expected,
            "{word:#x}"
        );
    }
}

#[test]
fn numbers_count_as_their_bytes_do() {
    let all = bytes("0123 456789ab cdef0123456789ab");
    let sum = Checksum::new()
        .add_u16(0x0123)
        .add_u32(0x4567_89ab)
        .add_u64(0xcdef_0123_4567_89ab);
    assert_eq!(sum.finish(), by_definition(&all));
}

#[test]
fn numbers_after_an_odd_byte_count_as_their_bytes_do() {
    let all = bytes("01 2345 6789abcd ef0123456789abcd");
    let sum = Checksum::new()
        .add_bytes(&[0x01])
        .add_u16(0x2345)
        .add_u32(0x6789_abcd)
        .add_u64(0xef01_2345_6789_abcd);
    assert_eq!(sum.finish(), by_definition(&all));
}

#[test]
fn the_pseudo_header_of_ipv4_is_that_of_rfc_9293() {
    let source = [192, 0, 2, 1].into();
    let destination = [198, 51, 100, 255].into();
    let sum = Checksum::pseudo_header_v4(source, destination, 6, 0xabcd);
    let written = bytes("c0000201 c63364ff 00 06 abcd");
    assert_eq!(sum.finish(), by_definition(&written));
}

#[test]
fn the_pseudo_header_of_ipv6_is_that_of_rfc_8200() {
    let source = "2001:db8::1".parse().unwrap();
    let destination = "2001:db8:ffff::abcd".parse().unwrap();
    let sum = Checksum::pseudo_header_v6(source, destination, 17, 0x0001_2345);
    let written = bytes(
        "20010db8000000000000000000000001
         20010db8ffff0000000000000000abcd
         00012345 000000 11",
    );
    assert_eq!(sum.finish(), by_definition(&written));
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..3_000)) {
        prop_assert_eq!(Checksum::new().add_bytes(&bytes).finish(), by_definition(&bytes));
    }

    #[test]
    fn any_pieces(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 0..9)) {
        let whole = pieces.concat();
        let one_by_one = pieces.iter().fold(Checksum::new(), |sum, piece| sum.add_bytes(piece));
        prop_assert_eq!(one_by_one.finish(), by_definition(&whole));

        let sums = pieces
            .iter()
            .map(|piece| Checksum::new().add_bytes(piece))
            .fold(Checksum::new(), Checksum::add_sum);
        prop_assert_eq!(sums.finish(), by_definition(&whole));
    }

    #[test]
    fn bytes_with_their_checksum_add_up_to_zero(mut bytes in prop::collection::vec(any::<u8>(), 2..99)) {
        bytes[0] = 0;
        bytes[1] = 0;
        let checksum = Checksum::new().add_bytes(&bytes).finish();
        bytes[..2].copy_from_slice(&checksum.to_be_bytes());
        prop_assert_eq!(Checksum::new().add_bytes(&bytes).finish(), 0);

        let last = bytes.len() - 1;
        bytes[last] ^= 0x10;
        prop_assert_ne!(Checksum::new().add_bytes(&bytes).finish(), 0);
    }
}
