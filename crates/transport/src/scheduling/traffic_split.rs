//! Traffic splitting per time slot (MPTCP-TSC). At the end of each slot the demand and the capacities of
//! subflows are estimated, and the cheapest are assigned as much as they can carry below the delay bound
//! (`split_rates`). A subflow gets its rate as tokens; data without tokens wait in the send buffer for the
//! next slot.

use ropewalk_quantities::Time;

use super::split_rates::{Estimates, Slot, SlotObservation};
use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

const PRINTED: &str = "printed";
/// Tokens that a subflow may keep beyond a slot, in segments.
const KEPT_SEGMENTS: u64 = 3;

algorithm! {
    /// MPTCP-TSC: per time slot, fills the cheapest subflows first, each up to the rate that keeps its
    /// network delay below `d_net`.
    pub struct TrafficSplitConfig: "traffic-split", "Park et al. 2014, section 4.B", [] {
        /// Estimator of demand and capacities: from one slot, as in the paper (`printed`), or by averages
        /// that include a part of the backlog (`smoothed`).
        estimator: word(PRINTED, "smoothed") = "smoothed", "this project";
        /// Length of a time slot.
        slot: time(Time::from_millis(1), Time::from_secs(10)) = Time::from_millis(10), "this project";
        /// Largest mean queueing time in the send buffer.
        d_send: time(Time::from_millis(1), Time::from_secs(60)) = Time::from_millis(100), "Park et al. 2014";
        /// Largest network delay of a subflow.
        d_net: time(Time::from_millis(1), Time::from_secs(60)) = Time::from_millis(100), "Park et al. 2014";
        /// Number of hops of each path.
        hops: integer(1, 255) = 1, "Park et al. 2014";
        /// Minimum rate of a subflow in use, in segments per second. A subflow with a lower rate is not used.
        floor: number(0.0, 1e6) = 2.0, "this project";
        /// Time constant of the averages of the `smoothed` estimator.
        smoothing: time(Time::from_millis(1), Time::from_secs(60)) = Time::from_millis(200), "this project";
    }
}

impl TrafficSplitConfig {
    /// Creates the scheduler of one connection; boxed, since it is large and rare.
    pub fn build(self, _settings: &Settings) -> Box<TrafficSplit> {
        Box::new(TrafficSplit {
            config: self,
            estimates: Estimates::default(),
            slot_end: None,
            waited: false,
            buckets: Vec::new(),
        })
    }
}

/// State of MPTCP-TSC on one connection.
#[derive(Clone, Debug)]
pub struct TrafficSplit {
    config: TrafficSplitConfig,
    estimates: Estimates,
    slot_end: Option<Time>,
    waited: bool,
    buckets: Vec<Bucket>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    tokens: f64,
    counted: SlotCounters,
}

#[derive(Clone, Copy, Debug, Default)]
struct SlotCounters {
    sent: u64,
    acknowledged: u64,
    rtt_samples: u32,
    rtt_sum: Time,
}

impl SlotCounters {
    fn of(state: &SubflowState) -> SlotCounters {
        SlotCounters {
            sent: state.assigned.saturating_sub(state.queued),
            acknowledged: state.acknowledged,
            rtt_samples: state.rtt_samples,
            rtt_sum: state.rtt_sum,
        }
    }

    /// Observations of the subflow since the start of the slot.
    fn observed(&self, state: &SubflowState) -> Option<SlotObservation> {
        if !state.usable {
            return None;
        }
        let now = SlotCounters::of(state);
        let samples = now.rtt_samples.wrapping_sub(self.rtt_samples);
        let sum = now.rtt_sum.saturating_sub(self.rtt_sum).as_secs_f64();
        let (rtt_min, srtt) = match state.min_rtt {
            Time::MAX => (UNKNOWN_RTT, UNKNOWN_RTT),
            least => (least.as_secs_f64(), state.srtt.as_secs_f64()),
        };
        Some(SlotObservation {
            price: state.price(),
            sent: now.sent.saturating_sub(self.sent) as f64,
            acked: now.acknowledged.saturating_sub(self.acknowledged) as f64,
            rtt: (samples > 0).then(|| sum / f64::from(samples)),
            rtt_min,
            srtt,
            window: state.cwnd as f64,
            slow_start: state.cwnd < state.ssthresh,
        })
    }
}

const UNKNOWN_RTT: f64 = 0.1;

impl TrafficSplit {
    /// Ends a slot. The scheduler is not called while no data wait, and all that time is one slot.
    fn end_slot(&mut self, pending: &Pending, subflows: &[SubflowState]) {
        self.buckets.resize_with(subflows.len(), Bucket::default);
        let slot = self.config.slot;
        let Some(end) = self.slot_end else {
            self.slot_end = Some(pending.now + slot);
            self.begin_slot(slot, pending.unsent, pending, subflows);
            return;
        };
        if pending.now < end {
            return;
        }
        let more = pending.now.saturating_sub(end).as_nanos() / slot.as_nanos();
        self.slot_end = Some(end + slot * (more + 1));
        // Data written after an idle slot count for the present one.
        let backlog = match more == 0 || self.waited {
            true => pending.unsent,
            false => 0,
        };
        self.begin_slot(slot * (more + 1), backlog, pending, subflows);
    }

    fn begin_slot(
        &mut self,
        length: Time,
        backlog: u64,
        pending: &Pending,
        subflows: &[SubflowState],
    ) {
        let usable = subflows.iter().filter(|state| state.usable);
        let segment = usable.map(|state| state.mss).min().unwrap_or(1).max(1);
        let slot = Slot {
            length: length.as_secs_f64(),
            segment: segment as f64,
            send_threshold: self.config.d_send.as_secs_f64(),
            network_threshold: self.config.d_net.as_secs_f64(),
            hops: self.config.hops as f64,
            floor: self.config.floor,
            smoothing: (self.config.estimator != PRINTED)
                .then(|| self.config.smoothing.as_secs_f64()),
        };
        let buckets = self.buckets.iter().zip(subflows);
        let observed: Vec<_> = buckets
            .map(|(bucket, state)| bucket.counted.observed(state))
            .collect();
        let rates = self.estimates.end_slot(&slot, backlog as f64, &observed);
        debug_assert!(pending.unsent >= backlog);
        for ((bucket, state), rate) in self.buckets.iter_mut().zip(subflows).zip(rates) {
            let kept = bucket.tokens.min((KEPT_SEGMENTS * state.mss) as f64);
            bucket.tokens = kept + rate * self.config.slot.as_secs_f64();
            bucket.counted = SlotCounters::of(state);
        }
    }
}

impl Scheduler for TrafficSplit {
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        self.end_slot(pending, subflows);
        self.waited = true;
        let usable = subflows.iter().filter(|state| state.usable).count();
        let with_room = subflows
            .iter()
            .enumerate()
            .filter(|(_, state)| state.can_send());
        let needed = |state: &SubflowState| state.mss.min(pending.unsent);
        let has_tokens = |(number, state): &(usize, &SubflowState)| {
            usable == 1 || self.buckets[*number].tokens >= needed(state) as f64
        };
        let rank = |(_, state): &(usize, &SubflowState)| (state.price(), state.srtt);
        let chosen = (with_room.clone().filter(has_tokens)).reduce(|best, other| {
            match rank(&other) < rank(&best) {
                true => other,
                false => best,
            }
        });
        if let Some((number, state)) = chosen {
            let len = needed(state);
            self.buckets[number].tokens = (self.buckets[number].tokens - len as f64).max(0.0);
            self.waited = pending.unsent > len;
            return Choice::Send(number);
        }
        match (with_room.count(), self.slot_end) {
            (1.., Some(end)) => Choice::WaitUntil(end),
            _ => Choice::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, SETTINGS, link, pending};

    const MS: fn(u64) -> Time = Time::from_millis;

    /// 100 and 1000 segments per second at a price of 1 and 10; not in slow start.
    fn links() -> [SubflowState; 2] {
        [link(100, 20, 1.0), link(1000, 40, 10.0)].map(|state| SubflowState {
            cwnd: 100 * MSS,
            ssthresh: 100 * MSS,
            ..state
        })
    }

    /// Segments on each subflow when 1000 per second are written for ten seconds, and the longest RTT of the
    /// cheap one, which delivers 250 per second.
    fn run(split: &mut TrafficSplit, table: &mut [SubflowState; 2]) -> ([u64; 2], Time) {
        let (mut sent, mut unsent, mut queue, mut longest) = ([0; 2], 0, 0, Time::ZERO);
        for millis in 0..10_000 {
            unsent += MSS;
            let input = |unsent| Pending {
                now: MS(millis),
                unsent,
                ..pending(1)
            };
            while unsent > 0
                && let Choice::Send(number) = split.choose(&input(unsent), table)
            {
                table[number].assigned += MSS;
                unsent -= MSS;
                sent[number] += 1;
                queue += u64::from(number == 0);
                if number == 1 {
                    table[1].acknowledged += MSS;
                }
            }
            if millis % 4 == 0 && queue > 0 {
                let rtt = MS(20 + 4 * queue);
                queue -= 1;
                table[0].acknowledged += MSS;
                table[0].rtt_samples += 1;
                table[0].rtt_sum += rtt;
                table[0].srtt = rtt;
                if millis > 9000 {
                    longest = longest.max(rtt);
                }
            }
        }
        (sent, longest)
    }

    #[test]
    fn data_without_tokens_wait_for_next_slot() {
        let config = TrafficSplitConfig {
            estimator: PRINTED,
            ..TrafficSplitConfig::DEFAULT
        };
        let (mut split, mut table) = (config.build(&SETTINGS), links());
        // Nothing was sent: a demand of one segment in 10 ms, and 10 more per second for the backlog. Of the
        // window over the round trip, 5000 per second, (15) leaves 4500: the cheap one takes all 110.
        let first = split.choose(&pending(1), &table);
        assert_eq!(first, Choice::Send(0));
        let tokens = split.buckets.iter().map(|bucket| bucket.tokens);
        assert_eq!(tokens.collect::<Vec<_>>(), [0.1 * MSS as f64, 0.0]);
        assert_eq!(split.choose(&pending(1), &table), Choice::WaitUntil(MS(10)));
        for state in &mut table {
            state.cwnd = 10 * MSS;
        }
        assert_eq!(split.choose(&pending(1), &table), Choice::Wait);
        let mut table = links();
        table[1].usable = false;
        assert_eq!(split.choose(&pending(1), &table), Choice::Send(0));
    }

    #[test]
    fn cheap_subflow_stays_below_bound_and_expensive_carries_excess() {
        for estimator in [PRINTED, "smoothed"] {
            let config = TrafficSplitConfig {
                estimator,
                ..TrafficSplitConfig::DEFAULT
            };
            let (mut split, mut table) = (config.build(&SETTINGS), links());
            let ([cheap, expensive], longest) = run(&mut split, &mut table);
            assert!(cheap + expensive > 9700, "{estimator}: {cheap} {expensive}");
            assert!((2400..2600).contains(&cheap), "{estimator}: {cheap}");
            // Where (13) is exact, (15) has an RTT of twice the bound; estimates from one slot oscillate.
            let most = if estimator == PRINTED { 300 } else { 220 };
            assert!(
                (MS(180)..MS(most)).contains(&longest),
                "{estimator}: {longest}"
            );
        }
    }

    #[test]
    fn idle_time_is_one_slot() {
        let config = TrafficSplitConfig {
            estimator: PRINTED,
            ..TrafficSplitConfig::DEFAULT
        };
        let (mut split, mut table) = (config.build(&SETTINGS), links());
        assert_eq!(split.choose(&pending(1), &table), Choice::Send(0));
        table[0].assigned = MSS;
        // Three slots later: 40 ms after the first one began, one segment had been sent.
        let input = Pending {
            now: MS(45),
            ..pending(5)
        };
        let _ = split.choose(&input, &table);
        assert_eq!(split.slot_end, Some(MS(50)));
        assert_eq!(split.estimates.backlog, 0.0);
        let demand = split.estimates.demand;
        assert!(demand.abs() < 1e-9, "{demand}");
    }
}
