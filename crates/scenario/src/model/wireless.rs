//! What of a scenario goes through the air.

use ropewalk_network::radio::{ChannelConfig, RadioConfig};

/// Channels with their radios, nodes with their places, and which links are on a channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wireless {
    /// The nodes of `[[node]]`, names unique.
    pub nodes: Vec<Node>,
    /// Names unique.
    pub channels: Vec<Channel>,
    /// What each of [`Scenario::links`](super::Scenario::links) is in the air; `None` for a wire.
    /// Empty where all links are wires.
    pub links: Vec<Option<RadioLink>>,
}

/// A place with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name that links and results use.
    pub name: String,
    /// x, y and z, m.
    pub at: [f64; 3],
}

/// A channel and the radios on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// What is alike for all radios on it.
    pub config: ChannelConfig,
    /// In the order of the nodes.
    pub radios: Vec<RadioConfig>,
    /// The file that the propagation's matrix comes from.
    pub matrix_file: Option<String>,
}

/// A link from one radio of a channel to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioLink {
    /// Index into [`Wireless::channels`].
    pub channel: usize,
    /// Index into [`Channel::radios`].
    pub from: usize,
    /// The same.
    pub to: usize,
}

impl Wireless {
    /// What a link is in the air; `None` for a wire.
    #[must_use]
    pub fn link(&self, link: usize) -> Option<RadioLink> {
        self.links.get(link).copied().flatten()
    }

    /// Whether any link is in the air.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.links.iter().any(Option::is_some)
    }
}

/// A family of defaults of radios and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WifiProfile {
    /// What IEEE 802.11 says, and what access points do where it leaves a choice.
    Standard,
    /// What ns-3.44 does with an ad hoc network.
    Ns3,
    /// What ns-3.13 did.
    Ns313,
}

impl WifiProfile {
    /// All of them.
    pub const ALL: [WifiProfile; 3] = [WifiProfile::Standard, WifiProfile::Ns3, WifiProfile::Ns313];

    /// Its name in a scenario file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WifiProfile::Standard => "standard",
            WifiProfile::Ns3 => "ns-3",
            WifiProfile::Ns313 => "ns-3.13",
        }
    }

    /// The profile of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<WifiProfile> {
        WifiProfile::ALL.into_iter().find(|one| one.name() == name)
    }
}
