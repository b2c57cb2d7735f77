//! Format-independent content of a packet file.

use ropewalk_quantities::{Rate, Time};

/// A capture interface: one end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name.
    pub name: String,
    /// Rate, if it has one.
    pub speed: Option<Rate>,
}

/// Settings of a packet file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Number of bytes kept per packet; `None` and zero mean all, as for `tcpdump -s`.
    pub snaplen: Option<u32>,
    /// Description, such as the scenario's title and the seed; pcapng only.
    pub comment: String,
    /// First header of each packet.
    pub link_type: LinkType,
}

/// First header of each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkType {
    /// An IP header.
    #[default]
    Ip,
    /// A radiotap header, followed by an 802.11 frame (LINKTYPE 127).
    Radiotap,
}

impl Settings {
    /// Snaplen of the file's header. For "all" it is tcpdump's value, since some readers reject
    /// zero.
    pub(crate) fn kept(&self) -> u32 {
        const ALL: u32 = 262_144;
        self.snaplen.filter(|&bytes| bytes != 0).unwrap_or(ALL)
    }
}

/// Direction of a packet at the interface's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    Inbound,
    /// Sent.
    Outbound,
}

/// One packet. Classic pcap keeps only its time and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Time since the start of the run.
    pub time: Time,
    /// Index of its interface in the file's list.
    pub interface: usize,
    /// Direction at the interface.
    pub direction: Direction,
    /// Complete packet from its IP or radiotap header; the file cuts it to the snaplen.
    pub bytes: &'a [u8],
    /// Comment, such as the packet's fate.
    pub comment: Option<&'a str>,
}

/// Packet counts of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounts {
    /// Packets offered to it.
    pub received: u64,
    /// Packets dropped by it.
    pub dropped: u64,
}
