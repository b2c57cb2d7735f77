//! Channels compared with formulas, a slot-exact reference, and ns-3.

mod bursts;
mod exact;
mod fading;
mod fixture;
mod metric;
mod ns3;
mod properties;
mod recorded_frames;
mod rules;
mod saturation;

pub(super) use fixture::radio;
