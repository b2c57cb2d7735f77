//! RACK (RFC 8985; choices as in Linux, net/ipv4/tcp_recovery.c): a segment is lost once one that was sent
//! sufficiently later has arrived. By comparing times, RACK also detects lost retransmissions and losses at
//! the end of a flight, and tolerates reordering.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use super::LossVerdict;
use crate::SubflowState;
use crate::scoreboard::{Delivered, Scoreboard, Sent};

/// Recoveries for which a larger reordering window persists (`TCP_RACK_RECOVERY_THRESH`).
const PERSIST: u32 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Rack {
    pub(crate) on: bool,
    /// Transmission time and end of the most recently sent segment that arrived (RACK.xmit_ts, RACK.end_seq).
    newest: (Time, u64),
    /// RTT of the last segment that arrived (RACK.rtt).
    rtt: Time,
    advanced: bool,
    pub(crate) reordering_seen: bool,
    /// The reordering window in quarters of the minimum RTT (RACK.reo_wnd_mult), at most 255.
    pub(crate) steps: u8,
    /// Recoveries for which the reordering window persists (RACK.reo_wnd_persist).
    persist: u32,
    /// A D-SACK counts again once this offset is acknowledged (RACK.dsack_round).
    round: Option<u64>,
    /// Retransmitted segments by time: lasting number and time. The scoreboard is ordered by offset.
    retransmitted: VecDeque<(u64, Time)>,
    /// Up to this lasting number all segments from the first unjudged one on were overtaken or retransmitted.
    pub(crate) passed_to: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RackContext<'a> {
    pub(crate) now: Time,
    pub(crate) recovering: bool,
    /// Number of selectively acknowledged segments that indicate a loss at once (DupThresh).
    pub(crate) threshold: u32,
    pub(crate) state: &'a SubflowState,
}

impl Rack {
    pub(crate) fn new(on: bool) -> Rack {
        Rack {
            on,
            newest: (Time::ZERO, 0),
            rtt: Time::ZERO,
            advanced: false,
            reordering_seen: false,
            steps: 1,
            persist: 0,
            round: None,
            retransmitted: VecDeque::new(),
            passed_to: 0,
        }
    }

    pub(crate) fn release_memory(&mut self) {
        self.retransmitted.shrink_to_fit();
    }

    pub(crate) fn on_retransmit(&mut self, name: u64, now: Time) {
        if self.on {
            self.retransmitted.push_back((name, now));
        }
    }

    /// Records arrived segments (6.2, steps 2 and 3).
    #[inline]
    pub(crate) fn on_delivered(&mut self, now: Time, delivered: &Delivered) {
        self.reordering_seen |= delivered.late.is_some();
        if delivered.newest.1 > 0 {
            self.advanced = true;
            self.rtt = now.saturating_sub(delivered.newest.0);
            self.newest = self.newest.max(delivered.newest);
        }
    }

    /// Whether no retransmitted segment is outstanding.
    pub(crate) fn allows_fast_path(&self) -> bool {
        self.on && !self.advanced && self.retransmitted.is_empty()
    }

    /// Whether no outstanding segment was sent before `sent`, the most recently sent segment that arrived,
    /// which was sent once. `next` is the oldest outstanding segment.
    #[inline]
    pub(crate) fn none_is_overtaken_by(&self, sent: &Sent, next: Option<&Sent>) -> bool {
        let sent = (sent.sent, sent.end());
        next.is_none_or(|next| !self.is_overtaken(next) && !next.was_sent_before(sent))
    }

    /// [`on_delivered`](Rack::on_delivered) and [`judge`](Rack::judge) without reordering.
    #[inline]
    pub(crate) fn take_newest(&mut self, now: Time, sent: Time, end: u64) {
        self.rtt = now.saturating_sub(sent);
        let (newest, newest_end) = self.newest;
        if newest < sent || newest == sent && newest_end < end {
            self.newest = (sent, end);
        }
    }

    /// Widens the reordering window after a D-SACK for a spurious retransmission, but not for a tail loss
    /// probe (6.2, step 4). At most once per round trip, and as in Linux not before reordering was detected
    /// (`tcp_dsack_seen`).
    pub(crate) fn on_dsack(&mut self, una: u64, nxt: u64) {
        if self.round.is_some_and(|round| una >= round) {
            self.round = None;
        }
        if self.round.is_none() && self.reordering_seen {
            self.round = Some(nxt);
            self.steps = self.steps.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Extends the window's persistence by a recovery after D-SACKs have undone a loss
    /// (`tcp_try_undo_dsack`).
    pub(crate) fn on_dsack_undo(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// RACK_update_reo_wnd(): how much later than the most recently sent segment another one may still
    /// arrive.
    fn reordering_window(&self, context: &RackContext<'_>, sacked_segments: u32) -> Time {
        let at_once = context.recovering || sacked_segments >= context.threshold;
        if !self.reordering_seen && at_once {
            return Time::ZERO;
        }
        let state = context.state;
        (state.min_rtt.min(state.srtt) / 4 * u64::from(self.steps)).min(state.srtt)
    }

    /// Detects losses if segments have arrived since the last search (RACK_detect_loss(), 6.2, step 5).
    #[inline]
    pub(crate) fn judge(
        &mut self,
        context: &RackContext<'_>,
        board: &mut Scoreboard,
        lost: &mut impl FnMut(&Sent),
    ) -> LossVerdict {
        if !std::mem::take(&mut self.advanced) || board.is_empty() {
            return LossVerdict {
                loss: board.lost > 0,
                ..LossVerdict::default()
            };
        }
        if self.retransmitted.is_empty() && board.lost == 0 && self.none_is_overtaken(board) {
            return LossVerdict::default();
        }
        self.search(context, board, lost)
    }

    /// Whether everything that arrived was sent before everything outstanding: the common case, visible from
    /// one segment.
    #[inline]
    fn none_is_overtaken(&self, board: &mut Scoreboard) -> bool {
        let first = board.first_unjudged();
        let oldest = board.at(first);
        oldest.is_none_or(|sent| !self.is_overtaken(sent) && !sent.was_retransmitted())
    }

    pub(crate) fn search(
        &mut self,
        context: &RackContext<'_>,
        board: &mut Scoreboard,
        lost: &mut impl FnMut(&Sent),
    ) -> LossVerdict {
        let now = context.now;
        let window = self.reordering_window(context, board.sacked_segments);
        let lost_before = board.lost;
        let mut found = LossVerdict::default();
        // Segments sent once are in order of transmission: if one has time left, all after it have, and the
        // last has most.
        let mut name = board.first_unjudged();
        while let Some(late) = self.next_late(now, window, board, &mut name) {
            board.mark_lost(late, lost);
        }
        let waits = |sent: &&Sent| sent.is_in_flight() && !sent.was_retransmitted();
        let end = self.overtaken_until(board, name);
        let last = board.between(name, end).rfind(waits);
        debug_assert_eq!(
            last.map(|sent| sent.seq),
            self.overtaken(board, name)
                .filter(waits)
                .last()
                .map(|sent| sent.seq),
        );
        found.wait = last.and_then(|sent| self.time_left(sent, now, window));
        self.search_copies(now, board, window, &mut found, lost);
        found.loss = board.lost > 0;
        found.more = board.lost > lost_before || found.copy_lost;
        found
    }

    /// The overtaken segments from `name` on, retransmitted ones included.
    #[inline]
    fn overtaken<'a>(
        &'a self,
        board: &'a Scoreboard,
        name: u64,
    ) -> impl Iterator<Item = &'a Sent> + 'a {
        board
            .from(name)
            .take_while(|sent| sent.was_retransmitted() || self.is_overtaken(sent))
    }

    /// End of the run of segments from `name` on that were overtaken or retransmitted. They remain so; only
    /// later segments are examined.
    fn overtaken_until(&mut self, board: &Scoreboard, name: u64) -> u64 {
        let known = name.max(self.passed_to);
        self.passed_to = known + self.overtaken(board, known).count() as u64;
        self.passed_to
    }

    /// The next segment from `name` on that was sent once, was overtaken, and has no time left, unless one
    /// with time left precedes it; advances `name` past it, or to that one.
    #[inline]
    fn next_late(
        &self,
        now: Time,
        window: Time,
        board: &Scoreboard,
        name: &mut u64,
    ) -> Option<u64> {
        for sent in self.overtaken(board, *name) {
            if sent.is_in_flight() && !sent.was_retransmitted() {
                let late = self.time_left(sent, now, window).is_none();
                return late.then(|| std::mem::replace(name, *name + 1));
            }
            *name += 1;
        }
        None
    }

    fn search_copies(
        &mut self,
        now: Time,
        board: &mut Scoreboard,
        window: Time,
        found: &mut LossVerdict,
        lost: &mut impl FnMut(&Sent),
    ) {
        let mut late = 0;
        while let Some(&(name, when)) = self.retransmitted.get(late) {
            let copy = board
                .at(name)
                .filter(|sent| sent.sent == when && sent.is_in_flight())
                .copied();
            if let Some(sent) = copy {
                if !self.is_overtaken(&sent) {
                    break;
                }
                if let Some(left) = self.time_left(&sent, now, window) {
                    found.wait = found.wait.max(Some(left));
                    late += 1;
                    continue;
                }
                board.mark_lost(name, lost);
                found.copy_lost = true;
            }
            self.retransmitted.remove(late);
        }
    }

    /// RACK_sent_after(): whether a segment that was sent later, or at the same time and after it in the
    /// stream, has arrived.
    #[inline]
    fn is_overtaken(&self, sent: &Sent) -> bool {
        sent.was_sent_before(self.newest)
    }

    /// Time in which it may still arrive; `None` if it is lost.
    fn time_left(&self, sent: &Sent, now: Time, window: Time) -> Option<Time> {
        let due = sent.sent + self.rtt + window;
        (due > now).then(|| due - now)
    }

    /// At a timeout: whether it was sent too recently to be marked lost (6.3; `tcp_timeout_mark_lost`).
    #[inline]
    pub(crate) fn is_recent(&self, sent: &Sent, now: Time) -> bool {
        self.on && self.time_left(sent, now, Time::ZERO).is_some()
    }
}
