//! What every host does when something has happened at one of its ends.

use ropewalk_network::Offer;
use ropewalk_quantities::Time;
use ropewalk_transport::Segment;

use super::Outgoing;
use crate::application::Application;
use crate::hearing::Hears;

/// What became of a packet at the first hop of its route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstHop {
    pub(crate) offer: Offer,
    /// When one more like it should come so that the hop is never idle; `None` of a medium.
    pub(crate) wants: Option<Time>,
}

/// The verbs that send: the run loop looks once which host it has, and then calls these directly.
pub(crate) trait Sends {
    /// Something happened at this end: the application writes what there is room for, and what is
    /// to be sent is dealt out.
    fn turn(&mut self, now: Time, end: usize, application: &mut Application);

    /// The next packet that leaves, by what happened at this end. Its segment is written to
    /// `segment`. Changes after every other call.
    #[must_use]
    fn poll_transmit<H: Hears>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        heard_by: &mut H,
    ) -> Option<Outgoing>;

    /// Whether [`entered`](Sends::entered) is to be called.
    const ASKS_FIRST_HOP: bool = false;

    /// A packet that left was offered to the first hop of its route.
    fn entered(&mut self, _now: Time, _first_hop: FirstHop) {}

    /// A packet that left was dropped on its way: what the host kept of it is of no use.
    fn drop_packet(&mut self, _slot: u32) {}

    /// Once [`poll_transmit`](Sends::poll_transmit) has given nothing: whether sockets were drained
    /// that may take more, or the first hop wants more, so that another [`turn`](Sends::turn) is due.
    #[must_use]
    fn wants_turn(&self, _now: Time) -> bool {
        false
    }

    /// When timers of the ends run out, by what happened at this one; `None` where none is set or
    /// none has moved. Changes after each of the calls above.
    #[must_use]
    fn poll_timeouts(&mut self, end: usize) -> [Option<Time>; 2];
}
