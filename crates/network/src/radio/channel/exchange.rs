//! Frame exchanges: data and ACK, with or without RTS and CTS.

use ropewalk_quantities::Time;

use super::Channel;
use super::air::Fate;
use crate::medium::MediumEvent;
use crate::offer::DropReason;
use crate::radio::airtime::{ACK_BYTES, DATA_OVERHEAD_BYTES, RTS_BYTES};
use crate::radio::next_events::RadioEvent;
use crate::radio::reception::FrameShape;
use crate::radio::standard::DataRate;
use crate::radio::station::{Frame, FrameKind, RadioState, Station};

impl<P: Copy> Channel<P> {
    /// Transmits the response of a radio, or the frame whose back-off has ended.
    pub(super) fn starts(&mut self, radio: usize, now: Time) -> MediumEvent<P> {
        self.next_events.clear(radio);
        let station = &mut self.stations[radio];
        if let (RadioState::Responding, Some(answer)) = (station.state, station.response.take()) {
            self.transmit(radio, now, answer);
            return MediumEvent::Nothing;
        }
        let Some(first) = station.queue.front() else {
            return MediumEvent::Nothing;
        };
        if now - first.since > station.lifetime {
            return self.drop_expired(radio, now);
        }
        let bytes = first.carried.size + DATA_OVERHEAD_BYTES;
        if !station.head.sent && station.head.short == 0 {
            station.sequence = (station.sequence + 1) & 0xfff;
        }
        let data = self.data_frame(radio, now);
        let station = &self.stations[radio];
        let frame = if bytes > station.rts {
            station.rts_frame(now, &data)
        } else {
            data
        };
        self.transmit(radio, now, frame);
        MediumEvent::Nothing
    }

    fn data_frame(&self, radio: usize, start: Time) -> Frame {
        let station = &self.stations[radio];
        let first = &station.queue[0];
        let state = &self.hops[first.hop as usize];
        let rate = state.rate.rate();
        let ack = rate.response(&station.basic_rates);
        let bytes = first.carried.size + DATA_OVERHEAD_BYTES;
        Frame {
            duration: station.timing.sifs() + station.timing.response(ack),
            retry: station.head.sent,
            ..station.frame(FrameKind::Data, state.to, rate, bytes, start)
        }
    }

    /// Processes a frame received by the radio that it is addressed to.
    pub(super) fn receives(
        &mut self,
        radio: usize,
        from: usize,
        now: Time,
        frame: &Frame,
    ) -> MediumEvent<P> {
        let station = &mut self.stations[radio];
        match frame.kind {
            FrameKind::Data => {
                let rate = frame.shape.rate.response(&station.basic_rates);
                let start = now + station.timing.sifs();
                let ack = station.frame(FrameKind::Ack, from as u32, rate, ACK_BYTES, start);
                self.schedule_response(radio, now, ack);
                self.deliver(from)
            }
            FrameKind::Rts => {
                if station.contention.is_unreserved(now) {
                    let rate = frame.shape.rate.response(&station.basic_rates);
                    let start = now + station.timing.sifs();
                    let mut cts =
                        station.frame(FrameKind::Cts, from as u32, rate, ACK_BYTES, start);
                    let taken = cts.shape.end - now;
                    cts.duration = frame.duration.saturating_sub(taken);
                    self.schedule_response(radio, now, cts);
                }
                MediumEvent::Nothing
            }
            FrameKind::Cts => {
                if station.state == RadioState::Awaiting(FrameKind::Cts) {
                    station.response_started = false;
                    let start = now + station.timing.sifs();
                    let data = self.data_frame(radio, start);
                    self.schedule_response(radio, now, data);
                }
                MediumEvent::Nothing
            }
            FrameKind::Ack => {
                if station.state == RadioState::Awaiting(FrameKind::Ack) {
                    self.acknowledged(radio, now);
                }
                MediumEvent::Nothing
            }
        }
    }

    pub(super) fn overhears(&mut self, radio: usize, now: Time, frame: &Frame) {
        let station = &mut self.stations[radio];
        let until = now + frame.duration;
        if frame.kind == FrameKind::Rts {
            let cts = frame.shape.rate.response(&station.basic_rates);
            let seen_before = now + station.timing.nav_reset(cts);
            let reset = seen_before + station.timing.header(cts).span;
            let contention = &mut station.contention;
            contention.reserve_by_rts(until, seen_before, reset.min(until));
        } else {
            station.contention.reserve(until);
        }
    }

    /// Schedules a frame SIFS after the one that just ended. If the radio expected a response, that attempt
    /// has failed.
    fn schedule_response(&mut self, radio: usize, now: Time, frame: Frame) {
        let station = &mut self.stations[radio];
        station.response = Some(frame);
        if let RadioState::Awaiting(kind) = station.state
            && (kind, frame.kind) != (FrameKind::Cts, FrameKind::Data)
        {
            station.response_started = false;
            self.next_events.set(radio, now, RadioEvent::Timeout);
        } else {
            station.state = RadioState::Responding;
            self.next_events
                .set(radio, frame.shape.start, RadioEvent::Start);
        }
    }

    /// Delivers the packet at the head of the queue, unless it was delivered before and only its ACK was
    /// lost.
    fn deliver(&mut self, radio: usize) -> MediumEvent<P> {
        let station = &mut self.stations[radio];
        let first = &station.queue[0];
        if std::mem::replace(&mut station.head.delivered, true) {
            return MediumEvent::Nothing;
        }
        let stats = &mut self.hops[first.hop as usize].stats;
        stats.delivered_packets += 1;
        stats.delivered_bytes += u64::from(first.carried.size);
        MediumEvent::Out(first.carried)
    }

    /// Counts the fate of a transmitted frame, and records it for captures.
    pub(super) fn count_attempt(&mut self, radio: usize, frame: &Frame, fate: Fate) {
        if self.listening.is_some() {
            self.record_sent(radio, frame.shape.end, frame, fate);
        }
        if matches!(frame.kind, FrameKind::Ack | FrameKind::Cts) {
            return;
        }
        let station = &mut self.stations[radio];
        let collided = u64::from(!fate.received && fate.overlapped);
        self.stats.attempts += 1;
        self.stats.collisions += collided;
        station.stats.collisions += collided;
        if frame.kind == FrameKind::Data {
            station.stats.frames += 1;
            station.stats.retries += u64::from(frame.retry);
            let stats = &mut self.hops[station.queue[0].hop as usize].stats;
            stats.attempts += 1;
            stats.frame_errors += u64::from(!fate.received);
            stats.collisions += collided;
        } else {
            station.stats.rts += 1;
        }
    }

    /// Waits for the response to a transmitted frame, if it expects one.
    pub(super) fn await_response(&mut self, radio: usize, now: Time, frame: &Frame) {
        let station = &mut self.stations[radio];
        let wanted = match frame.kind {
            FrameKind::Ack | FrameKind::Cts => {
                station.state = RadioState::Contending;
                station.set_not_transmitting(now);
                self.arm(radio, now);
                return;
            }
            FrameKind::Data => FrameKind::Ack,
            FrameKind::Rts => FrameKind::Cts,
        };
        station.head.sent |= frame.kind == FrameKind::Data;
        station.state = RadioState::Awaiting(wanted);
        station.set_not_transmitting(now);
        let answer = frame.shape.rate.response(&station.basic_rates);
        station.deadline = now + station.timing.response_timeout(answer);
        self.next_events
            .set(radio, station.deadline, RadioEvent::Timeout);
    }

    /// Removes the acknowledged packet at the head of the queue.
    fn acknowledged(&mut self, radio: usize, now: Time) {
        let station = &mut self.stations[radio];
        station.response_started = false;
        station.stats.delivered_packets += 1;
        let hop = station.queue[0].hop as usize;
        self.hops[hop].rate.succeeded();
        self.finish_packet(radio, now);
        self.stations[radio].set_not_transmitting(now);
    }

    pub(super) fn on_response_timeout(&mut self, radio: usize, now: Time) -> MediumEvent<P> {
        self.next_events.clear(radio);
        let station = &mut self.stations[radio];
        let RadioState::Awaiting(kind) = station.state else {
            return MediumEvent::Nothing;
        };
        station.stats.timeouts += 1;
        let first = &station.queue[0];
        let state = &mut self.hops[first.hop as usize];
        let bytes = first.carried.size + DATA_OVERHEAD_BYTES;
        let head = &mut station.head;
        if kind == FrameKind::Ack {
            state.rate.failed();
        }
        let last = if kind == FrameKind::Ack && bytes > station.rts {
            head.long += 1;
            head.long >= station.long_tries
        } else {
            head.short += 1;
            head.short >= station.tries
        };
        station.contention.failed(now);
        let mut happened = MediumEvent::Nothing;
        if last {
            station.stats.drops_tries += 1;
            if !head.delivered {
                state.stats.drops_tries += 1;
                happened = MediumEvent::Dropped(first.carried, DropReason::RetryLimit);
            }
            self.finish_packet(radio, now);
        }
        let station = &mut self.stations[radio];
        station.state = RadioState::Contending;
        station.set_not_transmitting(now);
        if let Some(answer) = &station.response {
            station.state = RadioState::Responding;
            self.next_events
                .set(radio, answer.shape.start, RadioEvent::Start);
        } else {
            self.arm(radio, now);
        }
        happened
    }

    /// Drops the packet at the head of the queue after its lifetime.
    #[cold]
    fn drop_expired(&mut self, radio: usize, now: Time) -> MediumEvent<P> {
        let station = &mut self.stations[radio];
        let first = station.queue[0];
        let delivered = station.head.delivered;
        station.dequeue_head(now);
        station.set_not_transmitting(now);
        if !station.queue.is_empty() {
            self.next_events.set(radio, now, RadioEvent::Start);
        } else if station.contention.is_busy() {
            // The radio does not transmit at the instant at which others started.
            station.contention.on_busy(now);
            if station.reception.is_some() {
                station.contention.on_frame_start(now);
            }
        }
        if delivered {
            return MediumEvent::Nothing;
        }
        station.stats.drops_lifetime += 1;
        self.hops[first.hop as usize].stats.drops_lifetime += 1;
        MediumEvent::Dropped(first.carried, DropReason::Lifetime)
    }

    /// Removes the packet at the head of the queue and draws a back-off.
    fn finish_packet(&mut self, radio: usize, now: Time) {
        let station = &mut self.stations[radio];
        station.dequeue_head(now);
        station.contention.on_packet_done();
        station.state = RadioState::Contending;
    }
}

impl<P> Station<P> {
    /// Returns a frame without a duration field.
    fn frame(&self, kind: FrameKind, to: u32, rate: DataRate, bytes: u32, start: Time) -> Frame {
        let header = self.timing.header(rate);
        Frame {
            kind,
            to,
            duration: Time::ZERO,
            retry: false,
            missed: false,
            shape: FrameShape {
                rate,
                header,
                start,
                end: start + self.timing.frame(rate, bytes),
                bytes,
            },
        }
    }

    /// Returns the RTS for a data frame, at the slowest basic rate of its class. Its duration field covers
    /// the exchange up to the end of the ACK.
    fn rts_frame(&self, start: Time, data: &Frame) -> Frame {
        let rate = self.slowest_basic(data.shape.rate);
        let sifs = self.timing.sifs();
        let cts = self.timing.response(rate.response(&self.basic_rates));
        let data_time = data.shape.end - data.shape.start;
        Frame {
            duration: sifs + cts + sifs + data_time + data.duration,
            ..self.frame(FrameKind::Rts, data.to, rate, RTS_BYTES, start)
        }
    }

    fn slowest_basic(&self, of: DataRate) -> DataRate {
        let basic = self.basic_rates.iter().copied();
        let of_class = basic.filter(|rate| rate.is_ofdm() == of.is_ofdm());
        of_class
            .min_by_key(|rate| rate.kbps())
            .unwrap_or_else(|| of.response(&[]))
    }
}
