//! Transmit loop of an end of a flow.

use ropewalk_network::{Medium, Network, Offer, RouteId};
use ropewalk_quantities::Time;

use crate::application::Application;
use crate::hosts::{CLIENT, FirstHop, SERVER, SendingHost};
use crate::observer::Observer;
use crate::observer_adapter::ObserverAdapter;
use crate::packet::Packet;

pub(super) struct TransmitLoop<'a, T, M> {
    pub(super) now: Time,
    pub(super) end: usize,
    pub(super) application: &'a mut Application,
    pub(super) routes: &'a [[RouteId; 2]],
    pub(super) packets: &'a mut u32,
    /// Packet that segments are written into before they enter a link.
    pub(super) packet: &'a mut Packet<T>,
    pub(super) network: &'a mut Network<Packet<T>, M>,
}

impl<T: Copy, M: Medium<Packet<T>>> TransmitLoop<'_, T, M> {
    /// Sends all packets that are due; returns the timers of the ends.
    #[inline(always)]
    pub(super) fn send<O: Observer<Tag = T>, S: SendingHost>(
        self,
        host: &mut S,
        adapter: &mut ObserverAdapter<'_, O>,
    ) -> [Option<Time>; 2] {
        let (now, end) = (self.now, self.end);
        loop {
            host.poll_application(now, end, self.application);
            loop {
                let segment = &mut self.packet.segment;
                let outgoing = if O::ENABLED {
                    host.poll_transmit(now, end, segment, adapter)
                } else {
                    host.poll_transmit(now, end, segment, &mut ())
                };
                let Some(outgoing) = outgoing else {
                    break;
                };
                let packet = &mut *self.packet;
                packet.to_client = outgoing.end == SERVER;
                packet.subflow = outgoing.subflow as u8;
                packet.generation = outgoing.generation;
                packet.slot = outgoing.slot;
                packet.number = *self.packets;
                *self.packets += u32::from(packet.segment.len > 0 && outgoing.end == CLIENT);
                let route = self.routes[outgoing.route][outgoing.end];
                let offer = self
                    .network
                    .offer(now, route, outgoing.size, packet, adapter);
                if S::NEEDS_FIRST_HOP {
                    let next_offer = self.network.next_offer_time(now, route, outgoing.size);
                    host.on_first_hop(now, FirstHop { offer, next_offer });
                }
                // The endpoints detect a drop or loss.
                if let Offer::Dropped(_) = offer {
                    host.drop_packet(outgoing.slot);
                }
            }
            if !host.needs_poll(now) {
                return host.poll_timeouts(end);
            }
        }
    }
}
