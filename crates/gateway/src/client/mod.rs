//! `client`: all traffic of a machine, and of networks behind it, over all its links.
//!
//! ```text
//! programs, machines behind ── TPROXY ── proxy  ══ TCP carriers ══ relay
//!                           └─ device ── tunnel ══ datagrams    ══ relay
//! ```
//!
//! The client is a [`proxy`](crate::proxy) and a [`tunnel`](crate::tunnel) in one process, with the same key, the
//! same links and the same relay:
//!
//! - **TCP** ends here. The kernel's packet filter redirects each connection that the tunnel's device would carry
//!   to a listener of the proxy ([`Interception`](crate::tunnel::Interception)). Its bytes become a stream of an
//!   association, so loss and reordering on the links never reach the program's TCP.
//! - **Other packets** use the tunnel's device.
//!
//! Both count the traffic of a link in one file, so a quota covers both.

mod command;
mod interception;
mod login_page;
mod over_tcp;

pub(crate) use command::{Arguments, check, run};
