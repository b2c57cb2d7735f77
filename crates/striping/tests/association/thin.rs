//! A thin stream, 200 bytes every 10 ms, alone and beside a bulk stream.

use std::collections::VecDeque;

use ropewalk_quantities::Time;
use ropewalk_striping::{Association, Config, Event, Length, StreamId};

use crate::goodput::links;
use crate::world::{Apps, FAR, NEAR, World};

const MESSAGE: usize = 200;
const EVERY: Time = Time::from_millis(10);

struct Thin {
    thin: Option<StreamId>,
    bulk: Option<StreamId>,
    written: VecDeque<Time>,
    read: usize,
    delays: Vec<Time>,
}

impl Thin {
    fn fill(&self, own: &mut Association<Length>) {
        if let Some(stream) = self.bulk {
            while own.write(stream, &mut Length(64 << 10)) == 64 << 10 {}
        }
    }
}

impl Apps<Length> for Thin {
    fn on_event(&mut self, now: Time, end: usize, own: &mut Association<Length>, event: Event) {
        match event {
            Event::Writable(_) if end == NEAR => self.fill(own),
            Event::Readable(stream) if end == FAR => {
                while let Some(piece) = own.read(now, stream) {
                    if Some(stream) == self.thin {
                        self.read += piece.0;
                    }
                }
                while self.read >= MESSAGE {
                    self.read -= MESSAGE;
                    let written = self.written.pop_front().expect("none comes twice");
                    self.delays.push(now - written);
                }
            }
            _ => {}
        }
    }

    fn on_tick(&mut self, world: &mut World<Length>, bulk: u64) {
        let now = world.now;
        let near = &mut world.ends[NEAR];
        if self.thin.is_none() {
            self.thin = near.open();
            if bulk == 1 {
                self.bulk = near.open();
                self.fill(near);
            }
        }
        if let Some(stream) = self.thin {
            assert_eq!(near.write(stream, &mut Length(MESSAGE)), MESSAGE);
            self.written.push_back(now);
        }
        world.at(now + EVERY, bulk);
    }
}

/// Delay from write to read at the 99th percentile, from 1 s on.
fn p99(beside_bulk: bool) -> Time {
    let list = [(20.0, 20), (5.0, 200)];
    let mut world = World::new(links(&list), [Config::default(), Config::default()]);
    let mut apps = Thin {
        thin: None,
        bulk: None,
        written: VecDeque::new(),
        read: 0,
        delays: Vec::new(),
    };
    world.at(Time::from_millis(1), u64::from(beside_bulk));
    world.run(&mut apps, Time::from_secs(20));
    let mut delays = apps.delays.split_off(100);
    assert!(delays.len() > 1800);
    delays.sort();
    delays[delays.len() * 99 / 100]
}

#[test]
fn a_thin_stream_goes_by_the_fast_link() {
    for (beside_bulk, most) in [(false, 20), (true, 60)] {
        let p99 = p99(beside_bulk);
        println!(
            "beside bulk {beside_bulk}: p99 {:.1} ms",
            p99.as_millis_f64()
        );
        assert!(p99 < Time::from_millis(most), "{p99}");
    }
}
