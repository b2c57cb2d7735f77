//! Wireless part of a scenario.

use ropewalk_network::radio::{ChannelConfig, RadioConfig};
use ropewalk_quantities::named;

/// Channels with radios, nodes with positions, and links on channels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wireless {
    /// Nodes of `[[node]]`, with unique names.
    pub nodes: Vec<Node>,
    /// Channels with unique names.
    pub channels: Vec<Channel>,
    /// Radio link of each of [`Scenario::links`](super::Scenario::links); `None`: wired. Empty if
    /// all links are wired.
    pub links: Vec<Option<RadioLink>>,
}

/// A named position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name in links and results.
    pub name: String,
    /// x, y and z in metres.
    pub at: [f64; 3],
}

/// A channel with its radios.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// Settings shared by its radios.
    pub config: ChannelConfig,
    /// Radios in node order.
    pub radios: Vec<RadioConfig>,
    /// File of the loss matrix.
    pub matrix_file: Option<String>,
}

/// A link between two radios of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioLink {
    /// Index into [`Wireless::channels`].
    pub channel: usize,
    /// Index into [`Channel::radios`].
    pub from: usize,
    /// Index into [`Channel::radios`].
    pub to: usize,
}

impl Wireless {
    /// Radio link of a link; `None`: wired.
    #[must_use]
    pub fn link(&self, link: usize) -> Option<RadioLink> {
        self.links.get(link).copied().flatten()
    }

    /// Whether any link is wireless.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.links.iter().any(Option::is_some)
    }
}

named! {
    /// A profile: defaults of radios and channels.
    pub enum WifiProfile {
        /// IEEE 802.11, with common choices of access points.
        Standard = "standard",
        /// Ad hoc network of ns-3.44.
        Ns3 = "ns-3",
        /// Ad hoc network of ns-3.13.
        Ns313 = "ns-3.13",
    }
}
