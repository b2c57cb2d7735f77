//! A single-path scheme on each subflow by itself (gomez-2014, equation 1, for any scheme).
//!
//! Each subflow is as aggressive as a TCP of its own, so that n subflows
//! through one bottleneck take n shares of it.

use ropewalk_quantities::Time;

use super::{Acked, Congestion, CongestionControl, Cubic, CubicConfig, NewReno, NewRenoConfig};
use crate::{SinglePathKind, SubflowState};

/// Makes an [`Uncoupled`].
#[derive(Clone, Copy, Debug)]
pub struct UncoupledConfig {
    /// The scheme of each subflow.
    pub subflow: SinglePathKind,
    /// Grow by bytes acknowledged, not by acknowledgements.
    pub byte_counting: bool,
    /// HyStart, where the scheme knows it.
    pub hystart: bool,
    /// CUBIC's growth is Linux's ([`Config::linux_cubic`](crate::Config::linux_cubic)).
    pub linux_cubic: bool,
}

impl UncoupledConfig {
    /// For one connection.
    pub fn build(self) -> Uncoupled {
        Uncoupled {
            config: self,
            subflows: Vec::new(),
        }
    }
}

/// Single-path congestion control on each subflow.
#[derive(Clone, Debug)]
pub struct Uncoupled {
    config: UncoupledConfig,
    subflows: Vec<SinglePath>,
}

// A connection has few of them, and they lie in one vector: size is not worth an indirection.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum SinglePath {
    NewReno(NewReno),
    Cubic(Cubic),
}

impl CongestionControl for Uncoupled {
    fn add_subflow(&mut self, subflow: usize) {
        let UncoupledConfig {
            byte_counting,
            hystart,
            linux_cubic,
            ..
        } = self.config;
        while self.subflows.len() <= subflow {
            self.subflows.push(match self.config.subflow {
                SinglePathKind::NewReno => {
                    SinglePath::NewReno(NewRenoConfig { byte_counting }.build())
                }
                SinglePathKind::Cubic => SinglePath::Cubic(
                    CubicConfig {
                        byte_counting,
                        hystart,
                        fast_convergence: true,
                        as_linux: linux_cubic,
                    }
                    .build(),
                ),
            });
        }
    }

    #[inline]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64 {
        let state = &subflows[subflow];
        match &mut self.subflows[subflow] {
            SinglePath::NewReno(reno) => reno.on_ack(acked, state),
            SinglePath::Cubic(cubic) => cubic.on_ack(acked, state),
        }
    }

    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        _now: Time,
        subflows: &[SubflowState],
    ) -> u64 {
        let state = &subflows[subflow];
        match &mut self.subflows[subflow] {
            SinglePath::NewReno(reno) => reno.on_congestion(state),
            SinglePath::Cubic(cubic) => cubic.on_congestion(cause, state),
        }
    }

    fn save(&mut self, subflow: usize) {
        match &mut self.subflows[subflow] {
            SinglePath::NewReno(reno) => reno.save(),
            SinglePath::Cubic(cubic) => cubic.save(),
        }
    }

    fn restore(&mut self, subflow: usize) {
        match &mut self.subflows[subflow] {
            SinglePath::NewReno(reno) => reno.restore(),
            SinglePath::Cubic(cubic) => cubic.restore(),
        }
    }
}
