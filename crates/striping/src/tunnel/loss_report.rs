//! Datagrams missing on a link, which the receiver reports for retransmission.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_wire::gateway::tunnel::{Gap, Missing};

use super::shrink::shrink;
use super::windowed::Windowed;

/// Number of reports of a gap, since reports may be lost.
const TIMES: u8 = 3;
const AGAIN: Time = Time::from_millis(15);
/// Limit of gaps; the oldest are dropped. A report visits each of them, and a datagram that splits one moves
/// half of them.
const MAX: usize = 1024;
const MEMORY: Time = Time::from_secs(10);

/// Datagrams that were overtaken by later ones.
#[derive(Clone, Debug)]
pub(super) struct LossReports {
    /// In order of sequence.
    open: VecDeque<Open>,
    /// The earliest first report of any gap. Repeated reports only accompany first ones: otherwise reports
    /// about lost reports would never end.
    pub(super) due: Option<Time>,
    /// Time from overtaking datagrams to the arrival of the overtaken ones.
    lateness: Windowed<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    first: u64,
    end: u64,
    since: Time,
    reports: u8,
    reported_at: Time,
}

impl Default for LossReports {
    fn default() -> LossReports {
        LossReports {
            open: VecDeque::new(),
            due: None,
            lateness: Windowed::new(MEMORY),
        }
    }
}

impl LossReports {
    pub(super) fn open(&mut self, now: Time, first: u64, end: u64) {
        self.open.push_back(Open {
            first,
            end,
            since: now,
            reports: 0,
            reported_at: now,
        });
        self.forget_oldest();
        let due = now + self.lateness_bound();
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    pub(super) fn close(&mut self, now: Time, sequence: u64) {
        let index = self.open.partition_point(|gap| gap.end <= sequence);
        let Some(gap) = self.open.get_mut(index) else {
            return;
        };
        if sequence < gap.first {
            return;
        }
        self.lateness.insert(now, now.saturating_sub(gap.since));
        let above = Open {
            first: sequence + 1,
            ..*gap
        };
        gap.end = sequence;
        let (below, above_is_empty) = (gap.first < gap.end, above.first == above.end);
        match (below, above_is_empty) {
            (true, true) => {}
            (true, false) => {
                self.open.insert(index + 1, above);
                self.forget_oldest();
            }
            (false, true) => {
                self.open.remove(index);
            }
            (false, false) => *gap = above,
        }
    }

    fn forget_oldest(&mut self) {
        if self.open.len() > MAX {
            self.open.pop_front();
        }
    }

    /// Returns the gaps below `highest` to report now, and the sequence below which everything has arrived or
    /// been reported.
    pub(super) fn take_due(&mut self, now: Time, highest: u64) -> (Missing, u64) {
        let mut missing = Missing::default();
        let bound = self.lateness_bound();
        for gap in &mut self.open {
            if now < gap.due(bound) {
                continue;
            }
            let count = u16::try_from(gap.end - gap.first).unwrap_or(u16::MAX);
            let reports = Gap {
                first: gap.first,
                count,
            };
            if !missing.push(reports) {
                break;
            }
            gap.reports += 1;
            gap.reported_at = now;
        }
        let settled = self.open.front().map_or(highest + 1, |gap| gap.first);
        self.open.retain(|gap| gap.reports < TIMES);
        shrink(&mut self.open);
        let untold = self.open.iter().filter(|gap| gap.reports == 0);
        self.due = untold.map(|gap| gap.due(bound)).min();
        (missing, settled)
    }

    /// Returns how long an overtaken datagram may still arrive.
    fn lateness_bound(&self) -> Time {
        self.lateness.best().map_or(Time::ZERO, |late| late * 5 / 4)
    }
}

impl Open {
    fn due(&self, bound: Time) -> Time {
        self.reported_at + if self.reports == 0 { bound } else { AGAIN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(gaps: &mut LossReports, ms: u64) -> (Vec<(u64, u16)>, u64) {
        let (missing, settled) = gaps.take_due(Time::from_millis(ms), 99);
        let missing = missing.gaps().iter().map(|gap| (gap.first, gap.count));
        (missing.collect(), settled)
    }

    #[test]
    fn each_gap_is_reported_three_times() {
        let mut gaps = LossReports::default();
        gaps.open(Time::ZERO, 3, 5);
        assert_eq!(reports(&mut gaps, 0), (vec![(3, 2)], 3));
        assert_eq!(reports(&mut gaps, 5), (vec![], 3));
        assert_eq!(reports(&mut gaps, 15), (vec![(3, 2)], 3));
        assert_eq!(gaps.due, None);
        assert_eq!(reports(&mut gaps, 30), (vec![(3, 2)], 3));
        assert_eq!(reports(&mut gaps, 50), (vec![], 100));
    }

    #[test]
    fn late_datagrams_raise_the_lateness_bound() {
        let mut gaps = LossReports::default();
        gaps.open(Time::ZERO, 3, 6);
        gaps.close(Time::from_millis(8), 4);
        gaps.close(Time::from_millis(8), 3);
        assert_eq!(reports(&mut gaps, 9), (vec![], 5));
        assert_eq!(reports(&mut gaps, 10), (vec![(5, 1)], 5));
        gaps.close(Time::from_millis(11), 5);
        assert_eq!(reports(&mut gaps, 30), (vec![], 100));
    }

    #[test]
    fn gaps_that_are_split_do_not_exceed_the_bound() {
        let mut gaps = LossReports::default();
        gaps.open(Time::ZERO, 0, 4 * MAX as u64);
        for split in 0..2 * MAX as u64 {
            gaps.close(Time::ZERO, 2 * split + 1);
            gaps.open(
                Time::ZERO,
                8 * MAX as u64 + 2 * split,
                8 * MAX as u64 + 2 * split + 1,
            );
            assert!(gaps.open.len() <= MAX);
        }
    }

    #[test]
    fn next_report_has_the_remaining_gaps() {
        let mut gaps = LossReports::default();
        for gap in 0..10 {
            gaps.open(Time::ZERO, 2 * gap, 2 * gap + 1);
        }
        assert_eq!(reports(&mut gaps, 0).0.len(), Missing::MAX);
        assert_eq!(reports(&mut gaps, 5).0, [(16, 1), (18, 1)]);
    }
}
