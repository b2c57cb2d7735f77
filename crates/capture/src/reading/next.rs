//! What follows a header.

use std::borrow::Cow;

use super::bytes::Bytes;

/// The reason for a packet whose headers were not captured in full.
pub(super) const CUT_SHORT: &str = "cut short";

/// What follows a header.
#[derive(Clone, Debug)]
pub(super) enum Next<'a> {
    /// A frame that begins with Ethernet's addresses.
    Ethernet(Bytes<'a>),
    /// A packet, and the EtherType that tells its protocol.
    EtherType(u16, Bytes<'a>),
    /// A header of LLC (IEEE 802.2).
    Llc(Bytes<'a>),
    /// A header of PPP over Ethernet (RFC 2516).
    Pppoe(Bytes<'a>),
    /// A header of PPP (RFC 1661).
    Ppp(Bytes<'a>),
    /// A label of MPLS (RFC 3032).
    Mpls(Bytes<'a>),
    /// A packet of IP.
    Ip(Bytes<'a>),
    /// Nothing to examine, for a reason.
    Skipped(Cow<'static, str>),
}

impl Next<'_> {
    pub(super) fn skipped(reason: impl Into<Cow<'static, str>>) -> Next<'static> {
        Next::Skipped(reason.into())
    }
}
