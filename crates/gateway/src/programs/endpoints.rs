//! Table of a program's targets, each under an address of loopback.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};

use crate::request::{Host, Target};
use ropewalk_preload_protocol::{ENDPOINT_BITS, ENDPOINTS};

/// Maximum number of targets; the least recently used ones are forgotten. The relay also accepts datagrams
/// from the last 256 peers only.
const LARGEST: usize = 256;

/// Target under a loopback address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub at: Ipv4Addr,
    /// The target as the program gave it: for a name, its placeholder.
    pub given: SocketAddr,
    pub target: Target,
}

impl Endpoint {
    /// Whether the target is a name, whose address only the relay knows.
    pub fn is_name(&self) -> bool {
        matches!(self.target.host, Host::Name(_))
    }
}

/// Targets of one socket, the last used ones at the end. An address gets another target only after all others.
#[derive(Debug, Default)]
pub struct Endpoints {
    known: VecDeque<Endpoint>,
    count: u32,
}

impl Endpoints {
    /// Returns the loopback address of a target.
    pub fn add(&mut self, given: SocketAddr, target: Target) -> Ipv4Addr {
        if let Some(known) = self.used(|known| known.given == given && known.target == target) {
            return known.at;
        }
        let number = self.count & ((1 << (32 - ENDPOINT_BITS)) - 1);
        self.count = self.count.wrapping_add(1);
        let at = Ipv4Addr::from_bits(ENDPOINTS.to_bits() | number);
        if self.known.len() == LARGEST {
            self.known.pop_front();
        }
        self.known.push_back(Endpoint { at, given, target });
        at
    }

    /// Returns the target under an address, and counts it as used.
    pub fn at(&mut self, at: Ipv4Addr) -> Option<Endpoint> {
        self.used(|known| known.at == at)
    }

    /// Returns the address of the target that is this address and no name, and counts it as used.
    pub fn of(&mut self, address: SocketAddr) -> Option<Ipv4Addr> {
        let target = Target::from(address);
        self.used(|known| known.target == target)
            .map(|known| known.at)
    }

    fn used(&mut self, is_it: impl Fn(&Endpoint) -> bool) -> Option<Endpoint> {
        let place = self.known.iter().rposition(is_it)?;
        let endpoint = self.known.remove(place)?;
        self.known.push_back(endpoint.clone());
        Some(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    #[test]
    fn target_keeps_its_address_while_it_is_used() {
        let mut endpoints = Endpoints::default();
        let first = endpoints.add(address(1), address(1).into());
        let second = endpoints.add(address(2), address(2).into());
        assert_ne!(first, second);
        for port in 3..=LARGEST as u16 + 1 {
            assert_eq!(endpoints.add(address(1), address(1).into()), first);
            endpoints.add(address(port), address(port).into());
        }
        assert_eq!(endpoints.of(address(1)), Some(first));
        assert_eq!(endpoints.at(first).unwrap().given, address(1));
        assert_eq!(endpoints.at(second), None);
        assert_eq!(endpoints.of(address(2)), None);
    }

    #[test]
    fn name_is_not_found_by_its_placeholder() {
        let mut endpoints = Endpoints::default();
        let placeholder: SocketAddr = "198.18.0.5:53".parse().unwrap();
        let at = endpoints.add(placeholder, "dns.example:53".parse().unwrap());
        assert!(endpoints.at(at).unwrap().is_name());
        assert_eq!(endpoints.of(placeholder), None);
    }

    #[test]
    fn addresses_wrap_within_their_network() {
        let mut endpoints = Endpoints {
            count: u32::MAX,
            ..Endpoints::default()
        };
        for port in 1..=2 {
            let at = endpoints.add(address(port), address(port).into());
            assert!(ropewalk_preload_protocol::is_endpoint(at), "{at}");
        }
        assert_eq!(endpoints.of(address(2)), Some(ENDPOINTS));
    }
}
