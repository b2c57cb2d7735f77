//! Marking of lost segments, which the detectors ([`loss`](crate::loss)) choose. Each segment that was in
//! flight until then is passed to `found`.

use super::Scoreboard;
use super::sent::{LOST, RETRANSMITTED, SACKED, Sent};

impl Scoreboard {
    /// Marks segments lost according to RFC 6675's IsLost(): at least `dup_thresh` separate ranges, or more
    /// than `(dup_thresh - 1) * mss` bytes, are selectively acknowledged above them. Returns whether there
    /// are new ones.
    pub(crate) fn mark_passed(
        &mut self,
        dup_thresh: u32,
        mss: u64,
        found: &mut impl FnMut(&Sent),
    ) -> bool {
        if self.sacked == 0 {
            return false;
        }
        let enough = u64::from(dup_thresh - 1) * mss;
        let mut above = 0;
        let mut ranges = 0;
        let mut in_range = false;
        let mut at = self
            .index_of(self.highest_sacked.saturating_sub(1))
            .map_or(0, |i| i + 1);
        while above <= enough && ranges < dup_thresh {
            if at == 0 || self.base + at as u64 <= self.judged {
                return false;
            }
            at -= 1;
            let sent = &self.segments[at];
            if sent.has(SACKED) {
                above += u64::from(sent.len);
                ranges += u32::from(!in_range);
            }
            in_range = sent.has(SACKED);
        }
        self.mark_lost_before(at, found)
    }

    /// Without SACK: marks the first segment lost (fast retransmit, or a partial acknowledgement).
    pub(crate) fn mark_first_lost(&mut self, found: &mut impl FnMut(&Sent)) {
        if let Some(front) = self.segments.front_mut() {
            if front.is_in_flight() {
                found(front);
            }
            if front.has(RETRANSMITTED) {
                front.marks &= !RETRANSMITTED;
                self.retransmitted -= u64::from(front.len);
            }
            if !front.has(SACKED | LOST) {
                front.marks |= LOST;
                self.lost += u64::from(front.len);
            }
            self.retransmit_hint = self.base;
        }
    }

    /// The first segment that was not judged yet, except for acknowledged and lost ones; earlier segments
    /// need not be examined again.
    pub(crate) fn first_unjudged(&mut self) -> u64 {
        let mut name = self.judged.max(self.base);
        while self
            .at(name)
            .is_some_and(|sent| sent.marks & (SACKED | LOST) != 0 || sent.was_retransmitted())
        {
            name += 1;
        }
        self.judged = name;
        name
    }

    /// Marks the segment with this lasting number, or its retransmission in flight, lost.
    pub(crate) fn mark_lost(&mut self, name: u64, found: &mut impl FnMut(&Sent)) {
        let Some(at) = name.checked_sub(self.base) else {
            return;
        };
        let sent = &mut self.segments[at as usize];
        if sent.is_in_flight() {
            found(sent);
        }
        let len = u64::from(sent.len);
        if sent.has(RETRANSMITTED) {
            self.retransmitted -= len;
        }
        if !sent.has(LOST) {
            self.lost += len;
        }
        sent.marks = (sent.marks | LOST) & !RETRANSMITTED;
        self.retransmit_hint = self.retransmit_hint.min(name);
    }

    /// At a timeout, marks everything lost that is not selectively acknowledged, retransmissions included
    /// (RFC 5681, 6675), except for segments that are too `recent`; the oldest in any case.
    pub(crate) fn mark_all_lost(
        &mut self,
        recent: impl Fn(&Sent) -> bool,
        found: &mut impl FnMut(&Sent),
    ) {
        self.lost = 0;
        self.retransmitted = 0;
        self.judged = self.base + self.segments.len() as u64;
        for (at, sent) in self.segments.iter_mut().enumerate() {
            if sent.has(SACKED) {
                continue;
            }
            if at > 0 && sent.is_in_flight() && recent(sent) {
                self.judged = self.judged.min(self.base + at as u64);
            } else {
                if sent.is_in_flight() {
                    found(sent);
                }
                sent.marks = (sent.marks | LOST) & !RETRANSMITTED;
            }
            let len = u64::from(sent.len);
            self.lost += if sent.has(LOST) { len } else { 0 };
            self.retransmitted += if sent.has(RETRANSMITTED) { len } else { 0 };
        }
        self.retransmit_hint = self.base;
    }

    /// Marks everything in flight again after spurious losses, to be judged again; both transmissions of
    /// retransmitted segments are. Returns how many segments were marked and not retransmitted.
    pub(crate) fn unmark_lost(&mut self) -> u32 {
        let mut unmarked = 0;
        for sent in &mut self.segments {
            unmarked += u32::from(!sent.is_in_flight() && !sent.has(SACKED));
            sent.marks &= !LOST;
        }
        self.lost = 0;
        self.judged = self.base;
        unmarked
    }

    fn mark_lost_before(&mut self, until: usize, found: &mut impl FnMut(&Sent)) -> bool {
        let from = self.judged.saturating_sub(self.base) as usize;
        let mut any = false;
        for at in from..until {
            let sent = &mut self.segments[at];
            if !sent.has(SACKED | LOST) {
                if !sent.has(RETRANSMITTED) {
                    found(sent);
                }
                sent.marks |= LOST;
                self.lost += u64::from(sent.len);
                if !any {
                    self.retransmit_hint = self.retransmit_hint.min(self.base + at as u64);
                }
                any = true;
            }
        }
        self.judged = self.judged.max(self.base + until as u64);
        any
    }
}
