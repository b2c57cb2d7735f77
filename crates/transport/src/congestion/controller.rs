//! The registry of congestion control: one arm for each algorithm, one for a user's own.

use std::fmt;

use ropewalk_quantities::Time;

use super::{
    Acked, Balia, BaliaConfig, Congestion, CongestionControl, FullyCoupled, FullyCoupledConfig,
    Lia, LiaConfig, LinkedIncreases, LinkedIncreasesConfig, Olia, OliaConfig, Uncoupled,
    UncoupledConfig,
};
use crate::{Config, CongestionKind, SinglePathKind, SubflowState};

/// Any congestion control; the built-in ones are called without a virtual call.
pub enum Controller {
    /// A single-path scheme on each subflow: `newreno`, `cubic`, `uncoupled`.
    Uncoupled(Uncoupled),
    /// `fully-coupled`
    FullyCoupled(FullyCoupled),
    /// `linked-increases`
    LinkedIncreases(LinkedIncreases),
    /// `lia`
    Lia(Lia),
    /// `olia`
    Olia(Olia),
    /// `balia`
    Balia(Balia),
    /// A user's own.
    Custom(Box<dyn CongestionControl + Send>),
}

impl Controller {
    /// What a configuration names.
    pub fn new(config: &Config) -> Controller {
        let byte_counting = config.byte_counting;
        let uncoupled = |subflow: SinglePathKind| {
            Controller::Uncoupled(
                UncoupledConfig {
                    subflow,
                    byte_counting,
                    hystart: config.hystart,
                    linux_cubic: config.linux_cubic,
                }
                .build(),
            )
        };
        match config.congestion {
            CongestionKind::NewReno => uncoupled(SinglePathKind::NewReno),
            CongestionKind::Cubic => uncoupled(SinglePathKind::Cubic),
            CongestionKind::Uncoupled => uncoupled(config.subflow_congestion),
            CongestionKind::FullyCoupled => {
                Controller::FullyCoupled(FullyCoupledConfig { byte_counting }.build())
            }
            CongestionKind::LinkedIncreases => {
                Controller::LinkedIncreases(LinkedIncreasesConfig { byte_counting }.build())
            }
            CongestionKind::Lia => Controller::Lia(LiaConfig { byte_counting }.build()),
            CongestionKind::Olia => Controller::Olia(OliaConfig { byte_counting }.build()),
            CongestionKind::Balia => Controller::Balia(BaliaConfig { byte_counting }.build()),
        }
    }
}

/// Calls the same method of whichever algorithm it is.
macro_rules! each {
    ($controller:expr, $algorithm:ident => $call:expr) => {
        match $controller {
            Controller::Uncoupled($algorithm) => $call,
            Controller::FullyCoupled($algorithm) => $call,
            Controller::LinkedIncreases($algorithm) => $call,
            Controller::Lia($algorithm) => $call,
            Controller::Olia($algorithm) => $call,
            Controller::Balia($algorithm) => $call,
            Controller::Custom($algorithm) => $call,
        }
    };
}

impl CongestionControl for Controller {
    fn add_subflow(&mut self, subflow: usize) {
        each!(self, algorithm => algorithm.add_subflow(subflow));
    }

    #[inline]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64 {
        each!(self, algorithm => algorithm.on_ack(subflow, acked, subflows))
    }

    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        now: Time,
        subflows: &[SubflowState],
    ) -> u64 {
        each!(self, algorithm => algorithm.on_congestion(subflow, cause, now, subflows))
    }

    fn save(&mut self, subflow: usize) {
        each!(self, algorithm => algorithm.save(subflow));
    }

    fn restore(&mut self, subflow: usize) {
        each!(self, algorithm => algorithm.restore(subflow));
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Controller::Uncoupled(algorithm) => algorithm.fmt(f),
            Controller::FullyCoupled(algorithm) => algorithm.fmt(f),
            Controller::LinkedIncreases(algorithm) => algorithm.fmt(f),
            Controller::Lia(algorithm) => algorithm.fmt(f),
            Controller::Olia(algorithm) => algorithm.fmt(f),
            Controller::Balia(algorithm) => algorithm.fmt(f),
            Controller::Custom(_) => f.write_str("Custom"),
        }
    }
}

#[cfg(test)]
mod tests;
