//! Quota meters of links, and the resulting terms of paths.

use ropewalk_network::{Direction, LinkId, Medium, Network};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::{Quota, Scenario};
use ropewalk_striping::Terms;

use crate::outcome::QuotaSummary;
use crate::packet::Packet;

/// Interval of readings, as in a gateway that reads its sockets; a quota may be exceeded in between.
const READ_EVERY: Time = Time::from_millis(50);

#[derive(Debug, Default)]
pub(crate) struct QuotaMeters {
    meters: Vec<Meter>,
    /// Links of each path of the scenario: cost, and index of the meter, if any.
    paths: Vec<Vec<(f64, Option<usize>)>>,
}

#[derive(Debug)]
struct Meter {
    link: usize,
    quota: Quota,
    period: u64,
    /// Total when the period began, and at the last reading.
    before: u64,
    now: u64,
}

impl Meter {
    fn used(&self) -> Bytes {
        Bytes::new(self.now - self.before)
    }
}

impl QuotaMeters {
    pub(crate) fn new(scenario: &Scenario) -> QuotaMeters {
        let links = 0..scenario.links.len();
        let meters: Vec<Meter> = links
            .filter_map(|link| {
                let quota = *scenario.quota(link)?;
                let (period, before, now) = (0, 0, 0);
                Some(Meter {
                    link,
                    quota,
                    period,
                    before,
                    now,
                })
            })
            .collect();
        if meters.is_empty() {
            return QuotaMeters::default();
        }
        let hop = |link: &usize| {
            let price = scenario.links[*link].cost.unwrap_or(0.0);
            (price, meters.iter().position(|meter| meter.link == *link))
        };
        let paths = scenario.paths.iter();
        let paths = paths.map(|path| path.hops.iter().map(hop).collect());
        QuotaMeters {
            paths: paths.collect(),
            meters,
        }
    }

    /// Returns when to read the meters next, if there are any.
    pub(crate) fn next(&self, now: Time) -> Option<Time> {
        (!self.meters.is_empty()).then_some(now + READ_EVERY)
    }

    /// Reads the bytes sent in both directions so far, lost ones included.
    pub(crate) fn read<T: Copy, M: Medium<Packet<T>>>(
        &mut self,
        now: Time,
        network: &mut Network<Packet<T>, M>,
    ) {
        for meter in &mut self.meters {
            let link = LinkId::new(meter.link);
            let ways = [Direction::Forward, Direction::Reverse];
            let sent = ways.map(|way| network.link_mut(link, way).transmitted(now).as_u64());
            let period = meter.quota.period_at(now);
            if period > meter.period {
                // Bytes carried since the last reading count for the new period.
                meter.period = period;
                meter.before = meter.now;
            }
            meter.now = sent.iter().sum();
        }
    }

    /// Returns the terms of a path: the sum of its links' costs, and the least of their quotas.
    pub(crate) fn terms(&self, now: Time, path: usize) -> Terms {
        let mut terms = Terms::default();
        for (price, meter) in &self.paths[path] {
            let Some(meter) = meter.map(|meter| &self.meters[meter]) else {
                terms.cost += price;
                continue;
            };
            let progress = meter.quota.progress(now, meter.used());
            let allowed = meter.quota.pace.allowed(&progress);
            terms.cost += price * meter.quota.pace.cost_factor(&progress);
            terms.quota = Some(terms.quota.map_or(allowed, |least| least.min(allowed)));
        }
        terms
    }

    pub(crate) fn summaries(&self, scenario: &Scenario) -> Vec<QuotaSummary> {
        let meters = self.meters.iter();
        let summary = |meter: &Meter| {
            let (used, size) = (meter.used().as_u64(), meter.quota.size.as_u64());
            QuotaSummary {
                link: scenario.links[meter.link].name.clone(),
                used,
                left: size.saturating_sub(used),
            }
        };
        meters.map(summary).collect()
    }
}
