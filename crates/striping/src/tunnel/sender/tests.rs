//! Tests that cached results of links equal recomputed ones, and that kept urgent packets are bounded.

use std::rc::Rc;

use proptest::prelude::*;
use ropewalk_quantities::{Rate, Time};
use ropewalk_wire::gateway::tunnel::{Feedback, Gap, LinkTerms, Missing};

use super::Sender;
use crate::tunnel::retransmit_buffer::MAX_URGENT_REPAIRS;
use crate::tunnel::{Class, Flow, Scheduler, SenderConfig};

#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue(u8, u32, u32),
    Send,
    /// Feedback about a link: the percentage of its datagrams that are covered, and the interval of lost
    /// ones.
    Feedback(usize, u64, u64),
    Hear(usize),
    Pong(usize, u32),
    Up(usize, bool),
    Standby(usize, bool),
    RateLimiter(usize, u64),
    Wait(u64),
    Doze,
}

const LINKS: usize = 4;

fn any_step() -> impl Strategy<Value = Step> {
    let link = || 0..LINKS;
    prop_oneof![
        6 => (1..4_u8, 40..1400_u32, 1..30_u32)
            .prop_map(|(lane, bytes, count)| Step::Enqueue(lane, bytes, count)),
        8 => Just(Step::Send),
        8 => (link(), 1..=100_u64, 2..40_u64)
            .prop_map(|(link, share, every)| Step::Feedback(link, share, every)),
        2 => link().prop_map(Step::Hear),
        1 => (link(), any::<u32>()).prop_map(|(link, token)| Step::Pong(link, token)),
        1 => (link(), any::<bool>()).prop_map(|(link, up)| Step::Up(link, up)),
        1 => (link(), any::<bool>()).prop_map(|(link, standby)| Step::Standby(link, standby)),
        1 => (link(), 0..9_u64).prop_map(|(link, mbps)| Step::RateLimiter(link, mbps)),
        6 => (1..60_000_u64).prop_map(Step::Wait),
        1 => (1..40_u64).prop_map(|seconds| Step::Wait(1_000_000 * seconds)),
        8 => Just(Step::Doze),
    ]
}

struct Run {
    sender: Sender<u32>,
    now: Time,
    /// Datagrams sent on each link, and the number reported as arrived.
    sent: [u64; LINKS],
    arrived: [u64; LINKS],
    /// Invalidates all caches before each step.
    keeps_nothing: bool,
}

impl Run {
    fn new(scheduler: Scheduler, keeps_nothing: bool) -> Run {
        let now = Time::from_secs(1);
        let mut sender = Sender::new(SenderConfig {
            scheduler,
            ..SenderConfig::default()
        });
        (0..LINKS).for_each(|_| _ = sender.add_link(now));
        Run {
            sender,
            now,
            sent: [0; LINKS],
            arrived: [0; LINKS],
            keeps_nothing,
        }
    }

    fn go(&mut self, step: Step) -> String {
        if self.keeps_nothing {
            self.sender.links.invalidate_all();
        }
        let (now, sender) = (self.now, &mut self.sender);
        let mut seen = Vec::new();
        match step {
            Step::Enqueue(lane, bytes, count) => {
                let class = [Class::Ordered, Class::Thin, Class::InStep][usize::from(lane) % 3];
                for number in 0..count {
                    let taken = sender.enqueue(now, number, bytes, Flow { lane, class });
                    seen.push(format!("{taken}"));
                }
            }
            Step::Send => {
                while let Some(next) = sender.poll_transmit(now) {
                    self.sent[next.link] = sender.send(now, next.link, next.bytes) + 1;
                    seen.push(format!("{next:?}"));
                }
            }
            Step::Feedback(link, share, every) => {
                let (first, last) = (self.arrived[link], self.sent[link]);
                let highest = first + (last - first) * share / 100;
                let mut missing = Missing::default();
                let gaps = (first..highest).filter(|sequence| sequence % every == 1);
                let mut count = 0;
                for first in gaps.take(Missing::MAX) {
                    count += u64::from(missing.push(Gap { first, count: 1 }));
                }
                if last > first {
                    self.arrived[link] = highest;
                    let feedback = Feedback {
                        link: link as u8,
                        highest,
                        received: highest - count,
                        bytes: 1000 * (highest - count),
                        clock: (now.as_nanos() / 1000) as u32,
                        settled: highest,
                        missing,
                        ..Feedback::default()
                    };
                    sender.on_feedback(now, &feedback);
                }
            }
            Step::Hear(link) => sender.on_heard(now, link),
            Step::Pong(link, token) => sender.on_pong(now, link, token),
            Step::Up(link, up) => sender.set_up(link, up),
            Step::Standby(link, standby) => {
                let terms = sender.terms(link);
                sender.set_terms(now, link, LinkTerms { standby, ..terms });
            }
            Step::RateLimiter(link, mbps) => {
                let rate = (mbps > 0).then(|| Rate::from_bps(mbps * 1_000_000));
                let terms = sender.terms(link);
                sender.set_terms(now, link, LinkTerms { rate, ..terms });
            }
            Step::Wait(micros) => self.now += Time::from_micros(micros),
            Step::Doze => {
                if let Some(at) = sender.poll_timeout() {
                    self.now = self.now.max(at);
                }
                for ping in sender.handle_timeout(self.now) {
                    seen.push(format!("{ping:?}"));
                    let bytes = ping.bytes.unwrap_or(60);
                    self.sent[ping.link] = sender.send(self.now, ping.link, bytes) + 1;
                }
            }
        }
        let links: Vec<_> = (0..LINKS).map(|link| sender.link(link)).collect();
        let due = sender.poll_timeout();
        let (backlog, usable) = (sender.backlog(), &sender.usable);
        format!("{seen:?} {due:?} {backlog:?} {usable:?} {links:?}")
    }
}

proptest! {
    #[test]
    fn cached_link_results_equal_recomputed_ones(
        steps in proptest::collection::vec(any_step(), 1..150),
        scheduler in proptest::sample::select(Scheduler::ALL.to_vec()),
    ) {
        let [mut own, mut other] = [false, true].map(|keeps| Run::new(scheduler, keeps));
        for step in steps {
            prop_assert_eq!(own.go(step), other.go(step), "after {:?}", step);
        }
    }
}

/// Packets of 1000 bytes, at ten times the rate of two links, which lose nearly all, or all.
#[test]
fn kept_urgent_packets_are_bounded() {
    for answers in [false, true] {
        let (mut now, counted) = (Time::from_secs(1), Rc::new(()));
        let mut sender = Sender::new(SenderConfig::default());
        (0..2).for_each(|_| _ = sender.add_link(now));
        let flow = Flow {
            lane: 1,
            class: Class::Urgent,
        };
        let (mut sent, mut told, mut most) = ([0; 2], [0; 2], 0);
        for number in 0..20_000 {
            now += Time::from_micros(100);
            sender.handle_timeout(now);
            sender.enqueue(now, counted.clone(), 1000, flow);
            while let Some(next) = sender.poll_transmit(now) {
                sent[next.link] = sender.send(now, next.link, 1000) + 1;
            }
            let link = number % 2;
            if answers && number % 50 < 2 && sent[link] > 0 {
                told[link] += 1;
                let mut missing = Missing::default();
                let (first, count) = (sent[link].saturating_sub(1000), 999);
                missing.push(Gap { first, count });
                sender.on_feedback(
                    now,
                    &Feedback {
                        link: link as u8,
                        highest: sent[link] - 1,
                        received: told[link],
                        bytes: told[link] * 1000,
                        clock: (now.as_nanos() / 1000) as u32,
                        settled: sent[link],
                        missing,
                        ..Feedback::default()
                    },
                );
            }
            most = most.max(Rc::strong_count(&counted) - 1);
        }
        println!("{answers}: {most} packets kept, {sent:?} sent");
        assert!(most <= MAX_URGENT_REPAIRS + 256, "{answers}: {most}");
    }
}

fn busy_sender(begin: Time, packet: &Rc<()>) -> Sender<Rc<()>> {
    let mut sender = Sender::new(SenderConfig::default());
    for _ in 0..2 {
        sender.add_link(begin);
    }
    let flow = Flow {
        lane: 1,
        class: Class::InStep,
    };
    for _ in 0..100 {
        assert!(sender.enqueue(begin, Rc::clone(packet), 1400, flow));
    }
    while let Some(next) = sender.poll_transmit(begin) {
        sender.send(begin, next.link, next.bytes);
    }
    sender
}

#[test]
fn packets_kept_for_a_silent_peer_are_dropped_after_eight_seconds() {
    let (begin, packet) = (Time::from_secs(1), Rc::new(()));
    let mut sender = busy_sender(begin, &packet);
    let mut held = |seconds| {
        drop(sender.handle_timeout(begin + Time::from_secs(seconds)));
        let queued = sender.backlog().0 / 1400;
        (Rc::strong_count(&packet) as u64 - 1, queued)
    };
    let (all, queued) = held(7);
    assert!(0 < queued && queued < all, "{queued} of {all}");
    let (all, queued) = held(8);
    assert_eq!(all, queued);
}

#[test]
fn packets_for_silent_peer_are_dropped_without_further_sending() {
    let (begin, packet) = (Time::from_secs(1), Rc::new(()));
    let mut sender = busy_sender(begin, &packet);
    let heard = begin + Time::from_millis(500);
    sender.on_heard(heard, 0);
    while let Some(due) = sender.poll_timeout()
        && due <= heard + Time::from_secs(8)
    {
        // Pings could not be sent.
        drop(sender.handle_timeout(due));
    }
    let kept = Rc::strong_count(&packet) as u64 - 1;
    assert_eq!(kept, sender.backlog().0 / 1400);
}
