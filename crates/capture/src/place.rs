//! Where packets are captured.

use ropewalk_scenario::Scenario;

/// Where packets are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the measured connection's sender: what it sends, whatever becomes of it, and what
    /// reaches it.
    Sender,
    /// At its receiver.
    Receiver,
    /// At the sender's end of the link of this number: what enters the link there and what comes
    /// out of it, of all flows.
    Link(usize),
}

/// No such place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no place to capture at; allowed: {allowed}")]
pub struct UnknownPlace {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub allowed: String,
}

impl Place {
    /// `sender`, `receiver`, or a link's name.
    ///
    /// # Errors
    /// The scenario has no such link.
    pub fn parse(name: &str, scenario: &Scenario) -> Result<Place, UnknownPlace> {
        match name {
            "sender" => Ok(Place::Sender),
            "receiver" => Ok(Place::Receiver),
            _ => {
                let link = scenario.links.iter().position(|link| link.name == name);
                link.map(Place::Link).ok_or_else(|| {
                    let links = scenario.links.iter().map(|link| link.name.as_str());
                    let places: Vec<&str> =
                        ["sender", "receiver"].into_iter().chain(links).collect();
                    UnknownPlace {
                        name: name.to_owned(),
                        allowed: places.join(", "),
                    }
                })
            }
        }
    }

    /// The links whose packets pass there, by number.
    pub fn links(self, scenario: &Scenario) -> Vec<usize> {
        let paths = scenario
            .first()
            .paths
            .iter()
            .map(|&path| &scenario.paths[path].hops);
        let mut links: Vec<usize> = match self {
            Place::Sender => paths.filter_map(|hops| hops.first().copied()).collect(),
            Place::Receiver => paths.filter_map(|hops| hops.last().copied()).collect(),
            Place::Link(link) => vec![link],
        };
        links.sort_unstable();
        links.dedup();
        links
    }

    /// In words, for the file's comment.
    pub fn describe(self, scenario: &Scenario) -> String {
        match self {
            Place::Sender => "at the sender".to_owned(),
            Place::Receiver => "at the receiver".to_owned(),
            Place::Link(link) => format!("at the sender's end of {}", scenario.links[link].name),
        }
    }
}
