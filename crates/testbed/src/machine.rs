//! Processor time that this machine withheld from a run, by /proc.

use std::fs::{self, DirEntry};

use ropewalk_quantities::Time;
use rustix::time::{ClockId, clock_gettime};

/// Name of the emulator's thread, whose waits are counted separately: its lateness is more
/// informative.
pub(crate) const EMULATOR: &str = "emulator";

/// The unit of /proc/stat, which for user space is 100 Hz on every architecture (`USER_HZ`,
/// proc_stat(5)).
const TICK: Time = Time::from_millis(10);

/// Processor time withheld during a run; values unknown to the kernel are absent.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct MachineSummary {
    /// CPU time that a hypervisor took from all processors together (steal), in seconds, to 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen_s: Option<f64>,
    /// Time in which some thread of the machine waited for a processor (PSI, "some"), in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure_s: Option<f64>,
    /// CPU time of other processes than the testbed's, in seconds, to 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_s: Option<f64>,
    /// Total time in which threads of the run were ready without a processor, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_s: Option<f64>,
    /// Mean wait of a thread after it becomes ready, without the emulator's, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    processors: Option<Processors>,
    pressure: Option<Time>,
    own: Time,
    waits: Option<Waits>,
}

/// All processors together since the machine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Processors {
    busy: Time,
    stolen: Time,
}

/// Waits of threads in a run queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Waiting time.
    pub waited: Time,
    /// Number of time slices.
    pub slices: u64,
}

impl Waits {
    /// Waits of the calling thread since its start; `None` if the kernel does not count them.
    pub(crate) fn of_this_thread() -> Option<Waits> {
        Waits::parse(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
    }

    /// Waits of this process's current threads, except the emulator's.
    fn of_threads() -> Option<Waits> {
        let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
        // A thread may end meanwhile.
        let read = |thread: &DirEntry, file| fs::read_to_string(thread.path().join(file)).ok();
        threads
            .filter(|thread| read(thread, "comm").is_some_and(|name| name.trim_end() != EMULATOR))
            .filter_map(|thread| Waits::parse(&read(&thread, "schedstat")?))
            .reduce(Waits::and)
    }

    /// Parses nanoseconds on a processor, nanoseconds of waiting, and time slices (the kernel's
    /// Documentation/scheduler/sched-stats.rst).
    fn parse(text: &str) -> Option<Waits> {
        let mut fields = text.split_whitespace().skip(1);
        Some(Waits {
            waited: Time::from_nanos(fields.next()?.parse().ok()?),
            slices: fields.next()?.parse().ok()?,
        })
    }

    pub(crate) fn and(self, other: Waits) -> Waits {
        Waits {
            waited: self.waited + other.waited,
            slices: self.slices + other.slices,
        }
    }

    fn since(self, before: Waits) -> Waits {
        Waits {
            waited: self.waited.saturating_sub(before.waited),
            slices: self.slices.saturating_sub(before.slices),
        }
    }
}

impl Reading {
    pub(crate) fn now() -> Reading {
        let stat = fs::read_to_string("/proc/stat").ok();
        let pressure = fs::read_to_string("/proc/pressure/cpu").ok();
        let own = clock_gettime(ClockId::ProcessCPUTime);
        Reading {
            processors: stat.and_then(|text| Processors::parse(&text)),
            pressure: pressure.and_then(|text| parse_pressure(&text)),
            own: Time::from_nanos(own.tv_sec as u64 * 1_000_000_000 + own.tv_nsec as u64),
            waits: Waits::of_threads(),
        }
    }

    /// Differences from an earlier reading, with the waits of the emulator's thread and of ended
    /// threads.
    pub(crate) fn since(
        &self,
        before: &Reading,
        emulator: Option<Waits>,
        ended: Option<Waits>,
    ) -> MachineSummary {
        let others = self.waits.zip(before.waits).zip(ended);
        let others = others.map(|((to, from), ended)| to.since(from).and(ended));
        let processors = self.processors.zip(before.processors);
        let own = self.own.saturating_sub(before.own);
        let seconds = |to: Time, from: Time| to.saturating_sub(from).as_secs_f64();
        MachineSummary {
            stolen_s: processors.map(|(to, from)| seconds(to.stolen, from.stolen)),
            pressure_s: self
                .pressure
                .zip(before.pressure)
                .map(|(to, from)| seconds(to, from)),
            others_s: processors.map(|(to, from)| seconds(to.busy, from.busy + own)),
            waited_s: others.map(|others| {
                let all = others.and(emulator.unwrap_or_default());
                all.waited.as_secs_f64()
            }),
            wait_ms: others
                .filter(|others| others.slices > 0)
                .map(|others| others.waited.as_millis_f64() / others.slices as f64),
        }
    }
}

impl Processors {
    /// After the name: user, nice, system, idle, iowait, irq, softirq, steal.
    fn parse(text: &str) -> Option<Processors> {
        let all = text.lines().find(|line| line.starts_with("cpu "))?;
        let ticks: Vec<u64> = all
            .split_whitespace()
            .skip(1)
            .map_while(|field| field.parse().ok())
            .collect();
        let time = |ticks: u64| Time::from_nanos(ticks * TICK.as_nanos());
        Some(Processors {
            busy: time(ticks.get(..3)?.iter().sum()),
            stolen: time(*ticks.get(7)?),
        })
    }
}

/// The total of the line "some", in microseconds (the kernel's Documentation/accounting/psi.rst).
fn parse_pressure(text: &str) -> Option<Time> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let total = some
        .split_whitespace()
        .find_map(|field| field.strip_prefix("total="))?;
    Some(Time::from_micros(total.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_by_the_line_of_all() {
        let text = "cpu  10 20 30 40 50 60 70 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        let all = Processors {
            busy: Time::from_millis(600),
            stolen: Time::from_millis(800),
        };
        assert_eq!(Processors::parse(text), Some(all));
        assert_eq!(Processors::parse("cpu  10 20\n"), None);
        assert_eq!(Processors::parse("cpu0 1 2 3 4 5 6 7 8 0 0\n"), None);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let text = "some avg10=98.11 avg60=85.89 avg300=34.68 total=137594733\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(parse_pressure(text), Some(Time::from_micros(137_594_733)));
        assert_eq!(parse_pressure("full avg10=0.00 total=7\n"), None);
    }

    #[test]
    fn waits_are_the_second_and_third_number() {
        let waits = Waits {
            waited: Time::from_nanos(5_704_275),
            slices: 3,
        };
        assert_eq!(Waits::parse("1826186 5704275 3\n"), Some(waits));
        assert_eq!(Waits::parse("1826186\n"), None);
    }

    #[test]
    fn the_emulator_waits_in_the_sum_and_not_in_the_mean() {
        let reading = |busy, stolen, pressure, own| Reading {
            processors: Some(Processors {
                busy: Time::from_secs(busy),
                stolen: Time::from_secs(stolen),
            }),
            pressure: Some(Time::from_secs(pressure)),
            own: Time::from_secs(own),
            waits: Some(Waits {
                waited: Time::from_secs(own),
                slices: 10 * own,
            }),
        };
        let waits = |millis, slices| Waits {
            waited: Time::from_millis(millis),
            slices,
        };
        let (before, after) = (reading(10, 1, 5, 2), reading(21, 3, 6, 8));
        let found = after.since(&before, Some(waits(500, 7)), Some(waits(250, 40)));
        let expected = MachineSummary {
            stolen_s: Some(2.0),
            pressure_s: Some(1.0),
            others_s: Some(5.0),
            waited_s: Some(6.75),
            wait_ms: Some(62.5),
        };
        assert_eq!(found, expected);
    }
}
