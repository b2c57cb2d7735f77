//! LD_PRELOAD library that sends the TCP connections and UDP datagrams of an unmodified program through the
//! gateway, as in elahi-2011. It replaces socket, connect, listen, accept and related functions, and leaves
//! everything else to the kernel.
//!
//! `ropewalk exec -- PROGRAM` sets it up. The program keeps its own sockets: a descriptor is connected over
//! loopback to the gateway, which forwards the stream. So send, recv, read, write, poll, epoll, sendfile,
//! splice, shutdown, dup, fork and close are not replaced and have no overhead.
//!
//! Datagrams have an address in each call. There the library replaces a target by a loopback address of the
//! gateway, and the gateway's address by the target. Payloads pass unchanged.
//!
//! The library keeps no state but a cache of the gateway's answers. The role of a socket follows from the kernel's addresses (see
//! [`ropewalk_preload_protocol`]); the gateway knows the rest by the socket's cookie. So there is nothing to
//! lock, inherit or clean up: threads, fork, vfork, exec and descriptors passed over a Unix socket need no
//! special treatment.
//!
//! - `calls`: the replacements of the C library's functions; `next`: the C library's own.
//! - `outgoing`: connect() and its result; `incoming`: bind() to accept().
//! - `datagrams`: targets of UDP sockets; `endpoint_cache`: recent answers about them.
//! - `names`: names to resolve here, and placeholder addresses for the others.
//! - `control`: requests to the gateway; `settings`: the settings of `exec`, from the environment.
//!
//! Not covered: programs that make system calls without the C library (Go, io_uring, static programs).
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
mod datagrams;
mod endpoint_cache;
mod hostent;
mod incoming;
mod names;
mod next;
mod outgoing;
mod settings;
mod socket;
mod verdict;
