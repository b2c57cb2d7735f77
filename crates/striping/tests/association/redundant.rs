//! The redundant mode: a thin stream does not notice that a link dies, and a bulk stream has what the
//! best link gives.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_striping::{Association, Config, Event, Length, StreamId};
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::scheduling::redundant::RedundantConfig;

use crate::goodput::links;
use crate::world::{Apps, FAR, NEAR, World};

const MESSAGE: usize = 1000;
/// 2 Mbit/s.
const EVERY: Time = Time::from_millis(4);

/// Messages at a constant rate, or as much as the stream takes.
struct Stream {
    stream: Option<StreamId>,
    bulk: bool,
    written: VecDeque<Time>,
    read: u64,
    partly: usize,
    delays: Vec<(Time, Time)>,
}

impl Stream {
    fn new(bulk: bool) -> Stream {
        Stream {
            stream: None,
            bulk,
            written: VecDeque::new(),
            read: 0,
            partly: 0,
            delays: Vec::new(),
        }
    }

    fn fill(&self, own: &mut Association<Length>) {
        if let Some(stream) = self.stream.filter(|_| self.bulk) {
            while own.write(stream, &mut Length(64 << 10)) == 64 << 10 {}
        }
    }
}

impl Apps<Length> for Stream {
    fn on_event(&mut self, now: Time, end: usize, own: &mut Association<Length>, event: Event) {
        match event {
            Event::Writable(_) if end == NEAR => self.fill(own),
            Event::Readable(stream) if end == FAR => {
                while let Some(piece) = own.read(now, stream) {
                    self.read += piece.0 as u64;
                    self.partly += piece.0;
                }
                while !self.bulk && self.partly >= MESSAGE {
                    self.partly -= MESSAGE;
                    let written = self.written.pop_front().expect("none comes twice");
                    self.delays.push((written, now - written));
                }
            }
            _ => {}
        }
    }

    fn on_tick(&mut self, world: &mut World<Length>, token: u64) {
        let now = world.now;
        let near = &mut world.ends[NEAR];
        if self.stream.is_none() {
            self.stream = near.open();
        }
        if self.bulk {
            return self.fill(near);
        }
        if let Some(stream) = self.stream {
            assert_eq!(near.write(stream, &mut Length(MESSAGE)), MESSAGE);
            self.written.push_back(now);
        }
        world.at(now + EVERY, token);
    }
}

fn config() -> Config {
    Config {
        scheduling: SchedulerConfig::Redundant(RedundantConfig::DEFAULT),
        ..Config::default()
    }
}

#[test]
fn a_dead_link_costs_a_thin_stream_no_delay() {
    for (list, dies) in [
        ([(20.0, 40), (10.0, 60)], 0),
        ([(20.0, 40), (10.0, 60)], 1),
        ([(20.0, 20), (5.0, 200)], 0),
        ([(20.0, 20), (5.0, 200)], 1),
    ] {
        let mut links = links(&list);
        links[dies].fall_silent(Time::from_secs(5), Time::from_secs(8));
        let mut world = World::new(links, [config(), config()]);
        let mut apps = Stream::new(false);
        world.at(Time::from_millis(1), 0);
        world.run(&mut apps, Time::from_secs(12));
        assert_eq!(world.violations, [""; 0]);
        // After both links have begun, no message takes longer than the slower link by itself.
        let settled = apps
            .delays
            .iter()
            .filter(|(written, _)| *written > Time::from_secs(2));
        let longest = settled.map(|(_, delay)| *delay).max().unwrap();
        let alone = Time::from_millis(list[0].1.max(list[1].1)) / 2;
        println!("{list:?}, link {dies}: {longest}, by the slower link {alone}");
        assert!(
            longest < alone + Time::from_millis(8),
            "{list:?} {dies}: {longest}"
        );
    }
}

#[test]
fn a_bulk_stream_has_what_the_best_link_gives() {
    for list in [
        [(20.0, 40), (10.0, 60)],
        [(20.0, 20), (20.0, 20)],
        [(20.0, 20), (5.0, 200)],
    ] {
        let mut world = World::new(links(&list), [config(), config()]);
        let mut apps = Stream::new(true);
        world.at(Time::from_millis(1), 0);
        world.run(&mut apps, Time::from_secs(2));
        let before = apps.read;
        world.run(&mut apps, Time::from_secs(12));
        assert_eq!(world.violations, [""; 0]);
        let goodput = (apps.read - before) as f64 * 8.0 / 10e6;
        println!("{list:?}: {goodput:.2} Mbit/s");
        assert!((0.9 * 20.0..21.0).contains(&goodput), "{list:?}: {goodput}");
    }
}
