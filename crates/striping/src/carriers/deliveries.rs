//! Sums of what carriers deliver up to some time, brought up to date where single carriers have changed.
//!
//! Each such update rounds anew, so a sum is known only within a bound, and where that does not decide it is added
//! up again. For all but a few in a thousand questions it decides: the error is far below a byte.

use ropewalk_transport::scheduling::earliest_arrival::Arrival;

/// So many changes are remembered. To bring a sum up to date by more takes about as long as to add it up.
const REMEMBERED: usize = 16;

/// Relative bound of a sum's error. Each addition and each update of it adds less than ten times the precision of
/// the numbers, 1e-16; it is added up again after [`UPDATES`].
const ERROR: f64 = 1e-10;
const UPDATES: u32 = 10_000;

/// How one carrier has changed.
#[derive(Clone, Copy, Debug)]
struct Change {
    before: Arrival,
    after: Arrival,
}

/// The last changes of carriers.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    last: [Change; REMEMBERED],
    /// How many there were.
    count: u64,
}

impl Default for Changes {
    fn default() -> Changes {
        let none = Arrival {
            arrives_in: 0.0,
            rate: 0.0,
        };
        let change = Change {
            before: none,
            after: none,
        };
        Changes {
            last: [change; REMEMBERED],
            count: 0,
        }
    }
}

impl Changes {
    pub(super) fn add(&mut self, before: Arrival, after: Arrival) {
        self.last[self.count as usize % REMEMBERED] = Change { before, after };
        self.count += 1;
    }
}

/// Bytes that all carriers deliver up to a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deliveries {
    /// In seconds.
    until: f64,
    bytes: f64,
    /// The largest number that was added to, or taken from, so far.
    greatest: f64,
    updates: u32,
    /// How many changes are taken into account.
    seen: u64,
}

impl Default for Deliveries {
    fn default() -> Deliveries {
        Deliveries::UNKNOWN
    }
}

impl Deliveries {
    /// Nothing is known.
    pub(super) const UNKNOWN: Deliveries = Deliveries {
        until: f64::NAN,
        bytes: 0.0,
        greatest: 0.0,
        updates: 0,
        seen: 0,
    };

    /// Whole bytes that are delivered up to a time, if they are less than `enough`. `all` adds up what each carrier
    /// delivers until then.
    #[inline]
    pub(super) fn below(
        &mut self,
        until: f64,
        enough: f64,
        changes: &Changes,
        all: impl FnOnce() -> f64,
    ) -> Option<u64> {
        if self.follow(until, changes) {
            let error = ERROR * self.greatest;
            let (least, most) = (self.bytes - error, self.bytes + error);
            if least >= enough {
                return None;
            }
            if most < enough && least as u64 == most as u64 {
                return Some(most as u64);
            }
        }
        let bytes = all();
        *self = Deliveries {
            until,
            bytes,
            greatest: bytes,
            updates: 0,
            seen: changes.count,
        };
        (bytes < enough).then_some(bytes as u64)
    }

    /// Takes the changes since into account. Returns whether that was possible.
    #[inline]
    fn follow(&mut self, until: f64, changes: &Changes) -> bool {
        let new = changes.count - self.seen;
        if self.until.to_bits() != until.to_bits()
            || new > REMEMBERED as u64
            || self.updates > UPDATES
        {
            return false;
        }
        for number in self.seen..changes.count {
            let Change { before, after } = changes.last[number as usize % REMEMBERED];
            let more = self.bytes + after.delivers(until);
            self.greatest = self.greatest.max(more);
            self.bytes = more - before.delivers(until);
        }
        self.updates += new as u32;
        self.seen = changes.count;
        true
    }
}
