//! Packets as bytes and as structs.
//!
//! # Layers
//!
//! 1. **Network**: [`Ipv4View`] and [`Ipv6View`], [`Ipv4Header`] and [`Ipv6Header`]; [`IpHeader`] is
//!    either. [`fragments`] splits a packet; [`icmp`] builds the error for one that cannot be forwarded.
//! 2. **Transport**: [`TcpView`] and [`TcpHeader`], [`UdpView`] and [`UdpHeader`].
//! 3. **Options**: values of [`TcpOption`], including MPTCP (RFC 8684). [`TcpOptions`] parses them one
//!    by one, [`emit_options`] writes them with padding.
//! 4. **Connections** ([`Connection`]): conversion between the segments of `ropewalk-transport`, with
//!    64-bit offsets, and packets, with 32-bit numbers.
//! 5. **The gateway** ([`gateway`]): frames and datagrams of Ropewalk's own protocols.
//!
//! [`wifi`] has the headers of 802.11.
//!
//! A header has two forms. A view borrows the caller's bytes: `parse` checks their length once, and
//! accessors then read without copying. An owned struct has the values of the fields, and `emit` writes
//! it. No input makes a parser panic: errors are [`Malformed`]. Reserved bits are ignored when parsed and
//! zero when written.
//!
//! # Example
//!
//! A [`Checksum`] is a running sum until it is [finished](Checksum::finish), so that one sum of the
//! payload serves the checksums of both the DSS option and TCP:
//!
//! ```
//! use core::net::Ipv4Addr;
//! use ropewalk_wire::*;
//!
//! let payload = b"hello";
//! let payload_sum = Checksum::new().add_bytes(payload);
//! let mapping = Mapping {
//!     data_seq: DataSeq::Long(80),
//!     subflow_seq: 1,
//!     len: 5,
//!     checksum: Some(dss_checksum(80, 1, 5, payload_sum)),
//! };
//! let options = [TcpOption::Multipath(MptcpOption::Dss(Dss {
//!     data_ack: Some(DataSeq::Short(7)),
//!     mapping: Some(mapping),
//!     data_fin: false,
//! }))];
//! let tcp = TcpHeader {
//!     source_port: 1234,
//!     destination_port: 80,
//!     seq: 1,
//!     ack: 1,
//!     flags: TcpFlags::ACK,
//!     window: 500,
//!     urgent: 0,
//! };
//! let tcp_len = TcpHeader::LEN + options_len(&options);
//! let segment_len = tcp_len + payload.len();
//! let ip = IpHeader::new(
//!     Ipv4Addr::new(10, 0, 0, 1).into(),
//!     Ipv4Addr::new(10, 0, 0, 2).into(),
//!     protocol::TCP,
//! )
//! .unwrap();
//!
//! let mut packet = vec![0; ip.wire_len() + segment_len];
//! let (head, segment) = packet.split_at_mut(ip.wire_len());
//! ip.emit(segment_len, head);
//! let sum = ip.pseudo_header(segment_len).add_sum(payload_sum);
//! tcp.emit(&options, sum, segment).unwrap();
//! segment[tcp_len..].copy_from_slice(payload);
//!
//! let packet = Packet::parse(&packet).unwrap();
//! assert!(packet.checksums_are_right());
//! let Transport::Tcp(segment) = packet.transport else { panic!() };
//! assert_eq!(segment.header(), tcp);
//! assert_eq!(segment.options().next(), Some(Ok(options[0])));
//! assert_eq!(segment.payload(), payload);
//! ```

mod field;

pub mod checksum;
pub mod connection;
pub mod error;
pub mod fragment;
pub mod gateway;
pub mod icmp;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod mptcp;
pub mod packet;
pub mod payload;
pub mod tcp;
pub mod tcp_options;
pub mod udp;
pub mod wifi;

pub use checksum::Checksum;
pub use connection::{Connection, InitialNumbers, SegmentError, Side, WireSegment};
pub use error::{Malformed, OptionsTooLong};
pub use fragment::fragments;
pub use icmp::{packet_too_big, prohibited};
pub use ip::{IpHeader, IpView, protocol};
pub use ipv4::{Ipv4Header, Ipv4View};
pub use ipv6::{Ipv6Header, Ipv6View};
pub use mptcp::{
    AddAddress, AddressIds, Capable, CapableForm, DataSeq, Dss, Join, Mapping, MptcpOption,
    ResetReason, dss_checksum,
};
pub use packet::{Packet, Transport};
pub use tcp::{TcpFlags, TcpHeader, TcpView};
pub use tcp_options::{
    MAX_OPTIONS_LEN, SackBlocks, TcpOption, TcpOptions, emit_options, options_len,
};
pub use udp::{UdpHeader, UdpView};
