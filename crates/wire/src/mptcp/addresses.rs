//! ADD_ADDR (RFC 8684, section 3.4.1, figure 12) and REMOVE_ADDR (section 3.4.2, figure 13).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::field::{array, put, u16_at, u64_at};

use super::ADD_ADDRESS;

const ECHO: u8 = 0x01;

/// Another address of the sender, or the echo of one of the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddAddress {
    /// Address identifier of its owner.
    pub address_id: u8,
    /// The address.
    pub address: IpAddr,
    /// Port, if it differs from the subflow's.
    pub port: Option<u16>,
    /// Last 64 bits of the HMAC; an echo has none.
    pub hmac: Option<u64>,
}

impl AddAddress {
    /// Whether it acknowledges an address of the receiver (E).
    #[inline]
    pub fn is_echo(&self) -> bool {
        self.hmac.is_none()
    }

    #[inline]
    pub(super) fn wire_len(&self) -> usize {
        let address = match self.address {
            IpAddr::V4(_) => 4,
            IpAddr::V6(_) => 16,
        };
        let port = if self.port.is_some() { 2 } else { 0 };
        let hmac = if self.hmac.is_some() { 8 } else { 0 };
        4 + address + port + hmac
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<AddAddress> {
        let is_echo = bytes[2] & ECHO != 0;
        let without_hmac = bytes.len().checked_sub(if is_echo { 0 } else { 8 })?;
        let (is_v6, has_port) = match without_hmac {
            8 => (false, false),
            10 => (false, true),
            20 => (true, false),
            22 => (true, true),
            _ => return None,
        };
        let address: IpAddr = if is_v6 {
            Ipv6Addr::from(array::<16>(bytes, 4)).into()
        } else {
            Ipv4Addr::from(array::<4>(bytes, 4)).into()
        };
        Some(AddAddress {
            address_id: bytes[3],
            address,
            port: has_port.then(|| u16_at(bytes, without_hmac - 2)),
            hmac: (!is_echo).then(|| u64_at(bytes, without_hmac)),
        })
    }

    pub(super) fn emit(&self, out: &mut [u8]) {
        let echo = if self.is_echo() { ECHO } else { 0 };
        let at = put(out, 2, [ADD_ADDRESS << 4 | echo, self.address_id]);
        let mut at = match self.address {
            IpAddr::V4(address) => put(out, at, address.octets()),
            IpAddr::V6(address) => put(out, at, address.octets()),
        };
        if let Some(port) = self.port {
            at = put(out, at, port.to_be_bytes());
        }
        if let Some(hmac) = self.hmac {
            put(out, at, hmac.to_be_bytes());
        }
    }
}

/// Address identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressIds {
    len: u8,
    ids: [u8; AddressIds::MAX],
}

impl AddressIds {
    /// As many as fit into the 40 bytes of options.
    pub const MAX: usize = 40 - 3;

    /// `None` for no identifiers, or more than [`MAX`](AddressIds::MAX).
    pub fn new(ids: &[u8]) -> Option<AddressIds> {
        let mut all = [0; AddressIds::MAX];
        all.get_mut(..ids.len())?.copy_from_slice(ids);
        (!ids.is_empty()).then_some(AddressIds {
            len: ids.len() as u8,
            ids: all,
        })
    }

    /// Identifiers in the option's order.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        &self.ids[..usize::from(self.len)]
    }

    #[inline]
    pub(super) fn wire_len(&self) -> usize {
        3 + self.as_slice().len()
    }
}
