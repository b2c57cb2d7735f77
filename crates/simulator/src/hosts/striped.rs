//! song-2018: a single TCP connection whose packets a virtual device distributes over paths.

use ropewalk_network::Capacity;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Flow, Scenario, VirtualDevice as DeviceConfig};
use ropewalk_striping::tunnel::Scheduler;
use ropewalk_transport::Segment;

use super::connection::Connection;
use super::sending_host::{Outgoing, SendingHost};
use super::virtual_device::VirtualDevice;
use crate::Unsupported;
use crate::application::Application;
use crate::event_recorders::EventRecorders;

/// The connection, and a device at each end that chooses paths.
#[derive(Debug)]
pub(crate) struct Striped {
    pub(super) connection: Connection,
    /// Indexed by the sending end.
    pub(super) devices: Box<[VirtualDevice; 2]>,
}

impl Striped {
    pub(crate) fn new(
        connection: Connection,
        scenario: &Scenario,
        flow: &Flow,
        device: DeviceConfig,
    ) -> Result<Striped, Unsupported> {
        let paths = &flow.paths;
        let both = match device.scheduler {
            Scheduler::RoundRobin => VirtualDevice::round_robin(paths.len()),
            Scheduler::Weighted => {
                let rates = paths.iter().map(|&path| path_kbps(scenario, path));
                VirtualDevice::weighted(rates.collect())
            }
            Scheduler::EarliestArrival | Scheduler::Redundant => {
                return Err(Unsupported {
                    key: flow.key("scheduler"),
                    value: device.scheduler.name().to_owned(),
                    what: "simulated",
                    allowed: "round-robin, weighted (with device = \"naive\")".to_owned(),
                });
            }
        };
        Ok(Striped {
            connection,
            devices: Box::new([both.clone(), both]),
        })
    }
}

impl SendingHost for Striped {
    fn poll_application(&mut self, now: Time, end: usize, application: &mut Application) {
        self.connection.poll_application(now, end, application);
    }

    fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        recorders: &mut R,
    ) -> Option<Outgoing> {
        let packet = self
            .connection
            .poll_transmit(now, end, segment, recorders)?;
        Some(Outgoing {
            route: self.devices[end].next(),
            ..packet
        })
    }

    fn poll_timeouts(&mut self, end: usize) -> [Option<Time>; 2] {
        self.connection.poll_timeouts(end)
    }
}

/// Returns the rate of a path's slowest link, in kbit/s.
fn path_kbps(scenario: &Scenario, path: usize) -> i64 {
    let rates = scenario.paths[path].hops.iter().map(|&link| {
        if let Some(radio) = scenario.wireless.link(link) {
            let sender = &scenario.wireless.channels[radio.channel].radios[radio.from];
            return i64::from(sender.fastest_rate().kbps());
        }
        match &scenario.links[link].forward.capacity {
            Capacity::Unlimited => i64::MAX / 1_000_000,
            Capacity::Rate(rate) => (rate.as_bps() / 1000) as i64,
            Capacity::Trace(trace) => (trace.mean_rate().as_bps() / 1000) as i64,
        }
    });
    rates.min().unwrap_or(1).max(1)
}
