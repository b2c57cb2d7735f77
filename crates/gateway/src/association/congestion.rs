//! Congestion control of a carrier, if the user has not set one.
//!
//! CUBIC treats every loss as congestion, so random losses limit its window (RFC 9438, section 5.1). BBR uses
//! rate and RTT instead, but takes more than its share next to CUBIC in short queues, and nearly stops for
//! 200 ms every ten seconds to measure the RTT (draft-ietf-ccwg-bbr). A carrier therefore begins with the
//! system's congestion control. It switches to BBR, if the kernel has it, while many segments are lost at an
//! RTT close to the minimum.

use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::net::TcpStream;
use tracing::debug;

use ropewalk_striping::CarrierStatistics;

use crate::tcp_info::{FOR_LOSS, tcp_info};

/// Each check covers at least this much time and this many segments.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
const SEGMENTS: u64 = 300;
/// Loss ratios at which a link becomes lossy, and no longer is. Between them, CUBIC reaches the rate that the
/// losses allow at an RTT of 20 ms: about 5 Mbit/s at the first (RFC 9438, table 1 and formula 5).
const LOSSY: f64 = 0.002;
const CLEAN: f64 = 0.0005;
/// A higher loss ratio comes from a policer, whose rate must be respected.
const POLICED: f64 = 0.2;
/// A queue exists if the RTT exceeds the minimum by both this factor and this time.
const QUEUED_GAIN: f64 = 1.25;
const QUEUED: Duration = Duration::from_millis(5);
/// Consecutive checks that are needed for a switch in either direction.
const CHECKS_TO_SWITCH: u32 = 2;
const CLEAN_LOOKS: u32 = 30;

/// Choice of a carrier's congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    Fixed,
    /// The system's, or BBR while the link is lossy.
    ByLoss,
}

impl Congestion {
    pub(crate) fn of(option: Option<&str>) -> Congestion {
        option.map_or(Congestion::ByLoss, |_| Congestion::Fixed)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct LossCounters {
    segments: u64,
    retransmissions: u64,
}

/// Loss classifier: uses the loss ratio and the RTT during the losses.
#[derive(Debug, Default)]
struct LossClassifier {
    before: LossCounters,
    for_loss: bool,
    checks: u32,
}

impl LossClassifier {
    /// Evaluates new counters. Returns whether to ignore losses from now on, if that changes.
    fn check(&mut self, seen: LossCounters, rtt: Duration, min_rtt: Duration) -> Option<bool> {
        let segments = seen.segments.saturating_sub(self.before.segments);
        if segments < SEGMENTS {
            return None;
        }
        let lost = seen.retransmissions - self.before.retransmissions;
        self.before = seen;
        let share = lost as f64 / segments as f64;
        let is_queued = rtt > min_rtt.mul_f64(QUEUED_GAIN) + QUEUED;
        let (speaks_for_change, needed) = if self.for_loss {
            (share <= CLEAN || share >= POLICED, CLEAN_LOOKS)
        } else {
            (
                (LOSSY..POLICED).contains(&share) && !is_queued,
                CHECKS_TO_SWITCH,
            )
        };
        let needed = if share >= POLICED {
            CHECKS_TO_SWITCH
        } else {
            needed
        };
        self.checks = if speaks_for_change {
            self.checks + 1
        } else {
            0
        };
        if self.checks < needed {
            return None;
        }
        self.checks = 0;
        self.for_loss = !self.for_loss;
        Some(self.for_loss)
    }
}

#[derive(Debug)]
pub(super) struct CongestionSwitch {
    verdict: LossClassifier,
    initial: Vec<u8>,
    last_check: Instant,
}

impl CongestionSwitch {
    /// Creates one for a new connection; `None` if there is nothing to choose.
    pub(super) fn new(socket: &TcpStream, congestion: Congestion) -> Option<CongestionSwitch> {
        if congestion == Congestion::Fixed {
            return None;
        }
        let initial = name_of(socket)?;
        (initial != FOR_LOSS).then(|| CongestionSwitch {
            verdict: LossClassifier::default(),
            initial: initial.into_bytes(),
            last_check: Instant::now(),
        })
    }

    /// Checks the connection if it is time; returns whether to continue checking.
    pub(super) fn check(&mut self, socket: &TcpStream, carrier: &CarrierStatistics) -> bool {
        if self.last_check.elapsed() < CHECK_INTERVAL {
            return true;
        }
        self.last_check = Instant::now();
        let (Ok(info), Some(min_rtt)) = (tcp_info(socket), carrier.min_rtt) else {
            return true;
        };
        let seen = LossCounters {
            segments: carrier.sent.as_u64() / u64::from(info.segment.max(1)),
            retransmissions: info.retransmissions,
        };
        let min_rtt = Duration::from_nanos(min_rtt.as_nanos());
        let rtt = info.round_trip.unwrap_or(min_rtt);
        let Some(for_loss) = self.verdict.check(seen, rtt, min_rtt.min(rtt)) else {
            return true;
        };
        let name: &[u8] = match for_loss {
            true => FOR_LOSS.as_bytes(),
            false => &self.initial,
        };
        let chosen = String::from_utf8_lossy(name);
        match SockRef::from(socket).set_tcp_congestion(name) {
            Ok(()) => {
                debug!(
                    "link {}: congestion control {chosen} from now on",
                    carrier.link
                );
                true
            }
            // Not available, or not allowed (net.ipv4.tcp_allowed_congestion_control).
            Err(error) => {
                debug!(
                    "link {}: no congestion control {chosen}: {error}",
                    carrier.link
                );
                false
            }
        }
    }
}

pub(super) fn name_of(socket: &TcpStream) -> Option<String> {
    let name = SockRef::from(socket).tcp_congestion().ok()?;
    let end = name
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(name.len());
    String::from_utf8(name[..end].to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Evaluates checks of 1000 segments: lost segments and RTT. The minimum RTT is 50 ms.
    fn changes(checks: impl IntoIterator<Item = (u64, Duration)>) -> Vec<(usize, bool)> {
        let mut verdict = LossClassifier::default();
        let mut seen = LossCounters::default();
        let each = checks
            .into_iter()
            .enumerate()
            .filter_map(|(number, (lost, rtt))| {
                seen.segments += 1000;
                seen.retransmissions += lost;
                let change = verdict.check(seen, rtt, MS(50))?;
                Some((number, change))
            });
        each.collect()
    }

    #[test]
    fn losses_at_minimum_rtt_switch_to_bbr() {
        assert_eq!(changes([(10, MS(52)); 5]), [(1, true)]);
    }

    #[test]
    fn losses_of_a_full_queue_do_not_switch() {
        assert_eq!(changes([(10, MS(100)); 100]), []);
        assert_eq!(changes([(1, MS(52)); 100]), []);
    }

    #[test]
    fn one_check_alone_does_not_switch() {
        assert_eq!(changes([(10, MS(52)), (0, MS(52))].repeat(50)), []);
    }

    #[test]
    fn half_a_minute_without_losses_switches_back() {
        let lossy = [(10, MS(52)); 2];
        let clean = [(0, MS(90)); 30];
        assert_eq!(
            changes(lossy.into_iter().chain(clean)),
            [(1, true), (31, false)]
        );
    }

    #[test]
    fn policer_switches_back() {
        let lossy = [(10, MS(52)); 2];
        let policed = [(300, MS(52)); 4];
        assert_eq!(
            changes(lossy.into_iter().chain(policed)),
            [(1, true), (3, false)]
        );
    }

    #[test]
    fn few_segments_decide_nothing() {
        let mut verdict = LossClassifier::default();
        for number in 1..100 {
            let seen = LossCounters {
                segments: number,
                retransmissions: number,
            };
            assert_eq!(verdict.check(seen, MS(50), MS(50)), None);
        }
    }
}
