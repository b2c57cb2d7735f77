//! Tests of both ends of a tunnel in virtual time.

mod backup;
mod harness;
mod narrow;
mod passthrough;
mod quiet;
mod redundant;
mod silence;
mod terms;
mod thin;
mod urgent;
