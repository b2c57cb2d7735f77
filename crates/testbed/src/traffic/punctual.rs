//! Lets a thread wake punctually when a message is due.

use std::num::NonZeroU64;

use ropewalk_quantities::Time;

use super::error::TrafficError;
use super::plan::Plan;
use crate::syscalls::schedule_fifo;

/// Below the emulator's 40: a message that is sent early waits for its link all the same.
const PRIORITY: i32 = 30;

/// If messages are at least this far apart, an end takes a few percent of a processor at most and starves no
/// other thread, least of all the kernel's own packet processing.
const THIN: Time = Time::from_millis(1);

/// Lets the calling thread wake on time: without the timer slack of 50 us by which the kernel saves wake-ups
/// (prctl(2), PR_SET_TIMERSLACK), and for thin streams with a real-time priority, if the system allows that.
/// The lateness that remains is measured.
///
/// # Errors
/// The timer slack cannot be set.
pub(crate) fn be_punctual(plan: &Plan) -> Result<(), TrafficError> {
    let slack = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    slack.map_err(|errno| TrafficError::System {
        call: "prctl",
        source: errno.into(),
    })?;
    if plan.schedule().is_some_and(|thin| thin.spacing() >= THIN) {
        // Without the right, it goes on as an ordinary thread.
        let _ = schedule_fifo(PRIORITY);
    }
    Ok(())
}
