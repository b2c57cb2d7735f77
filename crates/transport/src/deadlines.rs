//! By when the bytes of a stream are to be delivered.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

/// Deadlines of a stream's bytes, by the offsets where writes end. Bytes that were written without one
/// have none.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    /// End of a write and its deadline ([`Time::MAX`]: none), by rising ends; what lies between the end
    /// before and this one has it.
    writes: VecDeque<(u64, Time)>,
}

impl Deadlines {
    /// What lies in `start..end`, at the end of all that was written, is due at `deadline`.
    pub fn note(&mut self, start: u64, end: u64, deadline: Time) {
        if start >= end {
            return;
        }
        match self.writes.back_mut() {
            Some((last, due)) if *last == start && *due == deadline => {
                *last = end;
                return;
            }
            Some((last, _)) if *last < start => self.writes.push_back((start, Time::MAX)),
            None if start > 0 => self.writes.push_back((start, Time::MAX)),
            _ => {}
        }
        self.writes.push_back((end, deadline));
    }

    /// Nothing before `offset` will be asked for again.
    pub fn forget_before(&mut self, offset: u64) {
        while self.writes.front().is_some_and(|&(end, _)| end <= offset) {
            self.writes.pop_front();
        }
    }

    /// The deadline of the byte at `offset`, if it has one.
    #[must_use]
    pub fn of(&self, offset: u64) -> Option<Time> {
        let at = self.writes.partition_point(|&(end, _)| end <= offset);
        let &(_, deadline) = self.writes.get(at)?;
        (deadline < Time::MAX).then_some(deadline)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each byte has the deadline of the write that it came with, until it is forgotten.
        #[test]
        fn each_byte_has_that_of_its_write(
            writes in prop::collection::vec((1u64..6, prop::option::of(0u64..4)), 1..30),
            forgotten in 0u64..40,
        ) {
            let mut deadlines = Deadlines::default();
            let mut bytes = Vec::new();
            for (len, deadline) in writes {
                let start = bytes.len() as u64;
                let deadline = deadline.map(Time::from_millis);
                bytes.extend((0..len).map(|_| deadline));
                if let Some(deadline) = deadline {
                    deadlines.note(start, start + len, deadline);
                }
            }
            deadlines.forget_before(forgotten);
            for (offset, deadline) in bytes.iter().enumerate().skip(forgotten as usize) {
                prop_assert_eq!(deadlines.of(offset as u64), *deadline);
            }
            prop_assert_eq!(deadlines.of(bytes.len() as u64), None);
        }
    }
}
