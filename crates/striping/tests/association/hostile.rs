//! Invalid frames from a peer: refused or bounded, and no panic.

use bytes::Bytes;
use proptest::prelude::*;
use ropewalk_quantities::{Bytes as Amount, Time};
use ropewalk_striping::{Association, CarrierConfig, Config, Event, Frame, Role};

const BUFFER: u64 = 128 << 10;

fn any_frame() -> impl Strategy<Value = Frame<Bytes>> {
    let stream = prop_oneof![8 => 1..12_u32, 1 => 1..u32::MAX];
    let offset = prop_oneof![8 => 0..200_000_u64, 1 => 0..(1_u64 << 62) - 70_000];
    let number = prop_oneof![8 => 0..20_u64, 1 => any::<u64>()];
    (0..9, stream, offset, number, any::<bool>(), 0..20_000_usize).prop_map(
        |(kind, stream, offset, number, fin, len)| match kind {
            0 | 1 => Frame::Data {
                stream,
                offset,
                fin,
                payload: Bytes::from(vec![7; len]),
            },
            2 => Frame::Ack { count: number },
            3 => Frame::Window {
                stream,
                limit: offset,
            },
            4 => Frame::Reset {
                stream,
                code: len as u32,
                final_size: offset,
            },
            5 => Frame::Stop {
                stream,
                code: len as u32,
            },
            6 => Frame::Ping { token: number },
            7 => Frame::Terms {
                cost: stream,
                quota: Some(offset),
                rate: Some(number.max(1)),
            },
            _ => Frame::Pong { token: number },
        },
    )
}

proptest! {
    #[test]
    fn arbitrary_frames_are_refused_or_bounded(
        frames in prop::collection::vec((any_frame(), 0..2_usize, 0..50_u64, any::<bool>()), 1..200),
    ) {
        let mut own: Association<Bytes> = Association::new(
            Role::Responder,
            Config {
                buffer: Amount::new(BUFFER),
                memory: Amount::new(BUFFER),
                streams: 4,
                ..Config::default()
            },
        );
        let mut now = Time::from_secs(1);
        let carriers = [(); 2].map(|()| own.carrier_up(now, CarrierConfig::default()));
        let stream = own.open().expect("the first");
        let _ = own.write(stream, &mut Bytes::from(vec![1; 100_000]));
        for (frame, carrier, later_ms, reads) in frames {
            now += Time::from_millis(later_ms);
            if own.received(now, carriers[carrier], frame).is_err() {
                break;
            }
            own.handle_timeout(now);
            while own.poll_transmit(now, carriers[carrier]).is_some() {}
            while own.poll_event().is_some() {}
            let streams: Vec<_> = own.streams().collect();
            prop_assert!(streams.len() <= 5);
            let mut held = 0;
            for stream in streams {
                while reads && own.read(now, stream).is_some() {}
                held += own.stream_statistics(stream).map_or(0, |stream| stream.held.as_u64());
            }
            prop_assert!(held <= BUFFER + 5 * (64 << 10));
        }
    }
}

fn one_byte(number: u32) -> Frame<Bytes> {
    Frame::Data {
        stream: 1 + 2 * number,
        offset: 10,
        fin: false,
        payload: Bytes::from_static(b"x"),
    }
}

#[test]
fn streams_at_memory_limit_are_sorted_rarely() {
    const STREAMS: u32 = 1000;
    let config = Config {
        streams: STREAMS,
        ..Config::default()
    };
    let mut own: Association<Bytes> = Association::new(Role::Responder, config);
    let now = Time::from_secs(1);
    let carrier = own.carrier_up(now, CarrierConfig::default());
    let (mut bound, mut sorts, mut resets) = (u64::MAX, 0, 0);
    for number in 0..3 * STREAMS {
        own.received(now, carrier, one_byte(number)).unwrap();
        if number == STREAMS - 1 {
            bound = own.cost();
        }
        if let Some(excess) = own.cost().checked_sub(bound).filter(|excess| *excess > 0) {
            assert!(own.free_memory(excess));
            sorts += 1;
        }
        while let Some(event) = own.poll_event() {
            resets += u32::from(matches!(event, Event::StreamReset { .. }));
        }
        while own.poll_transmit(now, carrier).is_some() {}
    }
    println!("{sorts} sorts, {resets} streams reset");
    assert!(sorts <= 3 * 8, "{sorts} sorts, {resets} streams reset");
    assert!(resets <= 2 * STREAMS + STREAMS / 4, "{resets}");
}
