//! Remainder of a packet after a header.

use std::borrow::Cow;

use super::bytes::Bytes;

/// Reason for a packet with incompletely captured headers.
pub(super) const CUT_SHORT: &str = "cut short";

#[derive(Clone, Debug)]
pub(super) enum Next<'a> {
    Ethernet(Bytes<'a>),
    /// A packet of the protocol with this EtherType.
    EtherType(u16, Bytes<'a>),
    Llc(Bytes<'a>),
    Pppoe(Bytes<'a>),
    Ppp(Bytes<'a>),
    Mpls(Bytes<'a>),
    Ip(Bytes<'a>),
    Skipped(Cow<'static, str>),
}

impl Next<'_> {
    pub(super) fn skipped(reason: impl Into<Cow<'static, str>>) -> Next<'static> {
        Next::Skipped(reason.into())
    }
}
