//! A packet in the simulated network.

use ropewalk_transport::Segment;

/// A packet in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<T> {
    pub(crate) segment: Segment,
    pub(crate) flow: u32,
    /// Counts the data packets of a flow in the order in which they were sent.
    pub(crate) number: u32,
    /// Number of the connection among those that a path of an association has had.
    pub(crate) dial: u16,
    /// Where its host stores what it carries besides the segment.
    pub(crate) slot: u32,
    pub(crate) subflow: u8,
    pub(crate) to_client: bool,
    pub(crate) tag: T,
}
