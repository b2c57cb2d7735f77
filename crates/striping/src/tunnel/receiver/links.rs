//! Links of a receiver: arrivals on each, the delays of those in use, and when feedback is due first.
//!
//! The receiver reads results of all links after each datagram, which concerns one. So these results are
//! cached, and recomputed only where that link may have changed them.

use ropewalk_quantities::Time;
use ropewalk_wire::gateway::tunnel::Feedback;

use crate::tunnel::link_receiver::LinkReceiver;

/// Differences of delay below this are ignored, in microseconds.
const MIN_SKEW: i64 = 2_000;
/// Added to the slowest link's least delay, for its standing queue: half of the skew, at most this.
const MAX_MARGIN: i64 = 10_000;
/// Time after the greatest recent delay within which a packet may still arrive.
const LATENESS: i64 = 5_000;

#[derive(Debug)]
pub(super) struct ReceiverLinks {
    all: Vec<LinkReceiver>,
    /// Links that differ from the quickest by more, in microseconds, do not count.
    skew: i64,
    /// Links on which the peer sends no packets of flows, as a bit mask.
    left_out: u64,
    pub(super) delays: Option<StepDelays>,
    /// Until when the delays are valid without a change of a link: then the first link falls silent.
    delays_until: Time,
    report_at: Option<Time>,
}

/// Delays of the links in use, in microseconds between the two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepDelays {
    /// Delay of packets in step, from their transmission; `None` if the links are alike.
    pub(super) in_step: Option<i64>,
    /// Time limit of all packets that were not lost.
    pub(super) greatest: i64,
}

impl ReceiverLinks {
    /// Creates an empty set. A later link whose least delay exceeds the least of all by more than `skew` does
    /// not count.
    pub(super) fn new(skew: Time) -> ReceiverLinks {
        ReceiverLinks {
            all: Vec::new(),
            skew: (skew.as_nanos() / 1000) as i64,
            left_out: 0,
            delays: None,
            delays_until: Time::ZERO,
            report_at: None,
        }
    }

    pub(super) fn get(&self, link: usize) -> Option<&LinkReceiver> {
        self.all.get(link)
    }

    pub(super) fn leave_out(&mut self, links: u64) {
        if links != self.left_out {
            self.left_out = links;
            self.delays_until = Time::ZERO;
        }
    }

    pub(super) fn take(
        &mut self,
        now: Time,
        link: usize,
        sequence: u64,
        bytes: u32,
        sent: i64,
    ) -> bool {
        if self.all.len() <= link {
            self.all.resize_with(link + 1, LinkReceiver::default);
        }
        let one = &self.all[link];
        let before = one.delays().filter(|_| one.is_alive(now));
        let is_new = self.change(link, |link| link.take(now, sequence, bytes, sent));
        if is_new && (now > self.delays_until || self.all[link].delays() != before) {
            (self.delays, self.delays_until) = self.delays_at(now);
        }
        debug_assert!(!is_new || self.delays == self.delays_at(now).0);
        is_new
    }

    pub(super) fn answer(&mut self, now: Time, link: usize) {
        if link < self.all.len() {
            self.change(link, |link| link.answer(now));
        }
    }

    pub(super) fn set_passthrough(&mut self, link: usize, is_passthrough: bool) {
        if self
            .all
            .get(link)
            .is_some_and(|link| link.is_passthrough != is_passthrough)
        {
            self.change(link, |link| link.set_passthrough(is_passthrough));
        }
    }

    pub(super) fn poll_report(&mut self, now: Time) -> Option<Feedback> {
        if self.report_at? > now {
            return None;
        }
        let due = |link: &LinkReceiver| link.report_at().is_some_and(|at| at <= now);
        let link = self.all.iter().position(due)?;
        self.change(link, |one| one.report(now, link as u8))
    }

    pub(super) fn report_at(&self) -> Option<Time> {
        debug_assert_eq!(self.report_at, self.find_report_at());
        self.report_at
    }

    pub(super) fn skew(&self, now: Time) -> Time {
        let alive = self.all.iter().filter(|link| link.is_alive(now));
        let least = alive.filter_map(|link| Some(link.delays()?.0));
        let skew = least.clone().min().zip(least.max());
        Time::from_micros(skew.map_or(0, |(least, most)| most - least) as u64)
    }

    /// Changes a link, which affects at most when its own feedback is due.
    fn change<R>(&mut self, link: usize, change: impl FnOnce(&mut LinkReceiver) -> R) -> R {
        let one = &mut self.all[link];
        let before = one.report_at();
        let result = change(one);
        let after = one.report_at();
        if before != after {
            let is_first =
                after.is_some() && self.report_at.is_none_or(|first| after <= Some(first));
            self.report_at = match is_first {
                true => after,
                false if before == self.report_at => self.find_report_at(),
                false => self.report_at,
            };
        }
        result
    }

    fn find_report_at(&self) -> Option<Time> {
        self.all.iter().filter_map(LinkReceiver::report_at).min()
    }

    /// Returns the delays that determine when packets are due, and until when they are valid.
    fn delays_at(&self, now: Time) -> (Option<StepDelays>, Time) {
        let used = |number: usize| number >= 64 || self.left_out >> number & 1 == 0;
        let alive = self.all.iter().enumerate();
        let alive = alive.filter(|(number, link)| used(*number) && link.is_alive(now));
        let until = alive.clone().map(|(_, link)| link.alive_until()).min();
        let delays = alive.filter_map(|(_, link)| link.delays());
        let Some(least) = delays.clone().map(|(least, _)| least).min() else {
            return (None, Time::ZERO);
        };
        let counted = delays.filter(|(own_least, _)| own_least - least <= self.skew);
        let both_max = |a: (i64, i64), b: (i64, i64)| (a.0.max(b.0), a.1.max(b.1));
        let found = counted.reduce(both_max).map(|(slowest, greatest)| {
            let skew = slowest - least;
            StepDelays {
                in_step: (skew >= MIN_SKEW).then(|| slowest + (skew / 2).min(MAX_MARGIN)),
                greatest: greatest + LATENESS,
            }
        });
        (found, until.unwrap_or(Time::ZERO))
    }
}
