//! A subflow of the sender: window, segments in flight, timer.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use super::timeout::Timeout;
use crate::{Counters, SubflowState};

/// In bytes.
const INITIAL_SSTHRESH: f64 = 65_535.0;
/// Gain of the smoothed window (gomez-2014: 1/8).
const SMOOTHING: f64 = 0.125;

#[derive(Debug)]
pub(super) struct Subflow {
    /// In segments.
    pub(super) cwnd: f64,
    /// In bytes.
    pub(super) ssthresh: f64,
    pub(super) smoothed_cwnd: f64,
    /// Window and threshold before the last reduction; with D-SACK, the largest since a window was restored.
    pub(super) saved: (f64, f64),
    /// D-SACK found a retransmission to be spurious: the window grows by a segment per acknowledgement, up to
    /// the saved one.
    pub(super) restores: bool,
    pub(super) timeout: Timeout,
    pub(super) timer: Option<Time>,
    pub(super) una: u64,
    pub(super) flight: VecDeque<SentSegment>,
    /// Number after the last segment that was retransmitted.
    pub(super) retransmitted_to: u64,
    /// F-RTO: acknowledgements since the first timeout, apart from those of all data.
    pub(super) acks_after_timeout: Option<u32>,
    /// F-RTO: acknowledgements in the present deaf window.
    pub(super) deaf_acks: Option<u32>,
    pub(super) counters: Counters,
    pub(super) state: SubflowState,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SentSegment {
    pub(super) data: u64,
    pub(super) len: u32,
    pub(super) sent_at: Time,
    /// Time of its first retransmission.
    pub(super) retransmitted_at: Option<Time>,
    /// Total number of duplicates that counted against it.
    pub(super) duplicates: u32,
    /// Number of reports that it arrived ahead of the stream.
    pub(super) reported: u32,
}

impl Subflow {
    pub(super) fn new(mss: u64) -> Subflow {
        let state = SubflowState {
            mss,
            ..SubflowState::default()
        };
        Subflow {
            cwnd: 1.0,
            ssthresh: INITIAL_SSTHRESH,
            smoothed_cwnd: 1.0,
            saved: (0.0, 0.0),
            restores: false,
            timeout: Timeout::new(),
            timer: None,
            una: 0,
            flight: VecDeque::new(),
            retransmitted_to: 0,
            acks_after_timeout: None,
            deaf_acks: None,
            counters: Counters::default(),
            state,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.state.usable
    }

    pub(super) fn has_room(&self) -> bool {
        self.is_open() && self.cwnd.floor() > self.flight.len() as f64
    }

    pub(super) fn nxt(&self) -> u64 {
        self.una + self.flight.len() as u64
    }

    /// Removes everything before `next` from the flight, takes an RTT sample from its first segment that was
    /// never retransmitted (the module's history drops the others), and restarts the timer. Only a sample
    /// ends the back-off. Returns the number of bytes.
    pub(super) fn advance(&mut self, now: Time, next: u64) -> u64 {
        let count = (next - self.una) as usize;
        let mut acknowledged = self.flight.range(..count);
        let first = acknowledged.find(|sent| sent.retransmitted_at.is_none());
        if let Some(sent_at) = first.map(|first| first.sent_at) {
            self.sample(now - sent_at);
            self.timeout.reset_backoff();
        }
        let acknowledged = self.flight.drain(..count);
        let bytes: u64 = acknowledged.map(|sent| u64::from(sent.len)).sum();
        self.una = next;
        self.state.in_flight -= bytes;
        self.timer = None;
        if !self.flight.is_empty() {
            self.arm(now);
        }
        self.state.acknowledged += bytes;
        bytes
    }

    pub(super) fn sample(&mut self, rtt: Time) {
        self.timeout.sample(rtt);
        self.state.latest_rtt = rtt;
        self.state.min_rtt = self.state.min_rtt.min(rtt);
        self.state.rtt_samples = self.state.rtt_samples.wrapping_add(1);
        self.state.rtt_sum += rtt;
    }

    pub(super) fn arm(&mut self, now: Time) {
        self.timer = Some(now + self.timeout.duration());
    }

    pub(super) fn smooth(&mut self) {
        self.smoothed_cwnd += SMOOTHING * (self.cwnd - self.smoothed_cwnd);
    }

    /// `cwnd` x MSS x 8 / srtt, in bit/s.
    pub(super) fn rate_bps(&self) -> f64 {
        let rtt = self.timeout.srtt_s();
        rtt.map_or(0.0, |rtt| self.cwnd * self.state.mss as f64 * 8.0 / rtt)
    }

    pub(super) fn publish(&mut self) {
        let [srtt, rttvar] = self.timeout.mean_and_deviation();
        self.state.cwnd = (self.cwnd * self.state.mss as f64) as u64;
        self.state.ssthresh = self.ssthresh as u64;
        self.state.srtt = srtt;
        self.state.rttvar = rttvar;
    }
}
