//! Both ends of a tunnel in virtual time.

mod quiet;
mod redundant;
mod terms;
mod thin;
mod wire;
mod world;
