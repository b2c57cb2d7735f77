//! Ranks and quotas of a client's links, and the terms that follow from them.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::tunnel::LinkTerms;
use ropewalk_striping::{Candidate, Standby, Tier};

use crate::links::{Link, Rank};
use crate::quota::{QuotaStatus, UsageStore};

/// Interval at which usage is counted, and at which the start of a new period is checked.
const COUNT_INTERVAL: Time = Time::from_millis(50);
const PERIOD_CHECK_INTERVAL: Time = Time::from_secs(1);
/// Relative change of the cost above which it is announced again.
const MIN_COST_CHANGE: f64 = 0.1;

/// The links, by number, and their terms of use.
#[derive(Debug)]
pub struct LinkPolicies {
    /// A removed link keeps its number.
    links: Vec<Option<Link>>,
    usage: UsageStore,
    standby: Standby,
    uses: Vec<LinkUse>,
    counted_at: Time,
}

/// Current consequences of a link's rank and quota.
#[derive(Clone, Copy, Debug, Default)]
struct LinkUse {
    tier: Option<Tier>,
    terms: LinkTerms,
}

impl LinkPolicies {
    #[must_use]
    pub fn new(links: &[Link], usage: UsageStore) -> LinkPolicies {
        let mut policies = LinkPolicies {
            links: Vec::new(),
            usage,
            standby: Standby::default(),
            uses: Vec::new(),
            counted_at: Time::ZERO,
        };
        links.iter().for_each(|link| policies.add(link));
        policies
    }

    pub fn add(&mut self, link: &Link) {
        self.links.push(Some(link.clone()));
        self.uses.push(LinkUse::default());
        self.update(self.links.len() - 1);
    }

    pub fn set(&mut self, number: usize, link: &Link) {
        self.links[number] = Some(link.clone());
        self.update(number);
    }

    /// Removes a link; its number is not reused.
    pub fn remove(&mut self, number: usize) {
        self.links[number] = None;
        self.uses[number] = LinkUse::default();
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// A link's name; `None` if the link was removed.
    #[must_use]
    pub fn name(&self, number: usize) -> Option<&str> {
        let link = self.links.get(number)?.as_ref()?;
        Some(&link.name)
    }

    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.links.iter().flatten().any(|link| link.name == name)
    }

    /// Usage of a link; `None` if it is not counted.
    #[must_use]
    pub fn quota_status(&self, number: usize) -> Option<QuotaStatus> {
        self.usage.status(self.links.get(number)?.as_ref()?)
    }

    #[must_use]
    pub fn is_metered(&self, number: usize) -> bool {
        let link = self.links.get(number).and_then(Option::as_ref);
        link.is_some_and(|link| link.quota_policy.is_metered())
    }

    #[must_use]
    pub fn is_count_due(&self, now: Time) -> bool {
        now >= self.counted_at + COUNT_INTERVAL
    }

    /// Counts the bytes that links have carried since the last call.
    pub fn count(&mut self, now: Time, mut carried: impl FnMut(usize) -> Bytes) {
        self.counted_at = now;
        for number in 0..self.links.len() {
            let bytes = carried(number).as_u64();
            if let Some(link) = &self.links[number]
                && link.quota_policy.is_metered()
            {
                self.usage.charge(link, bytes);
                self.update(number);
            }
        }
    }

    pub fn follow(&mut self, now: Time, state: impl Fn(usize) -> (bool, bool) + Copy) {
        let links = self.uses.iter().enumerate().map(|(number, link_use)| {
            let (is_there, is_alive) = state(number);
            Candidate {
                tier: link_use.tier,
                exists: is_there,
                is_alive,
            }
        });
        self.standby.follow(now, links);
    }

    #[must_use]
    pub fn terms(&self, number: usize) -> LinkTerms {
        let LinkUse { tier, terms } = self.uses[number];
        LinkTerms {
            standby: self.standby.includes(tier),
            ..terms
        }
    }

    /// When time alone changes something. `has_carried`: whether there are bytes to count.
    #[must_use]
    pub fn due(&self, has_carried: bool) -> Option<Time> {
        let is_metered = (0..self.links.len()).any(|number| self.is_metered(number));
        let within = match has_carried {
            true => COUNT_INTERVAL,
            false => PERIOD_CHECK_INTERVAL,
        };
        let counting = is_metered.then(|| self.counted_at + within);
        self.standby.due().into_iter().chain(counting).min()
    }

    fn update(&mut self, number: usize) {
        let Some(link) = &self.links[number] else {
            return;
        };
        let terms = self.usage.terms(link);
        let tier = match link.rank {
            Rank::Never => None,
            _ if self.usage.is_stopped(link) => None,
            _ if terms.quota == Some(Bytes::new(0)) => Some(Tier::LastResort),
            _ if link.relay.is_some() => Some(Tier::LastResort),
            Rank::Primary => Some(Tier::Primary),
            Rank::Backup => Some(Tier::Backup),
        };
        let before = self.uses[number].terms.cost;
        let is_changed = (terms.cost - before).abs() > MIN_COST_CHANGE * before;
        let terms = LinkTerms {
            standby: false,
            rate: terms.rate,
            cost: if is_changed { terms.cost } else { before },
            priority: link.priority,
        };
        self.uses[number] = LinkUse { tier, terms };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_quantities::Rate;

    fn policies(links: &[&str]) -> LinkPolicies {
        let links: Vec<Link> = links.iter().map(|link| link.parse().unwrap()).collect();
        LinkPolicies::new(&links, UsageStore::default())
    }

    fn on_standby(policies: &LinkPolicies) -> Vec<bool> {
        let links = 0..policies.len();
        links.map(|link| policies.terms(link).standby).collect()
    }

    const ALIVE: fn(usize) -> (bool, bool) = |_| (true, true);

    #[test]
    fn terms_without_quota_are_the_default() {
        let policies = policies(&["a=lo", "b=127.0.0.1"]);
        for link in 0..2 {
            assert_eq!(policies.terms(link), LinkTerms::default());
        }
        assert_eq!(policies.due(true), None);
    }

    #[test]
    fn standby_follows_rank_and_quota() {
        let mut policies = policies(&[
            "wifi=lo",
            "lte=lo,rank=backup,cost=5,priority=2",
            "sim=lo,quota=1MB",
            "old=lo,rank=never",
            "pre=lo,quota=1MB,at_cap=stop",
            "slow=lo,quota=1MB,at_cap=512kbit",
        ]);
        policies.follow(Time::ZERO, ALIVE);
        let before = [false, true, false, true, false, false];
        assert_eq!(on_standby(&policies), before);
        let lte = policies.terms(1);
        assert_eq!((lte.cost, lte.priority), (5.0, 2));
        policies.count(Time::from_secs(1), |_| Bytes::new(1_000_000));
        policies.follow(Time::from_secs(1), ALIVE);
        assert_eq!(
            on_standby(&policies),
            [false, true, true, true, true, false]
        );
        assert_eq!(policies.terms(5).rate, Some(Rate::from_bps(512_000)));
        // The primary links are down: the backup is up, and the last resort stays idle.
        let down = |link| (link == 1 || link == 2, link == 1 || link == 2);
        policies.remove(5);
        policies.follow(Time::from_secs(2), down);
        assert_eq!(on_standby(&policies)[1..3], [false, true]);
    }

    #[test]
    fn terms_keep_a_cost_that_hardly_changes() {
        let mut policies = policies(&["sim=lo,cost=2,quota=1GB,pace=priced"]);
        assert_eq!(policies.terms(0).cost, 2.0);
        // All at once, long before the end of the period.
        policies.count(Time::from_secs(1), |_| Bytes::new(900_000_000));
        let expensive = policies.terms(0).cost;
        assert!(expensive > 100.0, "{expensive}");
    }

    #[test]
    fn due_is_earlier_while_there_are_bytes_to_count() {
        let mut policies = policies(&["a=lo", "sim=lo,quota=1GB"]);
        policies.count(Time::from_secs(5), |_| Bytes::new(10));
        assert_eq!(policies.due(false), Some(Time::from_secs(6)));
        assert_eq!(policies.due(true), Some(Time::from_millis(5050)));
        assert!(!policies.is_count_due(Time::from_millis(5049)));
        let status = policies.quota_status(1).unwrap();
        assert_eq!(status.used, Bytes::new(10));
        assert_eq!(policies.quota_status(0), None);
    }
}
