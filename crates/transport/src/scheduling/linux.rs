//! Linux's scheduler (`mptcp_subflow_get_send` of net/mptcp/protocol.c, Linux 5.15 to 6.18).
//!
//! The kernel does not wait for space in a congestion window: it queues data on subflows, in bursts, each on
//! the subflow that would have sent its queued data earliest. With large buffers this prefers the lowest RTT;
//! with small ones all subflows get the same time's worth of data, too little to fill one with a long RTT.

use super::{Choice, Pending, Scheduler, Settings, SubflowSet};
use crate::SubflowState;
use crate::algorithm::algorithm;
use crate::memory::MPTCP_PIECE;

/// MPTCP_SEND_BURST_SIZE, in bytes.
const BURST: u64 = 65_428;

algorithm! {
    /// Linux's scheduler: queues data on subflows ahead of their windows, in bursts of 64 kB, each on the
    /// subflow that would send its queued data earliest.
    pub struct LinuxConfig: "linux", "net/mptcp/protocol.c, mptcp_subflow_get_send", [Queueing] {}
}

impl LinuxConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, settings: &Settings) -> Linux {
        Linux::new(settings.sent_overhead)
    }
}

/// State of the scheduler on one connection.
#[derive(Clone, Debug)]
pub struct Linux {
    sent_overhead: u64,
    subflows: Vec<Lingering>,
    /// Time in which each subflow would send its queue, as of the start of the last burst; infinite for
    /// unusable ones. Stored, since few change between bursts, and divisions are slow.
    times: Vec<f64>,
    changed: SubflowSet,
    /// Subflow of the present burst, and the rest of the burst in bytes.
    burst_on: usize,
    burst_left: u64,
    /// End of the stream's fragment that is being assigned: the choice is not reconsidered before it.
    fragment_end: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lingering {
    /// Pacing rate, averaged over the data assigned to it; bytes per second.
    rate: f64,
}

impl Linux {
    /// Creates one with this memory overhead of sent data over their payload, in 1024ths.
    pub fn new(sent_overhead: u64) -> Linux {
        Linux {
            sent_overhead,
            subflows: Vec::new(),
            times: Vec::new(),
            changed: SubflowSet::NONE,
            burst_on: 0,
            burst_left: 0,
            fragment_end: 0,
        }
    }

    /// Memory in a subflow's send queue: unacknowledged and unsent data.
    #[inline]
    fn held(&self, state: &SubflowState) -> u64 {
        state.in_flight + ((state.in_flight * self.sent_overhead) >> 10) + state.queued
    }

    #[inline]
    fn has_memory(&self, state: &SubflowState) -> bool {
        self.held(state) < state.send_buffer
    }

    /// Time in which a subflow sends its queue, at this rate.
    #[inline]
    fn linger(&self, state: &SubflowState, rate: f64) -> f64 {
        match state.usable {
            // Signed integers, far below 2^63, are converted to floating point in one instruction.
            true => self.held(state) as i64 as f64 / rate,
            false => f64::INFINITY,
        }
    }

    #[inline(never)]
    fn begin_burst(&mut self, pending: &Pending, subflows: &[SubflowState]) -> bool {
        for number in std::mem::take(&mut self.changed).iter() {
            let (Some(state), Some(own)) = (subflows.get(number), self.subflows.get_mut(number))
            else {
                break;
            };
            if state.usable && own.rate == 0.0 {
                own.rate = pacing_rate(state);
            }
            let rate = own.rate;
            self.times[number] = self.linger(state, rate);
        }
        debug_assert!(
            (subflows.iter().zip(&self.subflows).zip(&self.times))
                .all(|((state, own), &time)| self.linger(state, own.rate) == time),
            "a change was not reported"
        );
        // A plain comparison: `min` would also check for NaN, which does not occur.
        let lesser = |least: f64, &time: &f64| if time < least { time } else { least };
        let least = self.times.iter().fold(f64::INFINITY, lesser);
        let best = match least < f64::INFINITY {
            true => self.times.iter().position(|&time| time == least),
            false => None,
        };
        let Some(best) = best.filter(|&best| self.has_memory(&subflows[best])) else {
            return false;
        };
        let burst = BURST.min(pending.window);
        let state = &subflows[best];
        let held = self.held(state);
        let own = &mut self.subflows[best];
        let weighted = own.rate * held as f64 + pacing_rate(state) * burst as f64;
        own.rate = weighted / (held + burst) as f64;
        self.changed = self.changed.with(best);
        self.burst_on = best;
        self.burst_left = burst;
        true
    }
}

impl Scheduler for Linux {
    #[inline(always)]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        if self.subflows.len() != subflows.len() {
            self.subflows.resize(subflows.len(), Lingering::default());
            self.times.resize(subflows.len(), f64::INFINITY);
            self.changed = SubflowSet::ALL;
        }
        self.changed = self.changed.with_all(pending.changed);
        let next = pending.written - pending.unsent;
        let continues = self.burst_left > 0
            && subflows.get(self.burst_on).is_some_and(|state| {
                state.usable && (next < self.fragment_end || self.has_memory(state))
            });
        if !continues && !self.begin_burst(pending, subflows) {
            self.burst_left = 0;
            return Choice::Wait;
        }
        if next >= self.fragment_end {
            self.fragment_end = next - next % MPTCP_PIECE + MPTCP_PIECE;
        }
        let segment = subflows[self.burst_on]
            .mss
            .min(pending.unsent)
            .min(pending.window);
        // A burst continues while there are data and window; whether it is complete, or the memory full, is
        // checked at the end of a fragment (`__subflow_push_pending`).
        let over = segment == pending.unsent || segment == pending.window;
        let within = next + segment < self.fragment_end;
        self.burst_left = match self.burst_left.saturating_sub(segment) {
            _ if over => 0,
            0 if within => 1,
            left => left,
        };
        Choice::Assign(self.burst_on)
    }
}

/// The kernel's pacing rate: twice the window per round trip in slow start, 1.2 times after.
fn pacing_rate(state: &SubflowState) -> f64 {
    let factor = if state.cwnd < state.ssthresh / 2 {
        2.0
    } else {
        1.2
    };
    let round_trip = state.srtt.as_secs_f64().max(1e-6);
    factor * state.cwnd.max(state.in_flight) as f64 / round_trip
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Time;

    use super::*;
    use crate::scheduling::testing::{MSS, pending, subflow};

    #[test]
    fn linux_burst_uses_subflow_with_earliest_completion() {
        // Ten segments in 20 ms, and ten in 60 ms: full windows, so linger times of 1 : 3.
        let mut table = [subflow(10, 10, 60), subflow(10, 10, 20)];
        let mut scheduler = Linux::new(0);
        // Two fragments of the stream, to the segment in which the second ends.
        let mut input = pending(1000);
        for _ in 0..(2 * MPTCP_PIECE).div_ceil(MSS) {
            assert_eq!(scheduler.choose(&input, &table), Choice::Assign(1));
            input.unsent -= MSS;
            table[1].queued += MSS;
        }
        assert_eq!(scheduler.choose(&input, &table), Choice::Assign(0));
    }

    #[test]
    fn full_send_queue_is_detected_at_fragment_end() {
        let mut table = [subflow(10, 10, 20), subflow(10, 10, 500)];
        table[0].send_buffer = 12 * MSS;
        // Data in flight take half as much again besides their payload: the second is full.
        table[1].send_buffer = 15 * MSS;
        let mut scheduler = Linux::new(512);
        table[0].in_flight = 7 * MSS;
        let mut input = pending(1000);
        for _ in 0..MPTCP_PIECE.div_ceil(MSS) {
            assert_eq!(scheduler.choose(&input, &table), Choice::Assign(0));
            input.unsent -= MSS;
            table[0].queued += MSS;
        }
        // The next is for the other one, which would send its queue sooner if it had space.
        table[1].srtt = Time::from_millis(1);
        input.changed = SubflowSet::ALL;
        assert_eq!(scheduler.choose(&input, &table), Choice::Wait);
    }

    #[test]
    fn a_burst_ends_with_the_data() {
        // The first message uses the first of two idle subflows, which the next finds busy.
        let mut table = [subflow(10, 0, 20), subflow(10, 0, 60)];
        let mut scheduler = Linux::new(0);
        assert_eq!(scheduler.choose(&pending(1), &table), Choice::Assign(0));
        table[0].in_flight = MSS;
        assert_eq!(scheduler.choose(&pending(1), &table), Choice::Assign(1));
        table[1].in_flight = MSS;
        assert_eq!(scheduler.choose(&pending(1), &table), Choice::Assign(0));
    }

    #[test]
    fn nobody_usable_nobody_sends() {
        let mut table = [subflow(10, 0, 20)];
        table[0].usable = false;
        assert_eq!(Linux::new(0).choose(&pending(MSS), &table), Choice::Wait);
    }
}
