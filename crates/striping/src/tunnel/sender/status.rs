//! Status of a sender: its queue, its counters, and each of its links.

use super::Sender;
use crate::tunnel::{LinkStatus, SenderCounters};

impl<P: Clone> Sender<P> {
    /// Returns the queued bytes, and the limit of the queue.
    #[must_use]
    pub fn backlog(&self) -> (u64, u64) {
        (self.queue.bytes + self.urgent.bytes, self.queue_limit.bytes)
    }

    /// Returns the number of queued packets.
    #[must_use]
    pub fn queued_packets(&self) -> usize {
        self.queue.packets + self.urgent.packets()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> SenderCounters {
        self.counters
    }

    /// Returns the state of a link.
    #[must_use]
    pub fn link(&self, link: usize) -> LinkStatus {
        let control = &self.links.controls[link];
        let path_mtu = self.links.path_mtu(link);
        let (datagrams, lost) = control.link_sender().counts();
        LinkStatus {
            up: self.links.is_up(link),
            terms: self.terms(link),
            suspected: control.suspected(),
            rate: control.rate(),
            least_round_trip: control.round_trip(),
            smoothed_round_trip: control.smoothed(),
            in_flight: control.link_sender().in_flight(),
            datagrams,
            bytes: control.link_sender().sent_bytes(),
            lost,
            suspicions: control.suspicions(),
            path_mtu: path_mtu.plpmtu().min(path_mtu.max_unfragmented()),
        }
    }

    /// Whether a link has been measured as far as possible before its use: by its packet train, or, of a
    /// single link, by its round trip.
    #[must_use]
    pub fn is_measured(&self, link: usize) -> bool {
        let control = &self.links.controls[link];
        control.is_measured() || !self.links.has_several() && control.smoothed().is_some()
    }

    /// Returns the number of links, up or not.
    #[must_use]
    pub fn links(&self) -> usize {
        self.links.len()
    }
}
