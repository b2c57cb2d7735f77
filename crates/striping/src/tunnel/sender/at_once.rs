//! Packets that are sent at once, each on the next link in turn: the virtual device of song-2018.

use ropewalk_quantities::Time;
use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing};

use super::Sender;
use crate::tunnel::Transmit;

impl<P: Clone> Sender<P> {
    /// Gives a packet to the next link in turn, however much is in flight there. The packet is neither queued
    /// nor kept for retransmission. Returns `None`, and drops the packet, if no link is in use.
    ///
    /// A link over its [rate limit](crate::tunnel::LinkTerms::rate) loses its turn. Requires
    /// [`SenderConfig::naive`](crate::tunnel::SenderConfig::naive).
    pub fn transmit_at_once(&mut self, now: Time, packet: P, bytes: u32) -> Option<Transmit<P>> {
        let controls = &self.links.controls;
        let states = &self.links.states;
        let link = self.turns_at_once.next(controls.len(), |link| {
            states[link].is_available && controls[link].allowed_at() <= now
        });
        let Some(link) = link else {
            self.counters.dropped += 1;
            return None;
        };
        self.counters.packets += 1;
        Some(Transmit {
            link,
            sequencing: Sequencing {
                lane: 0,
                sequence: self.lanes.next(0),
                delivery: Delivery::AtOnce,
            },
            packet,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Rate;

    use super::*;
    use crate::tunnel::{LinkTerms, SenderConfig};

    const NOW: Time = Time::from_secs(1);

    fn sender(links: usize) -> Sender<u32> {
        let mut sender = Sender::new(SenderConfig {
            naive: true,
            ..SenderConfig::default()
        });
        (0..links).for_each(|_| _ = sender.add_link(NOW));
        sender
    }

    /// Sends these packets; returns the link of each.
    fn links(sender: &mut Sender<u32>, packets: std::ops::Range<u32>) -> Vec<usize> {
        let send = |number| {
            let sent = sender.transmit_at_once(NOW, number, 1400)?;
            assert_eq!((sent.packet, sent.bytes), (number, 1400));
            assert_eq!(sent.sequencing.delivery, Delivery::AtOnce);
            sender.send_answer(NOW, sent.link, 1468);
            Some(sent.link)
        };
        packets.filter_map(send).collect()
    }

    #[test]
    fn packets_take_links_in_turn_from_the_first() {
        assert_eq!(links(&mut sender(3), 0..7), [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn full_window_does_not_delay_a_packet() {
        let mut sender = sender(2);
        let sent = links(&mut sender, 0..10_000);
        let alternates = |(number, &link): (usize, &usize)| link == number % 2;
        assert!(sent.len() == 10_000 && sent.iter().enumerate().all(alternates));
        assert_eq!(sender.poll_transmit(NOW), None);
        assert_eq!(sender.backlog().0, 0);
    }

    #[test]
    fn unanswered_packets_never_make_a_link_suspected() {
        let mut sender = sender(2);
        links(&mut sender, 0..100);
        for second in 2..20 {
            let now = Time::from_secs(second);
            links(&mut sender, 0..10);
            sender.handle_timeout(now);
            // Pings are answered.
            (0..2).for_each(|link| sender.on_heard(now, link));
        }
        assert!((0..2).all(|link| !sender.link(link).suspected));
    }

    #[test]
    fn only_links_in_use_take_turns() {
        let mut sender = sender(4);
        sender.set_up(1, false);
        let standby = LinkTerms {
            standby: true,
            ..LinkTerms::default()
        };
        sender.set_terms(NOW, 2, standby);
        assert_eq!(links(&mut sender, 0..4), [0, 3, 0, 3]);
        for link in [0, 3] {
            sender.set_up(link, false);
        }
        assert!(links(&mut sender, 0..2).is_empty());
        assert_eq!(sender.counters().dropped, 2);
    }

    #[test]
    fn link_over_its_rate_limit_loses_its_turn() {
        let mut sender = sender(2);
        let limited = LinkTerms {
            rate: Some(Rate::from_bps(512_000)),
            ..LinkTerms::default()
        };
        sender.set_terms(NOW, 0, limited);
        let sent = links(&mut sender, 0..1000);
        let limited = sent.iter().filter(|&&link| link == 0).count();
        assert!((1..100).contains(&limited), "{limited}");
        assert_eq!(sent.len(), 1000);
    }
}
