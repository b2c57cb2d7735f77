//! Addresses and routes of both namespaces.
//!
//! Each path has a device at either end. The client has one address per path (and per subflow
//! there), the server a single one, on its loopback device. A packet from an address of a path
//! takes that path (`ip rule from ADDRESS lookup TABLE`, ip-rule(8)), and so do packets to the
//! address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ropewalk_scenario::Scenario;
use ropewalk_transport::IpVersion;

use crate::kernel::{MAX_FURTHER_SUBFLOWS, RouteMetrics, subflows};

/// Routing table of the first path; 253 to 255 are the kernel's own.
const FIRST_TABLE: usize = 1000;
/// Length of a device's own queue, never reached: only the links' queues matter.
const DEVICE_QUEUE: usize = 10_000;

/// The server's device towards the machine's own network, if any.
pub(crate) const INTERNET: &str = "internet";
const MTU: u64 = 1500;

/// Addresses and routes of both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPlan {
    /// Paths in scenario order.
    pub paths: Vec<PathPlan>,
    /// Address of the server.
    pub server: IpAddr,
    /// Longest packet, in bytes.
    pub mtu: u64,
    /// Client addresses of additional MPTCP subflows, with their paths.
    pub endpoints: Vec<(IpAddr, usize)>,
    /// Path of unbound connections.
    pub default_path: usize,
    metrics: RouteMetrics,
}

/// A path with its addresses at both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// Device name, the same at both ends.
    pub device: String,
    /// Client addresses on the path; the first is the path's own.
    pub client: Vec<IpAddr>,
}

impl AddressPlan {
    pub(crate) fn new(scenario: &Scenario, mtu: u64, metrics: RouteMetrics) -> AddressPlan {
        let flow = scenario.measured_flow();
        let version = flow.transport.ip_version;
        let subflows = subflows(flow);
        let path_of = |subflow: usize| flow.paths[subflow % flow.paths.len()];
        let paths = (0..scenario.paths.len()).map(|path| {
            let on_it = (0..subflows).filter(|&subflow| path_of(subflow) == path);
            PathPlan {
                device: format!("path{path}"),
                client: (0..on_it.count().max(1))
                    .map(|number| client_address(version, path, number))
                    .collect(),
            }
        });
        let paths: Vec<PathPlan> = paths.collect();
        let endpoints = (1..subflows).map(|subflow| {
            let path = path_of(subflow);
            let number = subflow / flow.paths.len();
            (paths[path].client[number], path)
        });
        AddressPlan {
            endpoints: endpoints.collect(),
            server: server_address(version),
            mtu,
            default_path: path_of(0),
            paths,
            metrics,
        }
    }

    /// Plans a user's programs: one interface per path, with the path's name and, with `mptcp`, a
    /// subflow of MPTCP connections.
    pub(crate) fn for_programs(scenario: &Scenario, mptcp: bool) -> AddressPlan {
        let version = scenario.measured_flow().transport.ip_version;
        let names: Vec<&str> = scenario
            .paths
            .iter()
            .map(|path| path.name.as_str())
            .collect();
        let devices = devices(&names).into_iter().enumerate();
        let paths = devices.map(|(number, device)| PathPlan {
            device,
            client: vec![client_address(version, number, 0)],
        });
        let paths: Vec<PathPlan> = paths.collect();
        let further = paths.iter().enumerate().skip(1).filter(|_| mptcp);
        AddressPlan {
            endpoints: further
                .map(|(number, path)| (path.client[0], number))
                .collect(),
            server: server_address(version),
            mtu: MTU,
            default_path: 0,
            paths,
            metrics: RouteMetrics::default(),
        }
    }

    /// Input of `ip -batch` in the client's namespace, once the devices exist.
    pub fn client_lines(&self) -> Vec<String> {
        let mut lines = vec!["link set lo up".to_owned()];
        for (number, path) in self.paths.iter().enumerate() {
            let (device, table) = (&path.device, FIRST_TABLE + number);
            self.device_lines(device, &mut lines);
            for &address in &path.client {
                lines.push(format!(
                    "addr add {} dev {device}{}",
                    host(address),
                    nodad(address)
                ));
                lines.push(format!("rule add from {} lookup {table}", host(address)));
            }
            let source = path.client[0];
            let route = format!("default dev {device} src {source}{}", self.metrics);
            lines.push(format!("route add {route} table {table}"));
            if number == self.default_path {
                lines.push(format!("route add {route}"));
            }
        }
        if !self.endpoints.is_empty() {
            lines.push(limits());
        }
        for &(address, path) in &self.endpoints {
            let device = &self.paths[path].device;
            lines.push(format!("mptcp endpoint add {address} dev {device} subflow"));
        }
        lines
    }

    /// Input of `ip -batch` in the server's namespace, once the devices exist.
    pub fn server_lines(&self) -> Vec<String> {
        let server = self.server;
        let mut lines = vec![
            "link set lo up".to_owned(),
            format!("addr add {} dev lo{}", host(server), nodad(server)),
        ];
        for path in &self.paths {
            let device = &path.device;
            self.device_lines(device, &mut lines);
            for &address in &path.client {
                lines.push(format!(
                    "route add {} dev {device} src {server}{}",
                    host(address),
                    self.metrics
                ));
            }
        }
        if !self.endpoints.is_empty() {
            lines.push(limits());
        }
        lines
    }

    fn device_lines(&self, device: &str, lines: &mut Vec<String>) {
        lines.push(format!(
            "link set dev {device} mtu {} txqueuelen {DEVICE_QUEUE} up",
            self.mtu
        ));
    }
}

fn limits() -> String {
    format!("mptcp limits set subflow {MAX_FURTHER_SUBFLOWS} add_addr_accepted 0")
}

fn client_address(version: IpVersion, path: usize, number: usize) -> IpAddr {
    let host = number as u16 + 1;
    match version {
        IpVersion::V4 => {
            let [high, low] = (path as u16).to_be_bytes();
            IpAddr::V4(Ipv4Addr::new(10, high, low, host as u8))
        }
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, path as u16, 0, 0, 0, host)),
    }
}

fn server_address(version: IpVersion) -> IpAddr {
    match version {
        IpVersion::V4 => IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)),
        IpVersion::V6 => IpAddr::V6(Ipv6Addr::new(0xfd00, 1, 0, 0, 0, 0, 0, 1)),
    }
}

/// Interface of each path: the path's name if the kernel accepts it, otherwise `path` and the
/// path's number. For example, `wifi` and `mobile phone` get `wifi` and `path1`.
fn devices(names: &[&str]) -> Vec<String> {
    let mut devices: Vec<String> = Vec::new();
    for (number, &name) in names.iter().enumerate() {
        let is_free = |device: &String| !devices.contains(device);
        let own = Some(name.to_owned()).filter(|own| is_interface_name(own) && is_free(own));
        let mut numbered = (number..).map(|number| format!("path{number}"));
        let device = own.or_else(|| {
            numbered.find(|device| is_free(device) && !names.contains(&device.as_str()))
        });
        devices.extend(device);
    }
    devices
}

/// Whether a new interface may have this name (netdevice(7)). The kernel reserves `all` and
/// `default` for settings of all interfaces (Documentation/networking/ip-sysctl.rst).
fn is_interface_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    name.len() < libc::IFNAMSIZ
        && name.bytes().all(is_plain)
        && !matches!(name, "" | "lo" | "all" | "default" | INTERNET)
}

fn host(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("{address}/32"),
        IpAddr::V6(address) => format!("{address}/128"),
    }
}

/// Disables duplicate address detection, which is useless here.
fn nodad(address: IpAddr) -> &'static str {
    if address.is_ipv6() { " nodad" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::two_links;

    fn plan(more: &str) -> AddressPlan {
        AddressPlan::new(&two_links(more), 1500, RouteMetrics::default())
    }

    #[test]
    fn two_paths_of_ipv4() {
        let plan = plan("");
        assert_eq!(
            plan.client_lines(),
            [
                "link set lo up",
                "link set dev path0 mtu 1500 txqueuelen 10000 up",
                "addr add 10.0.0.1/32 dev path0",
                "rule add from 10.0.0.1/32 lookup 1000",
                "route add default dev path0 src 10.0.0.1 table 1000",
                "route add default dev path0 src 10.0.0.1",
                "link set dev path1 mtu 1500 txqueuelen 10000 up",
                "addr add 10.0.1.1/32 dev path1",
                "rule add from 10.0.1.1/32 lookup 1001",
                "route add default dev path1 src 10.0.1.1 table 1001",
                "mptcp limits set subflow 8 add_addr_accepted 0",
                "mptcp endpoint add 10.0.1.1 dev path1 subflow",
            ]
        );
        assert_eq!(
            plan.server_lines(),
            [
                "link set lo up",
                "addr add 192.168.0.1/32 dev lo",
                "link set dev path0 mtu 1500 txqueuelen 10000 up",
                "route add 10.0.0.1/32 dev path0 src 192.168.0.1",
                "link set dev path1 mtu 1500 txqueuelen 10000 up",
                "route add 10.0.1.1/32 dev path1 src 192.168.0.1",
                "mptcp limits set subflow 8 add_addr_accepted 0",
            ]
        );
    }

    #[test]
    fn ipv6_asks_nobody_for_its_addresses() {
        let lines = plan("[transport]\nip_version = \"ipv6\"\n").client_lines();
        assert!(lines.contains(&"addr add fd00:0:0:1::1/128 dev path1 nodad".to_owned()));
        assert!(lines.contains(&"rule add from fd00:0:0:1::1/128 lookup 1001".to_owned()));
    }

    #[test]
    fn devices_have_the_names_of_paths_that_the_kernel_accepts() {
        for (names, expected) in [
            (["wifi", "mobile phone"], ["wifi", "path1"]),
            (["all", "default"], ["path0", "path1"]),
            (["internet", "lo"], ["path0", "path1"]),
            (
                ["a-name-of-16-by", "a-name-of-16-byt"],
                ["a-name-of-16-by", "path1"],
            ),
            (["\u{e9}t\u{e9}", "path0"], ["path1", "path0"]),
            (["path1", "two words"], ["path1", "path2"]),
            (["dev", "up"], ["dev", "up"]),
        ] {
            assert_eq!(devices(&names), expected);
        }
    }

    #[test]
    fn subflows_take_the_paths_in_turn() {
        let plan = plan("[transport]\nsubflows_per_path = 2\npaths = [\"b\", \"a\"]\n");
        let addresses: Vec<String> = plan
            .endpoints
            .iter()
            .map(|(at, _)| at.to_string())
            .collect();
        assert_eq!(plan.default_path, 1);
        assert_eq!(addresses, ["10.0.0.1", "10.0.1.2", "10.0.0.2"]);
    }

    #[test]
    fn tcp_has_no_endpoints_and_takes_its_path() {
        let plan = plan("[transport]\nprotocol = \"tcp\"\npaths = [\"b\"]\n");
        assert_eq!(plan.endpoints, []);
        assert_eq!(plan.default_path, 1);
    }
}
