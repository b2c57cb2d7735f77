//! A library for LD_PRELOAD that sends the TCP connections of an unmodified program through
//! the gateway, as elahi-2011 has it: socket, connect, listen, accept and their kin are taken
//! over, and everything else stays the kernel's.
//!
//! `ropewalk exec -- PROGRAM` sets it up. The program keeps its own sockets: a descriptor is
//! connected over loopback to the gateway, which carries the stream on. So send, recv, read,
//! write, poll, epoll, sendfile, splice, shutdown, dup, fork and close are not touched and cost
//! nothing more.
//!
//! The library keeps no state of its own. What a socket is to the gateway is read from the
//! kernel's addresses (see [`ropewalk_preload_protocol`]) and asked for at the gateway's control socket by the
//! socket's cookie. So there is nothing to lock, nothing to inherit and nothing to clean up:
//! threads, fork, vfork, exec and descriptors passed over a Unix socket come out right by
//! themselves.
//!
//! - [`calls`]: the functions that stand in for the C library's; [`next`]: the C library's own.
//! - [`outgoing`]: connect() and what becomes of it; [`incoming`]: bind() to accept().
//! - [`names`]: which names are resolved here, and addresses for those that are not.
//! - [`control`]: a question to the gateway; [`settings`]: what `exec` says in the environment.
//!
//! Not taken over: programs that make system calls without the C library (Go, io_uring, static
//! programs), and DNS by UDP that a program does itself (c-ares, `dig`): only what goes through
//! getaddrinfo and gethostbyname is resolved at the far end. Other UDP is left alone, or refused
//! with `exec --refuse-udp`.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![warn(clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        dead_code
    )
)]

mod c_address;
#[cfg(not(test))]
mod calls;
mod control;
mod hostent;
mod incoming;
mod names;
mod next;
mod outgoing;
mod settings;
mod socket;
