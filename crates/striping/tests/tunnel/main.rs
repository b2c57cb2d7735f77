//! Both ends of a tunnel in virtual time.

mod quiet;
mod redundant;
mod wire;
mod world;
