//! Any interleaving of carriers: written data are read once and in order.

use std::collections::VecDeque;

use bytes::Bytes;
use proptest::prelude::*;
use ropewalk_quantities::{Bytes as Amount, Rate, Time};
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Config, Frame, Role, Terms, carrier_schedulers,
};
use ropewalk_transport::Deadline;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Bytes, and milliseconds until their deadline, if they have one.
    Write(usize, Option<u64>),
    Transmit(usize, usize, usize),
    Deliver(usize, usize, usize),
    Read,
    Replace(usize),
    Block(usize, usize),
    Unblock(usize, usize),
    Terms(usize, Option<u64>, Option<u64>),
    Wait(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    let (carrier, end) = (0..3_usize, 0..2_usize);
    prop_oneof![
        3 => (1..60_000_usize, prop::option::of(0..400_u64)).prop_map(|(n, due)| Step::Write(n, due)),
        6 => (carrier.clone(), end.clone(), 1..10_usize).prop_map(|(c, e, n)| Step::Transmit(c, e, n)),
        6 => (carrier.clone(), end.clone(), 1..10_usize).prop_map(|(c, e, n)| Step::Deliver(c, e, n)),
        2 => Just(Step::Read),
        1 => carrier.clone().prop_map(Step::Replace),
        1 => (carrier.clone(), end.clone()).prop_map(|(c, e)| Step::Block(c, e)),
        1 => (carrier.clone(), end).prop_map(|(c, e)| Step::Unblock(c, e)),
        1 => (carrier, prop::option::of(300..5_000_u64), prop::option::of(0..60_000_u64))
            .prop_map(|(c, kbps, quota)| Step::Terms(c, kbps, quota)),
        3 => (1..300_u64).prop_map(Step::Wait),
    ]
}

struct Carrier {
    ids: [CarrierId; 2],
    /// By the end that sent them.
    frames: [VecDeque<Frame<Bytes>>; 2],
}

struct Pair {
    now: Time,
    ends: [Association<Bytes>; 2],
    carriers: Vec<Carrier>,
}

impl Pair {
    fn new(config: Config) -> Pair {
        let mut pair = Pair {
            now: Time::from_secs(1),
            ends: [Role::Initiator, Role::Responder]
                .map(|role| Association::new(role, config.clone())),
            carriers: Vec::new(),
        };
        for price in 0..3 {
            let carrier = pair.carrier_up(price);
            pair.carriers.push(carrier);
        }
        pair
    }

    fn carrier_up(&mut self, price: usize) -> Carrier {
        let now = self.now;
        let config = CarrierConfig {
            terms: Terms {
                cost: price as f64,
                ..Terms::default()
            },
            ..CarrierConfig::default()
        };
        let ids = [0, 1].map(|end: usize| self.ends[end].carrier_up(now, config));
        Carrier {
            ids,
            frames: [VecDeque::new(), VecDeque::new()],
        }
    }

    fn transmit(&mut self, carrier: usize, end: usize, most: usize) -> usize {
        let Carrier { ids, frames } = &mut self.carriers[carrier];
        let own = &mut self.ends[end];
        let sent = std::iter::from_fn(|| own.poll_transmit(self.now, ids[end])).take(most);
        let before = frames[end].len();
        frames[end].extend(sent);
        frames[end].len() - before
    }

    fn deliver(&mut self, carrier: usize, end: usize, most: usize) -> usize {
        let Carrier { ids, frames } = &mut self.carriers[carrier];
        let count = most.min(frames[end].len());
        for frame in frames[end].drain(..count) {
            let taken = self.ends[1 - end].received(self.now, ids[1 - end], frame);
            taken.expect("both keep to the protocol");
        }
        count
    }

    fn replace(&mut self, carrier: usize) {
        for end in [0, 1] {
            self.ends[end].carrier_down(self.now, self.carriers[carrier].ids[end]);
        }
        self.carriers[carrier] = self.carrier_up(carrier);
    }

    fn wait(&mut self, ms: u64) {
        self.now += Time::from_millis(ms);
        for own in &mut self.ends {
            own.handle_timeout(self.now);
        }
    }
}

proptest! {
    #[test]
    fn each_byte_once_and_in_order(
        steps in prop::collection::vec(any_step(), 1..200),
        scheduling in prop::sample::select(carrier_schedulers()),
        buffer in 1_u64..200_000,
    ) {
        let mut pair = Pair::new(Config {
            scheduling,
            buffer: Amount::new(buffer),
            send_buffer: Amount::new(buffer),
            timeout: Time::from_secs(100_000),
            ..Config::default()
        });
        let stream = pair.ends[0].open().expect("the first");
        let mut written: Vec<u8> = Vec::new();
        let mut read: Vec<u8> = Vec::new();
        for step in steps {
            match step {
                Step::Write(len, due) => {
                    let from = written.len();
                    let bytes: Vec<u8> = (from..from + len).map(|at| (at / 251 + at) as u8).collect();
                    let mut piece = Bytes::from(bytes.clone());
                    let taken = match due.map(Time::from_millis) {
                        None => pair.ends[0].write(stream, &mut piece),
                        Some(span) => {
                            let due = Deadline { at: pair.now + span, span };
                            pair.ends[0].write_by(stream, &mut piece, due)
                        }
                    };
                    written.extend(&bytes[..taken]);
                }
                Step::Transmit(carrier, end, most) => {
                    pair.transmit(carrier, end, most);
                }
                Step::Deliver(carrier, end, most) => {
                    pair.deliver(carrier, end, most);
                }
                Step::Read => {
                    while let Some(piece) = pair.ends[1].read(pair.now, stream) {
                        read.extend(&piece);
                    }
                }
                Step::Replace(carrier) => pair.replace(carrier),
                Step::Block(carrier, end) => pair.ends[end].blocked(pair.carriers[carrier].ids[end]),
                Step::Unblock(carrier, end) => pair.ends[end].writable(pair.carriers[carrier].ids[end]),
                Step::Terms(carrier, kbps, quota) => {
                    let terms = Terms {
                        cost: carrier as f64,
                        quota: quota.map(Amount::new),
                        rate: kbps.map(|kbps| Rate::from_bps(1000 * kbps)),
                    };
                    pair.ends[0].set_terms(pair.carriers[carrier].ids[0], terms);
                }
                Step::Wait(ms) => pair.wait(ms),
            }
            prop_assert!(read.len() <= written.len());
        }
        pair.ends[0].finish(stream);
        // From now on all carriers work: all data must arrive, and then nothing is left.
        for (carrier, end) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            pair.ends[end].writable(pair.carriers[carrier].ids[end]);
        }
        for _ in 0..20_000 {
            // It may not have known the stream before.
            pair.ends[1].finish(stream);
            for carrier in 0..3 {
                for end in [0, 1] {
                    pair.transmit(carrier, end, usize::MAX);
                    pair.deliver(carrier, end, usize::MAX);
                }
            }
            while let Some(piece) = pair.ends[1].read(pair.now, stream) {
                read.extend(&piece);
            }
            pair.wait(3);
            if pair.ends.iter().all(|own| own.streams().next().is_none()) {
                break;
            }
        }
        prop_assert_eq!(read.len(), written.len());
        prop_assert!(read == written);
        prop_assert_eq!(pair.ends[0].streams().count(), 0);
        prop_assert_eq!(pair.ends[1].streams().count(), 0);
    }
}
