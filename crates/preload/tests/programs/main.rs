//! Tests of unmodified programs under the library.

mod clients;
mod datagrams;
mod gateway;
mod real;
mod servers;
mod sockets;
