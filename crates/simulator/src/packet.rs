//! A packet in the simulated network.

use ropewalk_transport::Segment;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<T> {
    pub(crate) segment: Segment,
    pub(crate) flow: u32,
    /// Number of the data packet in its flow, in the order of transmission.
    pub(crate) number: u32,
    /// Generation: number of earlier connections on its path.
    pub(crate) generation: u16,
    /// Key under which its host stores its content besides the segment.
    pub(crate) slot: u32,
    pub(crate) subflow: u8,
    pub(crate) to_client: bool,
    pub(crate) tag: T,
}
