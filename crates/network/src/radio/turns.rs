//! Whose turn is next in a radio's queue, where neighbours take turns.

/// The neighbours of a radio, and how many packets wait for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    neighbours: Vec<Neighbour>,
    /// Packets that have had their turn.
    served: u64,
}

#[derive(Clone, Debug)]
struct Neighbour {
    radio: u32,
    waiting: u32,
    /// How many packets had had theirs when it had its last.
    served: u64,
}

impl Turns {
    /// One more neighbour, if it is not known yet.
    pub(super) fn know(&mut self, radio: u32) {
        if self.place(radio).is_none() {
            self.neighbours.push(Neighbour {
                radio,
                waiting: 0,
                served: 0,
            });
        }
    }

    /// A packet for this one joins the queue.
    pub(super) fn joins(&mut self, radio: u32) {
        if let Some(place) = self.place(radio) {
            self.neighbours[place].waiting += 1;
        }
    }

    /// A packet for this one, whose turn it was, leaves the queue.
    pub(super) fn leaves(&mut self, radio: u32) {
        self.served += 1;
        if let Some(place) = self.place(radio) {
            let neighbour = &mut self.neighbours[place];
            neighbour.waiting -= 1;
            neighbour.served = self.served;
        }
    }

    /// Whose turn is next; `None` where there is no choice.
    pub(super) fn next(&self) -> Option<u32> {
        let waits = |neighbour: &&Neighbour| neighbour.waiting > 0;
        if self.neighbours.iter().filter(waits).count() < 2 {
            return None;
        }
        let next = self.neighbours.iter().filter(waits);
        let next = next.min_by_key(|neighbour| neighbour.served)?;
        Some(next.radio)
    }

    fn place(&self, radio: u32) -> Option<usize> {
        let mut neighbours = self.neighbours.iter();
        neighbours.position(|neighbour| neighbour.radio == radio)
    }
}
