//! Coupling of windows in the module (gomez-2014, equations 1 to 5).

use super::subflow::Subflow;
use crate::congestion::CongestionConfig;

/// The module's congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coupling {
    /// Each as a single TCP.
    Uncoupled,
    /// gomez-2014's RTT compensator: linked increases, none faster than a single TCP.
    RttCompensator,
    /// A common increase for all, and separate decreases.
    LinkedIncreases,
    /// Increases and decreases by the sum of all windows; a loss removes half of that sum.
    FullyCoupled,
}

impl Coupling {
    /// Scenario names of the implemented congestion controls.
    pub const NAMES: [&'static str; 5] = [
        "newreno",
        "uncoupled",
        "lia",
        "linked-increases",
        "fully-coupled",
    ];

    /// The module's congestion control with the same equation; `None` if the module lacks it.
    #[must_use]
    pub fn of(congestion: &CongestionConfig) -> Option<Coupling> {
        match congestion.name() {
            "newreno" | "uncoupled" => Some(Coupling::Uncoupled),
            "lia" => Some(Coupling::RttCompensator),
            "linked-increases" => Some(Coupling::LinkedIncreases),
            "fully-coupled" => Some(Coupling::FullyCoupled),
            _ => None,
        }
    }

    /// Increase of a window (in segments) per new acknowledgement after slow start.
    pub(super) fn increase(self, subflows: &[Subflow], cwnd: f64) -> f64 {
        let total = total(subflows);
        match self {
            Coupling::Uncoupled => 1.0 / cwnd,
            Coupling::RttCompensator => (alpha(subflows) / total).min(1.0 / cwnd),
            Coupling::LinkedIncreases => alpha(subflows) / total,
            Coupling::FullyCoupled => 1.0 / total,
        }
    }

    pub(super) fn reduced(self, subflows: &[Subflow], cwnd: f64) -> f64 {
        let reduced = match self {
            Coupling::FullyCoupled => cwnd - total(subflows) / 2.0,
            Coupling::Uncoupled | Coupling::RttCompensator | Coupling::LinkedIncreases => {
                cwnd / 2.0
            }
        };
        reduced.max(1.0)
    }
}

fn total(subflows: &[Subflow]) -> f64 {
    let open = subflows.iter().filter(|subflow| subflow.is_open());
    open.map(|subflow| subflow.cwnd).sum()
}

/// gomez-2014, equation 5 (RFC 6356's alpha) with smoothed windows: sum(w) max(w / r^2) / (sum(w / r))^2.
/// Subflows without an RTT sample are excluded; 1 if none has one.
fn alpha(subflows: &[Subflow]) -> f64 {
    let (mut sum, mut most, mut rates) = (0.0, 0.0_f64, 0.0);
    for subflow in subflows.iter().filter(|subflow| subflow.is_open()) {
        let Some(rtt) = subflow.timeout.srtt_s() else {
            continue;
        };
        let window = subflow.smoothed_cwnd;
        sum += window;
        most = most.max(window / (rtt * rtt));
        rates += window / rtt;
    }
    if rates > 0.0 {
        sum * most / (rates * rates)
    } else {
        1.0
    }
}
