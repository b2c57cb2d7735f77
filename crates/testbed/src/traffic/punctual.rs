//! A thread that is there when a message is.

use std::num::NonZeroU64;

use ropewalk_quantities::Time;

use super::error::TrafficError;
use super::plan::Plan;
use crate::syscalls::schedule_fifo;

/// Below the emulator's 40: a message that is handed on early waits for its link all the same.
const PRIORITY: i32 = 30;

/// With messages no closer than this an end takes a few percent of a processor at most, and starves
/// nobody, the kernel's own work for its packets least of all.
const THIN: Time = Time::from_millis(1);

/// Makes the calling thread wake when it wants to: without the 50 us by which the kernel puts off
/// timers to save wake-ups (prctl(2), PR_SET_TIMERSLACK), and for thin streams with a real-time
/// priority, where the system allows one. What lateness is left is measured.
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
        // Who may not goes on as an ordinary thread.
        let _ = schedule_fifo(PRIORITY);
    }
    Ok(())
}
