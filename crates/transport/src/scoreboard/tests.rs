use proptest::prelude::*;
use ropewalk_quantities::Time;

use super::*;

impl Scoreboard {
    /// Offset and length of segments that are lost and not retransmitted since.
    pub(crate) fn lost(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let waits = |sent: &&Sent| sent.marks & (LOST | RETRANSMITTED | SACKED) == LOST;
        let lost = self.segments.iter().filter(waits);
        lost.map(|sent| (sent.seq, sent.len))
    }

    /// Checks that the sums are those of the segments, and that the hints skip none.
    pub(crate) fn check(&self) {
        let bytes = |marks: u8| -> u64 {
            let marked = self.segments.iter().filter(|sent| sent.has(marks));
            marked.map(|sent| u64::from(sent.len)).sum()
        };
        assert_eq!(self.sacked, bytes(SACKED), "sacked");
        assert_eq!(self.lost, bytes(LOST), "lost");
        assert_eq!(self.retransmitted, bytes(RETRANSMITTED), "retransmitted");
        let all: u64 = self.segments.iter().map(|sent| u64::from(sent.len)).sum();
        assert_eq!(self.outstanding, all, "outstanding");
        let sacked = self.segments.iter().filter(|sent| sent.has(SACKED));
        assert_eq!(self.sacked_segments as usize, sacked.count());
        for (at, sent) in self.segments.iter().enumerate() {
            assert!(!sent.has(SACKED) || !sent.has(LOST | RETRANSMITTED));
            assert!(!sent.has(RETRANSMITTED) || sent.was_retransmitted());
            let waits = sent.marks & (LOST | RETRANSMITTED) == LOST;
            assert!(!waits || self.retransmit_hint <= self.name(at), "hint");
        }
        let pairs = self.segments.iter().zip(self.segments.iter().skip(1));
        for (one, next) in pairs {
            assert_eq!(one.end(), next.seq, "no gap");
        }
    }
}

fn unheard(_: &Sent) {}

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::new();
    for number in 0..segments {
        board.push(Sent::data(1 + 1000 * number, 1000, 0, Time::ZERO));
    }
    board
}

fn sack(board: &mut Scoreboard, ack: u64, start: u64, end: u64) {
    let mut blocks = SackList::default();
    assert!(blocks.push(ack, start, end));
    let mut delivered = Delivered::new(0, Time::ZERO);
    board.selective_acknowledge(ack, &blocks, &mut delivered);
}

#[test]
fn unretransmitted_prefix_has_whole_segments_sent_once() {
    let board = board(3);
    let prefix = |ack: u64| {
        let (count, last, next) = board.unretransmitted_prefix(ack)?;
        Some((count, last.seq, next.map(|next| next.seq)))
    };
    assert_eq!(prefix(1), None);
    assert_eq!(prefix(1001), Some((1, 1, Some(1001))));
    assert_eq!(prefix(1500), None);
    assert_eq!(prefix(2001), Some((2, 1001, Some(2001))));
    assert_eq!(prefix(3001), Some((3, 2001, None)));
}

#[test]
fn each_loss_is_recorded_once_per_lost_copy() {
    let mut board = board(5);
    let mut lost = Vec::new();
    let mut note = |sent: &Sent| lost.push(sent.seq);
    sack(&mut board, 1, 2001, 5001);
    assert!(board.mark_passed(3, 1000, &mut note));
    assert!(!board.mark_passed(3, 1000, &mut note));
    board.mark_first_lost(&mut note);
    let first = board.next_lost().expect("the first is lost");
    board.retransmit(first, Time::from_secs(1));
    board.mark_all_lost(|_| false, &mut note);
    assert_eq!(lost, [1, 1001, 1]);
    board.check();
}

#[test]
fn unmarked_losses_are_in_flight_and_detectable_again() {
    let mut board = board(10);
    sack(&mut board, 1, 5001, 10_001);
    assert!(board.mark_passed(3, 1000, &mut unheard));
    assert_eq!(board.pipe(), 0);
    let first = board.next_lost().expect("the first is lost");
    board.retransmit(first, Time::from_secs(1));
    // Four were not retransmitted; of the first, two copies are in flight.
    assert_eq!(board.unmark_lost(), 4);
    board.check();
    assert_eq!((board.lost, board.pipe()), (0, 6000));
    assert_eq!(board.next_lost(), None);
    assert!(board.mark_passed(3, 1000, &mut unheard));
    board.check();
    assert_eq!(board.lost().count(), 4);
}

proptest! {
    #[test]
    fn sums_and_hints_are_consistent_after_random_operations(
        steps in prop::collection::vec((0u8..9, any::<u64>()), 1..200),
    ) {
        let mut board = Scoreboard::new();
        let (mut nxt, mut una, mut now) = (1, 1, Time::ZERO);
        for (kind, draw) in steps {
            now += Time::from_millis(1);
            let span = nxt - una;
            match kind {
                0 | 1 => {
                    let len = 1 + (draw % 1000) as u32;
                    board.push(Sent::data(nxt, len, 0, now));
                    nxt += u64::from(len);
                }
                2 if span > 0 => {
                    una += 1 + draw % span;
                    board.acknowledge(una, &mut Delivered::new(una, now));
                }
                3 if span > 0 => {
                    let start = una + draw % span;
                    sack(&mut board, una, start, start + 1 + (draw >> 32) % (nxt - start));
                }
                4 => board.mark_first_lost(&mut unheard),
                5 => board.mark_all_lost(|sent| draw % 2 == 0 && sent.sent == now, &mut unheard),
                6 => {
                    board.mark_passed(3 + (draw % 3) as u32, 500, &mut unheard);
                }
                7 => {
                    if let Some(at) = board.next_lost() {
                        board.retransmit(at, now);
                    }
                }
                8 => {
                    board.unmark_lost();
                }
                _ => {}
            }
            board.check();
        }
    }
}
