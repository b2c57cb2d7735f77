//! The wireless part of a scenario.

use ropewalk_network::radio::{ChannelConfig, RadioConfig};

/// Channels with their radios, nodes with their positions, and which links are on a channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wireless {
    /// The nodes of `[[node]]`, names unique.
    pub nodes: Vec<Node>,
    /// Names unique.
    pub channels: Vec<Channel>,
    /// The radio link of each of [`Scenario::links`](super::Scenario::links); `None` for a wired link. Empty
    /// where all links are wired.
    pub links: Vec<Option<RadioLink>>,
}

/// A position with a name.
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
    /// The settings that all its radios share.
    pub config: ChannelConfig,
    /// In the order of the nodes.
    pub radios: Vec<RadioConfig>,
    /// The file that the loss matrix comes from.
    pub matrix_file: Option<String>,
}

/// A link from one radio of a channel to another.
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
    /// The radio link of a link; `None` for a wired one.
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

/// A profile: defaults for radios and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WifiProfile {
    /// IEEE 802.11, and what access points usually do where the standard leaves a choice.
    Standard,
    /// ns-3.44's ad hoc network.
    Ns3,
    /// ns-3.13's.
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

    /// The profile with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<WifiProfile> {
        WifiProfile::ALL.into_iter().find(|one| one.name() == name)
    }
}
