//! When a run is looked at: at the end of the warm-up, and at regular steps.

mod baseline;

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

use crate::Options;
use crate::air::Air;
use crate::world::World;
pub(crate) use baseline::Baseline;

/// Looks at the world when the warm-up is over, and at regular steps.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Everything as it stood at the end of the warm-up, once that is over.
    pub(crate) baseline: Option<Baseline>,
    pub(crate) warmup: Time,
    step: Option<Time>,
    next_step: Time,
}

impl Recorder {
    pub(crate) fn new(scenario: &Scenario, options: &Options) -> Recorder {
        Recorder {
            baseline: None,
            warmup: scenario.warmup,
            step: options.timeline_step,
            next_step: options.timeline_step.unwrap_or(Time::MAX),
        }
    }

    /// When to call [`Recorder::sample`] next.
    pub(crate) fn next(&self) -> Option<Time> {
        let warmup = match self.baseline {
            None => self.warmup,
            Some(_) => Time::MAX,
        };
        let next = warmup.min(self.next_step);
        (next != Time::MAX).then_some(next)
    }

    /// Takes the baseline at the end of the warm-up, and a row of each timeline at each step.
    pub(crate) fn sample<T: Copy, M: Air<T>>(&mut self, now: Time, world: &mut World<T, M>) {
        if self.baseline.is_none() && now >= self.warmup {
            self.baseline = Some(Baseline::take(now, world));
            for flow in &mut world.flows {
                flow.host.restart_reorder_buffer_max();
                if let Some(recorder) = &mut flow.recorder {
                    recorder.end_warmup();
                }
            }
        }
        if let Some(step) = self.step
            && now >= self.next_step
        {
            self.next_step += step;
            add_rows(now, world);
        }
    }

    /// The run is over: the timelines' last step ends here.
    pub(crate) fn finish<T: Copy, M: Air<T>>(&self, now: Time, world: &mut World<T, M>) {
        if self.step.is_some() {
            add_rows(now, world);
        }
    }
}

fn add_rows<T: Copy, M: Air<T>>(now: Time, world: &mut World<T, M>) {
    for flow in &mut world.flows {
        let held = flow.player_buffer(now);
        if let Some(recorder) = &mut flow.recorder {
            recorder.add_rows(now, &flow.host, &world.network, &flow.routes, held);
        }
    }
}
