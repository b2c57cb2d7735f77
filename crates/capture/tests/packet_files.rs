//! Bytes of packet files, by the formats' specifications.

use std::fs;
use std::path::Path;

use ropewalk_capture::{
    Direction, FileError, Interface, InterfaceCounts, PacketFile, Record, Settings,
};
use ropewalk_quantities::{Rate, Time};

/// Writes two packets: the first is cut, the second has no comment.
fn write_two(path: &Path) -> u64 {
    let interfaces = [
        Interface {
            name: "wifi".to_owned(),
            speed: Some(Rate::from_bps(20_000_000)),
        },
        Interface {
            name: "lte-5".to_owned(),
            speed: None,
        },
    ];
    let settings = Settings {
        snaplen: Some(6),
        comment: "Two, seed 1".to_owned(),
        ..Settings::default()
    };
    let mut file = PacketFile::create(path, &interfaces, &settings).unwrap();
    file.write(&Record {
        time: Time::from_nanos(1_234_567_891),
        interface: 1,
        direction: Direction::Outbound,
        bytes: &[0x45, 1, 2, 3, 4, 5, 6, 7],
        comment: Some("lost!"),
    })
    .unwrap();
    file.write(&Record {
        time: Time::from_nanos(1_234_568_999),
        interface: 0,
        direction: Direction::Inbound,
        bytes: &[0x45, 9, 8, 7],
        comment: None,
    })
    .unwrap();
    let counts = [
        InterfaceCounts {
            received: 1,
            dropped: 0,
        },
        InterfaceCounts {
            received: 0x0102_0304_0506,
            dropped: 2,
        },
    ];
    file.finish(&counts).unwrap()
}

#[test]
fn pcapng_is_as_its_specification_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcapng");
    assert_eq!(write_two(&path), 2);

    // The application's name contains the version.
    let application = format!("ropewalk {}", env!("CARGO_PKG_VERSION"));
    let mut padded = application.clone().into_bytes();
    padded.resize(application.len().next_multiple_of(4), 0);
    let section = 52 + padded.len() as u32;

    let mut expected = hex("0a0d0d0a  Section Header Block");
    expected.extend(section.to_le_bytes());
    expected.extend(hex("
        4d3c2b1a                   little-endian
        0100 0000                  version 1.0
        ffffffffffffffff           length of the section: not said
        0100 0b00                  opt_comment, 11 bytes
        54776f2c 20736565 64203100  Two, seed 1
        0400                       shb_userappl
    "));
    expected.extend((application.len() as u16).to_le_bytes());
    expected.extend(padded);
    expected.extend(hex("0000 0000  opt_endofopt"));
    expected.extend(section.to_le_bytes());
    expected.extend(hex("
        01000000             Interface Description Block
        34000000             52 bytes
        e400 0000            LINKTYPE_IPV4, reserved
        06000000             snaplen
        0200 0400            if_name, 4 bytes
        77696669             wifi
        0900 0100            if_tsresol, 1 byte
        09 000000            10^-9 s
        0800 0800            if_speed, 8 bytes
        002d3101 00000000    20,000,000
        0000 0000            opt_endofopt
        34000000             52 bytes

        01000000             Interface Description Block
        2c000000             44 bytes
        e400 0000            LINKTYPE_IPV4, reserved
        06000000             snaplen
        0200 0500            if_name, 5 bytes
        6c74652d 35 000000   lte-5
        0900 0100            if_tsresol, 1 byte
        09 000000            10^-9 s
        0000 0000            opt_endofopt
        2c000000             44 bytes

        06000000             Enhanced Packet Block
        40000000             64 bytes
        01000000             interface 1
        cf4c230d             time, upper half: 0x0d234ccf
        d302d99b             time, lower half: 0x9bd902d3
        06000000             captured
        08000000             original
        45010203 0405 0000   packet
        0200 0400            epb_flags, 4 bytes
        02000000             outbound
        0100 0500            opt_comment, 5 bytes
        6c6f7374 21 000000   lost!
        0000 0000            opt_endofopt
        40000000             64 bytes

        06000000             Enhanced Packet Block
        30000000             48 bytes
        00000000             interface 0
        cf4c230d             time, upper half
        2707d99b             time, lower half
        04000000             captured
        04000000             original
        45090807             packet
        0200 0400            epb_flags, 4 bytes
        01000000             inbound
        0000 0000            opt_endofopt
        30000000             48 bytes

        05000000             Interface Statistics Block
        34000000             52 bytes
        00000000             interface 0
        cf4c230d             time of the last packet, upper half
        2707d99b             lower half
        0400 0800            isb_ifrecv, 8 bytes
        01000000 00000000    1
        0500 0800            isb_ifdrop, 8 bytes
        00000000 00000000    0
        0000 0000            opt_endofopt
        34000000             52 bytes

        05000000             Interface Statistics Block
        34000000             52 bytes
        01000000             interface 1
        cf4c230d             time of the last packet, upper half
        2707d99b             lower half
        0400 0800            isb_ifrecv, 8 bytes
        06050403 02010000    0x010203040506
        0500 0800            isb_ifdrop, 8 bytes
        02000000 00000000    2
        0000 0000            opt_endofopt
        34000000             52 bytes
    "));
    assert_eq!(fs::read(&path).unwrap(), expected);
}

#[test]
fn classic_pcap_is_as_its_specification_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcap");
    assert_eq!(write_two(&path), 2);
    let expected = hex("
        d4c3b2a1      magic: little-endian, microseconds
        0200 0400     version 2.4
        00000000      time zone
        00000000      accuracy
        06000000      snaplen
        65000000      LINKTYPE_RAW

        81436d38      946,684,801 s
        47940300      234,567 us
        06000000      captured
        08000000      original
        45010203 0405

        81436d38      946,684,801 s
        48940300      234,568 us
        04000000      captured
        04000000      original
        45090807
    ");
    assert_eq!(fs::read(&path).unwrap(), expected);
}

#[test]
fn whole_packets_are_kept_unless_a_length_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let packet: Vec<u8> = (0..65_535u32).map(|i| i as u8).collect();
    for name in ["a.pcap", "a.pcapng"] {
        for snaplen in [None, Some(0)] {
            let path = folder.path().join(name);
            let settings = Settings {
                snaplen,
                comment: String::new(),
                ..Settings::default()
            };
            let mut file = PacketFile::create(&path, &one_interface(), &settings).unwrap();
            file.write(&packet_of(&packet)).unwrap();
            file.finish(&[InterfaceCounts::default()]).unwrap();
            let bytes = fs::read(&path).unwrap();
            let place = if name == "a.pcap" {
                &bytes[16..]
            } else {
                &interface(&bytes)[4..]
            };
            assert_eq!(number(place), 262_144, "{name}");
            assert!(bytes.windows(packet.len()).any(|window| window == packet));
        }
    }
}

/// libpcap rejects several interfaces of LINKTYPE_RAW.
#[test]
fn several_interfaces_use_link_type_of_first_packet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let [wifi] = one_interface();
    for (interfaces, packets, expected) in [
        (1, vec![0x45], 101),
        (2, vec![0x45, 0x60], 228),
        (2, vec![0x60, 0x45], 229),
        (3, vec![0x60], 229),
        (2, vec![0x00], 101),
        (2, vec![], 101),
    ] {
        let interfaces = vec![wifi.clone(); interfaces];
        let mut file = PacketFile::create(&path, &interfaces, &Settings::default()).unwrap();
        for packet in &packets {
            file.write(&packet_of(&[*packet])).unwrap();
        }
        file.finish(&vec![InterfaceCounts::default(); interfaces.len()])
            .unwrap();
        let bytes = fs::read(&path).unwrap();
        let described = blocks(&bytes).filter(|(kind, _)| *kind == 1);
        let types: Vec<_> = described.map(|(_, body)| number(body)).collect();
        assert_eq!(types, vec![expected; interfaces.len()], "{packets:x?}");
    }
}

/// Blocks have lengths of a multiple of four, stated twice.
#[test]
fn blocks_of_any_length_are_framed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.pcapng");
    let settings = Settings::default();
    let mut file = PacketFile::create(&path, &one_interface(), &settings).unwrap();
    let mut written = Vec::new();
    for length in 0..9 {
        for comment in ["", "1", "22", "333", "4444", "äöü"] {
            let bytes = vec![length as u8; length];
            let record = Record {
                comment: Some(comment),
                ..packet_of(&bytes)
            };
            file.write(&record).unwrap();
            written.push((bytes, comment.to_owned()));
        }
    }
    file.finish(&[InterfaceCounts::default()]).unwrap();

    let bytes = fs::read(&path).unwrap();
    let read: Vec<_> = blocks(&bytes)
        .filter(|(kind, _)| *kind == 6)
        .map(|(_, body)| {
            let captured = number(&body[12..]);
            assert_eq!(captured, number(&body[16..]));
            let packet = body[20..20 + captured].to_vec();
            // After the padding and the flags.
            let comment = &body[20 + captured.next_multiple_of(4) + 8..];
            assert_eq!(comment[..2], [1, 0]);
            let length = usize::from(u16::from_le_bytes([comment[2], comment[3]]));
            let text = String::from_utf8(comment[4..4 + length].to_vec()).unwrap();
            assert_eq!(comment[4 + length.next_multiple_of(4)..], [0; 4]);
            (packet, text)
        })
        .collect();
    assert_eq!(read, written);
}

/// Options have 16-bit lengths; a character is never split.
#[test]
fn a_comment_is_cut_to_what_an_option_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.pcapng");
    let comment = "ä".repeat(40_000);
    let settings = Settings {
        snaplen: None,
        comment: comment.clone(),
        ..Settings::default()
    };
    let mut file = PacketFile::create(&path, &one_interface(), &settings).unwrap();
    let record = Record {
        comment: Some(&comment),
        ..packet_of(&[0x45])
    };
    file.write(&record).unwrap();
    file.finish(&[InterfaceCounts::default()]).unwrap();
    let bytes = fs::read(&path).unwrap();
    let kinds: Vec<_> = blocks(&bytes).map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 5]);
    let (_, packet) = blocks(&bytes).nth(2).unwrap();
    assert_eq!(packet[32..36], [1, 0, 0xfe, 0xff]);
}

#[test]
fn extension_selects_format_in_either_case() {
    let folder = tempfile::tempdir().unwrap();
    for (name, magic) in [
        ("a.pcapng", [0x0a, 0x0d, 0x0d, 0x0a]),
        ("b.PCAPNG", [0x0a, 0x0d, 0x0d, 0x0a]),
        ("c.pcap", [0xd4, 0xc3, 0xb2, 0xa1]),
        ("d.Pcap", [0xd4, 0xc3, 0xb2, 0xa1]),
    ] {
        let path = folder.path().join(name);
        let file = PacketFile::create(&path, &[], &Settings::default()).unwrap();
        assert_eq!(file.finish(&[]).unwrap(), 0);
        assert_eq!(fs::read(&path).unwrap()[..4], magic, "{name}");
    }
}

#[test]
fn unknown_extension_is_refused() {
    for name in ["capture", "capture.cap", "capture.pcap.gz", ".pcap"] {
        let path = Path::new("no such folder").join(name);
        let error = PacketFile::create(&path, &[], &Settings::default()).unwrap_err();
        assert!(matches!(error, FileError::UnknownEnding { .. }));
        assert_eq!(
            error.to_string(),
            format!(
                "{}: unknown extension of a packet file; allowed: .pcapng, .pcap",
                path.display()
            )
        );
    }
}

#[test]
fn a_time_beyond_the_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let last_of_pcap = Time::from_secs(u64::from(u32::MAX) - 946_684_800);
    let last_of_pcapng = Time::from_nanos(u64::MAX - 946_684_800_000_000_000);
    for (name, last) in [("a.pcap", last_of_pcap), ("a.pcapng", last_of_pcapng)] {
        let path = folder.path().join(name);
        let mut file = PacketFile::create(&path, &one_interface(), &Settings::default()).unwrap();
        let mut record = packet_of(&[0x45]);
        record.time = last;
        file.write(&record).unwrap();
        record.time = last + Time::from_secs(1);
        let error = file.write(&record).unwrap_err();
        assert!(matches!(error, FileError::TooLate { .. }));
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(file.finish(&[InterfaceCounts::default()]).unwrap(), 1);
    }
}

#[test]
fn the_same_packets_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["pcap", "pcapng"] {
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name).with_extension(ending));
        write_two(&one);
        write_two(&two);
        assert_eq!(fs::read(one).unwrap(), fs::read(two).unwrap());
    }
}

fn one_interface() -> [Interface; 1] {
    [Interface {
        name: "wifi".to_owned(),
        speed: None,
    }]
}

fn packet_of(bytes: &[u8]) -> Record<'_> {
    Record {
        time: Time::from_millis(1),
        interface: 0,
        direction: Direction::Outbound,
        bytes,
        comment: None,
    }
}

/// Bytes from lines of hexadecimal digits; comments follow two spaces.
fn hex(text: &str) -> Vec<u8> {
    let lines = text.lines().map(|line| line.trim_start());
    let digits: Vec<u8> = lines
        .flat_map(|line| line.split("  ").next())
        .flat_map(str::chars)
        .filter(|c| *c != ' ')
        .map(|c| c.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

fn blocks(mut bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    std::iter::from_fn(move || {
        let kind = (!bytes.is_empty()).then(|| number(bytes))?;
        let length = number(&bytes[4..]);
        assert_eq!(length % 4, 0);
        assert_eq!(number(&bytes[length - 4..]), length);
        let body = &bytes[8..length - 4];
        bytes = &bytes[length..];
        Some((kind, body))
    })
}

fn interface(bytes: &[u8]) -> &[u8] {
    blocks(bytes).find(|(kind, _)| *kind == 1).unwrap().1
}

fn number(bytes: &[u8]) -> usize {
    u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize
}
