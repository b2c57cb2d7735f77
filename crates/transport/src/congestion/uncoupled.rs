//! A single-path algorithm on each subflow separately (gomez-2014, equation 1, for any algorithm).
//!
//! Each subflow is as aggressive as a single TCP, so that n subflows through one bottleneck take n shares.

use ropewalk_quantities::Time;

use super::{
    Acked, Congestion, CongestionControl, Settings, SinglePath, SinglePathConfig, SinglePathControl,
};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Any single-path one on each subflow by itself; `subflow` names it.
    pub struct UncoupledConfig: "uncoupled", "gomez-2014, equation 1", [] {}
}

impl UncoupledConfig {
    /// For one connection.
    pub fn build(self, settings: &Settings) -> Uncoupled {
        settings.subflow.build(settings)
    }
}

impl SinglePathConfig {
    /// For one connection: the algorithm on each of its subflows.
    pub fn build(&self, settings: &Settings) -> Uncoupled {
        Uncoupled {
            settings: Settings {
                subflow: self.clone(),
                ..settings.clone()
            },
            subflows: Vec::new(),
        }
    }
}

/// Single-path congestion control on each subflow.
#[derive(Clone, Debug)]
pub struct Uncoupled {
    /// The settings from which each subflow's algorithm is built: smaller than an algorithm.
    settings: Settings,
    subflows: Vec<SinglePath>,
}

impl CongestionControl for Uncoupled {
    fn add_subflow(&mut self, subflow: usize) {
        if self.subflows.is_empty() {
            // Most connections have a single subflow.
            self.subflows.reserve_exact(1);
        }
        while self.subflows.len() <= subflow {
            let fresh = self.settings.subflow.build_path(&self.settings);
            self.subflows.push(fresh);
        }
    }

    #[inline(always)]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64 {
        self.subflows[subflow].on_ack(acked, &subflows[subflow])
    }

    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        _now: Time,
        subflows: &[SubflowState],
    ) -> u64 {
        self.subflows[subflow].on_congestion(cause, &subflows[subflow])
    }

    fn save(&mut self, subflow: usize) {
        self.subflows[subflow].save();
    }

    fn restore(&mut self, subflow: usize) {
        self.subflows[subflow].restore();
    }
}
