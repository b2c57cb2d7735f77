//! Recorded capacities and delays.

use ropewalk_quantities::{Rate, Time};

/// Bytes of an IP packet that fills an Ethernet frame.
pub(crate) const FULL_PACKET: u64 = 1500;

/// Longest delay that a file may have, in milliseconds.
const LONGEST_MS: f64 = 60_000.0;

/// Recorded capacity in mahimahi's format: each entry is an opportunity to deliver 1500 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Name in the scenario (the path of the file).
    pub name: String,
    /// Times of the opportunities in milliseconds from the start, never decreasing.
    pub opportunities_ms: Vec<u32>,
}

/// Error in a trace file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is not a time and a delay.
    #[error(
        "line {line}: {text:?} is not a time in whole milliseconds and a delay in milliseconds"
    )]
    NotADelay {
        /// Line number, counted from 1.
        line: usize,
        /// The beginning of the line.
        text: String,
    },
    /// A line is not a whole number of milliseconds.
    #[error("line {line}: {text:?} is not a whole number of milliseconds")]
    NotANumber {
        /// Line number, counted from 1.
        line: usize,
        /// The beginning of the line.
        text: String,
    },
    /// Times decrease.
    #[error("line {line}: {ms} ms comes before the {before} ms above it")]
    Decreasing {
        /// Line number, counted from 1.
        line: usize,
        /// The time on this line.
        ms: u32,
        /// The time on the line above.
        before: u32,
    },
    /// The file has no line.
    #[error("the file is empty")]
    Empty,
    /// All opportunities are at 0 ms, so the trace has no period.
    #[error("no delivery opportunity after 0 ms")]
    NoPeriod,
}

impl Trace {
    /// Parses mahimahi's format: one time in milliseconds per line; blank lines are skipped.
    ///
    /// # Errors
    /// A line is not a number, times decrease, or the trace is empty.
    pub fn parse(name: &str, text: &str) -> Result<Trace, TraceError> {
        let mut opportunities_ms = Vec::new();
        let mut before = 0;
        for (line, content) in filled_lines(text) {
            let ms: u32 = content.parse().map_err(|_| TraceError::NotANumber {
                line,
                text: content.chars().take(40).collect(),
            })?;
            if ms < before {
                return Err(TraceError::Decreasing { line, ms, before });
            }
            opportunities_ms.push(ms);
            before = ms;
        }
        match opportunities_ms.last() {
            None => return Err(TraceError::Empty),
            Some(0) => return Err(TraceError::NoPeriod),
            Some(_) => {}
        }
        Ok(Trace {
            name: name.to_owned(),
            opportunities_ms,
        })
    }

    /// Returns the period after which the trace repeats: the time of the last entry.
    pub fn period(&self) -> Time {
        Time::from_millis(u64::from(*self.opportunities_ms.last().unwrap_or(&1)))
    }

    /// Returns the mean rate over a period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities_ms.len() as u64 * FULL_PACKET * 8;
        Rate::from_mbps(bits as f64 / self.period().as_secs_f64() / 1e6)
    }
}

/// Returns the lines that are not blank, trimmed, with their numbers from 1.
fn filled_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines().map(str::trim));
    numbered.filter(|(_, content)| !content.is_empty())
}

/// Recorded variation of a delay: a step function of time.
///
/// ```
/// use ropewalk_network::DelayTrace;
/// use ropewalk_quantities::Time;
///
/// let trace = DelayTrace::parse("lte.delays", "0 12.5\n1000 80\n")?;
/// assert_eq!(trace.at(Time::from_millis(999)), Time::from_micros(12_500));
/// assert_eq!(trace.at(Time::from_secs(5)), Time::from_millis(80));
/// # Ok::<(), ropewalk_network::TraceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    /// Name in the scenario (the path of the file).
    pub name: String,
    /// Start of each step, and the delay from then on; at least one.
    steps: Vec<(Time, Time)>,
}

impl DelayTrace {
    /// Parses lines with a time and a delay, both in milliseconds, separated by blanks or a comma; blank
    /// lines are skipped.
    ///
    /// # Errors
    /// A line is not a time and a delay of at most a minute, times decrease, or there is no line.
    pub fn parse(name: &str, text: &str) -> Result<DelayTrace, TraceError> {
        let mut steps = Vec::new();
        let mut before = 0;
        for (line, content) in filled_lines(text) {
            let (ms, delay) = step(content).ok_or_else(|| TraceError::NotADelay {
                line,
                text: content.chars().take(40).collect(),
            })?;
            if ms < before {
                return Err(TraceError::Decreasing { line, ms, before });
            }
            steps.push((Time::from_millis(u64::from(ms)), delay));
            before = ms;
        }
        match steps.is_empty() {
            true => Err(TraceError::Empty),
            false => Ok(DelayTrace {
                name: name.to_owned(),
                steps,
            }),
        }
    }

    /// Returns the delay at a time. Before the first line it is the first line's, after the last the last's.
    pub fn at(&self, time: Time) -> Time {
        let later = self.steps.partition_point(|(start, _)| *start <= time);
        self.steps[later.saturating_sub(1)].1
    }

    /// Returns the longest delay.
    pub fn most(&self) -> Time {
        let delays = self.steps.iter().map(|(_, delay)| *delay);
        delays.max().unwrap_or(Time::ZERO)
    }
}

fn step(content: &str) -> Option<(u32, Time)> {
    let mut numbers = content
        .split(|at: char| at == ',' || at.is_whitespace())
        .filter(|part| !part.is_empty());
    let ms = numbers.next()?.parse().ok()?;
    let delay: f64 = numbers.next()?.parse().ok()?;
    let allowed = (0.0..=LONGEST_MS).contains(&delay) && numbers.next().is_none();
    allowed.then(|| (ms, Time::from_secs_f64(delay / 1e3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_begins_at_its_time_and_the_last_stays() {
        let trace = DelayTrace::parse("a", "10,5\n\n 20\t0.25 \n30 40").unwrap();
        let at = |ms| trace.at(Time::from_millis(ms)).as_millis_f64();
        assert_eq!(
            [0, 10, 19, 20, 29, 30, 1_000_000].map(at),
            [5.0, 5.0, 5.0, 0.25, 0.25, 40.0, 40.0]
        );
        assert_eq!(trace.most(), Time::from_millis(40));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, said) in [
            ("", "the file is empty"),
            ("0 1\n2", "line 2: \"2\" is not a time"),
            ("0 1 2", "line 1"),
            ("0.5 1", "line 1"),
            ("0 -1", "line 1"),
            ("0 NaN", "line 1"),
            ("0 60001", "line 1"),
            ("5 1\n4 1", "line 2: 4 ms comes before the 5 ms above it"),
        ] {
            let error = DelayTrace::parse("a", text).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
