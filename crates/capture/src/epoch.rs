//! Wall-clock time of the start of a run in files.

use std::time::Duration;

use ropewalk_quantities::Time;

/// Start of a run in files: 2000-01-01T00:00:00Z, as time since 1970.
///
/// Not 1970 itself, since some tools, such as tcptrace, take zero for "not set". Not the real date,
/// since equal runs give byte-identical files.
pub const EPOCH: Duration = Duration::from_secs(946_684_800);

pub(crate) const EPOCH_RFC3339: &str = "2000-01-01T00:00:00.000Z";

/// Converts simulated time to time since 1970.
pub(crate) fn since_1970(time: Time) -> Duration {
    EPOCH + Duration::from_nanos(time.as_nanos())
}
