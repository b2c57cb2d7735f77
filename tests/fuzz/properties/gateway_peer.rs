//! Properties of an association with an arbitrary peer, for the fuzz target and the replay of its
//! corpus.

use bytes::Bytes;
use ropewalk_gateway::record::Decoder;
use ropewalk_quantities::{Bytes as Size, Time};
use ropewalk_striping::{Association, CarrierConfig, CarrierId, Config, Event, Role};

/// Largest sum of all streams' windows above the initial 64 KiB of each.
const MEMORY: u64 = 1 << 20;
const STREAMS: u32 = 8;
const INITIAL: u64 = 64 << 10;

/// Frames are accepted or the association ends. Buffered data never exceed the windows, and no data
/// are read that were not sent.
///
/// Returns the number of accepted frames, and the reason for the end.
pub fn check(bytes: &[u8]) -> String {
    let config = Config {
        memory: Size::new(MEMORY),
        streams: STREAMS,
        ..Config::default()
    };
    let mut now = Time::from_millis(1);
    let mut association = Association::<Bytes>::new(Role::Responder, config);
    let carriers = [(); 2].map(|()| association.carrier_up(now, CarrierConfig::default()));
    let own = association.open();
    if let Some(own) = own {
        association.write(own, &mut Bytes::from_static(&[7; 5000]));
    }
    let mut decoder = Decoder::new(None);
    decoder.space().extend_from_slice(bytes);
    let (mut taken, mut came, mut read) = (0, 0, 0);
    loop {
        let frame = match decoder.frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => return format!("{taken} frames"),
            Err(error) => return format!("{taken} frames, then: {error}"),
        };
        let payload = match &frame {
            ropewalk_wire::gateway::Frame::Data { payload, .. } => payload.len(),
            _ => 0,
        };
        now += Time::from_millis(1);
        let carrier = carriers[taken % 2];
        came += payload;
        if let Err(error) = association.received(now, carrier, frame) {
            return format!("{taken} frames, then: {error}");
        }
        taken += 1;
        read += turn(&mut association, now, &carriers, taken % 3 == 0);
        assert!(read <= came);
        let streams: Vec<_> = association.streams().collect();
        let held = streams
            .iter()
            .filter_map(|stream| association.stream_statistics(*stream));
        let held: u64 = held.map(|stream| stream.held.as_u64()).sum();
        assert!(
            held <= MEMORY + INITIAL * (u64::from(STREAMS) + 1),
            "{held} bytes held"
        );
    }
}

fn turn(
    association: &mut Association<Bytes>,
    now: Time,
    carriers: &[CarrierId],
    reads: bool,
) -> usize {
    while association
        .poll_event()
        .is_some_and(|event| !matches!(event, Event::Closed { .. }))
    {}
    for carrier in carriers {
        while association.poll_transmit(now, *carrier).is_some() {}
    }
    if association.poll_timeout().is_some_and(|at| at <= now) {
        association.handle_timeout(now);
    }
    if !reads {
        return 0;
    }
    let streams: Vec<_> = association.streams().collect();
    let pieces = streams
        .into_iter()
        .filter_map(|stream| association.read(now, stream));
    pieces.map(|piece| piece.len()).sum()
}
