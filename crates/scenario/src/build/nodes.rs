//! The nodes that links name, and ways between them.

use std::collections::BTreeMap;

use ropewalk_network::{Direction, LinkConfig, LinkId, NodeId, Topology};

use crate::error::Problem;
use crate::report::Report;
use crate::section::Section;

/// The links that join nodes with names.
pub(super) struct Nodes {
    by_name: BTreeMap<String, NodeId>,
    topology: Topology,
    /// The scenario's link of each of the topology's.
    links: Vec<usize>,
}

impl Nodes {
    pub fn new(links: &[LinkConfig]) -> Nodes {
        let mut nodes = Nodes {
            by_name: BTreeMap::new(),
            topology: Topology::default(),
            links: Vec::new(),
        };
        for (index, link) in links.iter().enumerate() {
            let Some(ends) = &link.ends else {
                continue;
            };
            let ends = [0, 1].map(|end| nodes.named(&ends[end]));
            nodes.topology.add_link(ends);
            nodes.links.push(index);
        }
        nodes
    }

    fn named(&mut self, name: &str) -> NodeId {
        let topology = &mut self.topology;
        let id = self.by_name.entry(name.to_owned());
        *id.or_insert_with(|| topology.add_node())
    }

    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Ways from one node to another, each over the fewest links that those before it have left;
    /// links are passed from their first node to their second. At most so many.
    ///
    /// # Panics
    /// If no link names one of the nodes.
    pub fn ways(&self, from: &str, to: &str, most: usize) -> Vec<Vec<usize>> {
        let [from, to] = [self.by_name[from], self.by_name[to]];
        let mut left = vec![true; self.links.len()];
        let mut ways = Vec::new();
        while ways.len() < most {
            let usable = |hop| match self.topology.hop(hop).link {
                Some((link, Direction::Forward)) => left[link.index()],
                _ => false,
            };
            let Some(hops) = self.topology.shortest_over(from, to, usable) else {
                break;
            };
            let passed = hops.iter().filter_map(|hop| self.topology.hop(*hop).link);
            let passed: Vec<LinkId> = passed.map(|(link, _)| link).collect();
            for link in &passed {
                left[link.index()] = false;
            }
            ways.push(passed.iter().map(|link| self.links[link.index()]).collect());
        }
        ways
    }
}

/// That each link of a path begins at the node at which the one before it ends.
pub(super) fn check_chain(
    links: &[LinkConfig],
    hops: &[usize],
    section: &Section,
    report: &mut Report,
) {
    for pair in hops.windows(2) {
        let [before, link] = [&links[pair[0]], &links[pair[1]]];
        if let (Some([_, ends]), Some([begins, _])) = (&before.ends, &link.ends)
            && ends != begins
        {
            let problem = Problem::Apart(link.name.clone());
            section.complain("hops", problem, report).allowed = Some(format!(
                "a link from {ends:?}, where {:?} ends",
                before.name
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_network::{Capacity, DirectionConfig, Loss, QueueLimit};
    use ropewalk_quantities::Time;

    fn nodes(ends: &[[&str; 2]]) -> Nodes {
        let direction = DirectionConfig {
            capacity: Capacity::Unlimited,
            delay: Time::ZERO,
            jitter: None,
            slot: None,
            loss: Loss::None,
            queue: QueueLimit::Packets(1),
        };
        let links = ends.iter().map(|ends| LinkConfig {
            name: ends.join("-"),
            ends: Some(ends.map(str::to_owned)),
            forward: direction.clone(),
            reverse: direction.clone(),
            cost: None,
            down: Vec::new(),
        });
        Nodes::new(&links.collect::<Vec<_>>())
    }

    #[test]
    fn ways_share_no_link_and_the_shortest_is_first() {
        let diamond = nodes(&[["s", "a"], ["a", "b"], ["b", "d"], ["s", "c"], ["c", "d"]]);
        assert_eq!(diamond.ways("s", "d", 8), [vec![3, 4], vec![0, 1, 2]]);
        assert_eq!(diamond.ways("s", "d", 1), [vec![3, 4]]);
        assert_eq!(diamond.ways("a", "d", 8), [vec![1, 2]]);
    }

    #[test]
    fn links_lead_one_way() {
        let line = nodes(&[["s", "a"], ["a", "d"]]);
        assert_eq!(line.ways("s", "d", 8), [vec![0, 1]]);
        assert!(line.ways("d", "s", 8).is_empty());
    }
}
