//! Address with a prefix length.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::option_parsers;

/// An address with a prefix length, such as `10.9.0.2/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// Prefix length.
    pub len: u8,
}

impl Prefix {
    /// Whether an address is in the network.
    pub(crate) fn contains(self, address: IpAddr) -> bool {
        let other = Prefix {
            address,
            len: self.len,
        };
        self.address.is_ipv4() == address.is_ipv4() && self.network() == other.network()
    }

    /// Returns the network: the bits after the prefix are zero.
    pub(crate) fn network(self) -> Prefix {
        let clear = |bits: u128, width: u32| {
            let host = width - u32::from(self.len).min(width);
            bits.checked_shr(host)
                .and_then(|bits| bits.checked_shl(host))
                .unwrap_or(0)
        };
        let address = match self.address {
            IpAddr::V4(v4) => Ipv4Addr::from_bits(clear(v4.to_bits().into(), 32) as u32).into(),
            IpAddr::V6(v6) => Ipv6Addr::from_bits(clear(v6.to_bits(), 128)).into(),
        };
        Prefix { address, ..self }
    }
}

/// Error: the text is not an address with a prefix length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not an address with a prefix length; allowed: for example 10.9.0.2/24 or fd00::2/64"
)]
pub struct PrefixError(String);

impl FromStr for Prefix {
    type Err = PrefixError;

    fn from_str(text: &str) -> Result<Prefix, PrefixError> {
        let parse = || {
            let (address, len) = text.split_once('/')?;
            let address: IpAddr = address.parse().ok()?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let len = len.parse().ok().filter(|&len| len <= most)?;
            Some(Prefix { address, len })
        };
        parse().ok_or_else(|| PrefixError(text.to_owned()))
    }
}

/// Parses an address that a device can have.
pub(crate) fn own_address(text: &str) -> Result<Prefix, String> {
    let prefix: Prefix = text
        .parse()
        .map_err(|error: PrefixError| error.to_string())?;
    match option_parsers::is_of_host(prefix.address) && prefix.len > 0 {
        true => Ok(prefix),
        false => Err(format!(
            "{prefix} is of no host; allowed: as 10.9.0.2/24 or fd00::2/64"
        )),
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_round_trips_and_rejects_invalid_text() {
        for text in ["10.9.0.2/24", "0.0.0.0/0", "fd00::2/128"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        for text in ["10.9.0.2", "10.9.0.2/33", "fd00::2/129", "/24", "a/8"] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
        assert!(own_address("10.9.0.2/24").is_ok());
        for text in ["0.0.0.0/0", "224.0.0.1/24", "ff02::1/64", "10.9.0.2/0"] {
            assert!(own_address(text).is_err(), "{text}");
        }
    }
}
