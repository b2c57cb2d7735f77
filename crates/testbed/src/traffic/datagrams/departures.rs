//! Send times of datagrams.

use ropewalk_quantities::Time;
use ropewalk_simulator::MessageSchedule;

use super::super::connection_plan::{ConnectionPlan, DatagramSettings};
use super::pace::Pace;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// Time of the write to the socket.
    pub(crate) at: Time,
    /// Start of the measured delay.
    pub(crate) due: Time,
    pub(crate) len: usize,
}

#[derive(Debug)]
pub(crate) enum Departures {
    /// One per message, at its due time.
    Messages(MessageSchedule),
    /// As many as the first link carries.
    Bulk {
        pace: Box<Pace>,
        payload: u64,
        headers: u32,
        left: Option<u64>,
    },
}

impl Departures {
    pub(crate) fn new(plan: &ConnectionPlan, settings: &DatagramSettings) -> Departures {
        let payload = plan.segment.as_u64();
        match plan.schedule() {
            Some(schedule) => Departures::Messages(schedule),
            None => Departures::Bulk {
                pace: Box::new(Pace::new(
                    &settings.first,
                    settings.headers + payload as u32,
                )),
                payload,
                headers: settings.headers,
                left: plan.size(),
            },
        }
    }

    /// The next datagram; `None` when a finite transfer is complete.
    pub(crate) fn next(&mut self) -> Option<Departure> {
        match self {
            Departures::Messages(schedule) => Some(Departure {
                at: schedule.next(),
                due: schedule.next(),
                len: schedule.message() as usize,
            }),
            Departures::Bulk {
                pace,
                payload,
                headers,
                left,
            } => {
                let len = left.unwrap_or(u64::MAX).min(*payload);
                let (due, at) = pace.next(*headers + len as u32);
                (len > 0).then_some(Departure {
                    at,
                    due,
                    len: len as usize,
                })
            }
        }
    }

    pub(crate) fn left(&mut self, now: Time, departure: Departure) {
        match self {
            Departures::Messages(schedule) => schedule.advance(),
            Departures::Bulk {
                pace,
                headers,
                left,
                ..
            } => {
                pace.sent(now.max(departure.due), *headers + departure.len as u32);
                if let Some(left) = left {
                    *left -= departure.len as u64;
                }
            }
        }
    }
}
