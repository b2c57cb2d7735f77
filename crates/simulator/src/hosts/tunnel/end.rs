//! One end of a tunnel: the program behind its device, and the tunnel's sender and receiver.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{
    Feedback, LinkTerms, Ping, Receiver, ReceiverConfig, Sender, SenderConfig, Sequencing, Transmit,
};
use ropewalk_transport::event::Recorder;
use ropewalk_transport::{Endpoint, Segment};

use super::inner::Inner;

#[derive(Debug)]
pub(super) struct End {
    pub(super) inner: Inner,
    pub(super) sender: Sender<Segment>,
    pub(super) receiver: Receiver<Segment>,
    /// Offset of its clock from the simulation's.
    ahead: Time,
    /// Length of the headers before TCP's in the device's packets.
    ip_header: u32,
    /// Messages to send before any packet.
    pub(super) due: VecDeque<TunnelMessage>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TunnelMessage {
    Feedback(usize, Feedback),
    Ping(Ping),
    Pong(usize, u32),
    Terms(usize, u8, u32, LinkTerms),
    TermsSeen(usize, u8, u32),
}

impl End {
    pub(super) fn new(inner: Inner, ahead: Time, ip_header: u32, sender: SenderConfig) -> End {
        End {
            inner,
            sender: Sender::new(sender),
            receiver: Receiver::new(ReceiverConfig {
                skew: sender.skew,
                most_held: sender.most_queue,
            }),
            ahead,
            ip_header,
            due: VecDeque::new(),
        }
    }

    pub(super) fn clock(&self, now: Time) -> Time {
        now + self.ahead
    }

    pub(super) fn add_links(&mut self, now: Time, count: usize) {
        for _ in 0..count {
            let link = self.sender.add_link(self.clock(now));
            self.sender.set_up(link, false);
        }
    }

    /// Connects a link to the other end, and pings it.
    pub(super) fn dial(&mut self, link: usize) {
        self.sender.set_up(link, true);
        self.due
            .push_back(TunnelMessage::Ping(Ping::keepalive(link)));
    }

    /// Changes the terms of a link; one that is available again is pinged.
    pub(super) fn apply_terms(&mut self, now: Time, link: usize, terms: LinkTerms) {
        let comes_back = self.sender.terms(link).standby && !terms.standby;
        self.sender.set_terms(self.clock(now), link, terms);
        if comes_back {
            self.due
                .push_back(TunnelMessage::Ping(Ping::keepalive(link)));
        }
    }

    /// Returns whether the rate of every link has been measured, as far as possible before use.
    pub(super) fn all_rates_measured(&self) -> bool {
        (0..self.sender.links()).all(|link| self.sender.is_measured(link))
    }

    /// Connects a link when the first datagram has arrived on it.
    pub(super) fn on_datagram(&mut self, clock: Time, link: u8) {
        let link = usize::from(link);
        self.sender.on_heard(clock, link);
        if !self.sender.is_up(link) {
            self.sender.set_up(link, true);
        }
    }

    /// Passes a packet of the current datagram to the endpoint, or holds it. Returns the bytes that the
    /// application has read in order.
    pub(super) fn take_packet(
        &mut self,
        now: Time,
        sequencing: Sequencing,
        bytes: u32,
        segment: &Segment,
        recorder: &mut impl Recorder,
    ) -> u64 {
        let mut delivered = 0;
        let passes = self.receiver.passes(self.clock(now), sequencing);
        if !self.receiver.is_copy() {
            self.sender.on_packet(self.clock(now), bytes);
        }
        if passes {
            delivered += self.inner.handle_packet(now, segment, recorder);
        } else {
            // A duplicate, retransmitted since it seemed lost, is dropped.
            let _ = self.receiver.hold(sequencing, *segment, bytes);
        }
        delivered + self.deliver(now, recorder)
    }

    /// Passes held packets that are due to the endpoint; returns the bytes that its application has read in
    /// order.
    pub(super) fn deliver(&mut self, now: Time, recorder: &mut impl Recorder) -> u64 {
        let mut delivered = 0;
        while let Some(segment) = self.receiver.poll_deliver(self.clock(now)) {
            delivered += self.inner.handle_packet(now, &segment, recorder);
        }
        delivered
    }

    /// Passes the program's packets to the device, which may drop them; `segment` is scratch space.
    pub(super) fn fill_device(
        &mut self,
        now: Time,
        segment: &mut Segment,
        recorder: &mut impl Recorder,
    ) {
        let clock = self.clock(now);
        let ip_header = self.ip_header;
        while let Some((bytes, flow)) = self.inner.poll_transmit(now, ip_header, segment, recorder)
        {
            self.sender.enqueue(clock, *segment, bytes, flow);
        }
    }

    /// Returns the next message of the tunnel: pongs, pings, then feedback.
    pub(super) fn poll_due(&mut self, now: Time) -> Option<TunnelMessage> {
        if let Some(due) = self.due.pop_front() {
            return Some(due);
        }
        let clock = self.clock(now);
        let feedback = self.receiver.poll_feedback(clock)?;
        let left_out = self.sender.left_out();
        let feedback = Feedback {
            left_out,
            ..feedback
        };
        let links = self.sender.feedback_links(clock, feedback.link);
        self.due
            .extend(links.map(|link| TunnelMessage::Feedback(link, feedback)));
        self.due.pop_front()
    }

    /// Returns the next packet of the device that fits a link.
    pub(super) fn poll_packet(&mut self, now: Time) -> Option<Transmit<Segment>> {
        let clock = self.clock(now);
        self.sender.poll_transmit(clock)
    }

    pub(super) fn poll_timeout(&mut self) -> Option<Time> {
        let tunnel = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
        let tunnel = tunnel.into_iter().flatten();
        let tunnel = tunnel.map(|clock| clock.saturating_sub(self.ahead));
        tunnel.chain(self.inner.poll_timeout()).min()
    }

    pub(super) fn handle_timeout(&mut self, now: Time, recorder: &mut impl Recorder) -> u64 {
        let is_due = |at: Option<Time>, now| at.is_some_and(|at| at <= now);
        if is_due(self.inner.poll_timeout(), now) {
            self.inner.handle_timeout(now, recorder);
        }
        let clock = self.clock(now);
        if is_due(self.sender.poll_timeout(), clock) {
            let pings = self.sender.handle_timeout(clock);
            self.due.extend(pings.into_iter().map(TunnelMessage::Ping));
        }
        self.deliver(now, recorder)
    }

    pub(super) fn held(&self) -> u64 {
        let of_program = self.inner.endpoint().map_or(0, Endpoint::reorder_buffer);
        self.receiver.held() + of_program
    }
}
