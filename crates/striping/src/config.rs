//! What an association is set to.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::algorithm::{Declared, Tag};
use ropewalk_transport::scheduling::earliest_arrival::EarliestArrivalConfig;

/// Which end of the association this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Dialled the carriers; its streams have odd numbers.
    Initiator,
    /// Took them; its streams have even numbers.
    Responder,
}

/// Number of a carrier in its association; never used again.
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

/// All schedulers that can choose among carriers, with their parameters' defaults: not what puts data
/// into send queues ahead of windows, of which a carrier has neither.
#[must_use]
pub fn carrier_schedulers() -> Vec<SchedulerConfig> {
    let mut all = SchedulerConfig::defaults();
    all.retain(|config| {
        let declared = config.description();
        declared.is_none_or(|declared| !declared.is(Tag::Queueing))
    });
    all
}

/// The one of them of this name.
#[must_use]
pub fn carrier_scheduler(name: &str) -> Option<SchedulerConfig> {
    let mut all = carrier_schedulers().into_iter();
    all.find(|config| config.name() == name)
}

/// What an association is set to; each end has its own.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which carrier takes which data of this end. `earliest-arrival`: each takes what it would
    /// deliver in order, and none what another would deliver sooner; `overflow`: the same among the
    /// carriers that it needs; `redundant`: everything on every carrier. The others see carriers as
    /// subflows.
    pub scheduling: SchedulerConfig,
    /// Payload of a frame, if that is fixed; else it follows its carrier's rate.
    pub payload: Option<Bytes>,
    /// Most that a stream's window grows to: what it may hold here that was not read.
    pub buffer: Bytes,
    /// Most of a stream that waits here to be sent and acknowledged.
    pub send_buffer: Bytes,
    /// Most that the windows of all streams are beyond their initial 64 KiB, together; and the same
    /// again for what waits to be sent and acknowledged.
    pub memory: Bytes,
    /// Most streams of the other end at a time; more are refused.
    pub streams: u32,
    /// How long streams wait when no carrier lives.
    pub timeout: Time,
    /// An idle carrier is probed this often while there are streams.
    pub keepalive: Time,
    /// And this often while there are none.
    pub idle_keepalive: Time,
    /// One that is metered no more often than this, whether there are streams or not.
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
    /// The driver's number of its link: what was learnt of one carrier of a link serves the next.
    pub link: u32,
    /// At first; see [`Association::set_terms`](crate::Association::set_terms).
    pub terms: Terms,
    /// Carriers of a higher number count as dearer than those of a lower one, whatever their cost.
    pub priority: u8,
    /// What it carries is paid for, so that it is not probed more often than it must be.
    pub metered: bool,
    /// Round trip of its handshake, if it was timed: until data are acknowledged, the only estimate.
    pub rtt: Option<Time>,
}

/// On what terms a carrier is used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Price of a megabyte; the unit is the user's.
    pub cost: f64,
    /// Bytes that it may still carry, both ways together; then it is used only if nothing else
    /// lives. `None` if they are not counted.
    pub quota: Option<Bytes>,
    /// At most so much is sent on it, each way; `None` if that is not bounded.
    pub rate: Option<Rate>,
}

/// The other end is told of a price that is another by so much, as a part of it.
const ANOTHER_PRICE: f64 = 0.1;

impl Terms {
    /// Whether both ends are to be told of these, who were told others and have used so much since.
    ///
    /// Both count down what they were told that a carrier may carry: they are told again when that is gone
    /// and there is some, or there is none any more.
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
