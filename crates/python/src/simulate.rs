//! Many seeds of one scenario at once, with the interpreter's lock released.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, Outcome, Unsupported};

use crate::ScenarioError;
use crate::run::Run;
use crate::scenario::Scenario;

/// How often an interrupt is looked for while runs are under way.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);
/// How many steps a timeline may have.
const MOST_STEPS: u64 = 1_000_000;

/// Runs a scenario once for each seed, on `threads` threads (default: all).
///
/// The runs come in the order of the seeds. `progress` is called with the
/// number of finished runs after each. An interrupt ends the call at once;
/// runs under way then end by themselves, unheard, and no further one starts.
#[pyfunction]
#[pyo3(signature = (scenario, seeds, *, step=None, reordering=false, threads=None, progress=None))]
pub fn simulate(
    py: Python<'_>,
    scenario: &Scenario,
    seeds: Vec<u64>,
    step: Option<&str>,
    reordering: bool,
    threads: Option<NonZeroUsize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Run>> {
    let duration = scenario.parsed.duration;
    let options = Options {
        timeline_step: step.map(|text| step_of(text, duration)).transpose()?,
        reordering,
    };
    let total = seeds.len();
    let threads = threads
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);

    let mut runs = Runs::start(scenario, seeds, options, threads);
    let mut outcomes: Vec<Option<Outcome>> = vec![None; total];
    let mut finished = 0;
    while finished < total {
        let receiver = &mut runs.finished;
        match py.detach(move || receiver.recv_timeout(SIGNAL_CHECK)) {
            Ok((index, outcome)) => {
                outcomes[index] = Some(outcome.map_err(Failure::into_error)?);
                finished += 1;
                if let Some(progress) = progress {
                    progress.call1((finished,))?;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a run ended without a result"));
            }
        }
        py.check_signals()?;
    }
    Ok(outcomes
        .into_iter()
        .flatten()
        .map(|outcome| Run { outcome })
        .collect())
}

/// A timeline's step: above zero, and not so short that a timeline would fill the memory.
fn step_of(text: &str, duration: Time) -> PyResult<Time> {
    let step: Time = text
        .parse()
        .map_err(|error| PyValueError::new_err(format!("step = {text:?}: {error}")))?;
    if step == Time::ZERO || duration.as_nanos() / step.as_nanos() > MOST_STEPS {
        return Err(PyValueError::new_err(format!(
            "step = {text:?}: would be more than {MOST_STEPS} steps in {duration}"
        )));
    }
    Ok(step)
}

/// Runs under way on threads of their own; dropping it lets no further one start.
struct Runs {
    next: Arc<AtomicUsize>,
    total: usize,
    finished: mpsc::Receiver<(usize, Result<Outcome, Failure>)>,
}

impl Runs {
    fn start(scenario: &Scenario, seeds: Vec<u64>, options: Options, threads: usize) -> Runs {
        let total = seeds.len();
        let next = Arc::new(AtomicUsize::new(0));
        let seeds: Arc<[u64]> = seeds.into();
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.min(total) {
            let (scenario, seeds) = (Arc::clone(&scenario.parsed), Arc::clone(&seeds));
            let (next, sender) = (Arc::clone(&next), sender.clone());
            thread::spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&seed) = seeds.get(index) else {
                        return;
                    };
                    let outcome = run(&scenario, seed, &options);
                    if sender.send((index, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        Runs {
            next,
            total,
            finished: receiver,
        }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.next.store(self.total, Ordering::Relaxed);
    }
}

/// One run by the clock; a panic is a failed run, not the end of the process.
fn run(
    scenario: &ropewalk_scenario::Scenario,
    seed: u64,
    options: &Options,
) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let simulated = catch_unwind(AssertUnwindSafe(|| {
        ropewalk_simulator::simulate(scenario, seed, options)
    }));
    let mut outcome = match simulated {
        Ok(outcome) => outcome.map_err(Failure::Unsupported)?,
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("unknown cause");
            return Err(Failure::Panic(format!(
                "the run with seed {seed} failed: {text}"
            )));
        }
    };
    outcome.summary.stats.wall_s = Some(start.elapsed().as_secs_f64());
    Ok(outcome)
}

/// Why a run has no outcome.
enum Failure {
    Unsupported(Unsupported),
    Panic(String),
}

impl Failure {
    fn into_error(self) -> PyErr {
        match self {
            Failure::Unsupported(error) => ScenarioError::new_err(error.to_string()),
            Failure::Panic(text) => PyRuntimeError::new_err(text),
        }
    }
}
