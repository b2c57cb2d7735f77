//! Redundant mode: each packet is sent on one link first, and as a copy on the others.

use ropewalk_quantities::Time;

use super::sender_types::Transmit;
use super::shrink::shrink;
use crate::copies::CopyQueues as Queues;

/// A copy that has been queued for this long is dropped: its packet has arrived by another link, and newer
/// packets may not have.
const MAX_AGE: Time = Time::from_millis(100);
const MAX: usize = 2048;

/// For each link, the packets that others have sent and it has not.
#[derive(Debug)]
pub(super) struct Copies<P> {
    waiting: Queues<usize, (Time, Transmit<P>)>,
    now: Time,
}

impl<P> Default for Copies<P> {
    fn default() -> Copies<P> {
        Copies {
            waiting: Queues::default(),
            now: Time::ZERO,
        }
    }
}

impl<P: Clone> Copies<P> {
    pub(super) fn put(&mut self, first: &Transmit<P>, links: &[usize]) {
        let now = self.now;
        for &link in links.iter().filter(|&&link| link != first.link) {
            let copy = Transmit {
                link,
                sequencing: first.sequencing,
                packet: first.packet.clone(),
                bytes: first.bytes,
            };
            let waiting = self
                .waiting
                .add(link, (now, copy), |copy| is_old(copy, now));
            if waiting.len() > MAX {
                waiting.pop_front();
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    pub(super) fn next(
        &mut self,
        now: Time,
        links: &[usize],
        has_room: impl Fn(usize) -> bool,
    ) -> Option<Transmit<P>> {
        self.now = now;
        // Includes links that are no longer used.
        for waiting in self.waiting.queues() {
            while waiting.front().is_some_and(|copy| is_old(copy, now)) {
                waiting.pop_front();
            }
            shrink(waiting);
        }
        links.iter().copied().find_map(|link| {
            let waiting = self.waiting.of(link)?;
            if waiting.is_empty() || !has_room(link) {
                return None;
            }
            waiting.pop_front().map(|(_, copy)| copy)
        })
    }

    pub(super) fn links_with_copies(&self, links: &[usize]) -> impl Iterator<Item = usize> {
        let links = links.iter().copied();
        links.filter(|&link| self.waiting.has_copies_for(link))
    }
}

fn is_old<P>((since, _): &(Time, Transmit<P>), now: Time) -> bool {
    *since + MAX_AGE < now
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing};

    fn packet(link: usize, sequence: u32) -> Transmit<u32> {
        Transmit {
            link,
            sequencing: Sequencing {
                lane: 1,
                sequence,
                delivery: Delivery::InStep,
            },
            packet: sequence,
            bytes: 1000,
        }
    }

    #[test]
    fn fresh_copies_are_sent_on_other_links_with_room() {
        let mut copies = Copies::default();
        let now = Time::from_secs(1);
        assert_eq!(copies.next(now, &[0, 2], |_| true), None);
        copies.put(&packet(0, 7), &[0, 2]);
        copies.put(&packet(2, 8), &[0, 2]);
        assert!(copies.links_with_copies(&[0, 1, 2]).eq([0, 2]));
        assert_eq!(
            copies.next(now, &[0, 2], |link| link == 0),
            Some(packet(0, 8))
        );
        assert_eq!(copies.next(now, &[0, 2], |link| link == 0), None);
        assert_eq!(copies.next(now, &[0, 2], |_| true), Some(packet(2, 7)));
        assert_eq!(copies.next(now, &[0, 2], |_| true), None);
        copies.put(&packet(0, 9), &[0, 2]);
        assert_eq!(copies.next(now + MAX_AGE * 2, &[2], |_| true), None);
    }
}
