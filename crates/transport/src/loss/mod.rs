//! Loss detection: which segments are lost. The reaction is in [`recovery`](crate::recovery).
//!
//! A detector examines an acknowledgement, or is called when its timer expires. It marks lost segments on the
//! scoreboard, and returns a [`LossVerdict`] with the reasons for recovery. Either duplicate acknowledgements or
//! RACK detect losses, also with the acknowledgement of a tail loss probe.

mod duplicate_acks;
mod rack;
mod tail_loss_probe;

use ropewalk_quantities::Time;

use crate::LossConfig;
use duplicate_acks::DuplicateAcks;
use rack::Rack;
use tail_loss_probe::TailLossProbe;

pub use duplicate_acks::DEFAULT_DUP_THRESH;
pub(crate) use duplicate_acks::DupAckContext;
pub(crate) use rack::RackContext;
pub(crate) use tail_loss_probe::Probe;

/// Added to timers shorter than the retransmission timeout (Linux's TCP_TIMEOUT_MIN_US).
pub(crate) const TIMER_SLACK: Time = Time::from_millis(2);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LossVerdict {
    /// A new loss was detected: begin recovery if it is not in progress.
    pub(crate) loss: bool,
    /// A retransmission was lost: after a timeout, begin recovery again.
    pub(crate) copy_lost: bool,
    /// In recovery, retransmit the first segment at once.
    pub(crate) partial: bool,
    /// More was marked lost, and the acknowledgement makes no progress.
    pub(crate) more: bool,
    pub(crate) duplicate: bool,
    /// Time until all late segments would be lost.
    pub(crate) wait: Option<Time>,
}

#[derive(Clone, Debug)]
pub(crate) struct LossDetection {
    pub(crate) duplicates: DuplicateAcks,
    pub(crate) rack: Rack,
    pub(crate) probe: TailLossProbe,
    /// Whether new data may follow the first two duplicate acknowledgements (RFC 3042).
    pub(crate) limited_transmit: bool,
    freeze: ActiveFreeze,
}

/// A time in which signs of congestion are ignored.
#[derive(Clone, Copy, Debug)]
struct ActiveFreeze {
    until: Time,
    retransmits: bool,
}

impl LossDetection {
    pub(crate) fn new(config: LossConfig) -> LossDetection {
        LossDetection {
            duplicates: DuplicateAcks::default(),
            rack: Rack::new(config.rack),
            probe: TailLossProbe::new(config.tail_loss_probe),
            limited_transmit: config.limited_transmit,
            freeze: ActiveFreeze {
                until: Time::ZERO,
                retransmits: false,
            },
        }
    }

    /// Freezes windows and RTO until this time, unless a longer freeze is in effect.
    pub(crate) fn freeze(&mut self, until: Time, retransmits: bool) {
        if until > self.freeze.until {
            self.freeze = ActiveFreeze { until, retransmits };
        }
    }

    /// Whether losses are detected by time, none is suspected, and no freeze is in effect.
    pub(crate) fn allows_fast_path(&self) -> bool {
        self.rack.allows_fast_path() && self.probe.sent.is_none() && self.freeze.until == Time::ZERO
    }

    #[inline]
    pub(crate) fn is_frozen(&self, now: Time) -> bool {
        now < self.freeze.until
    }

    /// End of the time in which no loss is accepted, if in the future.
    #[inline]
    pub(crate) fn ignores_losses_until(&self, now: Time) -> Option<Time> {
        (self.is_frozen(now) && !self.freeze.retransmits).then_some(self.freeze.until)
    }
}
