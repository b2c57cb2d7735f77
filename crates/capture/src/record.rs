//! What is written to a file of packets, whatever its format.

use ropewalk_quantities::{Rate, Time};

/// What packets pass on their way into the file: one end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its rate, where it has one.
    pub speed: Option<Rate>,
}

/// What else is said when a file is begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How many bytes of each packet are kept; all of them for none and for
    /// zero, as `tcpdump -s` has it.
    pub snaplen: Option<u32>,
    /// What the whole file is: the scenario's title and the seed, say. Classic
    /// pcap has no place for it.
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
    /// A radiotap header, and a frame of 802.11 after it (LINKTYPE 127).
    Radiotap,
}

impl Settings {
    /// How many bytes of each packet are kept. "All" is what tcpdump says for it,
    /// more than a packet has: not every reader takes zero for it.
    pub(crate) fn kept(&self) -> u32 {
        const ALL: u32 = 262_144;
        self.snaplen.filter(|&bytes| bytes != 0).unwrap_or(ALL)
    }
}

/// Which way a packet went, seen from the interface's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It came in.
    Inbound,
    /// It went out.
    Outbound,
}

/// One packet. Classic pcap keeps its time and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// When, since the start of the run.
    pub time: Time,
    /// Where: the place in the list of interfaces that the file was created with.
    pub interface: usize,
    /// Which way.
    pub direction: Direction,
    /// The complete packet, from its IP header (or radiotap header) on; the file cuts it.
    pub bytes: &'a [u8],
    /// What became of it, say.
    pub comment: Option<&'a str>,
}

/// What an interface did altogether.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounts {
    /// Packets that it was given.
    pub received: u64,
    /// Packets of those that it dropped.
    pub dropped: u64,
}
