use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::congestion::{Congestion, CongestionControl, Controller, Window};
use crate::event::{Recorder, TraceEvent, TraceRecord};

/// Parts of a connection for a subflow's sender: congestion control, table of subflows, recorder.
pub(crate) struct Connection<'a, R> {
    pub(crate) now: Time,
    pub(crate) controller: &'a mut Controller,
    pub(crate) table: &'a mut [SubflowState],
    pub(crate) subflow: usize,
    pub(crate) cwnd_limited: bool,
    pub(crate) recorder: &'a mut R,
}

impl<R: Recorder> Connection<'_, R> {
    #[inline]
    pub(crate) fn own(&mut self) -> &mut SubflowState {
        &mut self.table[self.subflow]
    }

    pub(crate) fn window(&self) -> Window {
        Window::of(&self.table[self.subflow])
    }

    #[inline(always)]
    pub(crate) fn record(&mut self, event: impl FnOnce() -> TraceEvent) {
        record(self.recorder, self.now, self.subflow, event);
    }

    /// Reports a congestion event. `flight_size` is RFC 5681's FlightSize (all data not cumulatively
    /// acknowledged), or the amount to reduce instead.
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

#[inline(always)]
pub(crate) fn record<R: Recorder>(
    recorder: &mut R,
    time: Time,
    subflow: usize,
    event: impl FnOnce() -> TraceEvent,
) {
    if R::ENABLED {
        recorder.record(&TraceRecord {
            time,
            subflow,
            event: event(),
        });
    }
}
