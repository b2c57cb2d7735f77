//! The end of streams and associations, and the memory that streams share.

use ropewalk_quantities::{Bytes as Amount, Time};
use ropewalk_striping::{Config, Event, Frame, Role, StreamId, TOO_MANY_STREAMS};
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;

use super::{End, MS, carrier, scheduled};

/// Two ends with a carrier between them, and a stream of the initiator with five bytes.
fn pair() -> (End, End, StreamId) {
    let (mut near, stream) = scheduled(EarliestArrivalConfig::DEFAULT, &[carrier(20)]);
    let mut far = End::new(Role::Responder, Config::default(), &[carrier(20)]);
    near.write(stream, 5);
    let frames = near.sends(MS(2), 0);
    far.gets(MS(12), 0, frames);
    assert_eq!(
        far.events(),
        [Event::StreamOpened(stream), Event::Readable(stream)]
    );
    (near, far, stream)
}

fn exchange(near: &mut End, far: &mut End, now: Time) {
    for _ in 0..4 {
        let frames = near.sends(now, 0);
        far.gets(now, 0, frames);
        let frames = far.sends(now, 0);
        near.gets(now, 0, frames);
    }
}

#[test]
fn directions_end_one_by_one() {
    let (mut near, mut far, stream) = pair();
    near.own.finish(stream);
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(far.own.read(MS(20), stream).unwrap().len(), 5);
    assert_eq!(far.events(), [Event::StreamFinished(stream)]);
    assert_eq!(far.write(stream, 7), 7);
    far.own.finish(stream);
    exchange(&mut near, &mut far, MS(30));
    assert_eq!(near.own.read(MS(30), stream).unwrap().len(), 7);
    exchange(&mut near, &mut far, MS(40));
    assert!(near.events().contains(&Event::StreamClosed(stream)));
    assert!(far.events().contains(&Event::StreamClosed(stream)));
}

#[test]
fn a_reset_drops_what_was_not_read() {
    let (mut near, mut far, stream) = pair();
    near.own.reset(stream, 42);
    assert_eq!(near.write(stream, 5), 0);
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(far.events(), [Event::StreamReset { stream, code: 42 }]);
    assert_eq!(far.own.read(MS(20), stream), None);
    assert_eq!(far.write(stream, 3), 3);
    exchange(&mut near, &mut far, MS(30));
    assert_eq!(near.own.read(MS(30), stream).unwrap().len(), 3);
}

#[test]
fn a_stop_is_answered_by_a_reset() {
    let (mut near, mut far, stream) = pair();
    far.own.stop(stream, 43);
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(
        near.events(),
        [
            Event::Readable(stream),
            Event::StreamStopped { stream, code: 43 }
        ][1..]
    );
    assert_eq!(near.write(stream, 5), 0);
    assert_eq!(far.events(), []);
    far.own.finish(stream);
    exchange(&mut near, &mut far, MS(30));
    assert!(far.events().contains(&Event::StreamClosed(stream)));
}

#[test]
fn one_stream_too_many_is_refused() {
    let config = Config {
        streams: 1,
        ..Config::default()
    };
    let mut near = End::new(Role::Initiator, Config::default(), &[carrier(20)]);
    let mut far = End::new(Role::Responder, config, &[carrier(20)]);
    let streams = [(); 2].map(|()| near.own.open().unwrap());
    for stream in streams {
        near.write(stream, 5);
    }
    exchange(&mut near, &mut far, MS(20));
    assert_eq!(far.own.streams().count(), 1);
    let (stream, code) = (streams[1], TOO_MANY_STREAMS);
    let events = near.events();
    assert!(events.contains(&Event::StreamReset { stream, code }));
    assert!(events.contains(&Event::StreamStopped { stream, code }));
}

#[test]
fn close_is_announced_on_each_carrier() {
    let (mut near, mut far, stream) = pair();
    near.own.close(7);
    assert_eq!(near.sends(MS(20), 0), [Frame::Close { code: 7 }]);
    assert_eq!(near.sends(MS(20), 0), []);
    far.gets(MS(30), 0, vec![Frame::Close { code: 7 }]);
    let code = 7;
    assert_eq!(
        far.events(),
        [Event::StreamReset { stream, code }, Event::Closed { code }]
    );
    assert!(far.own.is_closed() && far.own.open().is_none());
}

#[test]
fn streams_share_send_memory() {
    let config = Config {
        memory: Amount::from_mib(1),
        ..Config::default()
    };
    let mut end = End::new(Role::Initiator, config, &[carrier(20)]);
    let streams = [(); 20].map(|()| end.own.open().unwrap());
    let taken = streams.map(|stream| end.write(stream, 4 << 20));
    // The first has all of the memory, and each of the others its guaranteed part.
    assert_eq!(taken[0], (1 << 20) + (64 << 10));
    assert!(taken[1..].iter().all(|&bytes| bytes == 64 << 10));
    // They continue as their data arrive, unread and with all memory in use.
    let mut far = End::new(Role::Responder, Config::default(), &[carrier(20)]);
    for round in 0..200 {
        let now = MS(2 + round * 20);
        let frames = end.sends(now, 0);
        far.gets(now, 0, frames);
        let frames = far.sends(now, 0);
        end.gets(now + MS(20), 0, frames);
    }
    let events = end.events();
    for stream in &streams[1..] {
        assert!(events.contains(&Event::Writable(*stream)), "{stream:?}");
    }
    // The memory of the first stream's 64 KiB that arrived is free for others, and all that it gives up.
    assert_eq!(end.write(streams[1], 4 << 20), 128 << 10);
    end.own.reset(streams[0], 0);
    assert!(end.write(streams[1], 4 << 20) > 900_000);
}
