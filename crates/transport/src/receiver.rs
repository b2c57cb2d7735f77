use std::collections::VecDeque;

use ropewalk_quantities::Time;

use crate::range_set::RangeSet;
use crate::recent_ranges::RecentRanges;
use crate::segment::{Flags, Options, SackList, Segment};
use crate::{Config, ReceiverConfig};

/// Number of initial segments that Linux acknowledges one by one (TCP_MAX_QUICKACKS).
const QUICK_ACKS: u32 = 16;

/// Segments shorter than this never count as full-sized (TCP_MSS_DEFAULT).
const DEFAULT_MSS: u32 = 536;

/// Position of a segment's data in the subflow's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataOrder {
    InOrder,
    OutOfOrder,
    Duplicate,
}

/// The receiving half of a subflow: received data, and pending acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) nxt: u64,
    waiting: VecDeque<Waiting>,
    ranges: RangeSet,
    recent: RecentRanges,
    /// A duplicate range to report once (D-SACK, RFC 2883).
    duplicate: Option<(u64, u64)>,
    fin: Option<u64>,
    pub(crate) ts_recent: Time,
    last_ack_sent: u64,
    last_window_sent: u64,
    unacknowledged: u32,
    quick: u32,
    /// RTT by the timestamps that data echo (`tcp_rcv_rtt_measure_ts`), and the last such timestamp.
    pub(crate) round_trip: Time,
    last_echo: Time,
    /// Longest segment so far.
    longest: u32,
    pub(crate) ack_now: bool,
    pub(crate) ack_at: Time,
    sack: bool,
    config: ReceiverConfig,
    pub(crate) duplicates: u64,
    /// The next acknowledgement reports data out of order.
    pub(crate) out_of_order: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    seq: u64,
    len: u32,
    data_seq: u64,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Receiver {
        Receiver {
            nxt: 0,
            waiting: VecDeque::new(),
            ranges: RangeSet::default(),
            recent: RecentRanges::default(),
            duplicate: None,
            fin: None,
            ts_recent: Time::ZERO,
            last_ack_sent: 0,
            last_window_sent: 0,
            unacknowledged: 0,
            quick: if config.receiver.quick_ack {
                QUICK_ACKS
            } else {
                0
            },
            round_trip: Time::ZERO,
            last_echo: Time::ZERO,
            longest: DEFAULT_MSS,
            ack_now: false,
            ack_at: Time::MAX,
            sack: config.extensions.sack,
            config: ReceiverConfig {
                paws: config.receiver.paws && config.extensions.timestamps,
                ..config.receiver
            },
            duplicates: 0,
            out_of_order: false,
        }
    }

    pub(crate) fn on_syn(&mut self, segment: &Segment, sack: bool) {
        self.nxt = 1;
        self.last_ack_sent = 1;
        self.sack = sack;
        self.ts_recent = segment.ts_val;
    }

    pub(crate) fn release_memory(&mut self) {
        self.waiting.shrink_to_fit();
        self.ranges.release_memory();
    }

    pub(crate) fn highest(&self) -> u64 {
        self.ranges.last().map_or(self.nxt, |(_, end)| end)
    }

    #[inline]
    pub(crate) fn behind_gap(&self) -> u64 {
        self.ranges.covered()
    }

    #[inline]
    pub(crate) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    #[inline]
    pub(crate) fn is_next(&self, segment: &Segment) -> bool {
        segment.seq == self.nxt && self.waiting.is_empty()
    }

    /// Handles a segment's payload and FIN; passes on data that are now in order as (data offset, length).
    #[inline]
    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        mut deliver: impl FnMut(u64, u64),
    ) -> DataOrder {
        let mut arrival = DataOrder::InOrder;
        self.note_timestamp(segment);
        if segment.flags.contains(Flags::FIN) {
            self.fin = Some(segment.seq + u64::from(segment.len));
        }
        let len = u64::from(segment.len);
        let end = segment.seq + len;
        if self.is_next(segment) {
            self.nxt = end;
            if len > 0 {
                deliver(segment.data_seq, len);
                self.count_in_order(now, segment.len);
            }
        } else {
            // RFC 5681, 4.2: out of order, closing a gap, or a duplicate: acknowledge at once.
            self.ack_now |= len > 0 || segment.seq != self.nxt;
            if len > 0 {
                arrival = self.place(segment, end, &mut deliver);
            }
        }
        if self.fin == Some(self.nxt) {
            self.nxt += 1;
            self.ack_now = true;
        }
        arrival
    }

    /// PAWS (RFC 7323, 5.3, R1): whether its timestamp is older than the one to echo, so that it may be older
    /// than the last wrap of sequence numbers. Timestamps count milliseconds, and as in Linux
    /// (`TCP_PAWS_WINDOW`) a difference of one is tolerated.
    #[inline]
    pub(crate) fn is_old(&self, segment: &Segment) -> bool {
        segment.ts_val < self.ts_recent
            && self.config.paws
            && segment.flags.contains(Flags::TIMESTAMPS)
            && milliseconds(self.ts_recent) - milliseconds(segment.ts_val) > 1
    }

    /// Acknowledges an old segment with data, with a D-SACK for its duplicate part (Linux's
    /// `tcp_send_dupack`).
    pub(crate) fn answer_old(&mut self, segment: &Segment) {
        if segment.seq < self.nxt && segment.len > 0 {
            self.duplicate = Some((segment.seq, segment.end().min(self.nxt)));
        }
        self.ack_now = true;
    }

    /// Updates the timestamp to echo, if the segment covers the last acknowledgement (RFC 7323, 4.3). One
    /// that ends before it is not acceptable (5.3, R2; Linux's `tcp_sequence`).
    #[inline(always)]
    pub(crate) fn note_timestamp(&mut self, segment: &Segment) {
        let covers = segment.seq <= self.last_ack_sent && segment.end() >= self.last_ack_sent;
        if covers && segment.ts_val >= self.ts_recent {
            self.ts_recent = segment.ts_val;
        }
    }

    /// The same for a pure acknowledgement that is next in order.
    #[inline]
    pub(crate) fn note_timestamp_fast(&mut self, segment: &Segment) {
        if self.nxt == self.last_ack_sent {
            self.ts_recent = self.ts_recent.max(segment.ts_val);
        }
    }

    #[inline(always)]
    fn count_in_order(&mut self, now: Time, len: u32) {
        self.unacknowledged += 1;
        // The sender's push is complete and was read (ICSK_ACK_PUSHED of `tcp_measure_rcv_mss` and
        // `__tcp_cleanup_rbuf`).
        let pushed = self.config.quick_ack && len < self.longest;
        self.longest = self.longest.max(len);
        if self.unacknowledged >= self.config.delayed_ack || self.quick > 0 || pushed {
            self.quick = self.quick.saturating_sub(1);
            self.ack_now = true;
        } else if self.ack_at == Time::MAX {
            self.ack_at = now + self.config.delayed_ack_timeout;
        }
    }

    /// Whether nothing is behind a gap, and only data in order to report.
    pub(crate) fn allows_fast_path(&self) -> bool {
        self.waiting.is_empty()
            && self.ranges.is_empty()
            && self.duplicate.is_none()
            && self.fin.is_none()
            && !self.out_of_order
    }

    /// [`on_segment`](Receiver::on_segment) for the next data in order, when nothing is behind a gap.
    #[inline(always)]
    pub(crate) fn take_next(&mut self, now: Time, segment: &Segment) {
        self.note_timestamp(segment);
        self.nxt = segment.seq + u64::from(segment.len);
        self.count_in_order(now, segment.len);
    }

    fn place(
        &mut self,
        segment: &Segment,
        end: u64,
        deliver: &mut impl FnMut(u64, u64),
    ) -> DataOrder {
        if end <= self.nxt {
            self.duplicates += 1;
            self.duplicate = Some((segment.seq, end));
            return DataOrder::Duplicate;
        }
        if segment.seq > self.nxt {
            let (new, range) = self.ranges.insert_and_find(segment.seq, end);
            if new == 0 {
                self.duplicates += 1;
                self.duplicate = Some((segment.seq, end));
                return DataOrder::Duplicate;
            }
            let waiting = Waiting {
                seq: segment.seq,
                len: segment.len,
                data_seq: segment.data_seq,
            };
            let at = self
                .waiting
                .partition_point(|other| other.seq <= segment.seq);
            self.waiting.insert(at, waiting);
            self.recent.note(range, self.nxt);
            return DataOrder::OutOfOrder;
        }
        let known = self.nxt - segment.seq;
        deliver(segment.data_seq + known, end - self.nxt);
        self.nxt = end;
        while let Some(first) = self.waiting.front().copied() {
            if first.seq > self.nxt {
                break;
            }
            let first_end = first.seq + u64::from(first.len);
            if first_end > self.nxt {
                deliver(
                    first.data_seq + (self.nxt - first.seq),
                    first_end - self.nxt,
                );
                self.nxt = first_end;
            }
            self.waiting.pop_front();
        }
        self.ranges.remove_below(self.nxt);
        DataOrder::InOrder
    }

    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    pub(crate) fn on_timeout(&mut self, now: Time) {
        if self.ack_at <= now {
            self.ack_now = true;
            self.ack_at = Time::MAX;
        }
    }

    /// Records an acknowledgement with this window, pure or with data.
    #[inline]
    pub(crate) fn acknowledged(&mut self, window: u64) {
        self.last_ack_sent = self.nxt;
        self.last_window_sent = window;
        self.unacknowledged = 0;
        self.ack_now = false;
        self.ack_at = Time::MAX;
    }

    /// Takes an RTT sample from a full segment that echoes another timestamp than the last.
    #[inline]
    pub(crate) fn measure_round_trip(&mut self, now: Time, segment: &Segment) {
        let echo = segment.ts_ecr;
        if echo == self.last_echo || segment.len < self.longest {
            return;
        }
        self.last_echo = echo;
        let sample = now.saturating_sub(echo);
        self.round_trip = match self.round_trip {
            Time::ZERO => sample,
            before => Time::from_nanos((7 * before.as_nanos() + sample.as_nanos()) / 8),
        };
    }

    /// Rest of the window of the last acknowledgement.
    #[inline]
    pub(crate) fn window_left(&self) -> u64 {
        (self.last_ack_sent + self.last_window_sent).saturating_sub(self.nxt)
    }

    #[inline]
    fn has_blocks(&self) -> bool {
        self.sack && (!self.ranges.is_empty() || self.duplicate.is_some())
    }

    pub(crate) fn report_out_of_order(&mut self) {
        self.out_of_order = true;
        self.ack_now = true;
    }

    /// Whether an acknowledgement sent now has options that may not fit next to data.
    #[inline]
    pub(crate) fn has_options_to_send(&self) -> bool {
        self.has_blocks() || self.out_of_order
    }

    /// Writes the SACK option of an acknowledgement sent now, with at most this many blocks (RFC 2018, 2883).
    #[inline]
    pub(crate) fn write_sack(&mut self, most: usize, options: &mut Options) {
        if most > 0 && self.has_blocks() {
            *options = Options::Sack(self.build_sack_list(most));
        }
    }

    #[inline(never)]
    fn build_sack_list(&mut self, most: usize) -> SackList {
        let mut list = SackList::default();
        if let Some((start, end)) = self.duplicate.take() {
            list.push(self.nxt, start, end);
            // RFC 2883, 4.1.2: the range that contains the duplicate follows it.
            if let Some((start, end)) = self.ranges.containing(start)
                && list.len() < most
            {
                list.push(self.nxt, start, end);
            }
        }
        let reported = list;
        for range in self.recent.waiting(self.nxt) {
            if list.len() < most && !reported.iter(self.nxt).any(|block| block == range) {
                list.push(self.nxt, range.0, range.1);
            }
        }
        // The most recent data close a gap, but other data are behind one.
        if list.is_empty()
            && let Some((start, end)) = self.ranges.first()
        {
            list.push(self.nxt, start, end);
        }
        list
    }
}

/// A timestamp in wire resolution: Linux's timestamp clock counts milliseconds (`TCP_TS_HZ`).
fn milliseconds(timestamp: Time) -> u64 {
    timestamp.as_nanos() / 1_000_000
}
