//! What the preloaded library and the gateway say to each other over the control socket.
//!
//! One JSON value a line, as with all of the control socket; a connection of its own for each
//! question, so that the library keeps nothing open and nothing in memory: what a socket is can
//! be read from the kernel's addresses (the constants below), and the rest is asked for by the
//! socket's cookie (SO_COOKIE, socket(7)), which a duplicate, a child and a program that was
//! started with the descriptor all share.
//!
//! A program's connect() goes like this:
//!
//! 1. `{"connect": {"target": "198.18.0.5:443", "cookie": 41, "wait": false}}`; the gateway
//!    begins to open the stream and answers `{"hold": {"at": "127.82.87.2:40001"}}`.
//! 2. The library connects the program's own socket to that address without blocking. A listener
//!    is there that drops every SYN (a socket filter that lets nothing in), so the socket stays
//!    in SYN-SENT, and poll(2) does not say writable.
//! 3. `{"started": {}}`, with the program's socket beside it (SCM_RIGHTS, unix(7)).
//! 4. When the far end has answered, the gateway either connects a socket of its own, bound to
//!    the listener's address, to the program's: both are in SYN-SENT, so the connection comes
//!    about by simultaneous open (RFC 9293, section 3.5), and the program's socket becomes
//!    writable, the kernel's own from then on. Or it shuts the duplicate down, and the program's
//!    socket fails: poll(2) says so, and the library puts the true reason in place of the
//!    kernel's (ECONNRESET), which it asks for with `failure`.
//! 5. With `"wait": true`, for a blocking connect(), the gateway says on the same connection what
//!    came of it: `{"done": {}}` or `{"refused": {"reason": "connection-refused"}}`.
//!
//! Both ends hold these types, and the library little else: it is in every program that is run so.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Where sockets of programs are that listen on every address, or on a specific one: the
/// library binds them here, under the port that was asked for.
pub const LISTENERS: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 1);
/// The address of the gateway's end of a program's connection to somewhere.
pub const HOLD: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 2);
/// The address that the gateway binds to before it connects to a program that listens.
pub const CLIENTS: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 3);
/// Where sockets of programs are that listen for IPv6 only (IPV6_V6ONLY): a program may have
/// one of these and one for IPv4 at the same port.
pub const LISTENERS_V6ONLY: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 6);

/// The first address of the pool for names, 198.18.0.0/15 (RFC 2544).
pub const POOL_V4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
/// The first address of the pool for names, 2001:2::/48 (RFC 5180).
pub const POOL_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0);

/// Whether the address stands for a name.
#[must_use]
pub fn in_pool(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_bits() >> 17 == POOL_V4.to_bits() >> 17,
        IpAddr::V6(v6) => v6.to_bits() >> 80 == POOL_V6.to_bits() >> 80,
    }
}

/// What the library asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// The program's socket wants to be connected. Answered by [`Answer::Hold`].
    Connect {
        /// Where the program wants to go; an address of the pool stands for its name.
        target: SocketAddr,
        /// The socket's cookie.
        cookie: u64,
        /// Whether what came of it is to be told on this connection.
        wait: bool,
    },
    /// The socket, which comes along as SCM_RIGHTS, is in SYN-SENT. Only after [`Answer::Hold`].
    /// Answered by [`Answer::Done`] or [`Answer::Refused`] if `wait` was asked for.
    Started {},
    /// Where did the program want this socket to go? Answered by [`Answer::Address`].
    Target {
        /// The socket's cookie.
        cookie: u64,
    },
    /// Why did this socket fail? Answered, once, by [`Answer::Refused`].
    Failure {
        /// The socket's cookie.
        cookie: u64,
    },
    /// A program listens at `at`, and streams for `port` are to come to it. Answered by
    /// [`Answer::Done`] or [`Answer::Refused`]. Ends when nobody listens there any more.
    Listen {
        /// The port that the program asked for.
        port: u16,
        /// Where it listens on loopback.
        at: SocketAddr,
    },
    /// Who is behind the gateway's end of a connection to a program that listens? Answered by
    /// [`Answer::Client`].
    Client {
        /// The gateway's end, the program's peer.
        at: SocketAddr,
    },
    /// An address for a name. Answered by [`Answer::Ip`], or [`Answer::Refused`] if it is none.
    Resolve {
        /// The name, not an address.
        name: String,
        /// Whether it is to be an IPv6 address.
        v6: bool,
    },
    /// The name behind an address of the pool. Answered by [`Answer::Name`].
    Name {
        /// The address.
        ip: IpAddr,
    },
}

/// What the gateway answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Answer {
    /// Connect the socket to this address.
    Hold {
        /// An address of the host [`HOLD`].
        at: SocketAddr,
    },
    /// It is done; the socket is connected.
    Done {},
    /// It is not done.
    Refused {
        /// Why.
        reason: Reason,
    },
    /// Where the program wanted to go.
    Address {
        /// As it gave it to connect().
        address: SocketAddr,
    },
    /// Who is behind the gateway's end.
    Client {
        /// The client's address, as well as it is known.
        client: SocketAddr,
    },
    /// The address that stands for the name from now on.
    Ip {
        /// An address of the pool.
        ip: IpAddr,
    },
    /// The name that the address stands for.
    Name {
        /// The name.
        name: String,
    },
    /// Nothing is known of that cookie or address.
    Unknown {},
}

/// Why a program's call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The target refused: ECONNREFUSED.
    ConnectionRefused,
    /// The target's network cannot be reached, or the gateway is gone: ENETUNREACH.
    NetworkUnreachable,
    /// The target cannot be reached, or the name has no address at the far end: EHOSTUNREACH.
    HostUnreachable,
    /// Nobody answered: ETIMEDOUT.
    TimedOut,
    /// The far end's rules do not allow it: EACCES.
    NotAllowed,
    /// The port is somebody else's: EADDRINUSE.
    AddressInUse,
    /// The gateway has no room for more: ENOBUFS.
    NoRoom,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_it_in_these_words() {
        let connect = Request::Connect {
            target: "198.18.0.5:443".parse().unwrap(),
            cookie: 41,
            wait: false,
        };
        let text = r#"{"connect":{"target":"198.18.0.5:443","cookie":41,"wait":false}}"#;
        assert_eq!(serde_json::to_string(&connect).unwrap(), text);
        assert_eq!(serde_json::from_str::<Request>(text).unwrap(), connect);
        assert_eq!(
            serde_json::to_string(&Request::Started {}).unwrap(),
            r#"{"started":{}}"#
        );
        let refused = Answer::Refused {
            reason: Reason::ConnectionRefused,
        };
        let text = r#"{"refused":{"reason":"connection-refused"}}"#;
        assert_eq!(serde_json::to_string(&refused).unwrap(), text);
        assert_eq!(serde_json::from_str::<Answer>(text).unwrap(), refused);
    }

    #[test]
    fn knows_the_pool() {
        for ip in [
            "198.18.0.0",
            "198.19.255.255",
            "2001:2::",
            "::ffff:198.18.0.1",
        ] {
            assert!(in_pool(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["198.17.255.255", "198.20.0.0", "2001:2:1::", "127.82.87.1"] {
            assert!(!in_pool(ip.parse().unwrap()), "{ip}");
        }
    }
}
