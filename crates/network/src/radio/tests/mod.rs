//! Channels compared with formulas, a slot-exact reference, and ns-3.

mod exact;
mod fading;
mod heard;
mod metric;
mod ns3;
mod properties;
mod rules;
mod saturation;
mod world;

pub(super) use world::radio;
