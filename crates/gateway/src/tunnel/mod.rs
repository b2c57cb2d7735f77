//! `tunnel`: a network device whose packets are striped over links (song-2018).
//!
//! What is decided without a socket is in [`ropewalk_striping::tunnel`]; here are the device with
//! its offloads, sockets with theirs, and a [handshake](crate::noise) in between. One thread does
//! it all: it reads super-packets of the device, seals each segment for a link, and hands rows of
//! datagrams to the kernel in one call; what comes back is put together again. The kernel does not
//! compute a checksum of what is inside, since each datagram is authenticated.
//!
//! A relay knows its clients by their keys, and each by one address within the tunnel.

mod batch;
mod coalescer;
mod device;
mod dialer;
mod door;
mod engine;
mod handshake;
mod options;
mod peer;
mod socket;
mod super_packet;

pub(crate) use options::{Arguments, run};
