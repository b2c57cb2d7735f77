//! Configuration of an association.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::algorithm::{AlgorithmConfig, Tag};
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;

/// End of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The end that dials; its streams have odd numbers.
    Initiator,
    /// The end that accepts; its streams have even numbers.
    Responder,
}

/// Number of a carrier in its association, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CarrierId(
    /// Counts from zero.
    pub u32,
);

/// Number of a stream in its association, the same at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(
    /// Odd from the initiator, even from the responder, never zero.
    pub u32,
);

/// Returns all schedulers that can choose among carriers, with default parameters. Schedulers that fill the
/// send queues of subflows ahead of their windows are excluded, since carriers have neither.
#[must_use]
pub fn carrier_schedulers() -> Vec<SchedulerConfig> {
    let mut all = SchedulerConfig::defaults();
    all.retain(|config| {
        let declared = config.description();
        declared.is_none_or(|declared| !declared.is(Tag::Queueing))
    });
    all
}

/// Returns the carrier scheduler of this name.
#[must_use]
pub fn carrier_scheduler(name: &str) -> Option<SchedulerConfig> {
    let mut all = carrier_schedulers().into_iter();
    all.find(|config| config.name() == name)
}

/// Configuration of one end of an association; each end has its own.
#[derive(Clone, Debug)]
pub struct Config {
    /// Scheduler of this end's data. With `earliest-arrival` a carrier sends data that it would deliver in
    /// order, and none that another would deliver sooner. `overflow` does the same among as many carriers as
    /// are needed. `redundant` sends everything on every carrier. The others treat carriers as subflows.
    pub scheduling: SchedulerConfig,
    /// Fixed payload of a frame; without it, the payload follows the carrier's rate.
    pub payload: Option<Bytes>,
    /// Limit of a stream's receive window.
    pub buffer: Bytes,
    /// Limit of a stream's send buffer: bytes written and not acknowledged.
    pub send_buffer: Bytes,
    /// Limit of all receive windows together, beyond the initial 64 KiB of each; the same again for all send
    /// buffers.
    pub memory: Bytes,
    /// Limit of open streams of the peer; more are refused.
    pub streams: u32,
    /// How long streams survive with no carrier up.
    pub timeout: Time,
    /// Interval of pings on an idle carrier while there are streams.
    pub keepalive: Time,
    /// Interval of pings while there are no streams.
    pub idle_keepalive: Time,
    /// Least interval of pings on a metered carrier.
    pub metered_keepalive: Time,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            scheduling: EarliestArrivalConfig::DEFAULT.into(),
            payload: None,
            buffer: Bytes::new(4 << 20),
            send_buffer: Bytes::new(4 << 20),
            memory: Bytes::new(64 << 20),
            streams: 4096,
            timeout: Time::from_secs(60),
            keepalive: Time::from_secs(5),
            idle_keepalive: Time::from_secs(30),
            metered_keepalive: Time::from_secs(60),
        }
    }
}

/// Configuration of a carrier that comes up.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarrierConfig {
    /// The driver's number of its link. State learnt on one carrier of a link is used for the next.
    pub link: u32,
    /// Initial terms; see [`Association::set_terms`](crate::Association::set_terms).
    pub terms: Terms,
    /// A carrier with a higher number counts as more expensive, at any cost.
    pub priority: u8,
    /// Whether its data are paid for, so that pings are rare.
    pub metered: bool,
    /// Round trip of its handshake, if measured: the only estimate until data are acknowledged.
    pub rtt: Option<Time>,
}

/// Price, quota and rate limit of a carrier.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Price of a megabyte, in any unit.
    pub cost: f64,
    /// Bytes that it may still carry, both directions together. After that it is used only if no other
    /// carrier is up.
    pub quota: Option<Bytes>,
    /// Rate limit of each direction.
    pub rate: Option<Rate>,
}

/// Relative change of a price that is announced to the peer.
const ANOTHER_PRICE: f64 = 0.1;

impl Terms {
    /// Whether these terms must be announced, given the terms announced last and the bytes used since.
    ///
    /// Both ends count the quota down by themselves. They need an announcement if it is used up by their
    /// count but not by these terms, or the other way round.
    #[must_use]
    pub fn need_announcement(&self, told: &Terms, used: Bytes) -> bool {
        let quota = match (told.quota, self.quota) {
            (Some(told), Some(now)) if now.as_u64() == 0 => told.as_u64() > 0,
            (Some(told), Some(_)) => used >= told,
            (told, now) => told.is_some() != now.is_some(),
        };
        let price = (self.cost - told.cost).abs() > ANOTHER_PRICE * told.cost;
        quota || price || self.rate != told.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carrier_scheduler_is_found_by_its_name() {
        for scheduler in carrier_schedulers() {
            let found = carrier_scheduler(scheduler.name()).expect("one of them");
            assert_eq!(found.name(), scheduler.name());
        }
        assert!(carrier_scheduler("linux").is_none(), "it fills queues");
        assert!(carrier_scheduler("").is_none());
    }
}
