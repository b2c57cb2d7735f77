//! Place of a packet capture: an observation point of RFC 5470.

use ropewalk_network::Capacity;
use ropewalk_network::radio::CapturePoint;
use ropewalk_scenario::Scenario;

use crate::record::Interface;

/// Place of a packet capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationPoint {
    /// The measured connection's sender: all packets that it sends, lost or not, and receives.
    Sender,
    /// The measured connection's receiver.
    Receiver,
    /// The sender's end of the link with this number: packets of all flows.
    Link(usize),
    /// The 802.11 channel with this number: all frames.
    Channel(usize),
    /// The radios of the node with this number: frames that they send or receive.
    Node(usize),
}

/// Error of an unknown observation point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?}: unknown observation point; allowed: {allowed}")]
pub struct UnknownObservationPoint {
    /// Given name.
    pub name: String,
    /// Known names.
    pub allowed: String,
}

impl ObservationPoint {
    /// Parses `sender`, `receiver`, a link's name, and `channel/NAME` or `node/NAME` for 802.11
    /// frames. Fails if the scenario has no such link, channel or node.
    pub fn parse(
        name: &str,
        scenario: &Scenario,
    ) -> Result<ObservationPoint, UnknownObservationPoint> {
        let wireless = &scenario.wireless;
        let links = scenario.links.iter().map(|link| link.name.clone());
        let channels = wireless.channels.iter();
        let channels = channels.map(|channel| format!("channel/{}", channel.config.name));
        let nodes = wireless
            .nodes
            .iter()
            .map(|node| format!("node/{}", node.name));
        let ends = ["sender", "receiver"].map(str::to_owned);
        let places = [ObservationPoint::Sender, ObservationPoint::Receiver].into_iter();
        let places = places.chain((0..scenario.links.len()).map(ObservationPoint::Link));
        let places = places.chain((0..wireless.channels.len()).map(ObservationPoint::Channel));
        let places = places.chain((0..wireless.nodes.len()).map(ObservationPoint::Node));
        let names = ends.into_iter().chain(links).chain(channels).chain(nodes);
        let all: Vec<(String, ObservationPoint)> = names.zip(places).collect();
        let found = all.iter().find(|(known, _)| known == name);
        found.map(|(_, place)| *place).ok_or_else(|| {
            let allowed: Vec<&str> = all.iter().map(|(known, _)| known.as_str()).collect();
            UnknownObservationPoint {
                name: name.to_owned(),
                allowed: allowed.join(", "),
            }
        })
    }

    /// Captured channels by number, with the listening radios.
    pub fn capture_points(self, scenario: &Scenario) -> Vec<(usize, CapturePoint)> {
        let wireless = &scenario.wireless;
        match self {
            ObservationPoint::Sender | ObservationPoint::Receiver | ObservationPoint::Link(_) => {
                Vec::new()
            }
            ObservationPoint::Channel(channel) => vec![(channel, CapturePoint::Monitor)],
            ObservationPoint::Node(node) => {
                let name = &wireless.nodes[node].name;
                let channels = wireless.channels.iter().enumerate();
                let heard = channels.filter_map(|(number, channel)| {
                    let mut radios = channel.radios.iter();
                    let radio = radios.position(|radio| radio.node == *name)?;
                    Some((number, CapturePoint::Radio(radio)))
                });
                heard.collect()
            }
        }
    }

    /// Captured links by number.
    pub fn links(self, scenario: &Scenario) -> Vec<usize> {
        let paths = scenario
            .measured_flow()
            .paths
            .iter()
            .map(|&path| &scenario.paths[path].hops);
        let mut links: Vec<usize> = match self {
            ObservationPoint::Sender => paths.filter_map(|hops| hops.first().copied()).collect(),
            ObservationPoint::Receiver => paths.filter_map(|hops| hops.last().copied()).collect(),
            ObservationPoint::Link(link) => vec![link],
            ObservationPoint::Channel(_) | ObservationPoint::Node(_) => Vec::new(),
        };
        links.sort_unstable();
        links.dedup();
        links
    }

    /// Interfaces of a packet file: the captured links with their rates.
    pub fn interfaces(self, scenario: &Scenario) -> Vec<Interface> {
        let links = self.links(scenario).into_iter();
        let interface = |link: usize| Interface {
            name: scenario.links[link].name.clone(),
            speed: match scenario.links[link].forward.capacity {
                Capacity::Rate(rate) => Some(rate),
                Capacity::Unlimited | Capacity::Trace(_) => None,
            },
        };
        links.map(interface).collect()
    }

    /// Description for the file's comment.
    pub fn describe(self, scenario: &Scenario) -> String {
        match self {
            ObservationPoint::Sender => "at the sender".to_owned(),
            ObservationPoint::Receiver => "at the receiver".to_owned(),
            ObservationPoint::Link(link) => {
                format!("at the sender's end of {}", scenario.links[link].name)
            }
            ObservationPoint::Channel(channel) => {
                format!(
                    "on channel {}",
                    scenario.wireless.channels[channel].config.name
                )
            }
            ObservationPoint::Node(node) => {
                format!("at node {}", scenario.wireless.nodes[node].name)
            }
        }
    }
}
