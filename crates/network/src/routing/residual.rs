//! Flow of unit-capacity arcs, and its residual graph.

use std::collections::VecDeque;

/// Unit-capacity arcs in pairs: each arc, and its reverse in the residual graph.
#[derive(Debug, Default)]
pub(super) struct Residual {
    arcs: Vec<ResidualArc>,
    /// Indices of the arcs out of each node.
    out: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct ResidualArc {
    to: usize,
    cost: i64,
    open: bool,
}

impl Residual {
    pub fn new(nodes: usize) -> Residual {
        Residual {
            arcs: Vec::new(),
            out: vec![Vec::new(); nodes],
        }
    }

    /// Adds an arc that one route may use.
    pub fn add(&mut self, from: usize, to: usize, cost: i64) {
        for (from, to, cost, open) in [(from, to, cost, true), (to, from, -cost, false)] {
            self.out[from].push(self.arcs.len());
            self.arcs.push(ResidualArc { to, cost, open });
        }
    }

    /// Augments the flow by a route such that the total cost is least; returns `false` if none exists.
    /// Reverse arcs have negative costs, so distances are computed by Bellman-Ford.
    pub fn augment(&mut self, from: usize, to: usize) -> bool {
        let mut cost = vec![i64::MAX; self.out.len()];
        let mut into: Vec<Option<usize>> = vec![None; self.out.len()];
        let mut waits = vec![false; self.out.len()];
        let mut queue = VecDeque::from([from]);
        cost[from] = 0;
        while let Some(node) = queue.pop_front() {
            waits[node] = false;
            for &number in &self.out[node] {
                let arc = self.arcs[number];
                let reached = cost[node] + arc.cost;
                if arc.open && reached < cost[arc.to] {
                    cost[arc.to] = reached;
                    into[arc.to] = Some(number);
                    if !std::mem::replace(&mut waits[arc.to], true) {
                        queue.push_back(arc.to);
                    }
                }
            }
        }
        let mut at = to;
        if into[at].is_none() {
            return false;
        }
        while at != from {
            let number = into[at].expect("the way here");
            self.arcs[number].open = false;
            self.arcs[number ^ 1].open = true;
            at = self.arcs[number ^ 1].to;
        }
        true
    }

    /// Returns whether a route uses the arc with this index.
    pub fn is_used(&self, added: usize) -> bool {
        !self.arcs[2 * added].open
    }
}
