//! Tests of unmodified programs under the library.

mod clients;
mod gateway;
mod real;
mod servers;
mod sockets;
