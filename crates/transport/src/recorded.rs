use ropewalk_quantities::Time;

use crate::event::{Happening, Recorded, Recorder, Settled, StateChanged};
use crate::{Endpoint, Segment};

/// An endpoint whose verbs tell a recorder what they do; [`Endpoint::recorded_by`] gives it.
///
/// Each verb is that of the same name of [`Endpoint`]. Use either for any call: what is done by a
/// plain verb is not told, and nothing else differs.
#[derive(Debug)]
pub struct RecordedEndpoint<'a, R> {
    endpoint: &'a mut Endpoint,
    recorder: &'a mut R,
}

impl Endpoint {
    /// The verbs that tell this recorder what they do.
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

    /// A segment arrived on a subflow.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, subflow: usize, segment: &Segment) {
        if !self.take_usual(now, subflow, segment) {
            self.take_segment(now, subflow, segment, &mut ());
        }
    }

    /// One or more timers may have run out: call it at [`poll_timeout`](Endpoint::poll_timeout)'s time.
    pub fn handle_timeout(&mut self, now: Time) {
        self.run_timers(now, &mut ());
    }

    /// The subflow that has a segment to send now; the segment is written to `segment`, which is
    /// left alone if there is none. Changes after every other call; call it until it gives nothing.
    ///
    /// The caller owns the place, so that a segment goes from here into a link's ring in one copy.
    #[inline(always)]
    #[must_use]
    pub fn poll_transmit(&mut self, now: Time, segment: &mut Segment) -> Option<usize> {
        let subflow = match self.poll_usual(now, segment) {
            Some(usual) => usual,
            None => self.next_segment(now, segment, &mut ()),
        };
        self.number(subflow, segment)
    }

    /// Gives the connection up at once: RST on each subflow, MP_FASTCLOSE with MPTCP (RFC 8684, 3.5).
    pub fn abort(&mut self) {
        self.give_up();
    }
}

// Where nobody listens each is the plain verb: one that is compiled once, with no recorder to pass on.
impl<R: Recorder> RecordedEndpoint<'_, R> {
    /// A segment arrived on a subflow.
    #[inline]
    pub fn handle_segment(&mut self, now: Time, subflow: usize, segment: &Segment) {
        if !R::LISTENS {
            return self.endpoint.handle_segment(now, subflow, segment);
        }
        let told = self.endpoint.events.len();
        self.endpoint
            .take_segment(now, subflow, segment, self.recorder);
        self.tell_states(now, told);
    }

    /// One or more timers may have run out.
    pub fn handle_timeout(&mut self, now: Time) {
        if !R::LISTENS {
            return self.endpoint.handle_timeout(now);
        }
        let told = self.endpoint.events.len();
        self.endpoint.run_timers(now, self.recorder);
        self.tell_states(now, told);
    }

    /// The subflow that has a segment to send now. If there is none, it tells how each subflow stands.
    #[inline(always)]
    #[must_use]
    pub fn poll_transmit(&mut self, now: Time, segment: &mut Segment) -> Option<usize> {
        if !R::LISTENS {
            return self.endpoint.poll_transmit(now, segment);
        }
        let subflow = self.endpoint.next_segment(now, segment, self.recorder);
        let subflow = self.endpoint.number(subflow, segment);
        if subflow.is_none() {
            self.tell_settled(now);
        }
        subflow
    }

    /// Gives the connection up at once.
    pub fn abort(&mut self, now: Time) {
        let told = self.endpoint.events.len();
        self.endpoint.give_up();
        if R::LISTENS {
            self.tell_states(now, told);
        }
    }

    fn tell_settled(&mut self, now: Time) {
        for (subflow, state) in self.endpoint.subflow_states().iter().enumerate() {
            if state.usable || state.srtt > Time::ZERO {
                self.recorder.record(&Recorded {
                    time: now,
                    subflow,
                    happening: Happening::Settled(Settled::of(state)),
                });
            }
        }
    }

    /// The events that were queued for the driver since there were so many.
    fn tell_states(&mut self, time: Time, since: usize) {
        for event in self.endpoint.events.range(since..).copied() {
            self.recorder.record(&Recorded {
                time,
                subflow: event.subflow().unwrap_or(0),
                happening: Happening::StateChanged(StateChanged { event }),
            });
        }
    }
}
