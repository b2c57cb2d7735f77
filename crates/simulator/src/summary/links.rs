//! What links did, and for whom.

use ropewalk_network::{Direction, LinkId, RouteId};

use super::{Span, mbps};
use crate::air::Air;
use crate::outcome::{LinkShare, LinkSummary};

impl<T: Copy, M: Air<T>> Span<'_, T, M> {
    /// Per link, as in the scenario; forward direction.
    pub(super) fn links(&self) -> Vec<LinkSummary> {
        let links = self.scenario.links.iter().enumerate();
        links
            .map(|(index, link)| {
                if self.scenario.wireless.link(index).is_some() {
                    return self.radio_link(index);
                }
                let (from, to) = (&self.start.links[index], &self.end.links[index]);
                let forward = self
                    .world
                    .network
                    .link(LinkId::new(index), Direction::Forward);
                let capacity = forward.capacity_between(self.warmup.min(self.end_at), self.end_at);
                let sent = self.end.transmitted[index] - self.start.transmitted[index];
                LinkSummary {
                    name: link.name.clone(),
                    sent_packets: to.sent_packets - from.sent_packets,
                    lost_packets: to.lost_packets - from.lost_packets,
                    dropped_packets: to.dropped_packets - from.dropped_packets,
                    delivered_bytes: to.delivered_bytes - from.delivered_bytes,
                    utilization: capacity
                        .filter(|capacity| capacity.as_u64() > 0)
                        .map(|capacity| sent as f64 / capacity.as_u64() as f64),
                    attempts: None,
                    frame_error_ratio: None,
                    drops_tries: None,
                    flows: self.link_shares(index),
                }
            })
            .collect()
    }

    /// Each link's price times the Mbit/s of IP packets that it delivered, summed; `None` where no
    /// link has a price.
    pub(super) fn cost(&self, links: &[LinkSummary]) -> Option<f64> {
        let measured = self.end_at.saturating_sub(self.warmup).as_secs_f64();
        let priced = self.scenario.links.iter().zip(links);
        let costs = priced.filter_map(|(link, summary)| {
            Some(link.cost? * mbps(summary.delivered_bytes, measured))
        });
        costs.reduce(|sum, cost| sum + cost)
    }

    /// Who got how much of a link, where there are several flows.
    pub(super) fn link_shares(&self, link: usize) -> Vec<LinkShare> {
        if self.world.flows.len() == 1 {
            return Vec::new();
        }
        let over = |path: &usize| self.scenario.paths[*path].hops.contains(&link);
        let entries = self.scenario.flows.iter().enumerate();
        let users = entries.filter(|(_, flow)| flow.paths.iter().any(over));
        let mut shares: Vec<LinkShare> = users
            .map(|(entry, flow)| {
                let mut paths: Vec<usize> = flow.paths.iter().copied().filter(over).collect();
                paths.sort_unstable();
                paths.dedup();
                let routes: Vec<RouteId> = paths
                    .iter()
                    .map(|&path| self.world.routes[path][0])
                    .collect();
                let [from, to] = [&self.start, &self.end].map(|at| at.shares.of(entry, &routes));
                LinkShare {
                    name: flow.name.clone(),
                    delivered_bytes: to - from,
                    share: 0.0,
                }
            })
            .collect();
        let all: u64 = shares.iter().map(|share| share.delivered_bytes).sum();
        for share in &mut shares {
            share.share = share.delivered_bytes as f64 / all.max(1) as f64;
        }
        shares
    }
}
