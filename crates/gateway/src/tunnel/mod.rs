//! `tunnel`: a network device whose packets are striped over links (song-2018).
//!
//! The protocol without sockets is [`ropewalk_striping::tunnel`]. This module has the device and the sockets with
//! their offloads, and the [handshake](crate::noise). One thread does everything: it reads super-packets from the
//! device, encrypts each segment for a link, and passes batches of datagrams to the kernel in one call. It combines
//! received segments again. The kernel does not verify the inner checksums, since each datagram is authenticated.
//!
//! A relay identifies its clients by their keys; each has its own addresses in the tunnel.
//!
//! In a program, open each end in a thread of its network namespace, and run it in a thread of its own until
//! its [`Control`] stops it:
//!
//! ```no_run
//! use ropewalk_gateway::keys::SecretKey;
//! use ropewalk_gateway::tunnel::{Config, Role, Tunnel};
//!
//! let (van, relay) = (SecretKey::generate(), SecretKey::generate());
//! let role = Role::Dial {
//!     relays: vec!["192.0.2.1:4434".parse()?],
//!     key: relay.public(),
//!     links: vec!["lte=wwan0".parse()?, "sat=10.0.7.2".parse()?],
//! };
//! let tunnel = Tunnel::open(Config::new(van, role, vec!["10.9.0.2/24".parse()?]))?;
//! let control = tunnel.control();
//! let carrying = std::thread::spawn(|| tunnel.run());
//! std::thread::sleep(std::time::Duration::from_secs(60));
//! for link in &control.status().peers[0].links {
//!     let (sent, received) = (&link.sent, &link.received);
//!     println!("{}: {} datagrams, {} lost", link.name, sent.datagrams, sent.lost);
//!     println!("{} came, {} late", received.datagrams, received.reordered);
//! }
//! control.stop();
//! carrying.join().expect("it does not panic")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The other end has [`Role::Listen`], with [`Clients`](crate::keys::Clients) that know the first end's
//! public key. `tests/tunnel` of the testbed runs both in two namespaces.

mod batch;
mod bind;
mod client_rate;
mod coalescer;
mod command;
mod config;
mod control;
mod cookie;
mod device;
mod dialer;
mod engine;
mod error;
mod firewall;
mod foreign_sources;
mod handshake;
mod hello_limiter;
mod hook;
mod hook_helper;
mod link_path;
mod link_policies;
mod network_changes;
mod open;
mod options;
mod oversize;
mod path_mtu_notice;
mod peer;
mod rate_limiter;
mod refusal;
mod responder;
mod session_ids;
mod socket;
mod socket_filter;
mod sockets;
mod status;
mod super_packet;

pub use crate::prefix::{Prefix, PrefixError};
pub use crate::relay_name::RelayName;
pub(crate) use command::{RunningTunnel, TunnelEnd, check, check_peer, hook_only, run};
pub use config::{Config, Interface, RelayEndpoint, Role};
pub use control::{Control, Reload};
#[cfg(fuzzing)]
pub use engine::any_datagrams;
pub use error::TunnelError;
pub(crate) use firewall::Interception;
pub(crate) use hook::{ClientRouting, HookOptions, HookProgram, RelayForwarding};
pub use open::Tunnel;
pub use options::Arguments;
pub(crate) use options::DeviceOptions;
pub use refusal::{Refusal, RefusalCounts};
pub(crate) use socket_filter::accept_marked;
pub use status::{PeerLink, PeerStatus, ReceivedTraffic, TunnelStatus};
