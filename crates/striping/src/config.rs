//! Configuration of an association.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::algorithm::{Declared, Tag};
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;

/// Which end of the association this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It dialled the carriers; its streams have odd numbers.
    Initiator,
    /// It accepted the carriers; its streams have even numbers.
    Responder,
}

/// Number of a carrier in its association; never reused.
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

/// All schedulers that can choose among carriers, with default parameters. Schedulers that fill the send
/// queues of subflows ahead of their windows are excluded, since carriers have neither.
#[must_use]
pub fn carrier_schedulers() -> Vec<SchedulerConfig> {
    let mut all = SchedulerConfig::defaults();
    all.retain(|config| {
        let declared = config.description();
        declared.is_none_or(|declared| !declared.is(Tag::Queueing))
    });
    all
}

/// The carrier scheduler of this name.
#[must_use]
pub fn carrier_scheduler(name: &str) -> Option<SchedulerConfig> {
    let mut all = carrier_schedulers().into_iter();
    all.find(|config| config.name() == name)
}

/// Configuration of one end of an association; each end has its own.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which carrier sends which data of this end. With `earliest-arrival` a carrier sends what it would
    /// deliver in order, and nothing that another would deliver sooner; `overflow` does the same among as
    /// many carriers as are needed; `redundant` sends everything on every carrier. The others treat carriers
    /// as subflows.
    pub scheduling: SchedulerConfig,
    /// Fixed payload of a frame; without it, the payload follows the carrier's rate.
    pub payload: Option<Bytes>,
    /// Bound of a stream's receive window.
    pub buffer: Bytes,
    /// Bound of a stream's send buffer: written and not acknowledged.
    pub send_buffer: Bytes,
    /// Bound of all receive windows together, beyond the initial 64 KiB of each; and the same again for all
    /// send buffers.
    pub memory: Bytes,
    /// Most streams that the peer may have open; more are refused.
    pub streams: u32,
    /// How long streams survive with no carrier up.
    pub timeout: Time,
    /// Interval of pings on an idle carrier while there are streams.
    pub keepalive: Time,
    /// The same while there are no streams.
    pub idle_keepalive: Time,
    /// Least interval of pings on a metered carrier, with or without streams.
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

/// What is known of a carrier when it comes up.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarrierConfig {
    /// The driver's number of its link: what one carrier of a link has learnt is used for the next.
    pub link: u32,
    /// Initial terms; see [`Association::set_terms`](crate::Association::set_terms).
    pub terms: Terms,
    /// A carrier with a higher number counts as more expensive than one with a lower number, whatever their
    /// costs.
    pub priority: u8,
    /// Its data are paid for, so that it is pinged as rarely as possible.
    pub metered: bool,
    /// Round trip of its handshake, if it was measured: the only estimate until data are acknowledged.
    pub rtt: Option<Time>,
}

/// The terms on which a carrier is used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Price of a megabyte; the unit is the user's.
    pub cost: f64,
    /// Bytes that it may still carry, both directions together. After that it is used only if no other
    /// carrier is up. `None` if there is no quota.
    pub quota: Option<Bytes>,
    /// Rate limit of each direction; `None` if there is none.
    pub rate: Option<Rate>,
}

/// The peer is told a new price if it differs by this fraction.
const ANOTHER_PRICE: f64 = 0.1;

impl Terms {
    /// Whether both ends are to be told these terms, after they were told others and have used this much
    /// since.
    ///
    /// Both ends count the quota down by themselves. They are told again if it is used up on their count
    /// while there is some, or the other way round.
    #[must_use]
    pub fn are_new_after(&self, told: &Terms, used: Bytes) -> bool {
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
