use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::congestion::{Congestion, CongestionControl, Controller};
use crate::event::{Happening, Recorded, Recorder, Window};

/// What of the connection a subflow's sender works with: congestion control, the table of
/// subflows, and whoever listens.
pub(crate) struct Connection<'a, R> {
    pub(crate) now: Time,
    pub(crate) controller: &'a mut Controller,
    pub(crate) table: &'a mut [SubflowState],
    pub(crate) subflow: usize,
    /// The congestion window alone holds this subflow back.
    pub(crate) cwnd_limited: bool,
    pub(crate) recorder: &'a mut R,
}

impl<R: Recorder> Connection<'_, R> {
    #[inline]
    pub(crate) fn own(&mut self) -> &mut SubflowState {
        &mut self.table[self.subflow]
    }

    /// The subflow's windows now.
    pub(crate) fn window(&self) -> Window {
        Window::of(&self.table[self.subflow])
    }

    /// Tells what happened, if anybody listens.
    #[inline(always)]
    pub(crate) fn record(&mut self, happening: impl FnOnce() -> Happening) {
        record(self.recorder, self.now, self.subflow, happening);
    }

    /// `flight_size` is what RFC 5681 calls so, everything not cumulatively acknowledged, or what is to be
    /// reduced in its place.
    pub(crate) fn on_congestion(&mut self, cause: Congestion, flight_size: u64) {
        let own = self.own();
        own.in_flight = flight_size.min(own.cwnd);
        let ssthresh = self
            .controller
            .on_congestion(self.subflow, cause, self.now, self.table);
        let own = self.own();
        own.ssthresh = ssthresh;
        own.acked_between_losses = own.acked_since_loss;
        own.acked_since_loss = 0;
    }
}

/// Tells what happened, if anybody listens.
#[inline(always)]
pub(crate) fn record<R: Recorder>(
    recorder: &mut R,
    time: Time,
    subflow: usize,
    happening: impl FnOnce() -> Happening,
) {
    if R::LISTENS {
        recorder.record(&Recorded {
            time,
            subflow,
            happening: happening(),
        });
    }
}
