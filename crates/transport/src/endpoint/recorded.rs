use ropewalk_quantities::Time;

use crate::event::{Recorder, SenderState, StateChanged, TraceEvent, TraceRecord};
use crate::{Endpoint, Segment};

/// An endpoint whose methods record events; returned by [`Endpoint::recorded_by`]. The methods of
/// [`Endpoint`] with the same names have the same effect, without records; both may be mixed.
#[derive(Debug)]
pub struct RecordedEndpoint<'a, R> {
    endpoint: &'a mut Endpoint,
    recorder: &'a mut R,
}

impl Endpoint {
    /// Returns the interface that records events.
    #[inline]
    pub fn recorded_by<'a, R: Recorder>(
        &'a mut self,
        recorder: &'a mut R,
    ) -> RecordedEndpoint<'a, R> {
        RecordedEndpoint {
            endpoint: self,
            recorder,
        }
    }

    /// Handles a segment that arrived on a subflow.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, subflow: usize, segment: &Segment) {
        if !self.take_fast(now, subflow, segment) {
            self.take_segment(now, subflow, segment, &mut ());
        }
    }

    /// Handles expired timers; call it at the time of [`poll_timeout`](Endpoint::poll_timeout).
    pub fn handle_timeout(&mut self, now: Time) {
        self.run_timers(now, &mut ());
    }

    /// Writes the next segment to send to `segment` (the caller's memory, to save a copy) and returns its
    /// subflow. Call it after every other call, until it returns `None`, which leaves `segment` unchanged.
    #[inline(always)]
    #[must_use]
    pub fn poll_transmit(&mut self, now: Time, segment: &mut Segment) -> Option<usize> {
        let subflow = match self.poll_fast(now, segment) {
            Some(sent) => sent,
            None => self.next_segment(now, segment, &mut ()),
        };
        self.number(subflow, segment)
    }

    /// Aborts the connection: RST on each subflow, MP_FASTCLOSE with MPTCP (RFC 8684, 3.5).
    pub fn abort(&mut self) {
        self.give_up();
    }
}

// Without a recorder, each calls the plain method, which is compiled once without one.
impl<R: Recorder> RecordedEndpoint<'_, R> {
    /// Handles a segment that arrived on a subflow.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, subflow: usize, segment: &Segment) {
        if !R::ENABLED {
            return self.endpoint.handle_segment(now, subflow, segment);
        }
        let recorded = self.endpoint.events.len();
        self.endpoint
            .take_segment(now, subflow, segment, self.recorder);
        self.record_states(now, recorded);
    }

    /// Handles expired timers.
    pub fn handle_timeout(&mut self, now: Time) {
        if !R::ENABLED {
            return self.endpoint.handle_timeout(now);
        }
        let recorded = self.endpoint.events.len();
        self.endpoint.run_timers(now, self.recorder);
        self.record_states(now, recorded);
    }

    /// Returns the next segment to send. If there is none, records the state of each subflow.
    #[inline(always)]
    #[must_use]
    pub fn poll_transmit(&mut self, now: Time, segment: &mut Segment) -> Option<usize> {
        if !R::ENABLED {
            return self.endpoint.poll_transmit(now, segment);
        }
        let subflow = self.endpoint.next_segment(now, segment, self.recorder);
        let subflow = self.endpoint.number(subflow, segment);
        if subflow.is_none() {
            self.record_sender_states(now);
        }
        subflow
    }

    /// Aborts the connection.
    pub fn abort(&mut self, now: Time) {
        let recorded = self.endpoint.events.len();
        self.endpoint.give_up();
        if R::ENABLED {
            self.record_states(now, recorded);
        }
    }

    fn record_sender_states(&mut self, now: Time) {
        for (subflow, state) in self.endpoint.subflow_states().iter().enumerate() {
            if state.usable || state.srtt > Time::ZERO {
                self.recorder.record(&TraceRecord {
                    time: now,
                    subflow,
                    event: TraceEvent::SenderState(SenderState::of(state)),
                });
            }
        }
    }

    /// Records the events queued for the driver from this index on.
    fn record_states(&mut self, time: Time, since: usize) {
        for event in self.endpoint.events.after(since) {
            self.recorder.record(&TraceRecord {
                time,
                subflow: event.subflow().unwrap_or(0),
                event: TraceEvent::StateChanged(StateChanged { event }),
            });
        }
    }
}
