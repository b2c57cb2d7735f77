//! Tests of both buffers of a stream, piece by piece.

use bytes::Bytes;
use proptest::prelude::*;
use ropewalk_quantities::Time;
use ropewalk_transport::Deadline;

use super::receive::ReceiveBuffer;
use super::send::{Part, SendBuffer};
use crate::{Length, Payload, ProtocolError};

fn written(len: usize, limit: u64) -> SendBuffer<Length> {
    let mut send = SendBuffer::new(limit);
    send.write(Length(len));
    send
}

fn read_next<P: Payload>(receive: &mut ReceiveBuffer<P>) -> Option<P> {
    let piece = receive.take()?;
    receive.release(piece.len() as u64);
    Some(piece)
}

fn part(start: u64, end: u64) -> Option<Part> {
    Some(Part { start, end })
}

#[test]
fn parts_come_off_the_front_within_the_window() {
    let mut send = written(1000, 250);
    assert_eq!(send.part(0, 100), part(0, 100));
    send.take(Part { start: 0, end: 100 });
    assert_eq!(send.part(0, 200), part(100, 250));
    send.take(Part {
        start: 100,
        end: 250,
    });
    assert_eq!(send.part(0, 100), None);
    assert!(send.is_window_blocked());
    assert!(send.on_window(300));
    assert!(!send.on_window(300) && !send.on_window(260));
    assert_eq!(send.part(0, 100), part(250, 300));
}

#[test]
fn half_of_the_window_may_lie_ahead() {
    let mut send = written(10_000, 1000);
    assert_eq!(send.part(3000, 2000), part(3000, 3500));
    send.take(Part {
        start: 3000,
        end: 3500,
    });
    assert_eq!(send.part(3000, 2000), None);
    assert_eq!(send.part(0, 2000), part(0, 500));
    send.take(Part { start: 0, end: 500 });
    assert!(!send.is_ready());
    assert_eq!(send.on_lost(100, 200, false), 100);
    assert_eq!(send.part(0, 2000), part(100, 200));
}

#[test]
fn short_parts_ahead_are_skipped() {
    let mut send = written(10_000, 10_000);
    for (start, end) in [(1000, 2000), (2300, 5000)] {
        send.take(Part { start, end });
    }
    assert_eq!(send.part_ahead(1000, 4000, 200), part(2000, 2300));
    assert_eq!(send.part_ahead(1000, 4000, 301), part(5000, 6300));
    // The rest of a part that begins earlier is skipped, too.
    assert_eq!(send.part_ahead(900, 4000, 301), part(5000, 6300));
    // The window leaves 6300 bytes, and 3700 lie ahead: half of the rest may follow.
    assert_eq!(send.part_ahead(1000, 4000, 1301), None);
}

#[test]
fn acknowledged_parts_are_not_retransmitted() {
    let mut send = written(1000, 1000);
    send.take(Part {
        start: 0,
        end: 1000,
    });
    send.on_acknowledged(200, 400, false);
    assert_eq!(send.on_lost(0, 500, false), 300);
    assert!(send.is_blocked_by(0));
    assert_eq!(send.pending(), 300);
    send.on_acknowledged(0, 200, false);
    assert_eq!((send.base(), send.pending(), send.held()), (400, 100, 600));
    // Its carrier is alive: nothing is retransmitted.
    assert!(send.cancel_lost(0, 500, false));
    assert_eq!(send.pending(), 0);
}

#[test]
fn fin_is_sent_with_last_byte_or_alone() {
    let mut send = written(100, 1000);
    send.finish();
    assert!(send.take(Part { start: 0, end: 100 }));
    send.on_lost(0, 100, true);
    assert!(!send.must_send_bare_fin());
    send.on_acknowledged(0, 100, false);
    assert!(send.must_send_bare_fin() && !send.is_done());
    send.on_acknowledged(100, 100, true);
    assert!(send.is_done());
}

#[test]
fn short_pieces_are_joined_and_long_ones_cut() {
    let mut send = SendBuffer::new(1 << 20);
    for piece in ["ab", "cd", "ef"] {
        send.write(Bytes::from(piece));
    }
    send.write(Bytes::from(vec![b'x'; 9000]));
    assert_eq!(send.bytes(1, 5), Bytes::from("bcde"));
    assert_eq!(send.bytes(5, 8), Bytes::from("fxx"));
    send.write(Bytes::from("yz"));
    assert_eq!(send.bytes(6, 9008).len(), 9000);
}

#[test]
fn the_end_of_a_stream_does_not_move() {
    let mut receive = ReceiveBuffer::new();
    assert_eq!(receive.insert(1, 50, Length(50), true, 1000), Ok(50));
    let past = receive.insert(1, 90, Length(20), false, 1000);
    assert!(matches!(past, Err(ProtocolError::FinalSize { .. })));
    let moved = receive.insert(1, 50, Length(10), true, 1000);
    assert!(matches!(moved, Err(ProtocolError::FinalSize { .. })));
}

#[test]
fn distinct_bytes_beyond_window_are_refused() {
    let mut receive = ReceiveBuffer::new();
    assert_eq!(receive.insert(1, 1 << 40, Length(60), false, 100), Ok(60));
    assert_eq!(receive.insert(1, 1 << 40, Length(60), false, 100), Ok(0));
    let beyond = receive.insert(1, 0, Length(41), false, 100);
    assert!(matches!(
        beyond,
        Err(ProtocolError::Window { received: 101, .. })
    ));
}

#[test]
fn too_many_fragments_are_refused() {
    let mut receive = ReceiveBuffer::new();
    let crumbs = (1..10_000).map(|at| receive.insert(1, at * 2, Length(1), false, 1 << 16));
    let refused = crumbs.filter_map(Result::err).next();
    assert_eq!(refused, Some(ProtocolError::Pieces(1)));
}

proptest! {
    #[test]
    fn parts_in_any_order_are_read_in_order(
        parts in prop::collection::vec((0_u64..300, 0_usize..60), 0..60),
        reads in prop::collection::vec(any::<bool>(), 60),
    ) {
        let mut receive = ReceiveBuffer::new();
        let byte = |at: u64| (at * 7 % 251) as u8;
        let mut known = [false; 360];
        let mut read: Vec<u8> = Vec::new();
        for ((offset, len), reads) in parts.into_iter().zip(reads) {
            let end = offset + len as u64;
            let fresh = (offset..end).filter(|&at| !known[at as usize]).count() as u64;
            known[offset as usize..end as usize].fill(true);
            let payload: Vec<u8> = (offset..end).map(byte).collect();
            let new = receive.insert(1, offset, Bytes::from(payload), false, 1 << 20);
            prop_assert_eq!(new, Ok(fresh));
            while reads && let Some(piece) = read_next(&mut receive) {
                read.extend(&piece);
            }
            let (held, early) = receive.held();
            let all = known.iter().filter(|known| **known).count() as u64;
            prop_assert_eq!(held, all - read.len() as u64);
            prop_assert!(early <= held);
        }
        while let Some(piece) = read_next(&mut receive) {
            read.extend(&piece);
        }
        let in_order = known.iter().take_while(|known| **known).count();
        prop_assert_eq!(read, (0..in_order as u64).map(byte).collect::<Vec<_>>());
    }

    #[test]
    fn part_ahead_equals_full_scan(
        window in 1_u64..6000,
        steps in prop::collection::vec((0_u8..6, 0_u64..3000, 1_u64..400, 0_u64..200), 1..80),
    ) {
        let mut send = SendBuffer::new(window);
        let mut sent: Vec<Part> = Vec::new();
        for (step, skip, most, least) in steps {
            let found = send.part_ahead(skip, most, least);
            // The cached openings stay valid meanwhile.
            for (skip, most, least) in [
                (skip, most, least),
                (skip + most, most, least),
                (skip, most, least / 2),
                (skip / 2, 2 * most, 2 * least),
                (2 * skip, most, least),
            ] {
                let found = send.part_ahead(skip, most, least);
                prop_assert_eq!(found, send.find_part_by_scan(skip, most, least));
            }
            prop_assert!(send.retransmissions_are_consistent());
            let chosen = sent.get(skip as usize % sent.len().max(1)).copied();
            match (step, found, chosen) {
                (0, ..) => send.write(Length(most as usize)),
                (1 | 2, Some(part), _) => {
                    send.take(part);
                    sent.push(part);
                }
                (3, _, Some(part)) => {
                    send.on_lost(part.start, part.end, false);
                }
                (4, _, Some(part)) => {
                    send.on_acknowledged(part.start, part.end, false);
                    send.on_window(window + send.base());
                }
                (5, _, Some(part)) => {
                    send.cancel_lost(part.start, part.end, false);
                }
                _ => send.write(Length(10 * most as usize)),
            }
        }
    }

    #[test]
    fn pieces_are_cut_and_joined_as_they_were_written(
        lens in prop::collection::vec(1_usize..9000, 1..20),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 1_u64..20_000), 1..20),
        base in any::<prop::sample::Index>(),
    ) {
        let mut send = SendBuffer::new(1 << 30);
        let mut all: Vec<u8> = Vec::new();
        for len in lens {
            let piece: Vec<u8> = (all.len()..all.len() + len).map(|at| (at % 253) as u8).collect();
            all.extend(&piece);
            send.write(Bytes::from(piece));
        }
        let base = base.index(all.len());
        send.on_acknowledged(0, base as u64, false);
        for (start, len) in cuts {
            let start = base + start.index(all.len() - base);
            let end = (start + len as usize).min(all.len());
            let bytes = send.bytes(start as u64, end as u64);
            prop_assert!(bytes.len() == end - start || bytes.len() >= 4096);
            prop_assert!(!bytes.is_empty());
            prop_assert_eq!(&bytes[..], &all[start..start + bytes.len()]);
        }
    }
}

#[test]
fn next_deadline_is_of_first_pending_byte() {
    let due = Deadline {
        at: Time::from_millis(20),
        span: Time::from_millis(10),
    };
    let mut send = written(1000, 10_000);
    send.write(Length(500));
    send.note_deadline(1000, due);
    assert_eq!(send.next_deadline(), None);
    send.take(Part {
        start: 0,
        end: 1000,
    });
    assert_eq!(send.next_deadline(), Some((due, 500)));
    send.take(Part {
        start: 1000,
        end: 1500,
    });
    assert_eq!(send.next_deadline(), None);
    // Retransmitted data keep their deadline.
    send.on_lost(1200, 1300, false);
    assert_eq!(send.next_deadline(), Some((due, 300)));
}
