//! Processing of received frames.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::Frame;

use super::Association;
use crate::carrier::in_flight::Content;
use crate::control::Control;
use crate::event::TOO_MANY_STREAMS;
use crate::stream::Stream;
use crate::stream_ids::{index, is_opened_by};
use crate::{CarrierId, Event, Payload, ProtocolError, Role, StreamId, Terms};

/// Limit of the streams a peer may skip, and of the queued refusals, beyond the number of open streams.
const STRAY: u64 = 65_536;

impl<P: Payload> Association<P> {
    /// Processes a frame that arrived on a carrier. It is ignored if that carrier is down.
    ///
    /// # Errors
    /// If the peer violates the protocol; the association cannot go on.
    pub fn received(
        &mut self,
        now: Time,
        id: CarrierId,
        frame: Frame<P>,
    ) -> Result<(), ProtocolError> {
        let Some(at) = self.position(id).filter(|_| self.closed.is_none()) else {
            return Ok(());
        };
        self.due = None;
        let payload_len = match &frame {
            Frame::Data { payload, .. } => payload.len(),
            _ => 0,
        };
        let wire_len = (frame.header_len() + payload_len) as u64;
        let is_ack_eliciting = frame.is_ack_eliciting();
        if (self.carriers).on_frame(at, wire_len, is_ack_eliciting) {
            self.on_quota_gone();
        }
        let due = self.carriers[at].acknowledgement.due();
        if is_ack_eliciting && due.is_some_and(|due| due <= now) {
            self.carriers.wake(at);
        }
        match frame {
            Frame::Ack { count } => self.on_ack(now, at, count)?,
            Frame::Data {
                stream,
                offset,
                fin,
                payload,
            } => self.on_data(now, stream, offset, fin, payload)?,
            Frame::Window { stream, limit } => {
                if let Some(state) = self.stream_of_peer(stream)?
                    && state.send.on_window(limit)
                    && state.send.pending() > 0
                {
                    self.enter(stream);
                    self.wake_all();
                }
            }
            Frame::Reset { stream, code, .. } => self.on_reset(stream, code)?,
            Frame::Stop { stream, code } => {
                let open = self.stream_of_peer(stream)?;
                if open.is_some_and(|state| !state.send_ended) {
                    self.events.push_back(Event::StreamStopped {
                        stream: StreamId(stream),
                        code,
                    });
                    self.reset_send(stream, code);
                    self.forget_if_over(stream);
                }
            }
            Frame::Ping { token } => {
                self.carriers[at].pings.on_ping(token);
                self.carriers.wake(at);
            }
            Frame::Pong { token } => {
                let carrier = &mut self.carriers[at];
                carrier.on_pong(now, token);
                if carrier.in_flight.is_empty() {
                    self.links.on_heard(carrier.config.link);
                }
            }
            Frame::Close { code } => {
                self.end(code);
                return Ok(());
            }
            Frame::Terms { cost, quota, rate } => {
                if self.role == Role::Initiator {
                    return Err(ProtocolError::Terms);
                }
                let terms = Terms {
                    cost: f64::from(cost) / 1000.0,
                    quota: quota.map(Bytes::new),
                    rate: rate.map(Rate::from_bps),
                };
                self.use_on(at, terms);
            }
        }
        self.hear(at, now);
        Ok(())
    }

    fn on_ack(&mut self, now: Time, at: usize, count: u64) -> Result<(), ProtocolError> {
        let carrier = &mut self.carriers[at];
        let sent = carrier.in_flight.sent();
        if count > sent {
            return Err(ProtocolError::Acknowledged {
                acknowledged: count,
                sent,
            });
        }
        let mut bytes = 0;
        let mut newest = None;
        while let Some(sent) = self.carriers[at].in_flight.pop_acknowledged(count) {
            bytes += sent.wire_len;
            if let Content::Data {
                stream: number,
                start,
                end,
                fin,
            } = sent.content
                && let Some(stream) = self.streams.get_mut(&number)
                && !stream.send_ended
            {
                let base = stream.send.base();
                stream.send.on_acknowledged(start, end, fin);
                self.table.count_acknowledged(stream.send.base() - base);
                self.after_acknowledged(number);
            }
            newest = Some(sent);
        }
        if let Some(newest) = newest {
            let carrier = &mut self.carriers[at];
            let has_slowed = carrier.on_acknowledged(now, bytes, &newest);
            self.links.on_heard(carrier.config.link);
            self.bound_queues();
            if has_slowed {
                self.shed(at);
            }
            self.wake_all();
        }
        Ok(())
    }

    /// Limits the bytes in flight on each carrier, so that the reassembly buffer can hold the data that the
    /// other carriers deliver meanwhile. The peer's buffer is assumed to be as large as this one's.
    fn bound_queues(&mut self) {
        self.carriers.settle();
        let lasts = self.config.buffer.as_u64() as f64 / self.carriers.rates();
        self.carriers.set_lasts(lasts);
    }

    fn on_data(
        &mut self,
        now: Time,
        number: u32,
        offset: u64,
        fin: bool,
        payload: P,
    ) -> Result<(), ProtocolError> {
        let Some(state) = self.stream_of_peer(number)? else {
            return Ok(());
        };
        if state.receive_ended {
            return Ok(());
        }
        let limit = state.window.limit();
        state.receive.insert(number, offset, payload, fin, limit)?;
        self.recount(number);
        let Some(state) = self.streams.get_mut(&number) else {
            return Ok(());
        };
        if !state.receive.is_readable() {
            let (_, early) = state.receive.held();
            self.make_room(number, early);
        }
        let stream = StreamId(number);
        let Some(state) = self.streams.get_mut(&number) else {
            return Ok(());
        };
        if state.receive.is_finished() {
            if !state.receive.is_discarding() {
                self.events.push_back(Event::StreamFinished(stream));
            }
            self.end_receive(number);
        } else if state.receive.is_discarding() {
            self.give_credit(now, number);
        } else if state.wants_data && state.receive.is_readable() {
            state.wants_data = false;
            self.events.push_back(Event::Readable(stream));
        }
        Ok(())
    }

    /// Grows the window of a stream with `early` bytes behind a gap, if needed.
    fn make_room(&mut self, number: u32, early: u64) {
        if let Some(state) = self.streams.get_mut(&number)
            && state.window.on_gap(early, &mut self.memory)
            && !state.window.queued
        {
            state.window.queued = true;
            self.control.push(Control::Window { stream: number });
            self.wake_all();
        }
    }

    fn on_reset(&mut self, number: u32, code: u32) -> Result<(), ProtocolError> {
        let Some(state) = self.stream_of_peer(number)? else {
            return Ok(());
        };
        if state.receive_ended {
            return Ok(());
        }
        if !state.receive.is_discarding() {
            self.events.push_back(Event::StreamReset {
                stream: StreamId(number),
                code,
            });
        }
        self.end_receive(number);
        Ok(())
    }

    pub(super) fn enter(&mut self, number: u32) {
        if let Some(stream) = self.streams.get_mut(&number) {
            self.turns.enter(number, stream);
        }
    }

    /// Returns the stream of a frame: an open one, or one that the peer opens with this frame. `None` if it
    /// is over or refused.
    fn stream_of_peer(&mut self, number: u32) -> Result<Option<&mut Stream<P>>, ProtocolError> {
        if self.streams.contains_key(&number) {
            return Ok(self.streams.get_mut(&number));
        }
        let index = index(number);
        if is_opened_by(number, self.role) {
            return if self.ids.own.is_known(index) {
                Ok(None)
            } else {
                Err(ProtocolError::Unopened(number))
            };
        }
        if self.ids.peer.is_known(index) {
            return Ok(None);
        }
        if self.ids.peer.passed_over(index) > STRAY {
            return Err(ProtocolError::TooManyStreams(number));
        }
        self.ids.peer.insert(index);
        if self.ids.peers_open >= self.config.streams {
            return self.refuse(number).map(|()| None);
        }
        self.ids.peers_open += 1;
        self.events.push_back(Event::StreamOpened(StreamId(number)));
        let stream = Stream::new(self.config.buffer.as_u64());
        Ok(Some(self.streams.entry(number).or_insert(stream)))
    }

    /// Refuses a stream beyond the limit: resets both directions and keeps no state.
    fn refuse(&mut self, number: u32) -> Result<(), ProtocolError> {
        if self.control.len() as u64 > STRAY {
            return Err(ProtocolError::TooManyStreams(number));
        }
        self.control.push(Control::Reset {
            stream: number,
            code: TOO_MANY_STREAMS,
            final_size: 0,
        });
        self.control.push(Control::Stop {
            stream: number,
            code: TOO_MANY_STREAMS,
        });
        self.wake_all();
        Ok(())
    }
}
