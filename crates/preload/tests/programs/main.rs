//! Unmodified programs under the library: what they see of their connections.

mod clients;
mod gateway;
mod real;
mod servers;
mod sockets;
