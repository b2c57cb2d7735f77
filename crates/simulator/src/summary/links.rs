//! Results of links.

use ropewalk_network::{Direction, LinkId};

use super::{Span, mbps};
use crate::air::Air;
use crate::outcome::{LinkShare, LinkSummary};

impl<T: Copy, M: Air<T>> Span<'_, T, M> {
    /// Returns the links in the order of the scenario, forward direction.
    pub(super) fn links(&self) -> Vec<LinkSummary> {
        let mut route_bytes = self.link_shares();
        let links = self.scenario.links.iter().enumerate();
        links
            .map(|(index, link)| {
                if self.scenario.wireless.link(index).is_some() {
                    return self.radio_link(index, std::mem::take(&mut route_bytes[index]));
                }
                let (from, to) = (&self.start.links[index], &self.end.links[index]);
                let forward = self
                    .state
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
                    flows: std::mem::take(&mut route_bytes[index]),
                }
            })
            .collect()
    }

    /// Returns the sum of each link's price times the Mbit/s of IP packets that it delivered; `None` if no
    /// link has a price.
    pub(super) fn cost(&self, links: &[LinkSummary]) -> Option<f64> {
        let measured = self.end_at.saturating_sub(self.warmup).as_secs_f64();
        let priced = self.scenario.links.iter().zip(links);
        let costs = priced.filter_map(|(link, summary)| {
            Some(link.cost? * mbps(summary.delivered_bytes, measured))
        });
        costs.reduce(|sum, cost| sum + cost)
    }

    /// Returns the share of each flow in each link, if there are several flows.
    fn link_shares(&self) -> Vec<Vec<LinkShare>> {
        let mut route_bytes = vec![Vec::new(); self.scenario.links.len()];
        if self.state.flows.len() == 1 {
            return route_bytes;
        }
        // Last flow and path for which each link was counted.
        let mut met = vec![None; route_bytes.len()];
        for (entry, flow) in self.scenario.flows.iter().enumerate() {
            let mut paths = flow.paths.clone();
            paths.sort_unstable();
            paths.dedup();
            for path in paths {
                let route = self.state.routes[path][0];
                let [from, to] = [&self.start, &self.end].map(|at| at.route_bytes.of(entry, route));
                for &link in &self.scenario.paths[path].hops {
                    let before = met[link].replace((entry, path));
                    if before == Some((entry, path)) {
                        // A path may pass a link twice.
                        continue;
                    }
                    match (before, route_bytes[link].last_mut()) {
                        (
                            Some((same, _)),
                            Some(LinkShare {
                                delivered_bytes, ..
                            }),
                        ) if same == entry => {
                            *delivered_bytes += to - from;
                        }
                        _ => route_bytes[link].push(LinkShare {
                            name: flow.name.clone(),
                            delivered_bytes: to - from,
                            share: 0.0,
                        }),
                    }
                }
            }
        }
        for route_bytes in &mut route_bytes {
            let all: u64 = route_bytes.iter().map(|share| share.delivered_bytes).sum();
            for share in route_bytes {
                share.share = share.delivered_bytes as f64 / all.max(1) as f64;
            }
        }
        route_bytes
    }
}
