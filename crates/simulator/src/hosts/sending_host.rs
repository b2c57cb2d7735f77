//! Trait of sending hosts, called after an event at one of their ends.

use ropewalk_network::Offer;
use ropewalk_quantities::Time;
use ropewalk_transport::Segment;

use crate::application::Application;
use crate::event_recorders::EventRecorders;

/// End that sends data.
pub(crate) const CLIENT: usize = 0;
/// End that receives data.
pub(crate) const SERVER: usize = 1;

/// Packet that left its last hop, as passed to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) end: usize,
    pub(crate) subflow: usize,
    /// Generation: number of earlier connections on its path.
    pub(crate) generation: u16,
    pub(crate) slot: u32,
    pub(crate) segment: &'a Segment,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    /// Bytes delivered in order to the application of the end concerned.
    pub(crate) bytes: u64,
}

/// Packet to send; its segment was written to the argument of [`SendingHost::poll_transmit`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) end: usize,
    pub(crate) route: usize,
    pub(crate) subflow: usize,
    pub(crate) generation: u16,
    /// Slot of the content besides its segment, kept by the host until the packet arrives or is dropped;
    /// unused without such content.
    pub(crate) slot: u32,
    pub(crate) size: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstHop {
    pub(crate) offer: Offer,
    /// When to offer the next one so that the hop is never idle; `None` for a medium.
    pub(crate) next_offer: Option<Time>,
}

/// Sending host. The run loop determines the kind of host once, and then calls these directly.
pub(crate) trait SendingHost {
    /// Lets the application write as much as the host takes, and distributes the data.
    fn poll_application(&mut self, now: Time, end: usize, application: &mut Application);

    /// Returns the next packet to send after changes at this end, with its segment in `segment`. The result
    /// may change after any other call.
    #[must_use]
    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        recorders: &mut R,
    ) -> Option<Outgoing>;

    /// Whether [`on_first_hop`](SendingHost::on_first_hop) must be called.
    const NEEDS_FIRST_HOP: bool = false;

    /// Reports a packet that was offered to the first hop of its route.
    fn on_first_hop(&mut self, _now: Time, _first_hop: FirstHop) {}

    /// Removes the stored content of a packet that was dropped.
    fn drop_packet(&mut self, _slot: u32) {}

    /// Returns, after [`poll_transmit`](SendingHost::poll_transmit) returned nothing, whether another
    /// [`turn`](SendingHost::poll_application) is due, since sockets were drained or the first hop takes more.
    #[must_use]
    fn needs_poll(&self, _now: Time) -> bool {
        false
    }

    /// Returns new expiry times of the ends' timers after an event at this end; `None` for a timer that is
    /// not set or unchanged. The result may change after any of the calls above.
    #[must_use]
    fn poll_timeouts(&mut self, end: usize) -> [Option<Time>; 2];
}
