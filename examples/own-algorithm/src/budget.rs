//! Scheduler with a byte budget for expensive paths.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::SubflowState;
use ropewalk_transport::scheduling::{Choice, CustomScheduler, Pending, Scheduler};

/// Scheduler: the cheapest subflow carries as much as it can. The others share a budget of bytes per time
/// slot, and are used only while the cheapest one, at its last rate, would need longer than a slot.
#[derive(Clone, Debug)]
pub struct Budget {
    slot: Time,
    bytes: u64,
    /// End of the present slot, and the bytes assigned to each subflow before it.
    ends: Time,
    assigned: Vec<u64>,
    /// Bytes acknowledged on the cheapest subflow before the slot, and in the last slot.
    acknowledged: u64,
    delivered: u64,
}

impl Budget {
    /// Creates one with this budget per slot for all expensive subflows together.
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

    /// Config for [`Config`](ropewalk_transport::Config): creates one per connection.
    pub fn config(self, name: &str) -> CustomScheduler {
        CustomScheduler::new(name, move |_| Box::new(self.clone()))
    }

    fn begin_slot(&mut self, now: Time, cheapest: &SubflowState, subflows: &[SubflowState]) {
        self.ends = now + self.slot;
        self.assigned.clear();
        self.assigned
            .extend(subflows.iter().map(|state| state.assigned));
        self.delivered = cheapest.acknowledged.saturating_sub(self.acknowledged);
        self.acknowledged = cheapest.acknowledged;
    }

    fn used(&self, cheapest: usize, subflows: &[SubflowState]) -> u64 {
        let expensive = subflows.iter().enumerate();
        let expensive = expensive.filter(|(number, _)| *number != cheapest);
        expensive
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
        let expensive = (0..subflows.len()).find(|&number| subflows[number].can_send());
        match expensive {
            Some(number) if !enough && self.used(cheapest, subflows) < self.bytes => {
                Choice::Send(number)
            }
            _ => Choice::WaitUntil(self.ends),
        }
    }
}
