//! Tests of two associations without sockets.

mod any_order;
mod bulk;
mod exchange;
mod fault_plans;
mod faults;
mod goodput;
mod hostile;
mod messages;
mod outage;
mod redundant;
mod simulation;
mod thin;
