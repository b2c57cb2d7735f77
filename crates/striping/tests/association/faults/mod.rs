//! Runs under faults: each byte arrives once, in order, in bounded memory, soon after the last fault. A seed
//! determines the run.

mod plan;
mod talk;

use std::collections::BTreeMap;

use bytes::Bytes;
use ropewalk_quantities::{Bytes as Amount, Rate, Time};
use ropewalk_striping::{Association, Config, Event, StreamId};

use crate::simulation::{Apps, INITIATOR, Link, RESPONDER, Simulation};
use plan::{Draw, Plan as Ranges};
use talk::CheckedStream;

pub use plan::Plan;

/// Time limit for all data after the last fault.
const TIMEOUT: Time = Time::from_secs(120);
/// Every stream may hold this much at any memory limit.
const INITIAL_WINDOW: u64 = 64 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub bytes: u64,
    pub faults: u64,
    pub resent: u64,
    pub memory: u64,
    /// Longest time without a byte while data were outstanding.
    pub stall: Time,
    /// Hash of all frames and events with their times.
    pub trace: u64,
    pub failures: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Open(usize),
    Kill {
        link: usize,
        learnt_after: [Time; 2],
    },
    Slow(usize, u64),
    Pause {
        talk: usize,
        end: usize,
        paused: bool,
    },
    Reset {
        talk: usize,
        end: usize,
    },
    Stop {
        talk: usize,
        end: usize,
    },
}

struct Run {
    draw: Draw,
    talks: Vec<CheckedStream>,
    by_stream: BTreeMap<StreamId, usize>,
    acts: Vec<Fault>,
    config: Config,
    delivered_at: Time,
    outcome: Outcome,
}

pub fn run(plan: &Plan, seed: u64) -> Outcome {
    let mut draw = Draw::new(seed);
    let mut links: Vec<Link> = (0..draw.within(plan.links))
        .map(|_| {
            let rate = Rate::from_bps(draw.magnitude(plan.rate_kbit) * 1000);
            let rtt = Time::from_millis(draw.magnitude(plan.rtt_ms));
            Link::new(rate, rtt / 2)
        })
        .collect();
    let scheduler = draw.below(plan.schedulers.len() as u64);
    let config = Config {
        scheduling: plan.schedulers[scheduler as usize].clone(),
        buffer: Amount::from_kib(draw.magnitude(plan.buffer_kib)),
        send_buffer: Amount::from_kib(draw.magnitude(plan.buffer_kib)),
        memory: Amount::from_kib(draw.magnitude(plan.memory_kib)),
        timeout: Time::from_secs(1000),
        ..Config::default()
    };
    let configs = [config.clone(), config.clone()];
    let mut run = Run {
        talks: Vec::new(),
        by_stream: BTreeMap::new(),
        acts: Vec::new(),
        config,
        delivered_at: Time::ZERO,
        outcome: Outcome::default(),
        draw,
    };
    let times = run.plan(plan, &mut links);
    let silent_until = links.iter().filter_map(Link::silent_until);
    let last = silent_until.chain(times.iter().copied()).max();
    let last = last.unwrap_or(Time::ZERO);
    let mut simulation = Simulation::new(links, configs);
    for (token, at) in times.into_iter().enumerate() {
        simulation.at(at, token as u64);
    }
    simulation.run(&mut run, last + TIMEOUT);
    run.conclude(&simulation)
}

impl Run {
    /// Draws streams and faults; returns when each action is due.
    fn plan(&mut self, plan: &Ranges, links: &mut [Link]) -> Vec<Time> {
        let mut schedule: Vec<(Time, Fault)> = Vec::new();
        let draw = &mut self.draw;
        for number in 0..draw.within(plan.streams) as usize {
            let opener = draw.below(2) as usize;
            let sizes = [(); 2].map(|()| draw.magnitude(plan.stream_bytes));
            self.talks
                .push(CheckedStream::new(opener, sizes, draw.below(u64::MAX)));
            let at = Time::from_millis(draw.below(1000));
            schedule.push((at, Fault::Open(number)));
        }
        let (count, talks) = (links.len() as u64, self.talks.len() as u64);
        let mut faults = 0;
        let mut times = |draw: &mut Draw| {
            let begins = Time::from_millis(draw.within(plan.within_ms));
            faults += 1;
            (
                begins,
                begins + Time::from_millis(draw.magnitude(plan.lasts_ms)),
            )
        };
        for _ in 0..draw.within(plan.killed) {
            let (at, _) = times(draw);
            let link = draw.below(count) as usize;
            let learnt_after =
                [(); 2].map(|()| Time::from_millis(draw.magnitude(plan.learnt_after_ms)));
            schedule.push((at, Fault::Kill { link, learnt_after }));
        }
        for _ in 0..draw.within(plan.silenced) {
            let (begins, ends) = times(draw);
            let link = draw.below(count) as usize;
            links[link].add_outage(begins, ends);
        }
        for _ in 0..draw.within(plan.slowed) {
            let (begins, ends) = times(draw);
            let link = draw.below(count) as usize;
            schedule.push((begins, Fault::Slow(link, 2 + draw.below(20))));
            schedule.push((ends, Fault::Slow(link, 1)));
        }
        for _ in 0..draw.within(plan.reader_stops) {
            let (begins, ends) = times(draw);
            let (talk, end) = (draw.below(talks) as usize, draw.below(2) as usize);
            for (at, paused) in [(begins, true), (ends, false)] {
                schedule.push((at, Fault::Pause { talk, end, paused }));
            }
        }
        for _ in 0..draw.within(plan.resets) {
            let (at, _) = times(draw);
            let (talk, end) = (draw.below(talks) as usize, draw.below(2) as usize);
            schedule.push((at, Fault::Reset { talk, end }));
        }
        for _ in 0..draw.within(plan.stops) {
            let (at, _) = times(draw);
            let (talk, end) = (draw.below(talks) as usize, draw.below(2) as usize);
            schedule.push((at, Fault::Stop { talk, end }));
        }
        self.outcome.faults = faults;
        let (times, acts) = schedule.into_iter().unzip();
        self.acts = acts;
        times
    }

    fn act(&mut self, simulation: &mut Simulation<Bytes>, act: Fault) {
        match act {
            Fault::Open(number) => {
                let talk = &mut self.talks[number];
                let own = &mut simulation.ends[talk.opener];
                let stream = own.open().expect("few streams are opened");
                self.by_stream.insert(stream, number);
                talk.stream = Some(stream);
                talk.write(talk.opener, own, &mut self.draw);
            }
            Fault::Kill { link, learnt_after } => simulation.kill(link, learnt_after),
            Fault::Slow(link, times) => simulation.slow(link, times),
            Fault::Pause { talk, end, paused } => {
                self.talks[talk].paused[end] = paused;
                self.read(simulation.now, end, &mut simulation.ends[end], talk);
            }
            Fault::Reset { talk, end } => self.talks[talk].reset(end, &mut simulation.ends[end]),
            Fault::Stop { talk, end } => self.talks[talk].stop(end, &mut simulation.ends[end]),
        }
    }

    fn read(&mut self, now: Time, end: usize, own: &mut Association<Bytes>, number: usize) {
        let bytes = self.talks[number].read(now, end, own);
        if bytes > 0 {
            self.outcome.bytes += bytes;
            self.outcome.stall = self.outcome.stall.max(now - self.delivered_at);
            self.delivered_at = now;
        }
    }

    fn check_memory(&mut self, end: usize, own: &Association<Bytes>) {
        let (mut held, mut streams) = (0, 0);
        for stream in own.streams() {
            let Some(statistics) = own.stream_statistics(stream) else {
                continue;
            };
            let most = self.config.buffer.as_u64().max(INITIAL_WINDOW);
            let unacknowledged = statistics.written.as_u64() - statistics.acknowledged.as_u64();
            if statistics.held.as_u64() > most || unacknowledged > self.config.send_buffer.as_u64()
            {
                let what = format!("end {end}: {stream:?} beyond its buffer: {statistics:?}");
                self.outcome.failures.push(what);
            }
            held += statistics.held.as_u64();
            streams += 1;
        }
        self.outcome.memory = self.outcome.memory.max(held);
        if held > self.config.memory.as_u64() + streams * INITIAL_WINDOW {
            let what = format!("end {end}: {held} bytes held by {streams} streams");
            self.outcome.failures.push(what);
        }
    }

    fn conclude(mut self, simulation: &Simulation<Bytes>) -> Outcome {
        self.outcome.trace = simulation.trace;
        self.outcome.resent = [INITIATOR, RESPONDER]
            .map(|end| simulation.ends[end].resent().as_u64())
            .iter()
            .sum();
        self.outcome
            .failures
            .extend(simulation.violations.iter().cloned());
        for (number, talk) in self.talks.iter().enumerate() {
            let wrong = talk.conclude().into_iter();
            let wrong = wrong.map(|what| format!("talk {number}, {:?}: {what}", talk.stream));
            self.outcome.failures.extend(wrong);
        }
        for end in [INITIATOR, RESPONDER] {
            for stream in simulation.ends[end].streams() {
                let statistics = simulation.ends[end].stream_statistics(stream);
                let what = format!("end {end}: {stream:?} is still there: {statistics:?}");
                self.outcome.failures.push(what);
            }
        }
        self.outcome
    }
}

impl Apps<Bytes> for Run {
    fn on_event(&mut self, now: Time, end: usize, own: &mut Association<Bytes>, event: Event) {
        self.check_memory(end, own);
        match event {
            Event::StreamOpened(stream) | Event::Writable(stream) => {
                if let Some(&number) = self.by_stream.get(&stream) {
                    self.talks[number].write(end, own, &mut self.draw);
                }
            }
            Event::Readable(stream) => {
                if let Some(&number) = self.by_stream.get(&stream) {
                    self.read(now, end, own, number);
                }
            }
            Event::StreamFinished(stream) => {
                if let Some(&number) = self.by_stream.get(&stream) {
                    self.talks[number].finished(end);
                }
            }
            Event::StreamReset { stream, .. } => {
                if let Some(&number) = self.by_stream.get(&stream) {
                    self.talks[number].was_reset(end);
                }
            }
            Event::StreamStopped { stream, .. } => {
                if let Some(&number) = self.by_stream.get(&stream) {
                    self.talks[number].was_stopped(end);
                }
            }
            Event::StreamClosed(stream) => {
                if let Some(&number) = self.by_stream.get(&stream) {
                    self.talks[number].closed[end] += 1;
                }
            }
            Event::Closed { code } => {
                self.outcome
                    .failures
                    .push(format!("end {end}: closed, {code}"));
            }
            Event::CarrierSuspected(_) | Event::CarrierTrusted(_) => {}
        }
    }

    fn on_tick(&mut self, simulation: &mut Simulation<Bytes>, token: u64) {
        let act = self.acts[token as usize];
        self.act(simulation, act);
    }
}
