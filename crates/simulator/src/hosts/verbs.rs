//! What every host does when something has happened at one of its ends.

use ropewalk_quantities::Time;
use ropewalk_transport::Segment;

use super::Outgoing;
use crate::application::Application;
use crate::hearing::Hears;

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

    /// A packet that left was dropped on its way: what the host kept of it is of no use.
    fn drop_packet(&mut self, _slot: u32) {}

    /// Once [`poll_transmit`](Sends::poll_transmit) has given nothing: whether sockets were drained
    /// that may take more, so that another [`turn`](Sends::turn) is due.
    #[must_use]
    fn wants_turn(&self) -> bool {
        false
    }

    /// When timers of the ends run out, by what happened at this one; `None` where none is set or
    /// none has moved. Changes after each of the calls above.
    #[must_use]
    fn poll_timeouts(&self, end: usize) -> [Option<Time>; 2];
}
