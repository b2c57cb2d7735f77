//! Upper limits of a scenario, for bounded time and memory.

use ropewalk_quantities::{Bytes, Rate, Time};

/// Largest scenario file, in bytes. A file with the largest numbers of links, paths and flows and
/// all defaults written out is smaller. Callers need not read more than one byte beyond it.
pub const MAX_SCENARIO_BYTES: usize = 32 << 20;
pub(crate) const MAX_SCENARIO_WORDS: &str = "32 MiB";
/// Largest trace file, in bytes.
pub const MAX_TRACE_BYTES: usize = 64 << 20;
/// Largest number of delivery opportunities in a trace.
pub const MAX_TRACE_LINES: usize = 10_000_000;

pub(crate) const MAX_OVERRIDE_BYTES: usize = 64 << 10;
pub(crate) const MAX_LINKS: usize = 65_535;
pub(crate) const MAX_CHANNELS: usize = 64;
pub(crate) const MAX_NODES: usize = 1_000;
pub(crate) const MAX_ROUTES: usize = 8;
pub(crate) const MAX_PATHS: usize = 65_535;
pub(crate) const MAX_HOPS: usize = 16;
/// Qualities of a video in chunks.
pub(crate) const MAX_QUALITIES: usize = 64;
/// Objects of a page.
pub(crate) const MAX_OBJECTS: u32 = 10_000;
pub(crate) const MAX_OUTAGES: usize = 10_000;
/// Size of a scheduler's bit set.
pub(crate) const MAX_SUBFLOWS: usize = 64;
pub(crate) const MAX_LISTED_FLOWS: usize = 65_535;
pub(crate) const MAX_FLOWS: usize = 100_000;
/// Messages and video frames that all flows offer by a clock. Each queued message takes up to 40
/// bytes.
pub(crate) const MAX_OFFERED: u64 = 100_000_000;
pub(crate) const MAX_NAME_CHARS: usize = 64;
pub(crate) const MAX_TITLE_CHARS: usize = 200;

/// Keeps sums of times far below the range of a 64-bit clock.
pub(crate) const LONGEST: Time = Time::from_secs(365 * 24 * 3600);
pub(crate) const LONGEST_DELAY: Time = Time::from_secs(24 * 3600);
pub(crate) const FASTEST: Rate = Rate::from_bps(100_000_000_000_000);
/// Keeps sums of prices times bytes finite.
pub(crate) const HIGHEST_COST: f64 = 1e9;
pub(crate) const LARGEST_BUFFER: Bytes = Bytes::from_mib(1 << 20);
pub(crate) const LARGEST_TRANSFER: Bytes = Bytes::new(1_000_000_000_000_000);
pub(crate) const MAX_QUEUED: u64 = 1_000_000_000;
