//! Recorder of measurements at the end of the warm-up, and at regular steps.

mod baseline;
mod competitors;

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

use crate::Options;
use crate::air::Air;
use crate::run_state::RunState;
use crate::timeline::CompetitorTimeline;
pub(crate) use baseline::Baseline;
use competitors::Competitors;

#[derive(Debug)]
pub(crate) struct Recorder {
    /// Snapshot at the end of the warm-up, after that.
    pub(crate) baseline: Option<Baseline>,
    pub(crate) warmup: Time,
    step: Option<Time>,
    next_step: Time,
    /// Competitors, if any and if a timeline is requested.
    competitors: Option<Competitors>,
}

impl Recorder {
    pub(crate) fn new(scenario: &Scenario, options: &Options) -> Recorder {
        Recorder {
            baseline: None,
            warmup: scenario.warmup,
            step: options.timeline_step,
            next_step: options.timeline_step.unwrap_or(Time::MAX),
            competitors: options
                .timeline_step
                .and_then(|_| Competitors::new(scenario)),
        }
    }

    pub(crate) fn next(&self) -> Option<Time> {
        let warmup = match self.baseline {
            None => self.warmup,
            Some(_) => Time::MAX,
        };
        let next = warmup.min(self.next_step);
        (next != Time::MAX).then_some(next)
    }

    /// Takes the baseline at the end of the warm-up, and a row of each timeline at each step.
    pub(crate) fn sample<T: Copy, M: Air<T>>(&mut self, now: Time, state: &mut RunState<T, M>) {
        if self.baseline.is_none() && now >= self.warmup {
            self.baseline = Some(Baseline::take(now, state));
            for flow in &mut state.flows {
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
            self.add_rows(now, state);
        }
    }

    /// Ends the last step of the timelines, at the end of the run.
    pub(crate) fn finish<T: Copy, M: Air<T>>(&mut self, now: Time, state: &mut RunState<T, M>) {
        if self.step.is_some() {
            self.add_rows(now, state);
        }
    }

    /// Takes the goodput of competitors over time, if requested and there are any.
    pub(crate) fn take_competitors(&mut self) -> Option<CompetitorTimeline> {
        self.competitors.take().map(|recorded| recorded.timeline)
    }

    fn add_rows<T: Copy, M: Air<T>>(&mut self, now: Time, state: &mut RunState<T, M>) {
        for flow in &mut state.flows {
            let held = flow.player_buffer(now);
            if let Some(recorder) = &mut flow.recorder {
                recorder.add_rows(now, &flow.host, &state.network, &flow.routes, held);
            }
        }
        if let Some(competitors) = &mut self.competitors {
            competitors.add_rows(now, state);
        }
    }
}
