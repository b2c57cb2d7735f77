//! Processing of received frames.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::Frame;

use super::Association;
use crate::carrier::in_flight::Content;
use crate::carrier_set::CarrierIndex;
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
            } => self.on_data(now, StreamId(stream), offset, fin, payload)?,
            Frame::Window { stream, limit } => {
                let stream = StreamId(stream);
                if let Some(state) = self.stream_of_peer(stream)?
                    && state.send.on_window(limit)
                    && state.send.pending() > 0
                {
                    self.enter(stream);
                    self.wake_all();
                }
            }
            Frame::Reset { stream, code, .. } => self.on_reset(StreamId(stream), code)?,
            Frame::Stop { stream, code } => {
                let stream = StreamId(stream);
                let open = self.stream_of_peer(stream)?;
                if open.is_some_and(|state| !state.send_ended) {
                    self.events.push_back(Event::StreamStopped { stream, code });
                    self.reset_send(stream, code);
                    self.remove_if_over(stream);
                }
            }
            Frame::Ping { token } => {
                self.carriers[at].pings.answer_due = Some(token);
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
                self.apply_terms(at, terms);
            }
        }
        self.on_heard(at, now);
        Ok(())
    }

    fn on_ack(&mut self, now: Time, at: CarrierIndex, count: u64) -> Result<(), ProtocolError> {
        let carrier = &mut self.carriers[at];
        let sent = carrier.in_flight.sent;
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
                stream: id,
                start,
                end,
                fin,
            } = sent.content
                && let Some(stream) = self.streams.get_mut(&id)
                && !stream.send_ended
            {
                let base = stream.send.base();
                stream.send.on_acknowledged(start, end, fin);
                self.adapter.acknowledged += stream.send.base() - base;
                self.after_acknowledged(id);
            }
            newest = Some(sent);
        }
        if let Some(newest) = newest {
            let carrier = &mut self.carriers[at];
            let has_slowed = carrier.on_acknowledged(now, bytes, &newest);
            self.links.on_heard(carrier.config.link);
            self.limit_in_flight();
            if has_slowed {
                self.requeue_excess(at);
            }
            self.wake_all();
        }
        Ok(())
    }

    /// Limits the bytes in flight on each carrier, so that the reassembly buffer can hold the data that the
    /// other carriers deliver meanwhile. The peer's buffer is assumed to be as large as this one's.
    fn limit_in_flight(&mut self) {
        self.carriers.settle();
        let buffer_secs = self.config.buffer.as_u64() as f64 / self.carriers.rates();
        self.carriers.buffer_secs = buffer_secs;
    }

    fn on_data(
        &mut self,
        now: Time,
        id: StreamId,
        offset: u64,
        fin: bool,
        payload: P,
    ) -> Result<(), ProtocolError> {
        let Some(state) = self.stream_of_peer(id)? else {
            return Ok(());
        };
        if state.receive_ended {
            return Ok(());
        }
        let limit = state.window.limit;
        state.receive.insert(id.0, offset, payload, fin, limit)?;
        self.update_cost(id);
        let Some(state) = self.streams.get_mut(&id) else {
            return Ok(());
        };
        if !state.receive.is_readable() {
            let (_, early) = state.receive.held();
            self.grow_window(id, early);
        }
        let Some(state) = self.streams.get_mut(&id) else {
            return Ok(());
        };
        if state.receive.is_finished() {
            if !state.receive.discard {
                self.events.push_back(Event::StreamFinished(id));
            }
            self.end_receive(id);
        } else if state.receive.discard {
            self.update_window(now, id);
        } else if state.wants_data && state.receive.is_readable() {
            state.wants_data = false;
            self.events.push_back(Event::Readable(id));
        }
        Ok(())
    }

    fn grow_window(&mut self, id: StreamId, early: u64) {
        if let Some(state) = self.streams.get_mut(&id)
            && state.window.on_gap(early, &mut self.memory)
            && !state.window.queued
        {
            state.window.queued = true;
            self.control.push(Control::Window { stream: id });
            self.wake_all();
        }
    }

    fn on_reset(&mut self, id: StreamId, code: u32) -> Result<(), ProtocolError> {
        let Some(state) = self.stream_of_peer(id)? else {
            return Ok(());
        };
        if state.receive_ended {
            return Ok(());
        }
        if !state.receive.discard {
            self.events
                .push_back(Event::StreamReset { stream: id, code });
        }
        self.end_receive(id);
        Ok(())
    }

    pub(super) fn enter(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            self.drr.enter(id, stream);
        }
    }

    /// Returns the stream of a frame: an open one, or one that the peer opens with this frame. `None` if it
    /// is over or refused.
    fn stream_of_peer(&mut self, id: StreamId) -> Result<Option<&mut Stream<P>>, ProtocolError> {
        if self.streams.contains_key(&id) {
            return Ok(self.streams.get_mut(&id));
        }
        let index = index(id);
        if is_opened_by(id, self.role) {
            return if self.ids.own.is_known(index) {
                Ok(None)
            } else {
                Err(ProtocolError::Unopened(id.0))
            };
        }
        if self.ids.peer.is_known(index) {
            return Ok(None);
        }
        if self.ids.peer.skipped_before(index) > STRAY {
            return Err(ProtocolError::TooManyStreams(id.0));
        }
        self.ids.peer.insert(index);
        if self.ids.peers_open >= self.config.streams {
            return self.refuse(id).map(|()| None);
        }
        self.ids.peers_open += 1;
        self.events.push_back(Event::StreamOpened(id));
        let stream = Stream::new(self.config.buffer.as_u64());
        Ok(Some(self.streams.entry(id).or_insert(stream)))
    }

    /// Refuses a stream beyond the limit: resets both directions and keeps no state.
    fn refuse(&mut self, id: StreamId) -> Result<(), ProtocolError> {
        if self.control.len() as u64 > STRAY {
            return Err(ProtocolError::TooManyStreams(id.0));
        }
        self.control.push(Control::Reset {
            stream: id,
            code: TOO_MANY_STREAMS,
            final_size: 0,
        });
        self.control.push(Control::Stop {
            stream: id,
            code: TOO_MANY_STREAMS,
        });
        self.wake_all();
        Ok(())
    }
}
