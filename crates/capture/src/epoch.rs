//! The wall-clock time that stands for the start of a run in files.

use std::time::Duration;

use ropewalk_quantities::Time;

/// The start of a run in files: 2000-01-01T00:00:00Z, since 1970.
///
/// Not 1970 itself, since some tools (tcptrace among them) take a time of zero
/// for "not set". Not the day of the run either, since the same run gives the
/// same file, byte by byte.
pub const EPOCH: Duration = Duration::from_secs(946_684_800);

/// [`EPOCH`] after RFC 3339.
pub(crate) const EPOCH_RFC3339: &str = "2000-01-01T00:00:00.000Z";

/// A simulated time as time since 1970.
pub(crate) fn since_1970(time: Time) -> Duration {
    EPOCH + Duration::from_nanos(time.as_nanos())
}
