//! Zone-disjoint routes of least total weight, by search.
//!
//! Two zone-disjoint routes form a cycle through both ends without a chord, except for links at the ends.
//! So the lighter one is searched among chordless routes, each with the subgraph it leaves to the others. A
//! route with a chord could be shortened to fewer of its own nodes, and would then exclude no more.

use super::Routing;
use super::graph::{Graph, GraphRoute, Step};
use super::greedy;
use super::greedy::remove;
use super::shortest::{Usable, distances, shortest};

/// Returns at most `most` routes, found by trying at most `steps` nodes, and whether they are proven to be
/// the most and lightest.
pub(super) fn routes(
    graph: &Graph,
    from: usize,
    to: usize,
    most: usize,
    steps: u64,
) -> (Vec<GraphRoute>, bool) {
    let mut search = Search {
        graph,
        from,
        to,
        left: steps,
    };
    let mut best = greedy::routes(graph, from, to, Routing::ZoneDisjoint, most.min(1));
    let all = Usable::all(graph);
    while !best.is_empty() && best.len() < most {
        let count = best.len() + 1;
        let heaviest = graph.steps().map(|(_, step)| step.arc.weight).max();
        // Routes share only their ends, so together they have fewer links than this.
        let bound = heaviest.unwrap_or(0) * (graph.nodes() + count) as u64;
        let Some(mut routes) = search.lightest(count, bound, &all) else {
            break;
        };
        routes.sort();
        best = routes;
    }
    if best.len() < most && search.left == 0 {
        let greedy = greedy::routes(graph, from, to, Routing::ZoneDisjoint, most);
        if greedy.len() > best.len() {
            best = greedy;
        }
    }
    let proven = search.left > 0 && (most < 2 || no_detour_is_lighter(graph));
    (best, proven)
}

struct Search<'a> {
    graph: &'a Graph,
    from: usize,
    to: usize,
    left: u64,
}

/// Chordless route being tried, from its beginning.
struct Tried {
    steps: Vec<Step>,
    weight: u64,
    /// For each node, its links to nodes of the route, except the last node.
    joined: Vec<u32>,
    /// Least remaining weight from each node.
    ahead: Vec<Option<u64>>,
    /// Nodes and links that earlier routes left.
    usable: Usable,
    /// Number of routes to find, this one included, with a total weight below `bound`.
    count: usize,
    bound: u64,
    best: Option<Vec<GraphRoute>>,
}

impl Search<'_> {
    /// Returns usable routes with a total weight below `bound`.
    fn lightest(&mut self, count: usize, bound: u64, usable: &Usable) -> Option<Vec<GraphRoute>> {
        let first = shortest(self.graph, self.from, self.to, usable)?;
        if count == 1 || first.weight * count as u64 >= bound {
            return (count == 1 && first.weight < bound).then(|| vec![first]);
        }
        let mut tried = Tried {
            steps: Vec::new(),
            weight: 0,
            joined: vec![0; self.graph.nodes()],
            ahead: distances(self.graph, self.to, usable),
            usable: usable.clone(),
            count,
            bound,
            best: None,
        };
        // A link between the ends excludes nothing: with it, no set is heavier.
        let direct = self.graph.out_in_order(self.from).into_iter();
        let mut direct = direct.filter(|step| step.to == self.to && usable.links[step.arc.link]);
        match direct.next() {
            Some(step) => {
                tried.steps.push(step);
                self.complete(&mut tried);
            }
            None => self.extend(self.from, &mut tried),
        }
        tried.best
    }

    /// Tries each node by which the route may continue.
    fn extend(&mut self, at: usize, tried: &mut Tried) {
        let out = self.graph.out_in_order(at);
        let start = self.from;
        let usable = |step: &Step, usable: &Usable| {
            usable.nodes[step.to] && usable.links[step.arc.link] && step.to != start
        };
        // A route that passes a neighbour of its end without going there has a chord.
        if let Some(last) = out.iter().find(|step| step.to == self.to)
            && usable(last, &tried.usable)
        {
            tried.steps.push(*last);
            self.complete(tried);
            tried.steps.pop();
            return;
        }
        self.join(at, tried, true);
        for step in &out {
            // A node is linked to `at`, possibly in both directions, but to no earlier node.
            let own = self
                .graph
                .neighbours(at)
                .filter(|one| *one == step.to)
                .count();
            if !usable(step, &tried.usable) || tried.joined[step.to] as usize != own {
                continue;
            }
            let Some(ahead) = tried.ahead[step.to] else {
                continue;
            };
            // This route is the lightest of its set; others are found in another order.
            let weight = tried.weight + step.arc.weight;
            if (weight + ahead) * tried.count as u64 >= tried.bound {
                continue;
            }
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            tried.steps.push(*step);
            tried.weight = weight;
            if self.leaves_others_a_route(tried) {
                self.extend(step.to, tried);
            }
            tried.weight -= step.arc.weight;
            tried.steps.pop();
        }
        self.join(at, tried, false);
    }

    /// Adds or removes the links of a node.
    fn join(&self, node: usize, tried: &mut Tried, joined: bool) {
        for other in self.graph.neighbours(node) {
            match joined {
                true => tried.joined[other] += 1,
                false => tried.joined[other] -= 1,
            }
        }
    }

    /// Returns whether the zone of this route's nodes leaves any route to the others.
    fn leaves_others_a_route(&self, tried: &Tried) -> bool {
        let mut closed: Vec<bool> = tried.usable.nodes.iter().map(|usable| !usable).collect();
        for step in &tried.steps {
            closed[step.to] = true;
            for other in self.graph.neighbours(step.to) {
                closed[other] = true;
            }
        }
        closed[self.from] = true;
        closed[self.to] = false;
        let mut open = vec![self.from];
        while let Some(node) = open.pop() {
            for step in self.graph.out(node) {
                if step.to == self.to && tried.usable.links[step.arc.link] {
                    return true;
                }
                if tried.usable.links[step.arc.link] && !closed[step.to] {
                    closed[step.to] = true;
                    open.push(step.to);
                }
            }
        }
        false
    }

    /// Searches the other routes, since this one has reached the end.
    fn complete(&mut self, tried: &mut Tried) {
        let route = GraphRoute::over(&tried.steps);
        let Some(bound) = tried.bound.checked_sub(route.weight) else {
            return;
        };
        let mut usable = tried.usable.clone();
        remove(&route, self.graph, Routing::ZoneDisjoint, &mut usable);
        if let Some(mut routes) = self.lightest(tried.count - 1, bound, &usable) {
            routes.push(route);
            tried.bound = routes.iter().map(|route| route.weight).sum();
            tried.best = Some(routes);
        }
    }
}

/// Returns whether each link is a shortest route between its ends.
fn no_detour_is_lighter(graph: &Graph) -> bool {
    let weights = || graph.steps().map(|(_, step)| step.arc.weight);
    if weights().max() <= weights().min().map(|least| 2 * least) {
        return true;
    }
    let all = Usable::all(graph);
    (0..graph.nodes()).all(|to| {
        let distance = distances(graph, to, &all);
        let mut into = graph.steps().filter(|(_, step)| step.to == to);
        into.all(|(_, step)| distance[step.from] == Some(step.arc.weight))
    })
}
