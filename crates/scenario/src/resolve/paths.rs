//! Resolution of `[[path]]`, and of references to paths.

use std::collections::{BTreeMap, HashMap, HashSet};

use ropewalk_network::LinkConfig;
use ropewalk_network::routing::{Method, RouteRequest, Routing};

use super::links::count;
use super::mesh;
use super::nodes::{self, Nodes};
use crate::error::Problem;
use crate::limits::{MAX_NAME_CHARS, MAX_PATHS};
use crate::model::Path;
use crate::numbered::{STAR, fill, matches_pattern, numbered};
use crate::report::Report;
use crate::section::{Section, name_list};

/// Paths so far. A link named in place of a path adds a path over that link.
pub(super) struct Paths {
    paths: Vec<Path>,
    by_name: HashMap<String, usize>,
    links: BTreeMap<String, usize>,
    /// Number of paths declared by the file, or of its links by default.
    declared: usize,
    nodes: Nodes,
    /// The file has no paths, and its links do not all join the same two nodes.
    between_nodes: bool,
}

impl Paths {
    /// Paths of the file; by default, one per link. `over_nodes` has the links of paths that name
    /// nodes, `routes` the paths of a mesh.
    pub fn read(
        root: &Section,
        links: &[LinkConfig],
        over_nodes: Vec<Option<Vec<usize>>>,
        routes: Vec<Path>,
        report: &mut Report,
    ) -> Paths {
        let by_name = links.iter().enumerate();
        let by_name: BTreeMap<String, usize> = by_name
            .map(|(index, link)| (link.name.clone(), index))
            .collect();
        let nodes = Nodes::new(links);
        let mut paths = routes;
        let mut names: HashSet<String> = paths.iter().map(|path| path.name.clone()).collect();
        for (section, over_nodes) in root.tables("path").iter().zip(over_nodes) {
            let made = described(section, over_nodes, links, &by_name, &nodes, report);
            let twice = made
                .iter()
                .any(|path| !path.name.is_empty() && !names.insert(path.name.clone()));
            if twice {
                section.add_error("name", Problem::Duplicate("path"), report);
            }
            paths.extend(made);
            if paths.len() > MAX_PATHS {
                let key = if section.has("count") {
                    "count"
                } else {
                    "name"
                };
                let limit = format!("{MAX_PATHS} paths with all others");
                section.add_error(key, Problem::AboveMost(limit), report);
                break;
            }
        }
        let between_nodes = paths.is_empty() && links.iter().any(|link| link.ends != links[0].ends);
        if paths.is_empty() {
            let alone = |(index, link): (usize, &LinkConfig)| Path {
                name: link.name.clone(),
                hops: vec![index],
            };
            paths = links.iter().enumerate().map(alone).collect();
        }
        let numbered = paths.iter().enumerate();
        let indices = numbered.map(|(index, path)| (path.name.clone(), index));
        // Dimension several paths with the same name, an error already, the first is used.
        let mut of_paths = HashMap::new();
        for (name, index) in indices {
            of_paths.entry(name).or_insert(index);
        }
        Paths {
            declared: paths.len(),
            paths,
            by_name: of_paths,
            links: by_name,
            nodes,
            between_nodes,
        }
    }

    /// Default paths of a connection: all except those added by references.
    pub fn all(&self, section: &Section, report: &mut Report) -> Vec<usize> {
        if self.between_nodes {
            ask_for_node(section, "from", &self.nodes, report);
        }
        (0..self.declared).collect()
    }

    /// Adds paths between the nodes `from` and `to`: one with the fewest links, then link-disjoint
    /// ones as long as there are any.
    pub fn between(&mut self, section: &Section, report: &mut Report) -> Vec<usize> {
        let given = if section.has("from") { "from" } else { "to" };
        if let Some(path) = ["path", "paths"].into_iter().find(|key| section.has(key)) {
            section.add_error(given, Problem::Excluded(path), report);
            return Vec::new();
        }
        let Some([from, to]) = ends(section, &self.nodes, report) else {
            return Vec::new();
        };
        let apart = RouteRequest {
            routing: Routing::LinkDisjoint,
            method: Method::Greedy,
            most: MAX_PATHS,
        };
        let disjoint_paths = self.nodes.disjoint_paths(&from, &to, apart);
        if disjoint_paths.is_empty() {
            section.add_error("to", Problem::Unreachable(from.clone()), report);
        }
        let disjoint_paths = disjoint_paths.into_iter();
        disjoint_paths
            .map(|hops| self.path_over(hops, &from, &to))
            .collect()
    }

    /// The path over these links, added if missing, with a name from its ends.
    fn path_over(&mut self, hops: Vec<usize>, from: &str, to: &str) -> usize {
        if let Some(index) = self.paths.iter().position(|path| path.hops == hops) {
            return index;
        }
        let base: String = format!("{from}-{to}")
            .chars()
            .take(MAX_NAME_CHARS - 4)
            .collect();
        let names = std::iter::once(base.clone());
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        let taken =
            |name: &String| self.links.contains_key(name) || self.by_name.contains_key(name);
        let name = names.chain(numbered).find(|name| !taken(name));
        self.add(name.expect("numbers do not end"), hops)
    }

    fn add(&mut self, name: String, hops: Vec<usize>) -> usize {
        self.by_name.insert(name.clone(), self.paths.len());
        self.paths.push(Path { name, hops });
        self.paths.len() - 1
    }

    pub fn hops(&self, path: usize) -> &[usize] {
        &self.paths[path].hops
    }

    pub fn name(&self, path: usize) -> &str {
        &self.paths[path].name
    }

    /// Paths that a key names, as one name, a list or a pattern; `None` if one is unknown.
    pub fn chosen(
        &mut self,
        section: &Section,
        key: &str,
        report: &mut Report,
    ) -> Option<Vec<usize>> {
        let names = match section.get::<String>(key) {
            Some(name) => vec![name],
            None => section.get::<Vec<String>>(key)?,
        };
        let mut chosen = Some(Vec::new());
        for name in names {
            let matching = self.matching(&name);
            if matching.is_empty() {
                self.add_unknown_key_error(section, key, &name, report);
                chosen = None;
            }
            if let Some(chosen) = &mut chosen {
                chosen.extend(matching);
            }
        }
        let mut taken = HashSet::new();
        let twice = chosen.iter().flatten().find(|path| !taken.insert(**path));
        if let Some(path) = twice {
            let problem = Problem::Repeated(self.paths[*path].name.clone());
            section.add_error(key, problem, report);
            return None;
        }
        chosen
    }

    fn matching(&mut self, name: &str) -> Vec<usize> {
        if !name.contains(STAR) {
            return self.index_of(name).into_iter().collect();
        }
        let all = self.paths.iter().enumerate();
        let of_paths = all.filter(|(_, path)| matches_pattern(name, &path.name));
        let of_paths: Vec<usize> = of_paths.map(|(index, _)| index).collect();
        if !of_paths.is_empty() {
            return of_paths;
        }
        let links = self
            .links
            .iter()
            .filter(|(link, _)| matches_pattern(name, link));
        let mut links: Vec<(usize, String)> =
            links.map(|(link, index)| (*index, link.clone())).collect();
        links.sort_unstable();
        links
            .into_iter()
            .map(|(index, link)| self.add(link, vec![index]))
            .collect()
    }

    pub fn finish(self) -> Vec<Path> {
        self.paths
    }

    fn index_of(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.by_name.get(name) {
            return Some(*index);
        }
        let link = *self.links.get(name)?;
        Some(self.add(name.to_owned(), vec![link]))
    }

    fn add_unknown_key_error(&self, section: &Section, key: &str, name: &str, report: &mut Report) {
        let paths = self.paths.iter().map(|path| path.name.as_str());
        let links = self.links.keys().map(String::as_str);
        let mut taken = HashSet::new();
        let names = paths.chain(links);
        let names: Vec<&str> = names
            .filter(|known| !known.is_empty() && taken.insert(*known))
            .collect();
        section.add_unknown_name(key, "path or link", name, &names, report);
    }
}

/// Paths of a `[[path]]`: one over its links or nodes, numbered copies, or the requested routes.
fn described(
    section: &Section,
    over_nodes: Option<Vec<usize>>,
    links: &[LinkConfig],
    by_name: &BTreeMap<String, usize>,
    nodes: &Nodes,
    report: &mut Report,
) -> Vec<Path> {
    let name: String = section.get("name").unwrap_or_default();
    if section.has("count") && !section.has("hops") {
        section.add_error("count", Problem::OnlyWith("hops"), report);
    }
    if section.has("from") {
        return routed(section, &name, nodes, report);
    }
    for key in ["to", "routing", "method", "routes"] {
        if section.has(key) {
            section.add_error(key, Problem::OnlyWith("from"), report);
        }
    }
    if let Some(hops) = over_nodes {
        nodes::check_chain(links, &hops, section, report);
        return vec![Path { name, hops }];
    }
    let patterns: Vec<String> = section.get("hops").unwrap_or_default();
    let count = count(section, 0, MAX_PATHS, report);
    let mut paths = Vec::new();
    for number in 1..=count {
        let (name, names) = match count {
            1 => (name.clone(), patterns.clone()),
            _ => (
                numbered(&name, number),
                patterns.iter().map(|hop| fill(hop, number)).collect(),
            ),
        };
        if count == 1 && patterns.iter().any(|hop| hop.contains(STAR)) {
            section.add_error("hops", Problem::OnlyWith("count"), report);
            break;
        }
        let hops = hops(&names, section, by_name, report);
        nodes::check_chain(links, &hops, section, report);
        let is_whole = hops.len() == names.len();
        paths.push(Path { name, hops });
        if !is_whole {
            break;
        }
    }
    paths
}

/// Routes that a `[[path]]` with `from` and `to` requests, as paths.
fn routed(section: &Section, name: &str, nodes: &Nodes, report: &mut Report) -> Vec<Path> {
    let Some([from, to]) = ends(section, nodes, report) else {
        return Vec::new();
    };
    let wanted = mesh::wanted(section);
    let disjoint_paths = nodes.disjoint_paths(&from, &to, wanted);
    if disjoint_paths.is_empty() {
        section.add_error("to", Problem::Unreachable(from), report);
    }
    let alone = wanted.routing == Routing::Shortest || wanted.most == 1;
    let disjoint_paths = disjoint_paths.into_iter().enumerate();
    disjoint_paths
        .map(|(number, hops)| Path {
            name: match alone {
                true => name.to_owned(),
                false => format!("{name}-{}", number + 1),
            },
            hops,
        })
        .collect()
}

fn ends(section: &Section, nodes: &Nodes, report: &mut Report) -> Option<[String; 2]> {
    if nodes.names().next().is_none() {
        let given = if section.has("from") { "from" } else { "to" };
        let problem = Problem::OnlyWith("from and to of links, which name the nodes");
        section.add_error(given, problem, report);
        return None;
    }
    for key in ["from", "to"] {
        if !section.has(key) {
            ask_for_node(section, key, nodes, report);
        }
    }
    let mut ends = ["from", "to"].map(|key| (key, section.get::<String>(key)));
    for (key, name) in &mut ends {
        if let Some(unknown) = name.take_if(|name| !nodes.has(name)) {
            let names: Vec<&str> = nodes.names().collect();
            section.add_unknown_name(key, "node", &unknown, &names, report);
        }
    }
    let [(_, Some(from)), (_, Some(to))] = ends else {
        return None;
    };
    if from == to {
        section.add_error("to", Problem::SameNode, report);
        return None;
    }
    Some([from, to])
}

fn ask_for_node(section: &Section, key: &str, nodes: &Nodes, report: &mut Report) {
    let names = name_list(nodes.names());
    section.add_error(key, Problem::Missing, report).allowed = Some(names);
}

fn hops(
    names: &[String],
    section: &Section,
    links: &BTreeMap<String, usize>,
    report: &mut Report,
) -> Vec<usize> {
    let mut hops = Vec::new();
    for name in names {
        match links.get(name) {
            Some(index) => hops.push(*index),
            None => {
                let known = links.keys().map(String::as_str);
                let known: Vec<&str> = known.filter(|link| !link.is_empty()).collect();
                section.add_unknown_name("hops", "link", name, &known, report);
            }
        }
    }
    hops
}
