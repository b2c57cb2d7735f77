//! Frames of IEEE 802.11 as a capture shows them: the MAC's, and the radiotap header before them.

mod frame;
mod radiotap;

pub use frame::{MacAddress, MacFrame, fcs, fcs_is_right};
pub use radiotap::Radiotap;
