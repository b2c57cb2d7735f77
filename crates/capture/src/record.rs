//! The content of a packet file, whatever its format.

use ropewalk_quantities::{Rate, Time};

/// Where packets are captured: one end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its rate, where it has one.
    pub speed: Option<Rate>,
}

/// Settings of a packet file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How many bytes of each packet are kept; `None` and zero mean all, as for `tcpdump -s`.
    pub snaplen: Option<u32>,
    /// A description of the file: the scenario's title and the seed, say. Classic pcap cannot hold it.
    pub comment: String,
    /// What each packet begins with.
    pub link_type: LinkType,
}

/// What each packet of a file begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkType {
    /// An IP header.
    #[default]
    Ip,
    /// A radiotap header, followed by an 802.11 frame (LINKTYPE 127).
    Radiotap,
}

impl Settings {
    /// The snaplen for the file's header. For "all" it is tcpdump's value, which is larger than any packet,
    /// since some readers do not accept zero.
    pub(crate) fn kept(&self) -> u32 {
        const ALL: u32 = 262_144;
        self.snaplen.filter(|&bytes| bytes != 0).unwrap_or(ALL)
    }
}

/// The direction of a packet, seen from the interface's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It was received.
    Inbound,
    /// It was sent.
    Outbound,
}

/// One packet. Classic pcap keeps its time and its bytes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The time since the start of the run.
    pub time: Time,
    /// The index of its interface in the list that the file was created with.
    pub interface: usize,
    /// The direction.
    pub direction: Direction,
    /// The complete packet, from its IP header (or radiotap header) on; the file cuts it to the snaplen.
    pub bytes: &'a [u8],
    /// A comment, such as its fate.
    pub comment: Option<&'a str>,
}

/// The counts of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounts {
    /// Packets that it was offered.
    pub received: u64,
    /// Those of them that it dropped.
    pub dropped: u64,
}
