//! IEEE 802.11 frames of a capture: MAC frames and the radiotap header.

mod frame;
mod radiotap;

pub use frame::{MacAddress, MacFrame, fcs, fcs_is_right};
pub use radiotap::Radiotap;
