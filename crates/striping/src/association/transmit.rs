//! Frames that a carrier sends.

use ropewalk_quantities::Time;
use ropewalk_wire::gateway::Frame;

use super::Association;
use super::schedule::ScheduledPart;
use crate::carrier::in_flight::Content;
use crate::carrier_set::CarrierIndex;
use crate::control::Control;
use crate::{CarrierId, Payload, Terms};

/// Encodes terms: the price in thousandths, and a rate of at least 1.
fn terms_frame<P>(terms: &Terms) -> Frame<P> {
    Frame::Terms {
        cost: (terms.cost * 1000.0).round() as u32,
        quota: terms.quota.map(|quota| quota.as_u64().min(u64::MAX - 1)),
        rate: terms.rate.map(|rate| rate.as_bps().clamp(1, u64::MAX - 1)),
    }
}

impl<P: Payload> Association<P> {
    /// Returns the next frame to send on this carrier; the driver must send it. `None` if there is none now:
    /// [`poll_wake`](Association::poll_wake) reports when to poll again.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Time, id: CarrierId) -> Option<Frame<P>> {
        let at = self.position(id).filter(|at| !self.carriers[*at].blocked)?;
        self.due = None;
        let frame = self.next_frame(now, at);
        match &frame {
            None => self.carriers.set_idle(now, at),
            Some(frame) => {
                self.carriers.note_may_be_full(at);
                let payload_len = match frame {
                    Frame::Data { payload, .. } => payload.len(),
                    _ => 0,
                };
                let wire_len = (frame.header_len() + payload_len) as u64;
                if self.carriers[at].usage.count_sent(now, wire_len) {
                    self.on_quota_gone();
                }
            }
        }
        frame
    }

    fn next_frame(&mut self, now: Time, at: CarrierIndex) -> Option<Frame<P>> {
        if let Some(code) = self.closed {
            let carrier = &mut self.carriers[at];
            let first = !carrier.close_sent;
            carrier.close_sent = true;
            return first.then_some(Frame::Close { code });
        }
        let carrier = &self.carriers[at];
        if carrier.pings.must_answer() {
            let token = self.carriers[at].pings.answer_due.take()?;
            return Some(Frame::Pong { token });
        }
        if carrier.terms_due {
            let carrier = &mut self.carriers[at];
            carrier.terms_due = false;
            return Some(terms_frame(&carrier.config.terms));
        }
        if carrier.acknowledgement.due().is_some_and(|due| due <= now) {
            let count = self.carriers[at].acknowledgement.take(now)?;
            return Some(Frame::Ack { count });
        }
        if carrier.pings.is_due {
            let token = self.next_token;
            self.next_token += 1;
            self.carriers[at].pings.on_sent(now, token);
            return Some(Frame::Ping { token });
        }
        self.carriers.settle();
        if !self.may_send(at) {
            return None;
        }
        self.next_control(now, at)
            .or_else(|| self.next_data(now, at))
    }

    /// Returns a control frame, if this is the usable carrier with the shortest round trip.
    fn next_control(&mut self, now: Time, at: CarrierIndex) -> Option<Frame<P>> {
        if self.control.is_empty() || self.carriers.quickest() != Some(at) {
            return None;
        }
        loop {
            let control = self.control.pop()?;
            let frame = match control {
                Control::Window { stream: id } => {
                    let Some(stream) = self.streams.get_mut(&id) else {
                        continue;
                    };
                    stream.window.queued = false;
                    Frame::Window {
                        stream: id.0,
                        limit: stream.window.limit,
                    }
                }
                Control::Reset {
                    stream,
                    code,
                    final_size,
                } => Frame::Reset {
                    stream: stream.0,
                    code,
                    final_size,
                },
                Control::Stop { stream, code } => Frame::Stop {
                    stream: stream.0,
                    code,
                },
            };
            let wire_len = frame.header_len() as u64;
            self.carriers[at].on_sent(now, Content::Control(control), wire_len, false);
            return Some(frame);
        }
    }

    fn next_data(&mut self, now: Time, at: CarrierIndex) -> Option<Frame<P>> {
        if !self.carriers[at].has_room(now, self.carriers.buffer_secs) {
            let is_throttled = self.carriers[at]
                .usage
                .allowed_at()
                .is_some_and(|opens| opens > now);
            if is_throttled {
                self.carriers.note(at).on_app_limited();
            } else if self.drr.len() > 0 {
                self.carriers.note(at).on_cap_limited();
            }
            return None;
        }
        let mut next = self.schedule(now, at);
        if next.is_none() && self.retransmit_blocking(now, at) {
            next = self.schedule(now, at);
        }
        let Some(next) = next else {
            self.carriers.note(at).on_app_limited();
            return None;
        };
        Some(self.send(now, at, next))
    }

    fn send(&mut self, now: Time, at: CarrierIndex, next: ScheduledPart) -> Frame<P> {
        let ScheduledPart {
            stream: id,
            mut part,
            copy,
        } = next;
        let stream = self
            .streams
            .get_mut(&id)
            .expect("only open streams are scheduled");
        let payload = stream.send.bytes(part.start, part.end);
        part.end = part.start + payload.len() as u64;
        let fin = if copy {
            stream.send.ends_at(part.end)
        } else {
            stream.send.take(part)
        };
        let frame = Frame::Data {
            stream: id.0,
            offset: part.start,
            fin,
            payload,
        };
        let wire_len = frame.header_len() as u64 + (part.end - part.start);
        stream.deficit -= wire_len as i64;
        let content = Content::Data {
            stream: id,
            start: part.start,
            end: part.end,
            fin,
        };
        self.carriers[at].on_sent(now, content, wire_len, copy);
        self.schedule_deadline_check(now, &content);
        self.after_sent(at, id, part, copy);
        frame
    }
}
