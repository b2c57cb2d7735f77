//! Upper limits of a scenario, so that every input is answered quickly.

use ropewalk_quantities::{Bytes, Rate, Time};

/// The largest scenario file, in bytes. A file with the highest number of links, paths and flows and every
/// default written out is smaller. A caller need not read more than one byte beyond this limit.
pub const MAX_SCENARIO_BYTES: usize = 32 << 20;
pub(crate) const MAX_SCENARIO_WORDS: &str = "32 MiB";
/// The largest trace file, in bytes.
pub const MAX_TRACE_BYTES: usize = 64 << 20;
/// The highest number of delivery opportunities in a trace.
pub const MAX_TRACE_LINES: usize = 10_000_000;

pub(crate) const MAX_OVERRIDE_BYTES: usize = 64 << 10;
pub(crate) const MAX_LINKS: usize = 65_535;
pub(crate) const MAX_CHANNELS: usize = 64;
pub(crate) const MAX_NODES: usize = 1_000;
/// The highest number of routes that one `[[path]]` or `[mesh]` asks for.
pub(crate) const MAX_ROUTES: usize = 8;
pub(crate) const MAX_PATHS: usize = 65_535;
pub(crate) const MAX_HOPS: usize = 16;
pub(crate) const MAX_OUTAGES: usize = 10_000;
/// As many subflows as a scheduler's bit set holds.
pub(crate) const MAX_SUBFLOWS: usize = 64;
/// Entries of `[[flow]]`, and of `[[competitor]]`.
pub(crate) const MAX_LISTED_FLOWS: usize = 65_535;
/// All flows together, competitors included.
pub(crate) const MAX_FLOWS: usize = 100_000;
/// Messages and frames of video that all flows together offer by a clock. What no link takes away waits, up to
/// 40 bytes a message.
pub(crate) const MAX_OFFERED: u64 = 100_000_000;
pub(crate) const MAX_NAME_CHARS: usize = 64;
pub(crate) const MAX_TITLE_CHARS: usize = 200;

/// With longer times, sums of times would approach the end of a 64-bit clock.
pub(crate) const LONGEST: Time = Time::from_secs(365 * 24 * 3600);
pub(crate) const LONGEST_DELAY: Time = Time::from_secs(24 * 3600);
pub(crate) const FASTEST: Rate = Rate::from_bps(100_000_000_000_000);
/// Sums of prices times what is carried stay finite, and their shares known.
pub(crate) const HIGHEST_COST: f64 = 1e9;
pub(crate) const LARGEST_BUFFER: Bytes = Bytes::from_mib(1 << 20);
pub(crate) const LARGEST_TRANSFER: Bytes = Bytes::new(1_000_000_000_000_000);
pub(crate) const MAX_QUEUED: u64 = 1_000_000_000;
