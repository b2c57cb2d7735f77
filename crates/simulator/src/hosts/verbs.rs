//! The methods of a host that send, called after something has happened at one of its ends.

use ropewalk_network::Offer;
use ropewalk_quantities::Time;
use ropewalk_transport::Segment;

use crate::application::Application;
use crate::event_recorders::EventRecorders;

/// The end that sends data.
pub(crate) const CLIENT: usize = 0;
/// The end that receives them.
pub(crate) const SERVER: usize = 1;

/// A packet that left its last hop, as passed to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    /// The end that it is for.
    pub(crate) end: usize,
    pub(crate) subflow: usize,
    /// Number of the connection among those that its path has had.
    pub(crate) dial: u16,
    /// As in the [`Outgoing`] packet.
    pub(crate) slot: u32,
    pub(crate) segment: &'a Segment,
}

/// Result of a packet or a timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    /// Bytes delivered in order to the application of the end concerned.
    pub(crate) bytes: u64,
}

/// A packet to send; its segment was written to the argument of [`Sends::poll_transmit`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// The end that sends it.
    pub(crate) end: usize,
    /// Index of its route among the flow's.
    pub(crate) route: usize,
    pub(crate) subflow: usize,
    pub(crate) dial: u16,
    /// Where the host keeps what the packet carries besides its segment, until it arrives or is dropped;
    /// unused where there is nothing.
    pub(crate) slot: u32,
    /// Length of the IP packet.
    pub(crate) size: u32,
}

/// The fate of a packet at the first hop of its route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstHop {
    pub(crate) offer: Offer,
    /// When another one like it should be offered so that the hop is never idle; `None` for a medium.
    pub(crate) wants: Option<Time>,
}

/// Sending. The run loop determines the kind of host once, and then calls these directly.
pub(crate) trait Sends {
    /// Something happened at this end: the application writes as much as there is room for, and the data are
    /// distributed.
    fn turn(&mut self, now: Time, end: usize, application: &mut Application);

    /// The next packet to send, of what changed at this end. Its segment is written to `segment`. It may
    /// change after any other call.
    #[must_use]
    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        recorders: &mut R,
    ) -> Option<Outgoing>;

    /// Whether [`entered`](Sends::entered) is to be called.
    const ASKS_FIRST_HOP: bool = false;

    /// A packet was offered to the first hop of its route.
    fn entered(&mut self, _now: Time, _first_hop: FirstHop) {}

    /// A packet was dropped on its way: what the host stored for it is removed.
    fn drop_packet(&mut self, _slot: u32) {}

    /// After [`poll_transmit`](Sends::poll_transmit) returned nothing: whether another [`turn`](Sends::turn)
    /// is due, since sockets were drained or the first hop wants more.
    #[must_use]
    fn wants_turn(&self, _now: Time) -> bool {
        false
    }

    /// New expiry times of the ends' timers, after what happened at this end; `None` for a timer that is not
    /// set or has not changed. It may change after any of the calls above.
    #[must_use]
    fn poll_timeouts(&mut self, end: usize) -> [Option<Time>; 2];
}
