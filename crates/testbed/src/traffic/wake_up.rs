//! Punctual wake-up of a thread for due messages.

use std::num::NonZeroU64;

use ropewalk_quantities::Time;

use super::connection_plan::ConnectionPlan;
use super::error::TrafficError;
use crate::syscalls::schedule_fifo;

/// Below the emulator's 40, since early messages are queued for their link.
const PRIORITY: i32 = 30;

/// Smallest gap of thin streams: an end then takes a few percent of a processor and does not delay
/// the kernel's packet processing.
const THIN: Time = Time::from_millis(1);

/// Sets the calling thread to wake on time: no timer slack, which is 50 us by default (prctl(2),
/// PR_SET_TIMERSLACK), and for thin streams a real-time priority if allowed. The remaining lateness
/// is measured. Fails if the timer slack cannot be set.
pub(crate) fn wake_on_time(plan: &ConnectionPlan) -> Result<(), TrafficError> {
    let slack = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    slack.map_err(|errno| TrafficError::system("prctl")(errno.into()))?;
    if plan.schedule().is_some_and(|thin| thin.spacing() >= THIN) {
        let _ = schedule_fifo(PRIORITY);
    }
    Ok(())
}
