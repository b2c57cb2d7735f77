//! Carriers that have room and nothing to send, since the others deliver sooner what waits.
//!
//! What the others deliver before a frame of a carrier would arrive is its gap, and the carriers that arrive later
//! have larger ones. Behind some gaps nothing begins that may be sent. So those whose gaps lie in one range of these
//! have nothing as long as the gaps of the fastest and of the slowest of them do.

use crate::stream::send::Closed;

/// So many groups rest at a time: window and losses leave few ranges.
pub(crate) const GROUPS: usize = 8;

/// One or several of these carriers, with gaps in one range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outrun {
    /// Seconds until a frame of the fastest and of the slowest of them would arrive.
    pub(crate) arrives_in: [f64; 2],
    /// Least and largest payload of their frames.
    pub(crate) payloads: [u64; 2],
    /// Where their gaps were when that was last asked.
    pub(crate) closed: Closed,
}

/// The fastest of a group, or the slowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) group: usize,
    pub(crate) is_slowest: bool,
}

impl Edge {
    /// How many there are.
    pub(super) const COUNT: usize = 2 * GROUPS;

    pub(super) fn number(self) -> usize {
        2 * self.group + usize::from(self.is_slowest)
    }
}

/// Groups of carriers, by their number.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: [Option<Group>; GROUPS],
    /// The group of each carrier that is in one.
    of: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    outrun: Outrun,
    members: usize,
}

impl Outrun {
    /// All of both.
    fn and(&self, other: &Outrun) -> Outrun {
        Outrun {
            arrives_in: [
                self.arrives_in[0].min(other.arrives_in[0]),
                self.arrives_in[1].max(other.arrives_in[1]),
            ],
            payloads: [
                self.payloads[0].min(other.payloads[0]),
                self.payloads[1].max(other.payloads[1]),
            ],
            closed: self.closed,
        }
    }
}

impl Groups {
    /// There are so many carriers.
    pub(super) fn grow(&mut self, carriers: usize) {
        self.of.resize(carriers, None);
    }

    pub(super) fn get(&self, number: usize) -> Option<Outrun> {
        self.groups[number].map(|group| group.outrun)
    }

    /// The group of a carrier.
    pub(super) fn of(&self, at: usize) -> Option<usize> {
        self.of[at]
    }

    /// The gaps of a group are there now. If those of another are, both become one.
    pub(super) fn set_closed(&mut self, number: usize, closed: Closed) {
        let Some(group) = &mut self.groups[number] else {
            return;
        };
        if group.outrun.closed == closed {
            return;
        }
        group.outrun.closed = closed;
        let own = *group;
        if let Some(other) = self.with(closed, number)
            && let Some(into) = &mut self.groups[other]
        {
            into.outrun = into.outrun.and(&own.outrun);
            into.members += own.members;
            self.groups[number] = None;
            let moved = self.of.iter_mut().filter(|of| **of == Some(number));
            moved.for_each(|of| *of = Some(other));
        }
    }

    /// No other joins this group: those of it whose gaps still lie in one range are to form others, between their own
    /// fastest and slowest.
    pub(super) fn close(&mut self, number: usize) {
        if let Some(group) = &mut self.groups[number] {
            group.outrun.closed = Closed { from: 1, to: 0 };
        }
    }

    /// A group with its gaps there, but for one.
    fn with(&self, closed: Closed, but: usize) -> Option<usize> {
        let mut groups = self.groups.iter().enumerate();
        let has = |group: &Option<Group>| group.is_some_and(|group| group.outrun.closed == closed);
        let found = groups.find(|(number, group)| *number != but && has(group));
        found.map(|(number, _)| number)
    }

    /// A carrier that is in none joins the one that it belongs to, or is the first of another. Returns whether
    /// there was one left.
    pub(super) fn join(&mut self, at: usize, outrun: &Outrun) -> bool {
        let known = self.with(outrun.closed, GROUPS);
        let Some(number) = known.or_else(|| self.groups.iter().position(Option::is_none)) else {
            return false;
        };
        let (before, members) = match &self.groups[number] {
            Some(group) => (group.outrun, group.members),
            None => (*outrun, 0),
        };
        self.groups[number] = Some(Group {
            outrun: before.and(outrun),
            members: members + 1,
        });
        self.of[at] = Some(number);
        true
    }

    /// A carrier leaves its group, if it is in one.
    pub(super) fn leave(&mut self, at: usize) {
        let Some(number) = self.of[at].take() else {
            return;
        };
        let group = &mut self.groups[number];
        if let Some(left) = group {
            left.members -= 1;
        }
        group.take_if(|group| group.members == 0);
    }
}
