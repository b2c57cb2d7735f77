//! Effects of the starts and ends of frames on the radios in reach.

use ropewalk_quantities::Time;

use super::Channel;
use crate::medium::Happened;
use crate::radio::dues::Due;
use crate::radio::reception::{Choice, Read, Reception};
use crate::radio::station::{Frame, FrameKind, State, Use};
use crate::radio::waves::{Edge, Wave};
use crate::uniform::uniform;

impl<P: Copy> Channel<P> {
    pub(super) fn transmit(&mut self, radio: usize, now: Time, frame: Frame) {
        let end = frame.shape.end;
        let station = &mut self.stations[radio];
        let contended = matches!(frame.kind, FrameKind::Data | FrameKind::Rts);
        station.state = State::Sending;
        let given_up = station.reception.take();
        station.contention.sends(end, contended);
        station.uses(
            now,
            match frame.kind {
                FrameKind::Data if frame.retry => Use::Retry,
                FrameKind::Data => Use::Data,
                FrameKind::Ack => Use::Ack,
                FrameKind::Rts | FrameKind::Cts => Use::Control,
            },
        );
        self.dues.set(radio, end, Due::End);
        self.flights[radio] = Some(frame);
        if let Some(reception) = given_up {
            self.misses(radio, reception.from as usize);
        }
        if self.on_air == 0 {
            self.on_air_since = now;
        }
        self.on_air += 1;
        self.neighbours.fade(radio);
        for place in self.neighbours.of(radio) {
            if let Some(waves) = &mut self.waves {
                waves.send(
                    now + self.neighbours.delay(place),
                    Edge::Begin,
                    radio,
                    place,
                );
            } else {
                self.begins_at(place, radio, now, &frame);
            }
        }
    }

    /// Processes a start or end that arrives at a radio.
    pub(super) fn comes(&mut self, wave: Wave) -> Happened<P> {
        let (from, place, now) = (wave.from as usize, wave.place as usize, wave.time);
        // The last frame of the sender is unchanged: its next cannot start before SIFS.
        let Some(frame) = self.flights[from] else {
            return Happened::Nothing;
        };
        if wave.edge == Edge::Begin {
            self.begins_at(place, from, now, &frame);
            return Happened::Nothing;
        }
        let mut fate = Fate::default();
        let happened = self.ends_at(place, from, now, &frame, &mut fate);
        if self.neighbours.at(place).0 == frame.to as usize {
            self.count_try(from, &frame, fate);
        }
        happened
    }

    /// Starts a frame at a radio in reach; `place` is its index among the neighbours of the sender.
    #[inline]
    fn begins_at(&mut self, place: usize, from: usize, now: Time, frame: &Frame) {
        let (radio, power) = self.neighbours.at(place);
        self.read_on(radio, now);
        let station = &mut self.stations[radio];
        let sensed = station.contention.senses();
        station.contention.power += power;
        // A radio that is due to transmit at this instant does so nevertheless.
        let due = self.dues.is(radio, now, Due::Start);
        if power >= station.receiver.sensitivity {
            let mut other = None;
            let choice = match &mut station.reception {
                None if station.state == State::Sending => Choice::Keep,
                None => Choice::Take,
                Some(reception) => {
                    let read = reception.from as usize;
                    other = Some(read);
                    let later = self.flights[read].is_some_and(|flight| frame.ends_after(&flight));
                    reception.gives_way(power, now, later, self.capture)
                }
            };
            let reads = choice != Choice::Keep;
            if reads {
                let delay = self.neighbours.delay(place);
                let receiver = &station.receiver;
                let mut begun = Reception::begin(from as u32, power, now, delay, receiver);
                begun.rivalled = choice == Choice::Rival;
                station.reception = Some(begun);
                if !due {
                    station.contention.frame_begins(now);
                }
                if matches!(station.state, State::Awaiting(_))
                    && now + frame.shape.header.span <= station.deadline
                {
                    station.answered = true;
                    self.dues.clear(radio);
                }
            }
            if !reads {
                self.misses(radio, from);
            } else if let Some(other) = other {
                self.misses(radio, other);
            }
        }
        let station = &mut self.stations[radio];
        if !sensed && station.contention.senses() && !due {
            station.contention.turns_busy(now);
            if station.state == State::Contending {
                self.dues.clear(radio);
            }
        }
    }

    /// Marks a frame that a radio does not receive because of other frames or its own.
    fn misses(&mut self, radio: usize, from: usize) {
        if let Some(flight) = &mut self.flights[from] {
            flight.missed |= flight.to as usize == radio;
        }
    }

    /// Updates the reception of a radio up to now; its preamble may turn out to be undetected.
    #[inline]
    fn read_on(&mut self, radio: usize, now: Time) {
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
            if station.answered {
                station.answered = false;
                let deadline = station.deadline.max(now);
                self.dues.set(radio, deadline, Due::Timeout);
            }
            if overlapped {
                self.misses(radio, from);
            }
        }
    }

    /// Ends a frame: at all receivers, then at the sender.
    pub(super) fn frame_ends(&mut self, radio: usize, now: Time) -> Happened<P> {
        let Some(frame) = self.flights[radio] else {
            return Happened::Nothing;
        };
        self.dues.clear(radio);
        self.on_air -= 1;
        if self.on_air == 0 {
            self.stats.busy += now - self.on_air_since;
        }
        let mut happened = Happened::Nothing;
        let mut fate = Some(Fate::default());
        for place in self.neighbours.of(radio) {
            if let Some(waves) = &mut self.waves {
                waves.send(now + self.neighbours.delay(place), Edge::End, radio, place);
                if self.neighbours.at(place).0 == frame.to as usize {
                    fate = None;
                }
            } else if let Some(fate) = &mut fate {
                let ended = self.ends_at(place, radio, now, &frame, fate);
                if let Happened::Out(_) = ended {
                    happened = ended;
                }
            }
        }
        if let Some(fate) = fate {
            self.count_try(radio, &frame, fate);
        }
        self.settle_try(radio, now, &frame);
        happened
    }

    #[inline]
    fn ends_at(
        &mut self,
        place: usize,
        from: usize,
        now: Time,
        frame: &Frame,
        fate: &mut Fate,
    ) -> Happened<P> {
        let (radio, power) = self.neighbours.at(place);
        self.read_on(radio, now);
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
        let sensed = station.contention.senses();
        station.contention.power = others;
        let mut happened = Happened::Nothing;
        let addressed = radio == frame.to as usize;
        if addressed && frame.kind == FrameKind::Data && read == Some(Read::Good) {
            // Configured loss: the frame is received with errors.
            let hop = self.stations[from].queue[0].hop as usize;
            let state = &mut self.hops[hop];
            if state.loss > 0.0 && uniform(&mut state.losses) < state.loss {
                read = Some(Read::BadPayload);
                overlapped = false;
            }
        }
        if let Some(read) = read {
            if self.listening.is_some() {
                self.show_read(radio, from, now, frame, read, overlapped);
            }
            let station = &mut self.stations[radio];
            match read {
                Read::Good => {
                    station.contention.heard_good();
                    if addressed {
                        happened = self.receives(radio, from, now, frame);
                    } else {
                        self.overhears(radio, now, frame);
                    }
                }
                Read::BadHeader if station.missed_is_noise => {}
                Read::BadPayload | Read::BadHeader => station.contention.heard_error(now),
            }
            // Another frame was received instead of the response.
            let station = &mut self.stations[radio];
            if station.answered && matches!(station.state, State::Awaiting(_)) {
                station.answered = false;
                self.dues.set(radio, now, Due::Timeout);
            }
        }
        if addressed {
            fate.received = read == Some(Read::Good);
            let missed = self.flights[from].is_some_and(|flight| flight.missed);
            fate.overlapped = overlapped || missed;
        }
        let station = &mut self.stations[radio];
        if sensed && !station.contention.senses() {
            station.contention.turns_idle(now);
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
