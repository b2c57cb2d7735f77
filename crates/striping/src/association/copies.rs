//! In the redundant mode: what each carrier has yet to send that another has sent.

use std::collections::VecDeque;

use crate::CarrierId;

/// A part of a stream that another carrier has sent and this one is to send too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    pub(super) stream: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// For each carrier the parts that another carrier has sent and it has not, oldest first.
#[derive(Debug, Default)]
pub(super) struct Copies(Vec<(CarrierId, VecDeque<Copied>)>);

impl Copies {
    /// Those of a carrier, if it ever had any.
    pub(super) fn of(&mut self, id: CarrierId) -> Option<&mut VecDeque<Copied>> {
        let mut all = self.0.iter_mut();
        all.find(|(carrier, _)| *carrier == id)
            .map(|(_, copies)| copies)
    }

    /// Adds one for a carrier, once those before it that `is_old` are gone.
    pub(super) fn add(&mut self, id: CarrierId, copied: Copied, is_old: impl Fn(&Copied) -> bool) {
        let known = self.0.iter().position(|(of, _)| *of == id);
        let known = known.unwrap_or_else(|| {
            self.0.push((id, VecDeque::new()));
            self.0.len() - 1
        });
        let copies = &mut self.0[known].1;
        while copies.front().is_some_and(&is_old) {
            copies.pop_front();
        }
        copies.push_back(copied);
    }

    /// A carrier is gone.
    pub(super) fn remove(&mut self, id: CarrierId) {
        self.0.retain(|(carrier, _)| *carrier != id);
    }

    /// Nothing is to be sent any more.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
