//! Tests of both ends of a tunnel in virtual time.

mod backup;
mod narrow;
mod quiet;
mod redundant;
mod silence;
mod terms;
mod thin;
mod urgent;
mod wire;
mod world;
