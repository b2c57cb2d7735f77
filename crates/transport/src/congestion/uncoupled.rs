//! A single-path algorithm on each subflow (gomez-2014, equation 1, for any algorithm): as aggressive as
//! single TCPs, so n subflows through one bottleneck take n shares.

use ropewalk_quantities::Time;

use super::{
    Acked, Congestion, CongestionControl, Settings, SinglePath, SinglePathConfig, SinglePathControl,
};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// No coupling: each subflow runs the single-path algorithm of `subflow` separately.
    pub struct UncoupledConfig: "uncoupled", "gomez-2014, equation 1", [] {}
}

impl UncoupledConfig {
    /// Creates the algorithm of one connection.
    pub fn build(self, settings: &Settings) -> Uncoupled {
        settings.subflow.build(settings)
    }
}

impl SinglePathConfig {
    /// Creates the algorithm of one connection.
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
    settings: Settings,
    /// Created on first use: an endpoint that sends no data has none.
    subflows: Vec<SinglePath>,
}

impl Uncoupled {
    #[inline(always)]
    fn path(&mut self, subflow: usize) -> &mut SinglePath {
        if subflow >= self.subflows.len() {
            self.build_up_to(subflow);
        }
        &mut self.subflows[subflow]
    }

    #[cold]
    #[inline(never)]
    fn build_up_to(&mut self, subflow: usize) {
        // Exact capacity, since most connections have a single subflow.
        self.subflows
            .reserve_exact(subflow + 1 - self.subflows.len());
        while self.subflows.len() <= subflow {
            let fresh = self.settings.subflow.build_path(&self.settings);
            self.subflows.push(fresh);
        }
    }
}

impl CongestionControl for Uncoupled {
    fn add_subflow(&mut self, _subflow: usize) {}

    #[inline(always)]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64 {
        self.path(subflow).on_ack(acked, &subflows[subflow])
    }

    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        _now: Time,
        subflows: &[SubflowState],
    ) -> u64 {
        self.path(subflow).on_congestion(cause, &subflows[subflow])
    }

    fn save(&mut self, subflow: usize) {
        self.path(subflow).save();
    }

    fn restore(&mut self, subflow: usize) {
        self.path(subflow).restore();
    }
}
