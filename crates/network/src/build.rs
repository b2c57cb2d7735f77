//! Builds a network from paths over links.

use std::collections::HashMap;
use std::fmt;

use crate::config::LinkConfig;
use crate::id::{HopId, InterfaceId, LinkId, NodeId};
use crate::medium::Medium;
use crate::network::Network;
use crate::route::RouteId;

/// Function that creates a medium, given its hops.
pub type MakeMedium<'a, M> = Box<dyn FnOnce(&[HopId]) -> M + 'a>;

/// A medium and the links that it carries.
pub struct MediumPlan<'a, M> {
    /// Indices of the links.
    pub links: Vec<usize>,
    /// Creates the medium from its hops: forward before reverse, in the order of the links.
    pub make: MakeMedium<'a, M>,
}

impl<M> fmt::Debug for MediumPlan<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediumPlan")
            .field("links", &self.links)
            .finish_non_exhaustive()
    }
}

impl<P: Copy, M: Medium<P>> Network<P, M> {
    /// Builds a network as [`from_paths`](Network::from_paths) does, with media that carry some of the
    /// links. The wired configuration of these links is ignored.
    ///
    /// # Panics
    /// If a path or a medium has no link.
    pub fn from_paths_and_media<'a>(
        links: &[LinkConfig],
        media: Vec<MediumPlan<'_, M>>,
        paths: impl Iterator<Item = &'a [usize]> + Clone,
        seed: u64,
    ) -> (Network<P, M>, Vec<[RouteId; 2]>) {
        let mut in_media = vec![false; links.len()];
        for link in media.iter().flat_map(|medium| &medium.links) {
            in_media[*link] = true;
        }
        let mut ends = Ends::new(links.len());
        ends.join_named(links);
        for path in paths.clone() {
            for pair in path.windows(2) {
                ends.join(Ends::end(pair[0]), Ends::start(pair[1]));
            }
            if let [first, .., last] | [first @ last] = path {
                if links[*first].ends.is_none() {
                    ends.join(Ends::start(*first), ends.client());
                }
                if links[*last].ends.is_none() {
                    ends.join(Ends::end(*last), ends.server());
                }
            }
        }
        let mut network = Network::new();
        let mut nodes: Vec<Option<NodeId>> = vec![None; ends.0.len()];
        let mut node_at = |network: &mut Self, end| {
            let node = &mut nodes[ends.find(end)];
            *node.get_or_insert_with(|| network.add_node())
        };
        let mut ids: Vec<LinkId> = Vec::new();
        for (number, link) in links.iter().enumerate() {
            let at = [Ends::start(number), Ends::end(number)];
            let at = at.map(|end| node_at(&mut network, end));
            ids.push(match in_media[number] {
                true => network.add_link_of_medium(),
                false => network.add_link(at, link, seed),
            });
        }
        for MediumPlan { links, make } in media {
            // One radio per node of the medium's links.
            let mut radios: HashMap<NodeId, InterfaceId> = HashMap::new();
            let mut hops = Vec::new();
            for number in links {
                let between = [Ends::start(number), Ends::end(number)].map(|end| {
                    let node = node_at(&mut network, end);
                    let radio = radios.entry(node);
                    *radio.or_insert_with(|| network.add_interface(node))
                });
                hops.push((ids[number], between));
            }
            network.add_medium_of_links(&hops, make);
        }
        let routes = paths.map(|path| {
            let links: Vec<LinkId> = path.iter().map(|&link| ids[link]).collect();
            network.add_path(&links)
        });
        let routes = routes.collect();
        (network, routes)
    }

    /// Builds the links, and paths over them by index; returns the forward and reverse route of each path.
    ///
    /// Links meet at the nodes that their configurations name. Without names, all paths lead from one
    /// client to one server, and consecutive links of a path meet at a node. `seed` seeds the random
    /// streams of the links.
    ///
    /// # Panics
    /// If a path has no link.
    pub fn from_paths<'a>(
        links: &[LinkConfig],
        paths: impl Iterator<Item = &'a [usize]> + Clone,
        seed: u64,
    ) -> (Network<P, M>, Vec<[RouteId; 2]>) {
        Self::from_paths_and_media(links, Vec::new(), paths, seed)
    }
}

/// Union-find of link ends at the same node; each end points towards the representative of its set.
struct Ends(Vec<usize>);

impl Ends {
    fn new(links: usize) -> Ends {
        Ends((0..2 * links + 2).collect())
    }

    fn join_named(&mut self, links: &[LinkConfig]) {
        let mut first_at: HashMap<&str, usize> = HashMap::new();
        for (number, link) in links.iter().enumerate() {
            let Some([from, to]) = &link.ends else {
                continue;
            };
            for (name, end) in [(from, Ends::start(number)), (to, Ends::end(number))] {
                let first = *first_at.entry(name).or_insert(end);
                self.join(first, end);
            }
        }
    }

    fn start(link: usize) -> usize {
        2 * link
    }

    fn end(link: usize) -> usize {
        2 * link + 1
    }

    fn client(&self) -> usize {
        self.0.len() - 2
    }

    fn server(&self) -> usize {
        self.0.len() - 1
    }

    fn find(&self, mut end: usize) -> usize {
        while self.0[end] != end {
            end = self.0[end];
        }
        end
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Capacity, DirectionConfig, Loss, QueueLimit};
    use crate::id::Direction;
    use ropewalk_quantities::Time;

    fn link(name: &str, ends: Option<[&str; 2]>) -> LinkConfig {
        let direction = DirectionConfig {
            capacity: Capacity::Unlimited,
            delay: Time::ZERO,
            jitter: None,
            slot: None,
            loss: Loss::None,
            queue: QueueLimit::Packets(1),
        };
        LinkConfig {
            name: name.to_owned(),
            ends: ends.map(|ends| ends.map(str::to_owned)),
            forward: direction.clone(),
            reverse: direction,
            cost: None,
            down: Vec::new(),
        }
    }

    #[test]
    fn links_meet_at_the_nodes_that_they_name() {
        let links =
            [["a", "b"], ["c", "b"], ["b", "d"]].map(|ends| link(&ends.concat(), Some(ends)));
        let paths: [&[usize]; 2] = [&[0, 2], &[1, 2]];
        let (network, _): (Network<()>, _) = Network::from_paths(&links, paths.into_iter(), 1);
        assert_eq!(network.topology().nodes(), 4);
    }

    #[test]
    fn consecutive_links_meet_at_a_node() {
        let links = ["wifi", "lte", "shared", "unused"].map(|name| link(name, None));
        let paths: [&[usize]; 2] = [&[0, 2], &[1, 2]];
        let (network, routes): (Network<()>, _) = Network::from_paths(&links, paths.into_iter(), 1);
        let topology = network.topology();
        let ends = |link: usize| {
            let hop = topology.hop_of(LinkId::new(link), Direction::Forward);
            let hop = topology.hop(hop);
            [hop.from, hop.to].map(|interface| topology.node(interface))
        };
        assert_eq!(ends(0)[0], ends(1)[0]);
        assert_eq!([ends(0)[1], ends(1)[1]], [ends(2)[0]; 2]);
        // Client, intermediate node, server, and the two ends of the unused link.
        assert_eq!(topology.nodes(), 5);
        for (path, [there, back]) in paths.iter().zip(routes) {
            let hops = network.route(there).hops();
            assert_eq!(hops.len(), path.len());
            let last = topology.hop(network.route(back).hops()[0]);
            assert_eq!(last.link, Some((LinkId::new(2), Direction::Reverse)));
        }
    }
}
