//! A request of a reader, and what it is told of all answers.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Think, Thinking};

use crate::draws::exponential;
use crate::outcome::DelaySummary;
use crate::timeliness::Late;

/// A request of a reader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ask {
    /// The reader's identifier of it.
    pub(super) tag: u32,
    /// Size of the answer, in bytes.
    pub(super) size: u64,
    /// From 0, the most urgent, to 7 (RFC 9218, 4.1).
    pub(super) urgency: u8,
    /// Deadline of the answer, as a time after the request arrives at the writer, if it has one.
    pub(super) span: Option<Time>,
}

/// All answers to requests of the measured time.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) count: u64,
    pub(super) response_s: Option<DelaySummary>,
    pub(super) late: Late,
}

/// The next think time.
pub(super) fn thought(think: Think, random: &mut Pcg64Mcg) -> Time {
    match think.thinking {
        Thinking::Fixed => think.time,
        Thinking::Exponential => {
            Time::from_nanos((exponential(random) * think.time.as_nanos() as f64) as u64)
        }
    }
}
