use proptest::prelude::*;
use ropewalk_quantities::Time;
use ropewalk_transport::{Flags, Options, SackList, Segment, SynMultipath, SynOptions};

use super::*;
use crate::{Checksum, MAX_OPTIONS_LEN, TcpHeader, TcpView, options_len, payload};

const KEYS: [u64; 2] = [0x91aa_2012_8dac_826f, 0x46fe_363d_617f_8852];

/// The same connection in the states of its writer and its reader.
fn pair(client: InitialNumbers, server: InitialNumbers) -> [Connection; 2] {
    [(); 2].map(|()| {
        let mut connection = Connection::new();
        connection.set_key(Side::Client, KEYS[0]);
        connection.set_key(Side::Server, KEYS[1]);
        connection.add_subflow(client, server);
        connection.add_subflow(client, server);
        connection
    })
}

fn syn(multipath: SynMultipath, window_scale: Option<u8>) -> Segment {
    Segment {
        window: 65_535,
        flags: Flags::SYN.with(Flags::TIMESTAMPS),
        options: Options::Syn(SynOptions {
            mss: 1460,
            window_scale,
            sack: true,
            multipath,
        }),
        ..Segment::EMPTY
    }
}

fn write(connection: &mut Connection, from: Side, subflow: usize, segment: &Segment) -> Vec<u8> {
    let mut data = vec![0; segment.len as usize];
    payload::fill(segment.data_seq, &mut data);
    let sum = Checksum::new().add_bytes(&data);
    let wire = connection.emit(from, subflow, segment, sum);
    let mut bytes = vec![0; TcpHeader::LEN + options_len(wire.options())];
    let len = wire
        .header(1, 2)
        .emit(wire.options(), sum, &mut bytes)
        .expect("40 bytes at most");
    assert_eq!(len, segment.header_len() as usize, "{segment:?}");
    bytes.extend(data);
    bytes
}

fn open(ends: &mut [Connection; 2]) {
    let capable = |key| SynMultipath::Capable {
        key,
        checksum: true,
    };
    let join = SynMultipath::Join {
        token: 0x173b_55b7,
        nonce: 0x96d6_0b8d,
    };
    let reply = SynMultipath::JoinReply {
        hmac: 0xcb38_1e20_ebbb_30cd,
        nonce: 0xbbeb_4c2b,
    };
    for (subflow, asks, answers) in [(0, capable(None), capable(Some(KEYS[1]))), (1, join, reply)] {
        let asks = syn(asks, Some(7));
        let answers = Segment {
            ack: 1,
            flags: asks.flags.with(Flags::ACK),
            ..syn(answers, Some(3))
        };
        for (from, segment) in [(Side::Client, asks), (Side::Server, answers)] {
            assert_eq!(cross(ends, from, subflow, &segment), Ok(segment));
        }
    }
}

fn cross(
    ends: &mut [Connection; 2],
    from: Side,
    subflow: usize,
    segment: &Segment,
) -> Result<Segment, SegmentError> {
    let bytes = write(&mut ends[0], from, subflow, segment);
    let view = TcpView::parse(&bytes).expect("a whole segment");
    ends[1].parse(from, subflow, &view)
}

fn data(seq: u64, data_seq: u64, len: u32) -> Segment {
    Segment {
        seq,
        ack: 1,
        data_seq,
        len,
        window: 1 << 18,
        flags: Flags::ACK
            .with(Flags::TIMESTAMPS)
            .with(Flags::DATA_ACK)
            .with(Flags::DATA_SEQ_64),
        ..Segment::EMPTY
    }
}

#[test]
fn sequence_numbers_wrap_only_in_packets() {
    let client = InitialNumbers {
        isn: u32::MAX - 1000,
        clock: u32::MAX - 50,
        address_id: 0,
    };
    let mut ends = pair(client, InitialNumbers { isn: 77, ..client });
    open(&mut ends);
    // Wraps five times, in steps of less than half the sequence space.
    let mut seq = 1;
    for step in 0..20 {
        let segment = Segment {
            ts_val: Time::from_millis(step * 1_000_000),
            flags: data(0, 0, 0).flags.with(Flags::CHECKSUM),
            ..data(seq, 3 * seq, 1400)
        };
        assert_eq!(cross(&mut ends, Side::Client, 0, &segment), Ok(segment));
        let answer = Segment {
            ack: seq + 1400,
            data_ack: 3 * seq + 1400,
            ts_val: Time::from_millis(7),
            ts_ecr: segment.ts_val,
            flags: segment.flags.with(Flags::DATA_ACK_64),
            ..data(1, 0, 0)
        };
        let answer = Segment {
            flags: answer
                .flags
                .without(Flags::DATA_SEQ_64.with(Flags::CHECKSUM)),
            ..answer
        };
        assert_eq!(cross(&mut ends, Side::Server, 0, &answer), Ok(answer));
        seq += (1 << 30) - 5;
    }
    assert!(seq > 4 << 32);
}

#[test]
fn first_dsn_is_idsn_plus_one() {
    let mut ends = pair(InitialNumbers::default(), InitialNumbers::default());
    open(&mut ends);
    let wire = ends[0].emit(Side::Client, 0, &data(1, 0, 8), Checksum::new());
    let [_, crate::TcpOption::Multipath(crate::MptcpOption::Dss(dss))] = wire.options() else {
        panic!("timestamps and DSS: {wire:?}");
    };
    // The IDSNs of tests/reference/mptcp-handshake-vectors.json.
    let mapping = dss.mapping.expect("a mapping");
    assert_eq!(
        mapping.data_seq,
        crate::DataSeq::Long(0xf83b_d545_ff2a_fafd)
    );
    assert_eq!(dss.data_ack, Some(crate::DataSeq::Short(0x0831_2624)));
    assert_eq!((mapping.subflow_seq, mapping.len), (1, 8));
}

#[test]
fn a_data_fin_is_one_more_on_the_last_mapping_or_one_of_its_own() {
    let mut ends = pair(InitialNumbers::default(), InitialNumbers::default());
    open(&mut ends);
    let with_fin = |segment: Segment| Segment {
        flags: segment.flags.with(Flags::DATA_FIN),
        ..segment
    };
    for (segment, expected) in [
        (with_fin(data(1, 0, 8)), (1, 9)),
        (with_fin(data(9, 8, 0)), (0, 1)),
    ] {
        let wire = ends[0].emit(Side::Client, 0, &segment, Checksum::new());
        let Some(crate::TcpOption::Multipath(crate::MptcpOption::Dss(dss))) = wire.options().last()
        else {
            panic!("a DSS: {wire:?}");
        };
        let mapping = dss.mapping.expect("a mapping");
        assert!(dss.data_fin);
        assert_eq!((mapping.subflow_seq, mapping.len), expected);
        assert_eq!(cross(&mut ends, Side::Client, 0, &segment), Ok(segment));
    }
}

#[test]
fn windows_scale_when_both_sides_negotiate() {
    for (client, server, shift) in [
        (Some(7), Some(3), 7),
        (Some(7), None, 0),
        (None, Some(3), 0),
    ] {
        let mut ends = pair(InitialNumbers::default(), InitialNumbers::default());
        let answer = Segment {
            ack: 1,
            flags: syn(SynMultipath::None, server).flags.with(Flags::ACK),
            ..syn(SynMultipath::None, server)
        };
        for (from, segment) in [
            (Side::Client, syn(SynMultipath::None, client)),
            (Side::Server, answer),
        ] {
            assert_eq!(cross(&mut ends, from, 0, &segment), Ok(segment));
        }
        let segment = Segment {
            seq: 1,
            ack: 1,
            window: 1000 << shift,
            flags: Flags::ACK,
            ..Segment::EMPTY
        };
        let wire = ends[0].emit(Side::Client, 0, &segment, Checksum::new());
        assert_eq!(wire.window, 1000);
        assert_eq!(cross(&mut ends, Side::Client, 0, &segment), Ok(segment));
    }
}

#[test]
fn impossible_frames_are_malformed() {
    let mut ends = pair(InitialNumbers::default(), InitialNumbers::default());
    open(&mut ends);
    let mut check = |segment: &Segment, spoil: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = write(&mut ends[0], Side::Client, 0, segment);
        spoil(&mut bytes);
        let view = TcpView::parse(&bytes).expect("a whole segment");
        ends[1].parse(Side::Client, 0, &view)
    };
    let with = |segment: Segment, flags: Flags| Segment {
        flags: segment.flags.with(flags),
        ..segment
    };
    let checked = with(data(1, 0, 100), Flags::CHECKSUM);
    assert_eq!(check(&checked, &|_| ()), Ok(checked));
    assert_eq!(
        check(&checked, &|bytes| *bytes.last_mut().unwrap() ^= 1),
        Err(SegmentError::Checksum)
    );
    // A segment without a mapping uses the previous one if it covers the payload.
    let plain = |seq, len| Segment {
        flags: Flags::ACK,
        ..data(seq, 0, len)
    };
    assert_eq!(
        check(&plain(51, 50), &|_| ()).map(|segment| segment.data_seq),
        Ok(50)
    );
    assert_eq!(check(&plain(51, 51), &|_| ()), Err(SegmentError::Unmapped));
    assert_eq!(check(&plain(500, 1), &|_| ()), Err(SegmentError::Unmapped));
    let before = |bytes: &mut Vec<u8>| bytes[4..8].copy_from_slice(&(-5i32).to_be_bytes());
    assert_eq!(check(&plain(1, 1), &before), Err(SegmentError::BeforeStart));
}

fn segments() -> impl Strategy<Value = Segment> {
    let numbers = (1..3u64 << 31, 1..3u64 << 31, 0..3u64 << 31, 0..3u64 << 31);
    let rest = (0..3000u32, 0..1u32 << 20, 0..1u64 << 20, 0..1u64 << 20);
    let blocks = prop::collection::vec((1..1u64 << 29, 1..1u64 << 20), 0..=1);
    (numbers, rest, any::<[bool; 6]>(), 0..5u8, blocks).prop_map(
        |((seq, ack, data_seq, data_ack), (len, window, val, ecr), set, kind, blocks)| {
            let [has_len, long_ack, long_seq, checksum, data_fin, fin] = set;
            let mut flags = Flags::ACK.with(Flags::TIMESTAMPS);
            let len = if has_len && kind < 2 { len } else { 0 };
            let mut options = Options::None;
            match kind {
                0 | 1 => {
                    flags = flags.with(Flags::DATA_ACK);
                    if long_ack {
                        flags = flags.with(Flags::DATA_ACK_64);
                    }
                    if data_fin {
                        flags = flags.with(Flags::DATA_FIN);
                    }
                    if (len > 0 || data_fin) && long_seq {
                        flags = flags.with(Flags::DATA_SEQ_64);
                    }
                    if (len > 0 || data_fin) && checksum {
                        flags = flags.with(Flags::CHECKSUM);
                    }
                }
                2 => {
                    let mut list = SackList::default();
                    for (start, len) in blocks {
                        list.push(ack, ack + start, ack + start + len);
                    }
                    if !list.is_empty() {
                        options = Options::Sack(list);
                    }
                }
                3 => {
                    options = Options::MpJoin {
                        hmac: [seq as u8; 20],
                    }
                }
                _ => {
                    options = Options::MpFastClose {
                        receiver_key: data_ack,
                    }
                }
            }
            if fin && len == 0 && !flags.contains(Flags::DATA_FIN) {
                flags = flags.with(Flags::FIN);
            }
            let mapped = len > 0 || flags.contains(Flags::DATA_FIN);
            if kind == 2 && seq % 2 == 0 {
                flags = flags.with(Flags::OUT_OF_ORDER);
            }
            let mut number = 0;
            if kind == 2 && seq % 3 == 0 && !flags.contains(Flags::DATA_SEQ_64) {
                flags = flags.with(Flags::NUMBERED);
                number = val as u16;
            }
            Segment {
                seq,
                ack,
                data_seq: if mapped { data_seq } else { 0 },
                data_ack: if flags.contains(Flags::DATA_ACK) {
                    data_ack
                } else {
                    0
                },
                ts_val: Time::from_millis(val),
                ts_ecr: Time::from_millis(ecr),
                len,
                window: window >> 7 << 7,
                flags,
                number,
                options,
            }
        },
    )
}

proptest! {
    #[test]
    fn emitted_segment_parses_back(
        segment in segments(),
        starts in any::<[u32; 4]>(),
        subflow in 0..2usize,
    ) {
        let start = |isn, clock| InitialNumbers { isn, clock, address_id: 3 };
        let mut ends = pair(start(starts[0], starts[1]), start(starts[2], starts[3]));
        open(&mut ends);
        // Reference numbers near the offset: half a wrap before.
        for end in &mut ends {
            for (side, next) in [(0, segment.seq), (1, segment.ack)] {
                end.subflows[subflow][side].next = next.saturating_sub(1 << 30);
                end.subflows[subflow][side].tick = 0;
            }
            end.data[0].next = segment.data_seq.saturating_sub(1 << 30);
            end.data[1].next = segment.data_ack.saturating_sub(1 << 30);
        }
        let bytes = write(&mut ends[0], Side::Client, subflow, &segment);
        prop_assert!(segment.header_len() as usize - TcpHeader::LEN <= MAX_OPTIONS_LEN);
        let view = TcpView::parse(&bytes).expect("a whole segment");
        prop_assert_eq!(ends[1].parse(Side::Client, subflow, &view), Ok(segment));
    }

    #[test]
    fn any_bytes_are_a_segment_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        subflow in 0..2usize,
    ) {
        let mut ends = pair(InitialNumbers::default(), InitialNumbers::default());
        open(&mut ends);
        if let Ok(view) = TcpView::parse(&bytes) {
            for from in [Side::Client, Side::Server] {
                if let Ok(segment) = ends[1].parse(from, subflow, &view) {
                    prop_assert_eq!(segment.len as usize, view.payload().len());
                }
            }
        }
    }
}
