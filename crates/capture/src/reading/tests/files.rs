//! Compressed, truncated and invalid files.

use super::*;

#[test]
fn gzip_is_decompressed_and_a_cut_file_ends_early() {
    let plain = pcap(101, &[tcp4(10), tcp4(20)]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(&plain).unwrap();
    let compressed = encoder.finish().unwrap();
    assert_eq!(packets(&compressed).len(), 2);
    let mut reader = open(&plain[..plain.len() - 1], Unwrapping::Off).unwrap();
    assert!(reader.next_packet().unwrap().is_some());
    assert!(reader.next_packet().unwrap().is_none());
    assert!(reader.ends_within_packet());
}

#[test]
fn a_block_beyond_the_limit_is_refused() {
    let mut capture = pcap(101, &[tcp4(10)]);
    capture[32..36].fill(0xff);
    capture.resize(40 << 20, 0);
    let mut reader = open(&capture, Unwrapping::Off).unwrap();
    let error = reader.next_packet().unwrap_err();
    assert_eq!(
        error.to_string(),
        "before byte 24: a block of more than 16777216 bytes"
    );
}

#[test]
fn non_capture_is_refused() {
    for (content, text) in [
        (&b""[..], "0 bytes are too short for a capture file"),
        (b"no capture at all, this", "unknown magic number 6e6f2063"),
    ] {
        let error = open(content, Unwrapping::Off).unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    }
}

fn exhaust(content: &[u8]) {
    for unwrapping in [Unwrapping::Off, Unwrapping::AnyPort] {
        if let Ok(mut reader) = open(content, unwrapping) {
            while let Ok(Some(_)) = reader.next_packet() {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_of_a_packet_make_it_panic(
        link_type in prop::sample::select(vec![
            0_u32, 1, 9, 12, 50, 51, 101, 104, 105, 108, 113, 127, 147, 166, 192, 204, 229, 276,
        ]),
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..20),
    ) {
        exhaust(&pcap(link_type, &packets));
    }

    #[test]
    fn no_change_of_a_capture_makes_it_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in any::<prop::sample::Index>(),
        link_type in prop::sample::select(vec![1_u32, 101]),
    ) {
        let ip = [
            tcp4(30),
            ipv4(17, 0, &udp(4789, &after(&[8, 0, 0, 0, 0, 0, 1, 0], &ethernet(0x0800, &tcp4(3))))),
            ipv4(47, 0, &after(&[0x20, 0, 8, 0, 0, 0, 0, 1], &tcp4(3))),
            ipv4(6, 0x2000, &segment(100)[..64]),
            ipv6(0, &after(&[44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 9], &segment(4))),
        ];
        let frames = ip.map(|packet| match link_type {
            1 => ethernet(if packet[0] >> 4 == 4 { 0x0800 } else { 0x86dd }, &packet),
            _ => packet,
        });
        let mut capture = pcap(link_type, &frames);
        for (at, value) in changes {
            let at = at.index(capture.len());
            capture[at] = value;
        }
        capture.truncate(end.index(capture.len()) + 1);
        exhaust(&capture);
    }

    #[test]
    fn no_blocks_of_pcapng_make_it_panic(
        blocks in prop::collection::vec(
            (prop::sample::select(vec![1_u32, 2, 3, 4, 5, 6, 9, 10, 0x0bad]),
             prop::collection::vec(any::<u8>(), 0..80)),
            0..20,
        ),
    ) {
        let mut capture = Vec::new();
        let section = [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255];
        let interface = [101, 0, 0, 0, 0, 0, 0, 0];
        let known = [(0x0a0d_0d0a, section.to_vec()), (1, interface.to_vec())];
        for (kind, mut body) in known.into_iter().chain(blocks) {
            body.resize(body.len().next_multiple_of(4), 0);
            let len = (body.len() as u32 + 12).to_le_bytes();
            capture.extend(kind.to_le_bytes());
            capture.extend(len);
            capture.extend(body);
            capture.extend(len);
        }
        exhaust(&capture);
    }
}
