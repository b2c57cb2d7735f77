//! Parallel runs of a scenario, with the interpreter's lock released.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use ropewalk_capture::{FileError, ObservationPoint, PacketPlan, Plan, Recording};
use ropewalk_quantities::Time;
use ropewalk_simulator::{Options, Unsupported, simulate as simulate_unwatched, simulate_watched};

use crate::ScenarioError;
use crate::run::Run;
use crate::scenario::Scenario;

/// Interval of interrupt checks during runs.
const SIGNAL_CHECK: Duration = Duration::from_millis(100);
/// Time to wait for an abandoned run.
const ABANDON_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_STEPS: u64 = 1_000_000;

/// Runs a scenario once per seed, on `threads` threads (default: all).
///
/// Returns runs in seed order. `progress` is called with the number of finished runs after each. An
/// interrupt ends the call at once: running simulations end without results and no more are
/// started. A single run on one thread uses the caller's thread, unless that one receives
/// interrupts.
///
/// `files` has the outputs of the first run: the path of a capture, its observation point and its
/// number of bytes per packet; and the path of a qlog.
#[pyfunction]
#[pyo3(signature = (
    scenario, seeds, *, step=None, reordering=false, threads=None, progress=None,
    capture=None, capture_at="sender", snaplen=None, qlog=None,
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments")]
pub fn simulate(
    py: Python<'_>,
    scenario: &Scenario,
    seeds: Vec<u64>,
    step: Option<&str>,
    reordering: bool,
    threads: Option<NonZeroUsize>,
    progress: Option<&Bound<'_, PyAny>>,
    capture: Option<PathBuf>,
    capture_at: &str,
    snaplen: Option<u32>,
    qlog: Option<PathBuf>,
) -> PyResult<Vec<Run>> {
    let duration = scenario.parsed.duration;
    let options = Options {
        timeline_step: step.map(|text| step_of(text, duration)).transpose()?,
        reordering,
    };
    let plan = Plan {
        packets: capture
            .map(|path| -> PyResult<PacketPlan> {
                let place = ObservationPoint::parse(capture_at, &scenario.parsed);
                Ok(PacketPlan {
                    path,
                    place: place
                        .map_err(|error| PyValueError::new_err(format!("capture_at = {error}")))?,
                    snaplen,
                })
            })
            .transpose()?,
        qlog,
    };
    let recording = match seeds.first() {
        Some(&seed) if plan != Plan::default() => {
            let begun = Recording::create(&plan, &scenario.parsed, seed);
            Some(begun.map_err(|error| Failure::File(error).into_error())?)
        }
        _ => None,
    };
    let total = seeds.len();
    let threads = threads
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);

    if let [seed] = seeds[..]
        && threads == 1
        && recording.is_none()
        && progress.is_none()
        && !is_main_thread(py)?
    {
        // No other thread needs to wake for it, and interrupts are not delivered to this one.
        let parsed = &scenario.parsed;
        let outcome = py.detach(|| run(parsed, seed, &options, None));
        return Ok(vec![outcome.map_err(Failure::into_error)?]);
    }
    let mut runs = Runs::start(scenario, seeds, options, threads, recording);
    let mut outcomes: Vec<Option<Run>> = (0..total).map(|_| None).collect();
    let mut finished = 0;
    while finished < total {
        let receiver = &mut runs.finished;
        match py.detach(move || receiver.recv_timeout(SIGNAL_CHECK)) {
            Ok((index, outcome)) => {
                if index == 0 {
                    runs.recording = None;
                }
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
    Ok(outcomes.into_iter().flatten().collect())
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main: u64 = threading
        .call_method0("main_thread")?
        .getattr("ident")?
        .extract()?;
    let own: u64 = threading.call_method0("get_ident")?.extract()?;
    Ok(main == own)
}

/// A timeline's step: positive, and long enough for memory.
fn step_of(text: &str, duration: Time) -> PyResult<Time> {
    let step: Time = text
        .parse()
        .map_err(|error| PyValueError::new_err(format!("step = {text:?}: {error}")))?;
    let least = Time::from_nanos(duration.as_nanos().div_ceil(MAX_STEPS));
    let wrong = match step {
        Time::ZERO => "must be greater than zero".to_owned(),
        _ if step < least => format!("would be more than {MAX_STEPS} steps in {duration}"),
        _ => return Ok(step),
    };
    Err(PyValueError::new_err(format!(
        "step = {text:?}: {wrong}; allowed: a time of at least {least}"
    )))
}

/// Running simulations on their own threads. Dropping it starts no more runs, and removes
/// unfinished files of the first.
struct Runs {
    next: Arc<AtomicUsize>,
    total: usize,
    finished: mpsc::Receiver<(usize, Result<Run, Failure>)>,
    /// Set to end the first run while it has open files.
    recording: Option<Arc<AtomicBool>>,
}

impl Runs {
    fn start(
        scenario: &Scenario,
        seeds: Vec<u64>,
        options: Options,
        threads: usize,
        recording: Option<Recording>,
    ) -> Runs {
        let total = seeds.len();
        let next = Arc::new(AtomicUsize::new(0));
        let seeds: Arc<[u64]> = seeds.into();
        let (sender, receiver) = mpsc::channel();
        let abandoned = recording.as_ref().map(Recording::abandoned);
        let recording = Arc::new(Mutex::new(recording));
        for _ in 0..threads.min(total) {
            let (scenario, seeds) = (Arc::clone(&scenario.parsed), Arc::clone(&seeds));
            let (next, sender) = (Arc::clone(&next), sender.clone());
            let recording = Arc::clone(&recording);
            thread::spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&seed) = seeds.get(index) else {
                        return;
                    };
                    let recording = match index {
                        0 => recording.lock().ok().and_then(|mut slot| slot.take()),
                        _ => None,
                    };
                    let outcome = run(&scenario, seed, &options, recording);
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
            recording: abandoned,
        }
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        self.next.store(self.total, Ordering::Relaxed);
        if let Some(abandoned) = &self.recording {
            abandoned.store(true, Ordering::Relaxed);
            // It ends within an event; its files are then removed.
            while let Ok((index, _)) = self.finished.recv_timeout(ABANDON_TIMEOUT) {
                if index == 0 {
                    return;
                }
            }
        }
    }
}

/// One run with its wall-clock time; a panic is a failed run.
fn run(
    scenario: &ropewalk_scenario::Scenario,
    seed: u64,
    options: &Options,
    recording: Option<Recording>,
) -> Result<Run, Failure> {
    let start = Instant::now();
    let simulated = catch_unwind(AssertUnwindSafe(|| -> Result<_, Failure> {
        let Some(mut recording) = recording else {
            return Ok((simulate_unwatched(scenario, seed, options)?, None));
        };
        let outcome = simulate_watched(scenario, seed, options, &mut recording)?;
        Ok((outcome, recording.finish()?))
    }));
    let (mut outcome, captured) = match simulated {
        Ok(outcome) => outcome?,
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
    Ok(Run { outcome, captured })
}

enum Failure {
    Unsupported(Unsupported),
    File(FileError),
    Panic(String),
}

impl From<Unsupported> for Failure {
    fn from(error: Unsupported) -> Failure {
        Failure::Unsupported(error)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        Failure::File(error)
    }
}

impl Failure {
    fn into_error(self) -> PyErr {
        match self {
            Failure::Unsupported(error) => ScenarioError::new_err(error.to_string()),
            Failure::File(error @ FileError::UnknownEnding { .. }) => {
                PyValueError::new_err(error.to_string())
            }
            Failure::File(error) => PyOSError::new_err(error.to_string()),
            Failure::Panic(text) => PyRuntimeError::new_err(text),
        }
    }
}
