//! Effects of the starts and ends of frames on the radios in reach.

use ropewalk_quantities::Time;

use super::Channel;
use crate::medium::MediumEvent;
use crate::radio::next_events::RadioEvent;
use crate::radio::propagation_events::{Edge, PropagationEvent};
use crate::radio::reception::{CaptureDecision, Reception, ReceptionResult};
use crate::radio::station::{Frame, FrameKind, RadioState, TimeUse};
use crate::uniform::uniform;

impl<P: Copy> Channel<P> {
    pub(super) fn transmit(&mut self, radio: usize, now: Time, frame: Frame) {
        let end = frame.shape.end;
        let station = &mut self.stations[radio];
        let contended = matches!(frame.kind, FrameKind::Data | FrameKind::Rts);
        station.state = RadioState::Sending;
        let given_up = station.reception.take();
        station.contention.on_transmit(end, contended);
        station.set_time_use(
            now,
            match frame.kind {
                FrameKind::Data if frame.retry => TimeUse::Retry,
                FrameKind::Data => TimeUse::Data,
                FrameKind::Ack => TimeUse::Ack,
                FrameKind::Rts | FrameKind::Cts => TimeUse::Control,
            },
        );
        self.next_events.set(radio, end, RadioEvent::End);
        self.flights[radio] = Some(frame);
        if let Some(reception) = given_up {
            self.mark_missed(radio, reception.from as usize);
        }
        if self.on_air == 0 {
            self.on_air_since = now;
        }
        self.on_air += 1;
        self.neighbours.fade(radio);
        for place in self.neighbours.of(radio) {
            if let Some(propagation_events) = &mut self.propagation_events {
                propagation_events.send(
                    now + self.neighbours.delay(place),
                    Edge::Begin,
                    radio,
                    place,
                );
            } else {
                self.start_at(place, radio, now, &frame);
            }
        }
    }

    /// Processes a start or end that arrives at a radio.
    pub(super) fn on_edge(&mut self, event: PropagationEvent) -> MediumEvent<P> {
        let (from, place, now) = (event.from as usize, event.place as usize, event.time);
        // The last frame of the sender is unchanged: its next cannot start before SIFS.
        let Some(frame) = self.flights[from] else {
            return MediumEvent::Nothing;
        };
        if event.edge == Edge::Begin {
            self.start_at(place, from, now, &frame);
            return MediumEvent::Nothing;
        }
        let mut fate = Fate::default();
        let happened = self.end_at(place, from, now, &frame, &mut fate);
        if self.neighbours.at(place).0 == frame.to as usize {
            self.count_attempt(from, &frame, fate);
        }
        happened
    }

    /// Starts a frame at a radio in reach; `place` is its index among the neighbours of the sender.
    #[inline]
    fn start_at(&mut self, place: usize, from: usize, now: Time, frame: &Frame) {
        let (radio, power) = self.neighbours.at(place);
        self.update_reception(radio, now);
        let station = &mut self.stations[radio];
        let sensed = station.contention.is_busy();
        station.contention.power += power;
        // A radio that is due to transmit at this instant does so nevertheless.
        let due = self.next_events.is(radio, now, RadioEvent::Start);
        if power >= station.receiver.sensitivity {
            let mut other = None;
            let choice = match &mut station.reception {
                None if station.state == RadioState::Sending => CaptureDecision::Keep,
                None => CaptureDecision::Take,
                Some(reception) => {
                    let read = reception.from as usize;
                    other = Some(read);
                    let later = self.flights[read].is_some_and(|flight| frame.ends_after(&flight));
                    reception.is_replaced_by(power, now, later, self.capture)
                }
            };
            let reads = choice != CaptureDecision::Keep;
            if reads {
                let delay = self.neighbours.delay(place);
                let receiver = &station.receiver;
                let mut begun = Reception::begin(from as u32, power, now, delay, receiver);
                begun.tied = choice == CaptureDecision::Tied;
                station.reception = Some(begun);
                if !due {
                    station.contention.on_frame_start(now);
                }
                if matches!(station.state, RadioState::Awaiting(_))
                    && now + frame.shape.header.span <= station.deadline
                {
                    station.response_started = true;
                    self.next_events.clear(radio);
                }
            }
            if !reads {
                self.mark_missed(radio, from);
            } else if let Some(other) = other {
                self.mark_missed(radio, other);
            }
        }
        let station = &mut self.stations[radio];
        if !sensed && station.contention.is_busy() && !due {
            station.contention.on_busy(now);
            if station.state == RadioState::Contending {
                self.next_events.clear(radio);
            }
        }
    }

    /// Marks a frame that a radio does not receive because of other frames or its own.
    fn mark_missed(&mut self, radio: usize, from: usize) {
        if let Some(flight) = &mut self.flights[from] {
            flight.missed |= flight.to as usize == radio;
        }
    }

    /// Updates the reception of a radio up to now; its preamble may turn out to be undetected.
    #[inline]
    fn update_reception(&mut self, radio: usize, now: Time) {
        let station = &mut self.stations[radio];
        let Some(reception) = &mut station.reception else {
            return;
        };
        let Some(flight) = &self.flights[reception.from as usize] else {
            return;
        };
        let others = station.contention.power - reception.signal;
        let (receiver, errors) = (&station.receiver, &self.frame_error);
        if !reception.passes(now, others, &flight.shape, receiver, errors) {
            let from = reception.from as usize;
            let overlapped = reception.overlapped;
            station.reception = None;
            if station.response_started {
                station.response_started = false;
                let deadline = station.deadline.max(now);
                self.next_events.set(radio, deadline, RadioEvent::Timeout);
            }
            if overlapped {
                self.mark_missed(radio, from);
            }
        }
    }

    /// Ends a frame: at all receivers, then at the sender.
    pub(super) fn frame_ends(&mut self, radio: usize, now: Time) -> MediumEvent<P> {
        let Some(frame) = self.flights[radio] else {
            return MediumEvent::Nothing;
        };
        self.next_events.clear(radio);
        self.on_air -= 1;
        if self.on_air == 0 {
            self.stats.busy += now - self.on_air_since;
        }
        let mut happened = MediumEvent::Nothing;
        let mut fate = Some(Fate::default());
        for place in self.neighbours.of(radio) {
            if let Some(propagation_events) = &mut self.propagation_events {
                propagation_events.send(
                    now + self.neighbours.delay(place),
                    Edge::End,
                    radio,
                    place,
                );
                if self.neighbours.at(place).0 == frame.to as usize {
                    fate = None;
                }
            } else if let Some(fate) = &mut fate {
                let ended = self.end_at(place, radio, now, &frame, fate);
                if let MediumEvent::Out(_) = ended {
                    happened = ended;
                }
            }
        }
        if let Some(fate) = fate {
            self.count_attempt(radio, &frame, fate);
        }
        self.await_response(radio, now, &frame);
        happened
    }

    #[inline]
    fn end_at(
        &mut self,
        place: usize,
        from: usize,
        now: Time,
        frame: &Frame,
        fate: &mut Fate,
    ) -> MediumEvent<P> {
        let (radio, power) = self.neighbours.at(place);
        self.update_reception(radio, now);
        let station = &mut self.stations[radio];
        let mut read = None;
        let others = station.contention.power - power;
        let mut overlapped = false;
        if let Some(reception) = &station.reception
            && reception.from as usize == from
        {
            overlapped = reception.overlapped;
            read = Some(reception.outcome(|| uniform(&mut station.errors)));
            station.reception = None;
        }
        let sensed = station.contention.is_busy();
        station.contention.power = others;
        let mut happened = MediumEvent::Nothing;
        let addressed = radio == frame.to as usize;
        if addressed && frame.kind == FrameKind::Data && read == Some(ReceptionResult::Good) {
            // Configured loss: the frame is received with errors.
            let hop = self.stations[from].queue[0].hop as usize;
            if self.hops[hop].loss.loses() {
                read = Some(ReceptionResult::BadPayload);
                overlapped = false;
            }
        }
        if let Some(read) = read {
            if self.listening.is_some() {
                self.record_received(radio, from, now, frame, read, overlapped);
            }
            let station = &mut self.stations[radio];
            match read {
                ReceptionResult::Good => {
                    station.contention.on_good_frame();
                    if addressed {
                        happened = self.receives(radio, from, now, frame);
                    } else {
                        self.overhears(radio, now, frame);
                    }
                }
                ReceptionResult::BadHeader if station.missed_is_noise => {}
                ReceptionResult::BadPayload | ReceptionResult::BadHeader => {
                    station.contention.on_error_frame(now)
                }
            }
            // Another frame was received instead of the response.
            let station = &mut self.stations[radio];
            if station.response_started && matches!(station.state, RadioState::Awaiting(_)) {
                station.response_started = false;
                self.next_events.set(radio, now, RadioEvent::Timeout);
            }
        }
        if addressed {
            fate.received = read == Some(ReceptionResult::Good);
            let missed = self.flights[from].is_some_and(|flight| flight.missed);
            fate.overlapped = overlapped || missed;
        }
        let station = &mut self.stations[radio];
        if sensed && !station.contention.is_busy() {
            station.contention.on_idle(now);
            self.arm(radio, now);
        }
        happened
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    pub(super) received: bool,
    pub(super) overlapped: bool,
}
