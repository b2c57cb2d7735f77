//! Settings from `ropewalk exec`, in environment variables.

use std::env;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::OnceLock;

const CONTROL: &str = "ROPEWALK_EXEC_CONTROL";
/// Direct networks, whose connections bypass the gateway, as `ADDRESS/BITS` separated by commas.
const DIRECT: &str = "ROPEWALK_EXEC_DIRECT";
/// Treatment of UDP except to direct networks: `refuse`, `direct`, or else the gateway carries it.
const UDP: &str = "ROPEWALK_EXEC_UDP";

/// Treatment of UDP to addresses that are not direct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Udp {
    /// The gateway carries it.
    Carry,
    /// It is sent as without `exec`.
    Direct,
    /// It fails.
    Refuse,
}

/// Selection of the connections that go through the gateway, and the gateway's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) control: PathBuf,
    pub(crate) udp: Udp,
    direct: Vec<Network>,
}

/// Returns the settings of this process; without any, everything is left to the kernel.
pub(crate) fn settings() -> Option<&'static Settings> {
    static SETTINGS: OnceLock<Option<Settings>> = OnceLock::new();
    SETTINGS.get_or_init(Settings::from_environment).as_ref()
}

impl Settings {
    fn from_environment() -> Option<Settings> {
        let direct = env::var(DIRECT).unwrap_or_default();
        Some(Settings {
            control: env::var_os(CONTROL)?.into(),
            udp: Udp::parse(&env::var(UDP).unwrap_or_default()),
            direct: direct.split(',').filter_map(Network::parse).collect(),
        })
    }

    /// Whether a connection to the address goes through the gateway. Loopback, the unspecified address (which
    /// connects to loopback) and link-local IPv6 (meaningless without its interface) never do.
    pub(crate) fn carries(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        let here = match ip {
            IpAddr::V4(v4) => v4.is_loopback() || v4.is_unspecified(),
            IpAddr::V6(v6) => v6.is_loopback() || v6.is_unspecified() || v6.is_unicast_link_local(),
        };
        !here && !self.direct.iter().any(|network| network.contains(ip))
    }
}

impl Udp {
    fn parse(text: &str) -> Udp {
        match text {
            "direct" => Udp::Direct,
            "refuse" => Udp::Refuse,
            _ => Udp::Carry,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Network> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        (bits <= most).then_some(Network { address, bits })
    }

    fn contains(&self, ip: IpAddr) -> bool {
        match (self.address, ip) {
            (IpAddr::V4(network), IpAddr::V4(ip)) => {
                let differ = network.to_bits() ^ ip.to_bits();
                differ.leading_zeros() >= self.bits
            }
            (IpAddr::V6(network), IpAddr::V6(ip)) => {
                let differ = network.to_bits() ^ ip.to_bits();
                differ.leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried(direct: &str, ip: &str) -> bool {
        let settings = Settings {
            control: PathBuf::new(),
            udp: Udp::Carry,
            direct: direct.split(',').filter_map(Network::parse).collect(),
        };
        settings.carries(ip.parse().unwrap())
    }

    #[test]
    fn loopback_stays_here() {
        for ip in [
            "127.0.0.1",
            "127.82.87.2",
            "::1",
            "::ffff:127.0.0.1",
            "0.0.0.0",
            "::",
            "fe80::1",
        ] {
            assert!(!carried("", ip), "{ip}");
        }
        for ip in [
            "10.0.0.1",
            "8.8.8.8",
            "2001:db8::1",
            "::ffff:10.0.0.1",
            "198.18.0.1",
        ] {
            assert!(carried("", ip), "{ip}");
        }
    }

    #[test]
    fn networks_are_excluded() {
        let direct = "10.0.0.0/8,192.168.1.7,2001:db8::/32,nonsense,1.2.3.4/33";
        for ip in [
            "10.255.0.1",
            "::ffff:10.0.0.1",
            "192.168.1.7",
            "2001:db8:1::1",
        ] {
            assert!(!carried(direct, ip), "{ip}");
        }
        for ip in ["11.0.0.1", "192.168.1.8", "2001:db9::1", "1.2.3.4"] {
            assert!(carried(direct, ip), "{ip}");
        }
        assert!(!carried("0.0.0.0/0", "8.8.8.8"));
        assert!(carried("0.0.0.0/0", "2001:db8::1"));
    }
}
