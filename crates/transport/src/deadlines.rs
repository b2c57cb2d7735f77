//! Deadlines of a stream's bytes.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

/// Delivery deadline of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// Time of the deadline.
    pub at: Time,
    /// Time from the write to the deadline.
    pub span: Time,
}

/// Deadlines of a stream's bytes. Bytes written without a deadline have none.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    /// Ends of writes in ascending order, with their deadlines; a deadline applies to the bytes from the
    /// previous end on.
    writes: VecDeque<(u64, Option<Deadline>)>,
    /// Next check for data that would miss their deadline.
    pub next_check: Time,
}

impl Deadlines {
    /// Sets the deadline of the bytes `start..end`, the last ones written.
    pub fn note(&mut self, start: u64, end: u64, deadline: Deadline) {
        if start >= end {
            return;
        }
        match self.writes.back_mut() {
            Some((last, due)) if *last == start && *due == Some(deadline) => {
                *last = end;
                return;
            }
            Some((last, _)) if *last < start => self.writes.push_back((start, None)),
            None if start > 0 => self.writes.push_back((start, None)),
            _ => {}
        }
        self.writes.push_back((end, Some(deadline)));
    }

    /// Forgets deadlines before `offset`.
    pub fn forget_before(&mut self, offset: u64) {
        while self.writes.front().is_some_and(|&(end, _)| end <= offset) {
            self.writes.pop_front();
        }
    }

    /// The deadline of the byte at `offset`, if it has one.
    #[must_use]
    pub fn of(&self, offset: u64) -> Option<Deadline> {
        Some(self.write_at(offset)?.0)
    }

    /// The deadline of the byte at `offset`, and the number of bytes from it on with that deadline.
    #[must_use]
    pub fn write_at(&self, offset: u64) -> Option<(Deadline, u64)> {
        let at = self.writes.partition_point(|&(end, _)| end <= offset);
        let &(end, deadline) = self.writes.get(at)?;
        Some((deadline?, end - offset))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn byte_has_deadline_of_its_write(
            writes in prop::collection::vec((1u64..6, prop::option::of(0u64..4)), 1..30),
            forgotten in 0u64..40,
        ) {
            let mut deadlines = Deadlines::default();
            let mut bytes = Vec::new();
            for (len, deadline) in writes {
                let start = bytes.len() as u64;
                let deadline = deadline.map(|millis| Deadline {
                    at: Time::from_millis(millis),
                    span: Time::from_millis(1),
                });
                bytes.extend((0..len).map(|_| deadline));
                if let Some(deadline) = deadline {
                    deadlines.note(start, start + len, deadline);
                }
            }
            deadlines.forget_before(forgotten);
            for (offset, deadline) in bytes.iter().enumerate().skip(forgotten as usize) {
                prop_assert_eq!(deadlines.of(offset as u64), *deadline);
                let left = deadlines.write_at(offset as u64).map_or(0, |(_, left)| left as usize);
                prop_assert_eq!(left > 0, deadline.is_some());
                prop_assert!(bytes[offset..offset + left].iter().all(|one| one == deadline));
            }
            prop_assert_eq!(deadlines.of(bytes.len() as u64), None);
        }
    }
}
