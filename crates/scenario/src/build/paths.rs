//! `[[path]]`, and the names by which others choose paths.

use std::collections::BTreeMap;

use ropewalk_network::LinkConfig;
use ropewalk_network::routing::{Method, Routing, Wanted};

use super::mesh;
use super::nodes::{self, Nodes};
use crate::error::Problem;
use crate::limits::{MAX_NAME_CHARS, MAX_PATHS};
use crate::model::Path;
use crate::report::Report;
use crate::section::{Section, name_list};
use crate::suggest::nearest;

/// The paths so far; naming a link where a path is wanted adds one over that link alone.
pub(super) struct Paths {
    paths: Vec<Path>,
    links: BTreeMap<String, usize>,
    /// How many the file itself has, or its links make.
    declared: usize,
    nodes: Nodes,
    /// The file has no paths of its own, and its links do not all lead from one node to one other.
    between_nodes: bool,
}

impl Paths {
    /// The paths of the file; without any, one for each link.
    /// `over_nodes` has the links of those that name nodes, `routes` the paths of a mesh.
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
        for (section, over_nodes) in root.tables("path").iter().zip(over_nodes) {
            let name: String = section.get("name").unwrap_or_default();
            if !name.is_empty() && paths.iter().any(|other| other.name == name) {
                section.complain("name", Problem::Duplicate("path"), report);
            }
            if section.has("from") {
                paths.extend(routed(section, &name, &nodes, report));
                continue;
            }
            for key in ["to", "routing", "method", "routes"] {
                if section.has(key) {
                    section.complain(key, Problem::OnlyWith("from"), report);
                }
            }
            let hops = over_nodes.unwrap_or_else(|| hops(section, &by_name, report));
            nodes::check_chain(links, &hops, section, report);
            paths.push(Path { name, hops });
        }
        let between_nodes = paths.is_empty() && links.iter().any(|link| link.ends != links[0].ends);
        if paths.is_empty() {
            let alone = |(index, link): (usize, &LinkConfig)| Path {
                name: link.name.clone(),
                hops: vec![index],
            };
            paths = links.iter().enumerate().map(alone).collect();
        }
        Paths {
            declared: paths.len(),
            paths,
            links: by_name,
            nodes,
            between_nodes,
        }
    }

    /// What a connection uses that does not choose: not what others chose alone.
    pub fn all(&self, section: &Section, report: &mut Report) -> Vec<usize> {
        if self.between_nodes {
            ask_for_node(section, "from", &self.nodes, report);
        }
        (0..self.declared).collect()
    }

    /// Ways between the nodes that `from` and `to` name: over the fewest links, then others that
    /// share none with those before, as long as there are such. Each becomes a path.
    pub fn between(&mut self, section: &Section, report: &mut Report) -> Vec<usize> {
        let given = if section.has("from") { "from" } else { "to" };
        if let Some(path) = ["path", "paths"].into_iter().find(|key| section.has(key)) {
            section.complain(given, Problem::Excluded(path), report);
            return Vec::new();
        }
        let Some([from, to]) = ends(section, &self.nodes, report) else {
            return Vec::new();
        };
        let apart = Wanted {
            routing: Routing::LinkDisjoint,
            method: Method::Greedy,
            most: MAX_PATHS,
        };
        let ways = self.nodes.ways(&from, &to, apart);
        if ways.is_empty() {
            section.complain("to", Problem::NoWay(from.clone()), report);
        }
        let ways = ways.into_iter();
        ways.map(|hops| self.path_over(hops, &from, &to)).collect()
    }

    /// The path over these links, named for its ends if there is none yet.
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
        let taken = |name: &String| {
            self.links.contains_key(name) || self.paths.iter().any(|path| path.name == *name)
        };
        let name = names.chain(numbered).find(|name| !taken(name));
        self.paths.push(Path {
            name: name.expect("numbers do not end"),
            hops,
        });
        self.paths.len() - 1
    }

    /// The links of a path.
    pub fn hops(&self, path: usize) -> &[usize] {
        &self.paths[path].hops
    }

    /// The name of a path.
    pub fn name(&self, path: usize) -> &str {
        &self.paths[path].name
    }

    /// The paths that a key names, one or a list; nothing if one of them is unknown.
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
            match self.index_of(&name) {
                Some(index) => {
                    if let Some(chosen) = &mut chosen {
                        chosen.push(index);
                    }
                }
                None => {
                    self.complain_of_unknown(section, key, &name, report);
                    chosen = None;
                }
            }
        }
        chosen
    }

    /// The model's paths.
    pub fn finish(self) -> Vec<Path> {
        self.paths
    }

    fn index_of(&mut self, name: &str) -> Option<usize> {
        if let Some(index) = self.paths.iter().position(|path| path.name == name) {
            return Some(index);
        }
        let link = *self.links.get(name)?;
        self.paths.push(Path {
            name: name.to_owned(),
            hops: vec![link],
        });
        Some(self.paths.len() - 1)
    }

    fn complain_of_unknown(&self, section: &Section, key: &str, name: &str, report: &mut Report) {
        let paths = self.paths.iter().map(|path| path.name.as_str());
        let links = self.links.keys().map(String::as_str);
        let mut names: Vec<&str> = Vec::new();
        for known in paths.chain(links) {
            if !known.is_empty() && !names.contains(&known) {
                names.push(known);
            }
        }
        unknown_name(section, key, "path or link", name, &names, report);
    }
}

/// The routes that a `[[path]]` with `from` and `to` asks for, each a path.
fn routed(section: &Section, name: &str, nodes: &Nodes, report: &mut Report) -> Vec<Path> {
    let Some([from, to]) = ends(section, nodes, report) else {
        return Vec::new();
    };
    let wanted = mesh::wanted(section);
    let ways = nodes.ways(&from, &to, wanted);
    if ways.is_empty() {
        section.complain("to", Problem::NoWay(from), report);
    }
    let alone = wanted.routing == Routing::Shortest || wanted.most == 1;
    let ways = ways.into_iter().enumerate();
    ways.map(|(number, hops)| Path {
        name: match alone {
            true => name.to_owned(),
            false => format!("{name}-{}", number + 1),
        },
        hops,
    })
    .collect()
}

/// The nodes that `from` and `to` name, if links name them as well.
fn ends(section: &Section, nodes: &Nodes, report: &mut Report) -> Option<[String; 2]> {
    if nodes.names().next().is_none() {
        let given = if section.has("from") { "from" } else { "to" };
        let problem = Problem::OnlyWith("from and to of links, which name the nodes");
        section.complain(given, problem, report);
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
            unknown_name(section, key, "node", &unknown, &names, report);
        }
    }
    let [(_, Some(from)), (_, Some(to))] = ends else {
        return None;
    };
    if from == to {
        section.complain("to", Problem::SameNode, report);
        return None;
    }
    Some([from, to])
}

fn ask_for_node(section: &Section, key: &str, nodes: &Nodes, report: &mut Report) {
    let names = name_list(nodes.names());
    section.complain(key, Problem::Missing, report).allowed = Some(names);
}

fn hops(section: &Section, links: &BTreeMap<String, usize>, report: &mut Report) -> Vec<usize> {
    let names: Vec<String> = section.get("hops").unwrap_or_default();
    let mut hops = Vec::new();
    for name in names {
        match links.get(&name) {
            Some(index) => hops.push(*index),
            None => {
                let known: Vec<&str> = links
                    .keys()
                    .map(String::as_str)
                    .filter(|link| !link.is_empty())
                    .collect();
                unknown_name(section, "hops", "link", &name, &known, report);
            }
        }
    }
    hops
}

fn unknown_name(
    section: &Section,
    key: &str,
    what: &'static str,
    name: &str,
    known: &[&str],
    report: &mut Report,
) {
    let problem = Problem::UnknownName {
        what,
        name: name.chars().take(64).collect(),
    };
    let error = section.complain(key, problem, report);
    error.allowed = Some(name_list(known.iter().copied()));
    error.suggestion = nearest(name, known.iter().copied());
}
