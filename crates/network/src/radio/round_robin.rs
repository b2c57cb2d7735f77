//! Round robin over the neighbours of a radio.

/// Neighbours of a radio, and the packets queued for each.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundRobin {
    neighbours: Vec<Neighbour>,
    served: u64,
}

#[derive(Clone, Debug)]
struct Neighbour {
    radio: u32,
    waiting: u32,
    /// Value of `RoundRobin::served` at its last service.
    served: u64,
}

impl RoundRobin {
    pub(super) fn add(&mut self, radio: u32) {
        if self.place(radio).is_none() {
            self.neighbours.push(Neighbour {
                radio,
                waiting: 0,
                served: 0,
            });
        }
    }

    pub(super) fn enqueue(&mut self, radio: u32) {
        if let Some(place) = self.place(radio) {
            self.neighbours[place].waiting += 1;
        }
    }

    /// Removes a packet for the neighbour whose turn it was.
    pub(super) fn dequeue(&mut self, radio: u32) {
        self.served += 1;
        if let Some(place) = self.place(radio) {
            let neighbour = &mut self.neighbours[place];
            neighbour.waiting -= 1;
            neighbour.served = self.served;
        }
    }

    /// Returns the neighbour whose turn is next; `None` if there is no choice.
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
