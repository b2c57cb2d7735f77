//! `proxy`: the near end. It takes connections of programs and has the relay open their targets.

mod datagrams;
mod front;
mod http_connect;
mod passwords;
mod socks5;
mod transparent;
mod verb;

pub use verb::Arguments;
pub(crate) use verb::run;
