//! A scheduler: the dear path only as far as a budget goes.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::SubflowState;
use ropewalk_transport::scheduling::{Choice, OwnScheduler, Pending, Scheduler};

/// The cheapest subflow carries what it can. The dearer ones may carry so many bytes in each slot of
/// time, and only while the cheapest, at the rate of its acknowledgements in the slot before, would
/// need longer than a slot for what waits. What nobody may carry now waits for the next slot.
#[derive(Clone, Debug)]
pub struct Budget {
    slot: Time,
    bytes: u64,
    /// The slot that is under way: its end, and what each subflow had been assigned before it.
    ends: Time,
    assigned: Vec<u64>,
    /// Acknowledged on the cheapest subflow up to the slot's begin, and in the slot before.
    acknowledged: u64,
    delivered: u64,
}

impl Budget {
    /// So many bytes a slot on all dearer subflows together.
    pub fn new(slot: Time, bytes: Bytes) -> Budget {
        Budget {
            slot,
            bytes: bytes.as_u64(),
            ends: Time::ZERO,
            assigned: Vec::new(),
            acknowledged: 0,
            delivered: 0,
        }
    }

    /// As a configuration takes it: one for each connection.
    pub fn config(self, name: &str) -> OwnScheduler {
        OwnScheduler::new(name, move |_| Box::new(self.clone()))
    }

    fn begin_slot(&mut self, now: Time, cheapest: &SubflowState, subflows: &[SubflowState]) {
        self.ends = now + self.slot;
        self.assigned.clear();
        self.assigned
            .extend(subflows.iter().map(|state| state.assigned));
        self.delivered = cheapest.acknowledged.saturating_sub(self.acknowledged);
        self.acknowledged = cheapest.acknowledged;
    }

    /// What of the slot's budget the dearer ones have used.
    fn used(&self, cheapest: usize, subflows: &[SubflowState]) -> u64 {
        let dearer = subflows.iter().enumerate();
        let dearer = dearer.filter(|(number, _)| *number != cheapest);
        dearer
            .map(|(number, state)| {
                state.assigned - self.assigned.get(number).copied().unwrap_or(state.assigned)
            })
            .sum()
    }
}

impl Scheduler for Budget {
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        let price = |number: &usize| (subflows[*number].priority, subflows[*number].cost);
        let usable = (0..subflows.len()).filter(|&number| subflows[number].usable);
        let cheapest = usable.min_by(|one, other| price(one).partial_cmp(&price(other)).unwrap());
        let Some(cheapest) = cheapest else {
            return Choice::Wait;
        };
        if subflows[cheapest].can_send() {
            return Choice::Send(cheapest);
        }
        if pending.now >= self.ends || self.assigned.len() != subflows.len() {
            self.begin_slot(pending.now, &subflows[cheapest], subflows);
        }
        let enough = self.delivered >= pending.unsent;
        let dearer = (0..subflows.len()).find(|&number| subflows[number].can_send());
        match dearer {
            Some(number) if !enough && self.used(cheapest, subflows) < self.bytes => {
                Choice::Send(number)
            }
            _ => Choice::WaitUntil(self.ends),
        }
    }
}
