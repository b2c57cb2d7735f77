//! Benchmark of the aggregator without sockets: frames and megabytes per CPU-second of both ends.
//!
//!     cargo run --release -p ropewalk-speed --bin carrying

use bytes::Bytes;
use ropewalk_quantities::{Bytes as Amount, Time};
use ropewalk_striping::{Association, CarrierConfig, CarrierId, Config, Event, Frame, Role};

struct Case {
    what: &'static str,
    carriers: u32,
    streams: usize,
    /// Payload of a frame in bytes.
    frame: u64,
    /// Total payload in bytes.
    amount: u64,
}

const CASES: [Case; 5] = [
    Case {
        what: "one stream over one carrier, frames of 16 KiB",
        carriers: 1,
        streams: 1,
        frame: 16 << 10,
        amount: 16_000_000_000,
    },
    Case {
        what: "the same over eight carriers",
        carriers: 8,
        streams: 1,
        frame: 16 << 10,
        amount: 16_000_000_000,
    },
    Case {
        what: "the same, frames of 1400 bytes",
        carriers: 8,
        streams: 1,
        frame: 1400,
        amount: 1_000_000_000,
    },
    Case {
        what: "500 streams over four carriers, frames of 16 KiB",
        carriers: 4,
        streams: 500,
        frame: 16 << 10,
        amount: 4_000_000_000,
    },
    Case {
        what: "the same, frames of 1400 bytes",
        carriers: 4,
        streams: 500,
        frame: 1400,
        amount: 500_000_000,
    },
];

/// Virtual time of a turn, in which each carrier delivers its frames.
const TURN: Time = Time::from_micros(100);
/// Size of one write of the application in bytes.
const PIECE: usize = 64 << 10;
/// Frames that a socket takes in a turn.
const SOCKET: usize = 16;

fn main() {
    println!("{:>10} {:>8} {:>7}  case", "frames/s", "MB/s", "CPU s");
    for case in &CASES {
        let before = cpu_seconds();
        let frames = run(case);
        let cpu = cpu_seconds() - before;
        println!(
            "{:>10.0} {:>8.0} {:>7.3}  {}",
            frames as f64 / cpu,
            case.amount as f64 / 1e6 / cpu,
            cpu,
            case.what
        );
    }
}

/// Transfers everything from the initiator to the responder; returns the number of data frames.
fn run(case: &Case) -> u64 {
    let config = Config {
        payload: Some(Amount::new(case.frame)),
        ..Config::default()
    };
    let mut now = Time::ZERO;
    let [mut near, mut far] = [Role::Initiator, Role::Responder]
        .map(|role| Association::<Bytes>::new(role, config.clone()));
    let carriers: Vec<[CarrierId; 2]> = (0..case.carriers)
        .map(|link| {
            let config = CarrierConfig {
                link,
                ..CarrierConfig::default()
            };
            [near.carrier_up(now, config), far.carrier_up(now, config)]
        })
        .collect();
    let streams: Vec<_> = (0..case.streams)
        .map(|_| near.open().expect("a number is left"))
        .collect();
    let piece = Bytes::from_static(&[7; PIECE]);
    let (mut frames, mut delivered) = (0, 0);
    while delivered < case.amount {
        now += TURN;
        for stream in &streams {
            while near.write(*stream, &mut piece.clone()) == PIECE {}
        }
        for end in [&mut near, &mut far] {
            if end.poll_timeout().is_some_and(|at| at <= now) {
                end.handle_timeout(now);
            }
        }
        for [of_near, of_far] in &carriers {
            frames += carry(now, (&mut near, *of_near), (&mut far, *of_far));
            carry(now, (&mut far, *of_far), (&mut near, *of_near));
        }
        while near.poll_event().is_some() {}
        while let Some(event) = far.poll_event() {
            let Event::Readable(stream) = event else {
                continue;
            };
            while let Some(read) = far.read(now, stream) {
                delivered += read.len() as u64;
            }
        }
    }
    frames
}

/// Transfers the frames that one end has for a carrier to the other; returns the number of data frames.
fn carry(
    now: Time,
    (from, of_from): (&mut Association<Bytes>, CarrierId),
    (to, of_to): (&mut Association<Bytes>, CarrierId),
) -> u64 {
    let mut data = 0;
    for _ in 0..SOCKET {
        let Some(frame) = from.poll_transmit(now, of_from) else {
            break;
        };
        data += u64::from(matches!(frame, Frame::Data { .. }));
        to.received(now, of_to, frame)
            .expect("both ends keep to the protocol");
    }
    data
}

/// User and system time of this process in the kernel's accounting, with nanoseconds.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux's /proc");
    let nanos: u64 = schedstat
        .split(' ')
        .next()
        .and_then(|field| field.parse().ok())
        .expect("a number");
    nanos as f64 / 1e9
}
