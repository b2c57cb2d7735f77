//! Paths of a scenario as the gateway's links.

use ropewalk_gateway::Link;
use ropewalk_gateway::links::Egress;
use ropewalk_gateway::quota_policy::{Period, QuotaPolicy};
use ropewalk_scenario::{Quota, Scenario};

use crate::network::Testbed;

pub(crate) fn links(scenario: &Scenario, testbed: &Testbed) -> impl Iterator<Item = Link> {
    scenario.measured_flow().paths.iter().map(|&path| {
        let egress = Egress::Address(testbed.plan.paths[path].client[0]);
        let hops = scenario.paths[path].hops.iter();
        Link {
            cost: hops.clone().map(|&hop| scenario.links[hop].cost).sum(),
            quota_policy: quota_policy(hops.filter_map(|&hop| scenario.quota(hop))),
            ..Link::new(scenario.paths[path].name.clone(), egress)
        }
    })
}

fn quota_policy<'a>(quotas: impl Iterator<Item = &'a Quota>) -> QuotaPolicy {
    let Some(least) = quotas.min_by_key(|quota| quota.size) else {
        return QuotaPolicy::default();
    };
    // Without a period, the run ends before the quota is renewed.
    let period = least.period.map_or(Period::default(), Period::Span);
    QuotaPolicy {
        quota: Some(least.size),
        period,
        pace: least.pace,
        ..QuotaPolicy::default()
    }
}
