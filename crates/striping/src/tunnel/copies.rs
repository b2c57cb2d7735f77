//! Copies of packets that are sent on other links as well.
//!
//! In the redundant mode, each packet is sent on one link first, and as a copy on all others. Otherwise, urgent
//! packets of a steady flow, such as a call, have a copy on a second link, up to a rate. So the better of two
//! delays counts, and a packet that is lost on one link arrives by the other. Most copies take the second-quickest
//! link. Some take the other links in turn, which measures their delays.

use ropewalk_quantities::{Rate, Time};

use super::sender_types::Transmit;
use super::shrink::shrink;
use crate::copies::CopyQueues as Queues;
use crate::rate_limiter::RateLimiter;

/// A copy that has been queued for this long is dropped: its packet has arrived by another link, and newer
/// packets may not have.
const MAX_AGE: Time = Time::from_millis(100);
const MAX: usize = 2048;
/// One in this many copies of urgent packets takes the other links in turn.
const TURN: usize = 4;

/// For each link, the packets that others have sent and it has not.
#[derive(Debug)]
pub(super) struct Copies<P> {
    waiting: Queues<usize, (Time, Transmit<P>)>,
    now: Time,
    /// Limits copies of urgent packets; `None` if there are none.
    limiter: Option<RateLimiter>,
    urgent: usize,
}

impl<P: Clone> Copies<P> {
    /// Creates an empty set, with copies of urgent packets up to this rate.
    pub(super) fn new(rate: Rate) -> Copies<P> {
        Copies {
            waiting: Queues::default(),
            now: Time::ZERO,
            limiter: (rate.as_bps() > 0).then(|| RateLimiter::new(rate)),
            urgent: 0,
        }
    }

    /// Adds a copy of an urgent packet, for the link of the least rank, at times for another.
    pub(super) fn put_urgent<R: Ord>(
        &mut self,
        first: &Transmit<P>,
        links: &[usize],
        rank: impl Fn(usize) -> R,
    ) {
        let Some(limiter) = &mut self.limiter else {
            return;
        };
        let others = links.iter().copied().filter(|&link| link != first.link);
        let count = others.clone().count();
        if count == 0 || limiter.allowed_at() > self.now {
            return;
        }
        limiter.on_sent(self.now, first.bytes.into());
        self.urgent += 1;
        let other = match self.urgent % TURN {
            0 => others.clone().nth(self.urgent / TURN % count),
            _ => others.min_by_key(|&link| rank(link)),
        };
        self.put(first, other.as_slice());
    }

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

    #[test]
    fn urgent_copies_take_the_second_quickest_link_and_at_times_another() {
        let mut copies = Copies::new(Rate::from_bps(800_000));
        let mut links = Vec::new();
        for number in 1..=8 {
            let now = Time::from_millis(number * 10);
            assert_eq!(copies.next(now, &[0, 1, 2], |_| true), None);
            copies.put_urgent(&packet(0, number as u32), &[0, 1, 2], |link| 9 - link);
            links.extend(copies.next(now, &[0, 1, 2], |_| true).map(|copy| copy.link));
        }
        assert_eq!(links, [2, 2, 2, 2, 2, 2, 2, 1]);
        // There is no other link.
        copies.put_urgent(&packet(0, 9), &[0], |link| link);
        assert_eq!(copies.next(Time::from_secs(1), &[0, 1, 2], |_| true), None);
    }

    #[test]
    fn urgent_copies_keep_to_their_rate() {
        for (rate, expected) in [(80_000, 100..=102), (0, 0..=0)] {
            let mut copies = Copies::new(Rate::from_bps(rate));
            let mut count = 0;
            // 10 seconds at 800 kbit/s.
            for number in 0..1000 {
                let now = Time::from_millis(number * 10);
                count += i32::from(copies.next(now, &[0, 1], |_| true).is_some());
                copies.put_urgent(&packet(0, number as u32), &[0, 1], |link| link);
            }
            assert!(expected.contains(&count), "{rate}: {count}");
        }
    }
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
        let mut copies = Copies::new(Rate::from_bps(0));
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
