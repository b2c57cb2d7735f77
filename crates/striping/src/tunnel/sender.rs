//! Sending end of a tunnel: the device's queue, and the links that drain it.

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::PacketScheduler;
use ropewalk_transport::scheduling::round_robin::RoundRobinCursor;
use ropewalk_wire::gateway::tunnel::{Delivery, Feedback};

use super::activity::Activity;
use super::copies::Copies;
use super::demand::Demand;
use super::fair_queue::FairQueue;
use super::flow::{Class, Flow};
use super::lanes::Lanes;
use super::queue::{Fifo, Queued};
use super::queue_limit::{self, QueueLimit};
use super::rate_control::RateControl;
use super::retransmit_buffer::{Packet, Repairs};
use super::scheduler::{Backlog, Scheduler, Scheduling};
use super::selection::Selection;
use super::sender_types::{SenderConfig, SenderCounters, Transmit};
use links::SenderLinks;

mod at_once;
mod link_list;
mod links;
mod status;
mod terms;
#[cfg(test)]
mod tests;
mod timers;
mod usable;

/// Urgent packets beyond this are queued with the others.
const MAX_URGENT: u64 = 32 * 1024;
/// Approximate length of a datagram with feedback only, IP header included.
const FEEDBACK: u64 = 100;
/// Time limit of a loss report, without the return path.
const REPAIR_NOTICE: Time = Time::from_millis(50);
/// Silence of the peer after which packets for it are dropped.
const PEER_GONE_AFTER: Time = Time::from_secs(8);
/// Longest time that a gap is kept open for a retransmission.
const MAX_REPAIR: Time = Time::from_secs(2);

/// One direction of a tunnel, at its sending end.
///
/// The driver passes packets to [`enqueue`](Sender::enqueue) and takes them from
/// [`poll_transmit`](Sender::poll_transmit) until there are none. It reports each datagram that it builds of
/// them, and any other that it sends on a link, with [`send`](Sender::send).
#[derive(Debug)]
pub struct Sender<P> {
    config: SenderConfig,
    links: SenderLinks<P>,
    usable: Vec<usize>,
    passthrough: Option<usize>,
    selection: Selection,
    demand: Demand,
    scheduling: Scheduling,
    turns_at_once: RoundRobinCursor,
    urgent: Fifo<P>,
    /// Lost packets, which are sent before new ones.
    repairs: Repairs<P>,
    queue: FairQueue<P>,
    begun: Vec<Packet<P>>,
    lanes: Lanes,
    copies: Copies<P>,
    queue_limit: QueueLimit,
    taken: u64,
    activity: Activity,
    /// Since when data are queued, or in flight with an answer due, and nothing was heard.
    unanswered: Option<Time>,
    counters: SenderCounters,
}

impl<P: Clone> Sender<P> {
    /// Creates a sender without links.
    #[must_use]
    pub fn new(config: SenderConfig) -> Sender<P> {
        Sender {
            queue_limit: QueueLimit::new(config.most_queue.as_u64()),
            config,
            links: SenderLinks::new(),
            usable: Vec::new(),
            passthrough: None,
            selection: Selection::default(),
            demand: Demand::default(),
            scheduling: Scheduling::default(),
            turns_at_once: RoundRobinCursor::default(),
            urgent: Fifo::new(),
            repairs: Repairs::new(),
            begun: Vec::new(),
            queue: FairQueue::new(),
            lanes: Lanes::default(),
            copies: Copies::new(config.copies),
            taken: 0,
            activity: Activity::default(),
            unanswered: None,
            counters: SenderCounters::default(),
        }
    }

    /// Schedules with one of the transport's schedulers, which treats links as subflows, in place of
    /// [`SenderConfig::scheduler`].
    pub fn schedule_by(&mut self, scheduler: PacketScheduler) {
        self.scheduling.other = Some(scheduler);
    }

    /// Adds a link; returns its number, counted from zero.
    pub fn add_link(&mut self, now: Time) -> usize {
        self.activity.begin(now);
        self.links.add(now, self.config.path_mtu);
        self.selection.add_link();
        self.update_usable();
        self.links.len() - 1
    }

    /// Whether a link is up.
    #[must_use]
    pub fn is_up(&self, link: usize) -> bool {
        self.links.is_up(link)
    }

    /// Sets whether a link is up.
    pub fn set_up(&mut self, link: usize, up: bool) {
        let link = self.links.change(link);
        *link.is_up = up;
        if !up {
            let lost = link.buffer.give_up();
            lost.for_each(|packet| self.repairs.push(packet));
        }
        self.update_usable();
    }

    /// Takes a packet of the device; false if the queue is full and the packet is dropped. If another flow
    /// has more in the queue, its packet is dropped instead.
    pub fn enqueue(&mut self, now: Time, packet: P, bytes: u32, flow: Flow) -> bool {
        let class = self.lanes.class(now, flow, bytes);
        let urgent = match class {
            Class::Urgent => true,
            Class::Thin => self.lanes.is_thin(now, flow.lane, bytes),
            // Not before earlier packets of the connection in the queue.
            Class::InStep => {
                self.lanes.stays_thin(now, flow.lane, bytes)
                    && self.queue.waiting(flow.lane.max(1)) == 0
                    && self.favours_thin_connections(now)
            }
            Class::Opening => {
                self.lanes.open(now, flow.lane);
                false
            }
            Class::Ordered | Class::Unordered | Class::Elastic => false,
        };
        let urgent = urgent && self.urgent.bytes < MAX_URGENT;
        let lane = match class {
            Class::Unordered => 0,
            Class::Thin | Class::Urgent if urgent => 0,
            _ => flow.lane.max(1),
        };
        let most = match self.is_peer_gone(now) {
            true => queue_limit::MIN,
            false => self.queue_limit.bytes,
        };
        let (dropped, has_room) = match urgent {
            true => (0, self.urgent.bytes + u64::from(bytes) <= most),
            false => self.queue.make_room(lane, bytes, most),
        };
        self.counters.dropped += dropped;
        if !has_room {
            self.counters.dropped += 1;
            return false;
        }
        self.counters.packets += 1;
        self.unanswered.get_or_insert(now);
        self.on_packet(now, bytes);
        self.taken += u64::from(bytes);
        let may_be_steady = matches!(class, Class::Thin | Class::Urgent);
        let queued = Queued {
            packet,
            bytes,
            lane,
            // A packet that is sent on every link need not be in step with the slowest.
            delivery: match class {
                Class::InStep | Class::Opening
                    if !urgent && self.config.scheduler != Scheduler::Redundant =>
                {
                    Delivery::InStep
                }
                _ => Delivery::InOrder,
            },
            is_copied: may_be_steady
                && self.lanes.is_steady(now, flow.lane)
                && self.uses_first_arrival(),
        };
        match urgent {
            true => self.urgent.push(queued),
            false => self.queue.push(queued),
        }
        true
    }

    /// Returns the next packet and its link; `None` if there is none, or no link has room for it.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit<P>> {
        let links = &self.links.controls;
        let copy = self
            .copies
            .next(now, &self.usable, |link| links[link].has_room(now));
        if copy.is_some() {
            return copy;
        }
        if let Some(first) = self.urgent.front() {
            let link = self.urgent_link(now, u64::from(first.bytes))?;
            return self.begin_urgent(link);
        }
        if let Some(first) = self.repairs.front() {
            let bytes = u64::from(first.bytes);
            let usable = self.usable.iter().copied();
            let ready = usable.filter(|&link| links[link].has_room(now));
            let link = ready.min_by_key(|&link| links[link].arrival(now, bytes))?;
            return self.repair(link);
        }
        let Some(first) = self.queue.front() else {
            self.links.note_limited(now, &self.usable);
            return None;
        };
        let backlog = Backlog {
            next: u64::from(first.bytes),
            waiting: self.queue.bytes,
            room: self.queue_limit.bytes,
            taken: self.taken,
        };
        let link = self.scheduling.pick(
            self.config.scheduler,
            now,
            &backlog,
            &self.usable,
            links,
            &self.links.terms,
        );
        let Some(link) = link else {
            self.links.note_limited(now, &self.usable);
            return None;
        };
        let next = self.queue.pop()?.on(link, &mut self.lanes);
        Some(self.begin(next, false))
    }

    fn begin(&mut self, mut next: Transmit<P>, is_urgent: bool) -> Transmit<P> {
        let by_passthrough = self.passthrough.is_some();
        if self
            .lanes
            .is_delivered_at_once(next.sequencing.lane, by_passthrough)
        {
            next.sequencing.delivery = Delivery::AtOnce;
        }
        if self.config.scheduler == Scheduler::Redundant {
            self.copies.put(&next, &self.usable);
        }
        if !by_passthrough && self.is_kept(&next, is_urgent) {
            self.begun.push(Packet {
                packet: next.packet.clone(),
                bytes: next.bytes,
                sequencing: next.sequencing,
                tries: 1,
            });
        }
        next
    }

    fn begin_urgent(&mut self, link: usize) -> Option<Transmit<P>> {
        let first = self.urgent.pop()?;
        let is_copied = first.is_copied;
        let next = first.on(link, &mut self.lanes);
        let next = self.begin(next, true);
        if is_copied {
            let (links, bytes) = (&self.links.controls, u64::from(next.bytes));
            let rank = |link: usize| links[link].urgent_rank(self.activity.packet_at, bytes);
            self.copies.put_urgent(&next, &self.usable, rank);
        }
        Some(next)
    }

    fn repair(&mut self, link: usize) -> Option<Transmit<P>> {
        let mut lost = self.repairs.pop()?;
        self.counters.repaired += 1;
        lost.tries += 1;
        let next = Transmit {
            link,
            sequencing: lost.sequencing,
            packet: lost.packet.clone(),
            bytes: lost.bytes,
        };
        self.begun.push(lost);
        Some(next)
    }

    /// Whether a packet is kept until it has arrived. Urgent packets ignore the window, which limits all
    /// others that are kept. Of lane 0, acknowledgements are not urgent.
    fn is_kept(&self, next: &Transmit<P>, is_urgent: bool) -> bool {
        let link = &self.links.controls[next.link];
        next.sequencing.lane > 0 || is_urgent && link.keeps_urgent()
    }

    /// Returns one more packet for the datagram in progress, if the next one has at most `most` bytes.
    #[must_use]
    pub fn poll_more(&mut self, link: usize, most: u32) -> Option<Transmit<P>> {
        let is_urgent = self.urgent.front().is_some();
        let first = match is_urgent {
            true => self.urgent.front(),
            false => self.queue.front(),
        };
        if first?.bytes > most {
            return None;
        }
        if is_urgent {
            return self.begin_urgent(link);
        }
        let next = self.queue.pop()?.on(link, &mut self.lanes);
        Some(self.begin(next, false))
    }

    /// Records a datagram of `bytes` bytes, IP header included, on a link; returns its sequence.
    pub fn send(&mut self, now: Time, link: usize, bytes: u32) -> u64 {
        self.unanswered.get_or_insert(now);
        let sequence = self.send_datagram(now, link, bytes, true);
        let waiting = self.repairs.memory;
        (self.links).keep(link, sequence, self.begun.drain(..), waiting);
        sequence
    }

    /// Records a datagram with neither a packet nor a ping: it is answered only in a busy tunnel.
    pub fn send_answer(&mut self, now: Time, link: usize, bytes: u32) -> u64 {
        let answered = !self.config.naive && self.activity.is_surely_busy(now);
        self.send_datagram(now, link, bytes, answered)
    }

    /// Datagrams on a link that is left out do not measure its rate.
    fn send_datagram(&mut self, now: Time, link: usize, bytes: u32, answered: bool) -> u64 {
        let control = self.links.send_on(link).control;
        let sequence = control.send(now, bytes, answered);
        if self.selection.leaves_out(link) {
            control.note_limited();
        }
        sequence
    }

    /// Notes that the peer was heard on a link.
    pub fn on_heard(&mut self, now: Time, link: usize) {
        let has_packets = !self.queue.is_empty() || self.keeps_packets();
        self.unanswered = has_packets.then_some(now);
        if link < self.links.len() {
            self.links.note(link).on_heard(now);
        }
    }

    /// Notes a packet of `bytes` bytes from the peer, new to this end, or for the peer.
    pub fn on_packet(&mut self, now: Time, bytes: u32) {
        self.activity.on_packet(now, bytes);
    }

    fn keeps_packets(&self) -> bool {
        !self.repairs.is_empty() || self.links.keep_packets()
    }

    /// Returns when the silence of the peer will be so long that the queue is useless to the connections
    /// inside.
    fn peer_gone_at(&self) -> Option<Time> {
        self.unanswered.map(|since| since + PEER_GONE_AFTER)
    }

    fn is_peer_gone(&self, now: Time) -> bool {
        self.peer_gone_at().is_some_and(|at| now >= at)
    }

    fn drop_for_silent_peer(&mut self) {
        self.links.drop_kept_packets();
        self.repairs.clear();
        self.copies.clear();
        self.counters.dropped += self.queue.cut(queue_limit::MIN);
    }

    /// Whether enough packets pass through the tunnel, in either direction, or did recently, that datagrams
    /// with neither a packet nor a ping are answered, too.
    #[must_use]
    pub fn is_busy(&self, now: Time) -> bool {
        !self.config.naive && self.activity.is_busy(now)
    }

    /// Processes feedback about a link; invalid feedback does no harm.
    pub fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let number = usize::from(feedback.link);
        if number < self.links.len() {
            let link = self.links.change(number);
            (link.buffer).settle(feedback, |packet| self.repairs.push(packet));
            let (_, lost) = link.control.link_sender().counts();
            link.control.on_feedback(now, feedback);
            if link.control.link_sender().counts().1 > lost {
                link.path_mtu.on_loss();
            }
            self.select(now);
            self.update_usable();
        }
    }

    /// Processes the answer to a ping, on the link of the ping.
    pub fn on_pong(&mut self, now: Time, link: usize, token: u32) {
        if link < self.links.len() {
            self.links.change(link).path_mtu.on_pong(now, token);
            self.update_usable();
        }
    }

    /// Notes that a probe of the path MTU is too long for the link's network interface.
    pub fn on_too_long(&mut self, now: Time, link: usize) {
        self.links.change(link).path_mtu.on_too_long(now);
        self.update_usable();
    }

    /// Notes that a link's network interface refuses another datagram of this length.
    pub fn on_refused(&mut self, now: Time, link: usize, bytes: u32) {
        self.links.change(link).path_mtu.on_refused(now, bytes);
        self.update_usable();
    }

    /// Notes a new path of a link: the peer's address has changed.
    pub fn on_new_path(&mut self, now: Time, link: usize) {
        self.activity.begin(now);
        self.links.change(link).path_mtu.on_new_path(now);
    }

    /// Returns the path MTU of a link, IP header included; `None` if it carries nothing.
    #[must_use]
    pub fn path_mtu(&self, link: usize) -> Option<u32> {
        let plpmtu = self.links.path_mtu(link).plpmtu();
        (self.is_in_use(link) && plpmtu > 0).then_some(plpmtu)
    }

    /// Returns the length of the longest datagram to send on a link in one piece, IP header included. Longer
    /// ones are sent in fragments.
    #[must_use]
    pub fn max_unfragmented(&self, link: usize) -> u32 {
        self.links.path_mtu(link).max_unfragmented()
    }

    /// Returns the longest confirmed length of a datagram on a link, IP header included.
    #[must_use]
    pub fn confirmed_path_mtu(&self, link: usize) -> u32 {
        self.links.path_mtu(link).confirmed()
    }

    /// Returns the link by which a small datagram would arrive first, if possible one that is not suspected.
    #[must_use]
    pub fn quickest(&self, now: Time, bytes: u64) -> Option<usize> {
        let usable = self.usable.iter().copied();
        let links = &self.links.controls;
        usable.min_by_key(|&link| links[link].arrival(now, bytes))
    }

    /// Returns the links on which to send feedback about a link: the fastest, and at intervals that link
    /// itself, so that an undetected failure of the fastest does not silence all others. In a quiet tunnel
    /// only that link itself, since there is no hurry.
    pub fn feedback_links(&mut self, now: Time, about: u8) -> impl Iterator<Item = usize> + use<P> {
        let about = usize::from(about);
        let is_used = about < self.links.len() && self.is_in_use(about);
        let is_quiet = is_used && now > self.activity.quiet_at();
        let quickest = match is_quiet {
            true => None,
            false => self.quickest(now, FEEDBACK),
        };
        let own = is_used && quickest != Some(about);
        let own = own && (is_quiet || self.links.note(about).repeat_feedback(now));
        quickest.into_iter().chain(own.then_some(about))
    }

    /// Returns the links without packets of flows, or without any, as a bit mask for feedback.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        let links = 0..self.links.len().min(64);
        let left_out =
            links.filter(|&link| self.terms(link).standby || self.selection.leaves_out(link));
        left_out.fold(0, |all, link| all | 1 << link)
    }

    /// Returns the time limit of an answer on the slowest link, a repetition included, at least 250 ms;
    /// `None` if the round trip of no link is known.
    #[must_use]
    pub fn answer_timeout(&self) -> Option<Time> {
        let links = self.usable.iter().map(|&link| &self.links.controls[link]);
        let known = links.filter(|link| link.smoothed().is_some());
        known.map(RateControl::answer_timeout).max()
    }

    /// Returns the time limit of a retransmission: the loss is noticed and reported, and the packet is
    /// retransmitted, possibly twice.
    #[must_use]
    pub fn repair_time(&self) -> Time {
        let links = self.usable.iter().map(|&link| &self.links.controls[link]);
        let slowest = links.map(RateControl::answer_timeout).max();
        slowest.map_or(Time::ZERO, |time| (time + REPAIR_NOTICE).min(MAX_REPAIR))
    }
}
