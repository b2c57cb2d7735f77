//! Binomial congestion control (Bansal and Balakrishnan, IEEE INFOCOM 2001).

use ropewalk_quantities::Time;
use ropewalk_transport::SubflowState;
use ropewalk_transport::congestion::{Acked, Congestion, CongestionControl, CustomCongestion};

/// Congestion control whose window w, in segments, grows by alpha / w^k per round trip and falls by beta w^l
/// at a loss, on each subflow. With k = 0 and l = 1 it is NewReno, with k = l = 1/2 SQRT, which falls more
/// gently.
#[derive(Clone, Debug)]
pub struct Binomial {
    k: f64,
    l: f64,
    alpha: f64,
    beta: f64,
    /// Growth of each subflow that is not yet worth a byte, in bytes.
    fractions: Vec<f64>,
}

impl Binomial {
    /// Creates one with these exponents and factors.
    pub fn new(k: f64, l: f64, alpha: f64, beta: f64) -> Binomial {
        Binomial {
            k,
            l,
            alpha,
            beta,
            fractions: Vec::new(),
        }
    }

    /// Config for [`Config`](ropewalk_transport::Config): creates one per connection.
    pub fn config(self, name: &str) -> CustomCongestion {
        CustomCongestion::new(name, move |_| Box::new(self.clone()))
    }
}

impl CongestionControl for Binomial {
    fn add_subflow(&mut self, subflow: usize) {
        self.fractions.resize(subflow + 1, 0.0);
    }

    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64 {
        let state = &subflows[subflow];
        let cwnd = state.cwnd.max(state.mss);
        if !acked.cwnd_limited {
            return cwnd;
        }
        if cwnd < state.ssthresh {
            return cwnd + acked.bytes.min(state.ssthresh - cwnd);
        }
        let mss = state.mss as f64;
        let window = cwnd as f64 / mss;
        // This part of alpha / w^k segments per round trip.
        let growth = self.alpha / window.powf(self.k) * acked.bytes as f64 / window;
        let exact = cwnd as f64 + self.fractions[subflow] + growth;
        self.fractions[subflow] = exact.fract();
        exact as u64
    }

    fn on_congestion(
        &mut self,
        subflow: usize,
        _cause: Congestion,
        _now: Time,
        subflows: &[SubflowState],
    ) -> u64 {
        let state = &subflows[subflow];
        let mss = state.mss as f64;
        let window = state.in_flight.min(state.cwnd) as f64 / mss;
        let left = window - self.beta * window.powf(self.l);
        ((left * mss) as u64).max(2 * state.mss)
    }
}
