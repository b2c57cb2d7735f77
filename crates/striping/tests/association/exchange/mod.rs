//! Exchanges of two ends, frame by frame.

mod carriers;
mod scheduling;
mod streams;
mod terms;

use bytes::Bytes;
use ropewalk_quantities::Time;
use ropewalk_striping::{
    Association, CarrierConfig, CarrierId, Config, Event, Frame, Role, StreamId,
};
use ropewalk_transport::SchedulerConfig;

const MS: fn(u64) -> Time = Time::from_millis;

struct End {
    own: Association<Bytes>,
    carriers: Vec<CarrierId>,
}

impl End {
    fn new(role: Role, config: Config, carriers: &[CarrierConfig]) -> End {
        let mut own = Association::new(role, config);
        let up = carriers.iter();
        let carriers = up.map(|config| own.carrier_up(MS(1), *config)).collect();
        End { own, carriers }
    }

    /// The frames of a carrier, without probes.
    fn sends(&mut self, now: Time, carrier: usize) -> Vec<Frame<Bytes>> {
        let id = self.carriers[carrier];
        let frames = std::iter::from_fn(|| self.own.poll_transmit(now, id));
        frames
            .filter(|frame| !matches!(frame, Frame::Ping { .. } | Frame::Pong { .. }))
            .collect()
    }

    fn gets(&mut self, now: Time, carrier: usize, frames: Vec<Frame<Bytes>>) {
        for frame in frames {
            self.own
                .received(now, self.carriers[carrier], frame)
                .unwrap();
        }
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.own.poll_event()).collect()
    }

    fn write(&mut self, stream: StreamId, len: usize) -> usize {
        self.own.write(stream, &mut Bytes::from(vec![9; len]))
    }
}

fn carrier(rtt_ms: u64) -> CarrierConfig {
    CarrierConfig {
        rtt: Some(MS(rtt_ms)),
        ..CarrierConfig::default()
    }
}

fn scheduled(
    scheduling: impl Into<SchedulerConfig>,
    carriers: &[CarrierConfig],
) -> (End, StreamId) {
    let config = Config {
        scheduling: scheduling.into(),
        ..Config::default()
    };
    let mut end = End::new(Role::Initiator, config, carriers);
    let stream = end.own.open().unwrap();
    (end, stream)
}
