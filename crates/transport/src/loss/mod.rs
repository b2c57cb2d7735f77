//! Loss detection: what tells that segments are lost, apart from what is done then
//! ([`recovery`](crate::recovery)).
//!
//! A detector looks at an acknowledgement, or at the time when its timer runs out. It marks on the
//! scoreboard what it takes for lost, and gives a [`Found`]: whether that is a reason for recovery.
//! There are three: duplicate acknowledgements, RACK in their place, and the tail loss probe, which finds nothing itself but brings about an
//! acknowledgement from which the others do.

mod duplicate_acks;
mod rack;
mod tail_loss_probe;

use ropewalk_quantities::Time;

use crate::Config;
use duplicate_acks::DuplicateAcks;
use rack::Rack;
use tail_loss_probe::TailLossProbe;

pub(crate) use duplicate_acks::Known;
pub use duplicate_acks::USUAL_THRESHOLD;
pub(crate) use rack::Surroundings;
pub(crate) use tail_loss_probe::Probe;

/// What a timer of less than the retransmission timeout takes longer (Linux's TCP_TIMEOUT_MIN_US).
pub(crate) const TIMER_SLACK: Time = Time::from_millis(2);

/// What a detector gives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// There is a loss that was not known: recovery begins, if it is not under way.
    pub(crate) loss: bool,
    /// A retransmission was lost: after a timeout, recovery begins once more.
    pub(crate) copy_lost: bool,
    /// In recovery, the first segment is to be sent again at once.
    pub(crate) partial: bool,
    /// There is more lost than before, and the acknowledgement is no progress.
    pub(crate) more: bool,
    /// The acknowledgement is a duplicate.
    pub(crate) duplicate: bool,
    /// How long until all that is late, and not late enough to be lost, will be.
    pub(crate) wait: Option<Time>,
}

/// A sender's detectors.
#[derive(Clone, Debug)]
pub(crate) struct LossDetection {
    pub(crate) duplicates: DuplicateAcks,
    pub(crate) rack: Rack,
    pub(crate) probe: TailLossProbe,
    freeze: Freeze,
}

/// For a while nothing is taken for a sign of congestion.
#[derive(Clone, Copy, Debug)]
struct Freeze {
    until: Time,
    /// What is found lost is sent again all the same; if not, nothing is believed lost.
    resends: bool,
}

impl LossDetection {
    pub(crate) fn new(config: &Config) -> LossDetection {
        LossDetection {
            duplicates: DuplicateAcks::default(),
            rack: Rack::new(config.rack),
            probe: TailLossProbe::new(config.tail_loss_probe),
            freeze: Freeze {
                until: Time::ZERO,
                resends: false,
            },
        }
    }

    /// Until then windows and timeout stay as they are. A freeze that lasts longer stays.
    pub(crate) fn freeze(&mut self, until: Time, resends: bool) {
        if until > self.freeze.until {
            self.freeze = Freeze { until, resends };
        }
    }

    /// Losses are told by time, none is suspected, and whatever is found is believed.
    pub(crate) fn is_settled(&self) -> bool {
        self.rack.is_settled() && self.probe.sent.is_none() && self.freeze.until == Time::ZERO
    }

    /// Windows and timeout stay as they are.
    #[inline]
    pub(crate) fn is_frozen(&self, now: Time) -> bool {
        now < self.freeze.until
    }

    /// No loss is believed until then, if that is still to come.
    #[inline]
    pub(crate) fn disbelieves_until(&self, now: Time) -> Option<Time> {
        (self.is_frozen(now) && !self.freeze.resends).then_some(self.freeze.until)
    }
}
