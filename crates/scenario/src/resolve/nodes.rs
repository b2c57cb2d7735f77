//! Nodes named by links, and shortest paths between them.

use std::collections::BTreeMap;

use ropewalk_network::LinkConfig;
use ropewalk_network::routing::{Graph, RouteRequest};

use crate::error::Problem;
use crate::report::Report;
use crate::section::Section;

pub(super) struct Nodes {
    by_name: BTreeMap<String, usize>,
    graph: Graph,
    links: Vec<usize>,
}

impl Nodes {
    pub fn new(links: &[LinkConfig]) -> Nodes {
        let mut by_name = BTreeMap::new();
        let mut joined = Vec::new();
        for (index, link) in links.iter().enumerate() {
            let Some(ends) = &link.ends else {
                continue;
            };
            let [from, to] = [0, 1].map(|end| {
                let next = by_name.len();
                *by_name.entry(ends[end].clone()).or_insert(next)
            });
            // A link from a node to itself has been reported.
            if from != to {
                joined.push((index, [from, to]));
            }
        }
        let mut graph = Graph::new(by_name.len());
        for (_, ends) in &joined {
            graph.add_link_one_way(*ends, 1);
        }
        Nodes {
            by_name,
            graph,
            links: joined.into_iter().map(|(index, _)| index).collect(),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Disjoint paths between two nodes, as links in order. Among equal lengths, links that come
    /// first in the file win.
    ///
    /// # Panics
    /// If no link names one of the nodes.
    pub fn disjoint_paths(&self, from: &str, to: &str, wanted: RouteRequest) -> Vec<Vec<usize>> {
        let [from, to] = [self.by_name[from], self.by_name[to]];
        let found = wanted.routes(&self.graph, from, to);
        let links = |links: &[usize]| links.iter().map(|link| self.links[*link]).collect();
        let routes = found.routes.iter();
        routes.map(|route| links(&route.links)).collect()
    }
}

/// Checks that each link of a path begins at the end of its predecessor.
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
            let problem = Problem::NotConnected(link.name.clone());
            section.add_error("hops", problem, report).allowed = Some(format!(
                "a link from {ends:?}, where {:?} ends",
                before.name
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_network::routing::{Method, Routing};
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

    fn apart(most: usize) -> RouteRequest {
        RouteRequest {
            routing: Routing::LinkDisjoint,
            method: Method::Greedy,
            most,
        }
    }

    #[test]
    fn ways_share_no_link_and_the_shortest_is_first() {
        let diamond = nodes(&[["s", "a"], ["a", "b"], ["b", "d"], ["s", "c"], ["c", "d"]]);
        assert_eq!(
            diamond.disjoint_paths("s", "d", apart(8)),
            [vec![3, 4], vec![0, 1, 2]]
        );
        assert_eq!(diamond.disjoint_paths("s", "d", apart(1)), [vec![3, 4]]);
        assert_eq!(diamond.disjoint_paths("a", "d", apart(8)), [vec![1, 2]]);
    }

    #[test]
    fn links_lead_one_way() {
        let line = nodes(&[["s", "a"], ["a", "d"]]);
        assert_eq!(line.disjoint_paths("s", "d", apart(8)), [vec![0, 1]]);
        assert!(line.disjoint_paths("d", "s", apart(8)).is_empty());
    }
}
