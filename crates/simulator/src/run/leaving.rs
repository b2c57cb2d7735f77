//! Transmit loop of an end of a flow.

use ropewalk_network::{Medium, Network, Offer, RouteId};
use ropewalk_quantities::Time;

use crate::application::Application;
use crate::hosts::{CLIENT, FirstHop, SERVER, Sends};
use crate::observer::Observer;
use crate::packet::Packet;
use crate::sights::Watching;

pub(super) struct Leaving<'a, T, M> {
    pub(super) now: Time,
    pub(super) end: usize,
    pub(super) application: &'a mut Application,
    pub(super) routes: &'a [[RouteId; 2]],
    pub(super) packets: &'a mut u32,
    /// Packet that segments are written into before they enter a link.
    pub(super) packet: &'a mut Packet<T>,
    pub(super) network: &'a mut Network<Packet<T>, M>,
}

impl<T: Copy, M: Medium<Packet<T>>> Leaving<'_, T, M> {
    /// Sends all packets that are due; returns the timers of the ends.
    #[inline(always)]
    pub(super) fn send<O: Observer<Tag = T>, S: Sends>(
        self,
        host: &mut S,
        watch: &mut Watching<'_, O>,
    ) -> [Option<Time>; 2] {
        let (now, end) = (self.now, self.end);
        loop {
            host.turn(now, end, self.application);
            loop {
                let segment = &mut self.packet.segment;
                let leaves = if O::WATCHES {
                    host.poll_transmit(now, end, segment, watch)
                } else {
                    host.poll_transmit(now, end, segment, &mut ())
                };
                let Some(leaves) = leaves else {
                    break;
                };
                let packet = &mut *self.packet;
                packet.to_client = leaves.end == SERVER;
                packet.subflow = leaves.subflow as u8;
                packet.dial = leaves.dial;
                packet.slot = leaves.slot;
                packet.number = *self.packets;
                *self.packets += u32::from(packet.segment.len > 0 && leaves.end == CLIENT);
                let route = self.routes[leaves.route][leaves.end];
                let offer = self.network.offer(now, route, leaves.size, packet, watch);
                if S::ASKS_FIRST_HOP {
                    let wants = self.network.wants(now, route, leaves.size);
                    host.entered(now, FirstHop { offer, wants });
                }
                // The endpoints detect a drop or loss.
                if let Offer::Dropped(_) = offer {
                    host.drop_packet(leaves.slot);
                }
            }
            if !host.wants_turn(now) {
                return host.poll_timeouts(end);
            }
        }
    }
}
