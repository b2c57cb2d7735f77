//! Pacing of a bulk sender by a simulated copy of its first link.

use std::collections::VecDeque;

use ropewalk_network::{
    Advance, Direction, DirectionConfig, LinkConfig, Loss, Network, Offer, Outage, QueueLimit,
    RouteId,
};
use ropewalk_quantities::Time;

/// Time by which a datagram precedes its transmission on the link, so that a short pause of the
/// machine does not idle the link.
const LEAD: Time = Time::from_millis(5);
const MAX_WAITING: usize = 512;

/// The first link of a bulk sender, which no other flow uses.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The link without delay and loss: packets leave it when transmitted.
    link: Network<()>,
    route: RouteId,
    down: Vec<Outage>,
    /// Due times of the last datagrams, as many as may be queued.
    last: VecDeque<Time>,
    waiting: usize,
    now: Time,
}

impl Pace {
    /// A copy of the link, for packets of this size.
    pub(crate) fn new(link: &LinkConfig, size: u32) -> Pace {
        let (mut always_up, route) = copy(link, Vec::new());
        let mut taken =
            || always_up.offer(Time::ZERO, route, size, &mut (), &mut ()) == Offer::Accepted;
        let room = (0..2 * MAX_WAITING).take_while(|_| taken()).count();
        let (copy, route) = copy(link, link.down.clone());
        Pace {
            link: copy,
            route,
            down: link.down.clone(),
            last: VecDeque::new(),
            // Half of the queue without the packet in transmission: the copy is not exact to the
            // microsecond.
            waiting: room.saturating_sub(1) / 2,
            now: Time::ZERO,
        }
    }

    /// Times when the link is free for another packet of this size, and when to hand it over.
    /// Packets that arrive in an outage are lost.
    pub(crate) fn next(&mut self, size: u32) -> (Time, Time) {
        let wants = self.link.next_offer_time(self.now, self.route, size);
        let due = wants.unwrap_or(self.now);
        let waits = match self.last.front() {
            _ if self.waiting == 0 => due,
            Some(first) if self.last.len() == self.waiting => *first,
            _ => Time::ZERO,
        };
        let mut at = due.saturating_sub(LEAD).max(waits);
        for outage in &self.down {
            if outage.start <= at && at < outage.end {
                at = outage.end;
            }
        }
        (due, at.min(due))
    }

    pub(crate) fn sent(&mut self, at: Time, size: u32) {
        self.now = at;
        while !matches!(self.link.advance(at, &mut ()), Advance::Nothing) {}
        let _ = self.link.offer(at, self.route, size, &mut (), &mut ());
        if self.waiting > 0 {
            if self.last.len() == self.waiting {
                self.last.pop_front();
            }
            self.last.push_back(at);
        }
    }
}

/// A link that packets leave when transmitted.
fn copy(link: &LinkConfig, down: Vec<Outage>) -> (Network<()>, RouteId) {
    let round_trip = link.round_trip();
    let direction = DirectionConfig {
        delay: Time::ZERO,
        jitter: None,
        slot: None,
        loss: Loss::None,
        queue: match link.forward.queue {
            bdp @ QueueLimit::Bdp(_) => {
                QueueLimit::Bytes(bdp.bytes(&link.forward.capacity, round_trip))
            }
            queue => queue,
        },
        ..link.forward.clone()
    };
    let config = LinkConfig {
        ends: None,
        forward: direction.clone(),
        reverse: direction,
        down,
        ..link.clone()
    };
    let path: &[usize] = &[0];
    let (network, routes) = Network::from_paths(&[config], std::iter::once(path), 0);
    (network, routes[0][Direction::Forward as usize])
}
