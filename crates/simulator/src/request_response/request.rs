//! Requests of a reader, and the measurements of all responses.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{ThinkDistribution, ThinkTime};

use crate::outcome::DelaySummary;
use crate::random::exponential;
use crate::timeliness::LateCounts;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) tag: u32,
    /// Size of the response, in bytes.
    pub(super) size: u64,
    /// From 0, the most urgent, to 7 (RFC 9218, 4.1).
    pub(super) urgency: u8,
    /// Deadline of the response, as a time after the request arrives at the writer.
    pub(super) span: Option<Time>,
}

/// Responses to all requests of the measured time.
#[derive(Debug)]
pub(super) struct ResponseStats {
    pub(super) count: u64,
    pub(super) response_s: Option<DelaySummary>,
    pub(super) late: LateCounts,
}

pub(super) fn think_time(think: ThinkTime, random: &mut Pcg64Mcg) -> Time {
    match think.thinking {
        ThinkDistribution::Fixed => think.time,
        ThinkDistribution::Exponential => {
            Time::from_nanos((exponential(random) * think.time.as_nanos() as f64) as u64)
        }
    }
}
