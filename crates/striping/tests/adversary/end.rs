//! The attacked end of a tunnel, driven as in the gateway.

use std::rc::Rc;
use std::time::Duration;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{
    Class, Feedback, Flow, LinkTerms, Receiver, ReceiverConfig, Sender, SenderConfig, Sequencing,
};
use rustix::time::{ClockId, clock_gettime};

pub enum Frame {
    Packet(Sequencing, usize),
    Feedback(Feedback),
    Ping(u32),
    Pong(u32),
    Terms(usize, LinkTerms),
}

/// Bytes around the frames of a datagram; also the approximate length of a datagram without packets.
const DATAGRAM_OVERHEAD: u32 = 68;
const SHORT: u32 = 100;

pub struct End {
    sender: Sender<Rc<Vec<u8>>>,
    receiver: Receiver<Vec<u8>>,
    pub sent: Vec<(u64, u64)>,
    /// Processor time for received datagrams and packets, and their number.
    pub spent: (Duration, u32),
}

impl End {
    /// With its own links; others begin when something arrives on them.
    pub fn new(now: Time, links: usize) -> End {
        let mut end = End {
            sender: Sender::new(SenderConfig::default()),
            receiver: Receiver::new(ReceiverConfig::default()),
            sent: Vec::new(),
            spent: (Duration::ZERO, 0),
        };
        (0..links).for_each(|link| end.use_link(now, link));
        end
    }

    fn use_link(&mut self, now: Time, link: usize) {
        while self.sender.links() <= link {
            let number = self.sender.add_link(now);
            self.sender.set_up(number, false);
            self.sent.push((0, 0));
        }
        if !self.sender.is_up(link) {
            self.sender.set_up(link, true);
        }
    }

    pub fn enqueue(&mut self, now: Time, lane: u8, class: Class, bytes: usize) {
        let packet = Rc::new(vec![0; bytes]);
        let flow = Flow { lane, class };
        self.sender.enqueue(now, packet, bytes as u32, flow);
        self.spent.1 += 1;
    }

    pub fn take(&mut self, now: Time, link: u8, sequence: u64, clock: u32, frames: &[Frame]) {
        let begun = processor_time();
        self.take_frames(now, link, sequence, clock, frames);
        self.handle_due(now);
        self.spent.0 += processor_time() - begun;
        self.spent.1 += 1 + frames.len() as u32;
    }

    fn take_frames(&mut self, now: Time, link: u8, sequence: u64, clock: u32, frames: &[Frame]) {
        if !self.receiver.is_new(link, sequence)
            || !self.receiver.take(now, link, sequence, SHORT, clock)
        {
            return;
        }
        self.use_link(now, usize::from(link));
        self.sender.on_heard(now, usize::from(link));
        let mut is_answered = self.sender.is_busy(now);
        let mut pong = None;
        for frame in frames {
            match *frame {
                Frame::Packet(sequencing, len) => {
                    is_answered = true;
                    let passes = self.receiver.passes(now, sequencing);
                    if !self.receiver.is_copy() {
                        self.sender.on_packet(now, len as u32);
                    }
                    if !passes {
                        let _ = self.receiver.hold(sequencing, vec![0; len], len as u32);
                    }
                    while self.receiver.poll_deliver(now).is_some() {}
                }
                Frame::Feedback(feedback) => {
                    self.sender.on_feedback(now, &feedback);
                    self.receiver.leave_out(feedback.left_out);
                    self.receiver.expect_repairs(self.sender.repair_time());
                }
                Frame::Ping(token) => {
                    is_answered = true;
                    pong = Some(token);
                }
                Frame::Pong(token) => self.sender.on_pong(now, usize::from(link), token),
                Frame::Terms(about, terms) if about < self.sender.links() => {
                    self.sender.set_terms(now, about, terms);
                }
                Frame::Terms(..) => {}
            }
        }
        if is_answered {
            self.receiver.answer(now, link);
        }
        if pong.is_some() {
            self.answer(now, usize::from(link));
        }
    }

    pub fn handle_due(&mut self, now: Time) {
        if self.sender.poll_timeout().is_some_and(|at| at <= now) {
            for ping in self.sender.handle_timeout(now) {
                self.send(now, ping.link, ping.bytes.unwrap_or(SHORT));
            }
        }
        while self.receiver.poll_deliver(now).is_some() {}
        while let Some(feedback) = self.receiver.poll_feedback(now) {
            let links: Vec<usize> = self.sender.feedback_links(now, feedback.link).collect();
            for link in links {
                self.answer(now, link);
            }
        }
        while let Some(packet) = self.sender.poll_transmit(now) {
            self.send(now, packet.link, packet.bytes + DATAGRAM_OVERHEAD);
        }
    }

    pub fn due(&mut self) -> Option<Time> {
        let due = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
        due.into_iter().flatten().min()
    }

    fn send(&mut self, now: Time, link: usize, bytes: u32) {
        self.sender.send(now, link, bytes);
        self.count(link, bytes);
    }

    fn answer(&mut self, now: Time, link: usize) {
        self.sender.send_answer(now, link, SHORT);
        self.count(link, SHORT);
    }

    fn count(&mut self, link: usize, bytes: u32) {
        self.sent[link].0 += 1;
        self.sent[link].1 += u64::from(bytes);
    }
}

/// Of this thread only.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
