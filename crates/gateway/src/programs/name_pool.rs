//! Pool of placeholder addresses for names: unmodified programs connect to an address, but the relay resolves
//! the name.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ropewalk_preload_protocol::{POOL_V4, POOL_V6, in_pool};

/// Names and their placeholder addresses. If all are in use, second-chance page replacement frees one.
#[derive(Debug)]
pub struct NamePool {
    slots: Vec<NameSlot>,
    places: HashMap<String, usize>,
    capacity: usize,
    hand: usize,
}

#[derive(Debug)]
struct NameSlot {
    name: String,
    asked_lately: bool,
}

impl NamePool {
    /// IPv4 addresses in the pool, without the first and the last.
    pub const LARGEST: usize = (1 << 17) - 2;

    /// Creates a pool that remembers this many names: 1 to [`NamePool::LARGEST`].
    pub fn new(capacity: usize) -> NamePool {
        NamePool {
            slots: Vec::new(),
            places: HashMap::new(),
            capacity: capacity.clamp(1, NamePool::LARGEST),
            hand: 0,
        }
    }

    /// Returns the address of a name, the same while the pool remembers the name; `None` if it is not a host
    /// name (RFC 1123, section 2.1; underscores are accepted, as resolvers do).
    pub fn address(&mut self, name: &str, v6: bool) -> Option<IpAddr> {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        if !is_host_name(&name) {
            return None;
        }
        let place = match self.places.get(&name) {
            Some(&place) => place,
            None => self.take(name),
        };
        self.slots[place].asked_lately = true;
        let number = place + 1;
        Some(if v6 {
            Ipv6Addr::from_bits(POOL_V6.to_bits() + number as u128).into()
        } else {
            Ipv4Addr::from_bits(POOL_V4.to_bits() + number as u32).into()
        })
    }

    /// Returns the name of an address.
    pub fn name(&mut self, address: IpAddr) -> Option<&str> {
        if !in_pool(address) {
            return None;
        }
        let number = match address.to_canonical() {
            IpAddr::V4(v4) => u128::from(v4.to_bits() - POOL_V4.to_bits()),
            IpAddr::V6(v6) => v6.to_bits() - POOL_V6.to_bits(),
        };
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        let slot = self.slots.get_mut(place)?;
        slot.asked_lately = true;
        Some(&slot.name)
    }

    /// Returns a slot for a new name.
    fn take(&mut self, name: String) -> usize {
        let slot = NameSlot {
            name: name.clone(),
            asked_lately: true,
        };
        let place = if self.slots.len() < self.capacity {
            self.slots.push(slot);
            self.slots.len() - 1
        } else {
            let place = self.next_victim();
            let old = std::mem::replace(&mut self.slots[place], slot);
            self.places.remove(&old.name);
            place
        };
        self.places.insert(name, place);
        place
    }

    /// Advances to the next slot whose name was not looked up since the last round.
    fn next_victim(&mut self) -> usize {
        loop {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.slots.len();
            if !std::mem::take(&mut self.slots[place].asked_lately) {
                return place;
            }
        }
    }
}

fn is_host_name(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    name.len() <= 253 && name.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// After any look-ups, the newest name has an address, and all remembered names have different ones.
        #[test]
        fn names_come_back(
            capacity in 1..20usize,
            lookups in prop::collection::vec((0..40u32, any::<bool>()), 1..200),
        ) {
            let mut pool = NamePool::new(capacity);
            for (number, v6) in lookups {
                let name = format!("host{number}.example");
                let address = pool.address(&name, v6).unwrap();
                prop_assert!(in_pool(address));
                prop_assert_eq!(address.is_ipv6(), v6);
                prop_assert_eq!(pool.name(address), Some(&*name));
                prop_assert_eq!(pool.address(&name.to_uppercase(), v6), Some(address));
                prop_assert!(pool.slots.len() <= capacity);
                prop_assert_eq!(pool.places.len(), pool.slots.len());
                let names: HashSet<_> = pool.slots.iter().map(|slot| &slot.name).collect();
                prop_assert_eq!(names.len(), pool.slots.len());
            }
        }

        /// A name keeps its address while fewer other names than the capacity are looked up.
        #[test]
        fn addresses_last(capacity in 2..50usize, v6: bool) {
            let mut pool = NamePool::new(capacity);
            let first = pool.address("first.example", v6).unwrap();
            for other in 0..capacity - 1 {
                pool.address(&format!("other{other}"), v6).unwrap();
            }
            prop_assert_eq!(pool.name(first), Some("first.example"));
        }

        #[test]
        fn other_addresses_are_no_names(address: IpAddr) {
            let mut pool = NamePool::new(10);
            pool.address("a.example", false).unwrap();
            prop_assert_eq!(pool.name(address).is_some(), address == IpAddr::from([198, 18, 0, 1])
                || address == "2001:2::1".parse::<IpAddr>().unwrap());
        }
    }

    #[test]
    fn only_host_names_are_names() {
        let mut pool = NamePool::new(10);
        let long = format!("{}.example", "a".repeat(64));
        let longer = "a.".repeat(127) + "aa";
        for name in [
            "",
            ".",
            "a..b",
            "-a",
            "a b",
            "a\n",
            "ä.example",
            "a/b",
            &long,
            &longer,
        ] {
            assert_eq!(pool.address(name, false), None, "{name}");
        }
        for name in [
            "a",
            "xn--4ca.example",
            "_sip.example",
            "1e100.net",
            "a.example.",
        ] {
            assert!(pool.address(name, false).is_some(), "{name}");
        }
    }

    #[test]
    fn the_last_address_is_in_the_pool() {
        let mut pool = NamePool::new(usize::MAX);
        for number in 0..NamePool::LARGEST {
            assert!(in_pool(pool.address(&format!("n{number}"), false).unwrap()));
        }
        assert_eq!(
            pool.name("198.19.255.254".parse().unwrap()),
            Some("n131069")
        );
        assert_eq!(pool.name("198.19.255.255".parse().unwrap()), None);
    }
}
