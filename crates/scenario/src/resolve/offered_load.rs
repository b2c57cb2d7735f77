//! Limit of the clocked load that flows offer, since queued messages take memory.

use ropewalk_quantities::{Rate, Time};

use crate::error::Problem;
use crate::limits::MAX_OFFERED;
use crate::model::{Flow, Traffic};
use crate::report::Report;
use crate::section::Section;

pub(super) struct OfferedLoad {
    duration: Time,
    before: f64,
}

impl OfferedLoad {
    pub fn new(duration: Time) -> OfferedLoad {
        OfferedLoad {
            duration,
            before: 0.0,
        }
    }

    /// Adds a flow's load, and reports the first flow above the limit.
    pub fn add(&mut self, flow: &Flow, traffic: Option<&Section>, report: &mut Report) {
        let lasts = self.duration.saturating_sub(flow.start);
        let own = flow.traffic.offered(lasts) * f64::from(flow.count);
        let left = MAX_OFFERED as f64 - self.before;
        self.before += own;
        let Some(traffic) = traffic.filter(|_| left >= 0.0 && own > left) else {
            return;
        };
        let share = left / own;
        let (key, what, most) = match &flow.traffic {
            Traffic::Bulk { .. } | Traffic::Requested(_) => return,
            Traffic::Messages { rate, message, .. } => (
                "rate",
                format!("messages of {message}"),
                format!(
                    "a rate of at most {}, or larger messages",
                    whole(rate.as_bps() as f64 * share)
                ),
            ),
            Traffic::Video(video) => (
                "frame_rate",
                "frames".to_owned(),
                format!(
                    "at most {:.1} frames a second",
                    (video.frame_rate * share * 10.0).floor() / 10.0
                ),
            ),
        };
        let each = match flow.count {
            1 => String::new(),
            count => format!(", by {count} flows"),
        };
        let problem = Problem::Incompatible(format!("offers {own:.0} {what} in {lasts}{each}"));
        traffic.add_error(key, problem, report).allowed = Some(format!(
            "{MAX_OFFERED} of all flows and competitors together; here {most}, or a shorter duration"
        ));
    }
}

fn whole(bps: f64) -> Rate {
    let step = 10f64.powi(bps.max(1.0).log10() as i32 - 2).max(1.0);
    Rate::from_bps(((bps / step).floor() * step) as u64)
}
