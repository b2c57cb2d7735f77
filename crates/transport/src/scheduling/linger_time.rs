//! Linux's own form of the least round-trip time (`mptcp_subflow_get_send` of net/mptcp/protocol.c).
//!
//! The kernel does not wait for room in a congestion window: it puts data into
//! subflows' send queues, in bursts, each on the subflow that would have sent
//! what it holds soonest. With large buffers this prefers the least round-trip
//! time; with small ones all subflows get the same time's worth of data, and
//! one of long round trips too little to fill it.

use super::{Choice, Pending, Scheduler, SubflowSet};
use crate::SubflowState;

/// MPTCP_SEND_BURST_SIZE, in bytes.
const BURST: u64 = 65_428;

/// Send buffer of a subflow, as a multiple of its largest congestion window: twice 4,352 bytes
/// for each segment of 1,448 (`tcp_sndbuf_expand`).
const SEND_BUFFER: f64 = 2.0 * 4352.0 / 1448.0;

/// Least linger time first, in bursts.
#[derive(Clone, Debug)]
pub struct LingerTime {
    /// Most that a subflow's send buffer grows to, in bytes.
    send_buffer_max: u64,
    /// Pacing rate of each subflow, averaged over what it was given; bytes per second.
    rates: Vec<f64>,
    /// Largest congestion window of each subflow.
    cwnd_max: Vec<u64>,
    burst: Option<(usize, u64)>,
}

impl LingerTime {
    /// `send_buffer_max` bounds each subflow's send buffer, in bytes.
    pub fn new(send_buffer_max: u64) -> LingerTime {
        LingerTime {
            send_buffer_max,
            rates: Vec::new(),
            cwnd_max: Vec::new(),
            burst: None,
        }
    }

    fn has_memory(&mut self, subflow: usize, state: &SubflowState) -> bool {
        let cwnd_max = self.cwnd_max[subflow].max(state.cwnd);
        self.cwnd_max[subflow] = cwnd_max;
        let send_buffer = ((cwnd_max as f64 * SEND_BUFFER) as u64).min(self.send_buffer_max);
        held(state) < send_buffer
    }

    fn begin_burst(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Option<usize> {
        let mut best = None;
        let mut least = f64::INFINITY;
        for (number, state) in subflows.iter().enumerate() {
            if !state.usable {
                continue;
            }
            if self.rates[number] == 0.0 {
                self.rates[number] = pacing_rate(state);
            }
            let linger = held(state) as f64 / self.rates[number];
            if linger < least {
                least = linger;
                best = Some(number);
            }
        }
        let best = best.filter(|&best| self.has_memory(best, &subflows[best]))?;
        let burst = BURST.min(pending.window);
        let (old, held) = (self.rates[best], held(&subflows[best]));
        let weighted = old * held as f64 + pacing_rate(&subflows[best]) * burst as f64;
        self.rates[best] = weighted / (held + burst) as f64;
        self.burst = Some((best, burst));
        Some(best)
    }
}

impl Scheduler for LingerTime {
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        self.rates.resize(subflows.len(), 0.0);
        self.cwnd_max.resize(subflows.len(), 0);
        let going_on = self.burst.filter(|&(subflow, left)| {
            let state = subflows.get(subflow);
            left > 0 && state.is_some_and(|state| state.usable && self.has_memory(subflow, state))
        });
        let subflow = match going_on {
            Some((subflow, _)) => subflow,
            None => match self.begin_burst(pending, subflows) {
                Some(subflow) => subflow,
                None => return Choice::Wait,
            },
        };
        let segment = subflows[subflow]
            .mss
            .min(pending.unsent)
            .min(pending.window);
        if let Some((_, left)) = &mut self.burst {
            *left = left.saturating_sub(segment);
        }
        Choice::SendOn(SubflowSet::default().with(subflow))
    }
}

/// What a subflow's send queue holds: sent and not acknowledged, or not yet sent.
fn held(state: &SubflowState) -> u64 {
    state.in_flight + state.queued
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
    use super::*;
    use crate::scheduling::testing::{MSS, pending, subflow};

    fn on(number: usize) -> Choice {
        Choice::SendOn(SubflowSet::default().with(number))
    }

    #[test]
    fn a_burst_goes_to_whoever_is_done_soonest_room_or_not() {
        // Ten segments in 20 ms, and ten in 60 ms: full windows, so linger times of 1 : 3.
        let table = [subflow(10, 10, 60), subflow(10, 10, 20)];
        let mut scheduler = LingerTime::new(1 << 22);
        let burst = BURST.div_ceil(MSS);
        for _ in 0..burst {
            assert_eq!(scheduler.choose(&pending(100 * MSS), &table), on(1));
        }
        let mut queueing = table;
        queueing[1].queued = burst * MSS;
        assert_eq!(scheduler.choose(&pending(100 * MSS), &queueing), on(0));
    }

    #[test]
    fn nobody_usable_nobody_sends() {
        let mut table = [subflow(10, 0, 20)];
        table[0].usable = false;
        assert_eq!(
            LingerTime::new(1 << 22).choose(&pending(MSS), &table),
            Choice::Wait
        );
    }
}
