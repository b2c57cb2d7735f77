//! Protocol between the preloaded library and the gateway on the control socket.
//!
//! Each message is one line of JSON. Each request has its own connection, so that the library keeps nothing
//! open and nothing in memory. It recognises sockets by the kernel's addresses (the constants below), and
//! requests the rest by the socket's cookie (SO_COOKIE, socket(7)), which duplicates, child processes and
//! programs that inherit the descriptor share.
//!
//! A program's connect() proceeds as follows:
//!
//! 1. `{"connect": {"target": "198.18.0.5:443", "cookie": 41, "wait": false}}`; the gateway begins to open
//!    the stream and answers `{"hold": {"at": "127.82.87.2:40001"}}`.
//! 2. The library connects the program's own socket to that address without blocking. A listener there drops
//!    every SYN (its accept queue is full), so the socket stays in SYN-SENT, and poll(2) does not report it
//!    writable.
//! 3. `{"started": {}}`, with the program's socket attached (SCM_RIGHTS, unix(7)).
//! 4. When the relay has answered, the gateway connects a socket of its own, bound to the listener's address,
//!    to the program's. Both are in SYN-SENT, so this is a simultaneous open (RFC 9293, section 3.5), and the
//!    program's socket becomes writable. On failure, the gateway shuts its duplicate down, and the program's
//!    socket fails: poll(2) reports it, and the library requests the reason with `failure` and returns it
//!    instead of the kernel's (ECONNRESET).
//! 5. With `"wait": true`, for a blocking connect(), the gateway sends the result on the same connection:
//!    `{"done": {}}` or `{"refused": {"reason": "connection-refused"}}`.
//!
//! A program's datagrams stay the program's own: the library changes addresses, not payloads.
//!
//! 1. `{"datagrams": {"target": "192.0.2.1:53"}}`, with the program's socket attached, precedes the first
//!    datagram to a target. The gateway answers `{"endpoint": {"at": "127.192.0.0:40002"}}`.
//! 2. The library sends or connects to that address. The gateway has one socket at this port for each socket
//!    of a program, and one address of [`ENDPOINTS`] for each target. It ignores datagrams of other sockets.
//! 3. Datagrams of the target arrive from the same address. The library returns the target in its place, which
//!    it requests with `sender` if it does not remember it.
//! 4. The gateway forgets the socket once no process has it open.
//!
//! Both ends use these types. The crate is small, since every program that runs with the library loads it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Address to which listening sockets of programs are bound, with the port that the program chose.
pub const LISTENERS: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 1);
/// Address of the gateway's end of a program's outgoing connection.
pub const HOLD: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 2);
/// Address to which the gateway binds before it connects to a listening program.
pub const CLIENTS: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 3);
/// As [`LISTENERS`], for IPv6-only sockets (IPV6_V6ONLY): a program may have both at the same port.
pub const LISTENERS_V6ONLY: Ipv4Addr = Ipv4Addr::new(127, 82, 87, 6);

/// First of the loopback addresses for the targets of datagrams, 127.192.0.0/10.
pub const ENDPOINTS: Ipv4Addr = Ipv4Addr::new(127, 192, 0, 0);
/// Length of the prefix of [`ENDPOINTS`].
pub const ENDPOINT_BITS: u32 = 10;

/// First address of the pool for names, 198.18.0.0/15 (RFC 2544).
pub const POOL_V4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
/// First address of the pool for names, 2001:2::/48 (RFC 5180).
pub const POOL_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0);

/// Whether it is the placeholder of a name.
#[must_use]
pub fn in_pool(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.to_bits() >> 17 == POOL_V4.to_bits() >> 17,
        IpAddr::V6(v6) => v6.to_bits() >> 80 == POOL_V6.to_bits() >> 80,
    }
}

/// Whether it may stand for the target of datagrams.
#[must_use]
pub fn is_endpoint(address: Ipv4Addr) -> bool {
    let differ = address.to_bits() ^ ENDPOINTS.to_bits();
    differ.leading_zeros() >= ENDPOINT_BITS
}

/// Request of the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Connects the program's socket. Answered by [`Answer::Hold`].
    Connect {
        /// Target, as the program gave it; an address of the pool means its name.
        target: SocketAddr,
        /// The socket's cookie.
        cookie: u64,
        /// Whether to send the result on this connection.
        wait: bool,
    },
    /// The socket, attached as SCM_RIGHTS, is in SYN-SENT. Only after [`Answer::Hold`]. Answered by
    /// [`Answer::Done`] or [`Answer::Refused`] if `wait` was set.
    Started {},
    /// Requests the target of a socket. Answered by [`Answer::Address`].
    Target {
        /// The socket's cookie.
        cookie: u64,
    },
    /// Requests the reason of a socket's failure. Answered, once, by [`Answer::Refused`].
    Failure {
        /// The socket's cookie.
        cookie: u64,
    },
    /// Registers a program that listens at `at`, to receive streams for `port`. Answered by [`Answer::Done`]
    /// or [`Answer::Refused`]. It ends when the program no longer listens.
    Listen {
        /// Port that the program chose.
        port: u16,
        /// Address of the listener on loopback.
        at: SocketAddr,
    },
    /// Requests the client behind the gateway's end of a connection to a listening program. Answered by
    /// [`Answer::Client`].
    Client {
        /// The gateway's end, the program's peer.
        at: SocketAddr,
    },
    /// Prepares datagrams of a UDP socket, attached as SCM_RIGHTS and bound, to a target. Answered by
    /// [`Answer::Endpoint`], by [`Answer::Address`] if the socket reaches that address itself, or by
    /// [`Answer::Refused`].
    Datagrams {
        /// Target, as the program gave it; an address of the pool means its name.
        target: SocketAddr,
    },
    /// Requests the target under an address of [`ENDPOINTS`]. Answered by [`Answer::Address`].
    Sender {
        /// Cookie of the program's socket.
        cookie: u64,
        /// The address, with the gateway's port.
        at: SocketAddr,
    },
    /// Requests an address for a name. Answered by [`Answer::Ip`], or [`Answer::Refused`] if invalid.
    Resolve {
        /// The name, not an address.
        name: String,
        /// Whether to return an IPv6 address.
        v6: bool,
    },
    /// Requests the name of an address of the pool. Answered by [`Answer::Name`].
    Name {
        /// The address.
        ip: IpAddr,
    },
}

/// Answer of the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Answer {
    /// Connect the socket to this address.
    Hold {
        /// An address of the host [`HOLD`].
        at: SocketAddr,
    },
    /// Success; the socket is connected.
    Done {},
    /// Failure.
    Refused {
        /// Why.
        reason: Reason,
    },
    /// The target of a socket, or a sender of datagrams.
    Address {
        /// As the program gave it.
        address: SocketAddr,
    },
    /// Address for the datagrams of a socket to the target.
    Endpoint {
        /// An address of [`ENDPOINTS`].
        at: SocketAddr,
    },
    /// Client behind the gateway's end.
    Client {
        /// Address of the client, as far as known.
        client: SocketAddr,
    },
    /// Placeholder address of the name.
    Ip {
        /// An address of the pool.
        ip: IpAddr,
    },
    /// Name of a placeholder address.
    Name {
        /// The name.
        name: String,
    },
    /// The cookie or address is unknown.
    Unknown {},
}

/// Reason why a program's call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The target refused the connection: ECONNREFUSED.
    ConnectionRefused,
    /// The target's network is unreachable, or the gateway is gone: ENETUNREACH.
    NetworkUnreachable,
    /// The target is unreachable, or the name has no address at the relay: EHOSTUNREACH.
    HostUnreachable,
    /// There was no answer in time: ETIMEDOUT.
    TimedOut,
    /// The relay's rules do not allow it: EACCES.
    NotAllowed,
    /// Another program has the port: EADDRINUSE.
    AddressInUse,
    /// The gateway has no resources left: ENOBUFS.
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
    fn endpoints_are_a_network() {
        for ip in ["127.192.0.0", "127.255.255.255"] {
            assert!(is_endpoint(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["127.191.255.255", "127.82.87.2", "128.192.0.0"] {
            assert!(!is_endpoint(ip.parse().unwrap()), "{ip}");
        }
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
