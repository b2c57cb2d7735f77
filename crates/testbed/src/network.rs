//! Two namespaces with a network between them, without traffic.

use std::fs::File;
use std::io;
use std::time::Instant;

use ropewalk_network::Network;
use ropewalk_scenario::Scenario;

use crate::address_plan::AddressPlan;
use crate::capture::Tap;
use crate::emulator::{Emulator, PathDevices, Setup};
use crate::error::Error;
use crate::namespace::Namespace;
use crate::{iproute, kernel, netem, sysctl, tun};

/// A client's and a server's namespace, joined by the paths of a scenario.
#[derive(Debug)]
pub struct Testbed {
    /// Namespace of the sender.
    pub client: Namespace,
    /// Namespace of the receiver.
    pub server: Namespace,
    /// Addresses and routes.
    pub plan: AddressPlan,
    devices: Vec<[File; 2]>,
}

impl Testbed {
    /// Creates both namespaces with devices, addresses and routes; no packets are carried yet.
    /// Fails if the kernel does not support the scenario, or reports an error.
    pub fn build(scenario: &Scenario) -> Result<Testbed, Error> {
        Testbed::prepare(scenario)?.with_devices()
    }

    fn with_devices(self) -> Result<Testbed, Error> {
        let mut testbed = self;
        let names = testbed.plan.paths.iter().map(|path| path.device.clone());
        let names: Vec<String> = names.collect();
        let create = |namespace: &Namespace| {
            let names = names.clone();
            namespace.run(move || {
                let devices = names.iter().map(|name| tun::create(name));
                devices.collect::<io::Result<Vec<File>>>()
            })
        };
        let at_client = create(&testbed.client).map_err(Error::NoTun)?;
        let at_server = create(&testbed.server).map_err(Error::NoTun)?;
        let devices = at_client.into_iter().zip(at_server);
        testbed.devices = devices.map(|(client, server)| [client, server]).collect();
        testbed.address()?;
        Ok(testbed)
    }

    /// As [`build`](Testbed::build), for a user's programs; only the links and paths of the
    /// scenario are used. Fails if the kernel reports an error.
    pub(crate) fn for_programs(scenario: &Scenario, mptcp: bool) -> Result<Testbed, Error> {
        let create = |name| Namespace::create(name).map_err(Error::NoNamespace);
        let testbed = Testbed {
            client: create("client")?,
            server: create("server")?,
            plan: AddressPlan::for_programs(scenario, mptcp),
            devices: Vec::new(),
        };
        testbed.with_devices()
    }

    /// As [`build`](Testbed::build), with netem on the paths, which carries packets at once; also
    /// returns the `tc` commands at the client and at the server. Errors: as
    /// [`build`](Testbed::build), or if there is no netem.
    pub fn build_netem(scenario: &Scenario) -> Result<(Testbed, [Vec<String>; 2]), Error> {
        let testbed = Testbed::prepare(scenario)?;
        let lines = netem::lines(scenario, &testbed.plan)?;
        testbed.pair()?;
        for (namespace, lines) in [&testbed.client, &testbed.server].into_iter().zip(&lines) {
            let lines = lines.clone();
            let done = namespace.run(move || iproute::run("tc", &[], &lines));
            done.map_err(netem::explain)?;
        }
        Ok((testbed, lines))
    }

    fn prepare(scenario: &Scenario) -> Result<Testbed, Error> {
        kernel::check(scenario)?;
        let flow = scenario.measured_flow();
        let create = |name| {
            let namespace = Namespace::create(name).map_err(Error::NoNamespace)?;
            let settings = kernel::settings(&flow.transport);
            namespace.run(move || sysctl::set(&settings))?;
            Ok::<_, Error>(namespace)
        };
        let mtu = kernel::link_mtu(flow)?;
        let metrics = kernel::route_metrics(&flow.transport);
        Ok(Testbed {
            client: create("client")?,
            server: create("server")?,
            plan: AddressPlan::new(scenario, mtu, metrics),
            devices: Vec::new(),
        })
    }

    fn pair(&self) -> Result<(), Error> {
        let pairs = netem::veth_lines(&self.plan, self.server.thread_id());
        self.client.run(move || iproute::run("ip", &[], &pairs))?;
        self.address()
    }

    /// Sets addresses and routes of both ends, once the devices exist.
    fn address(&self) -> Result<(), Error> {
        let (client, server) = (self.plan.client_lines(), self.plan.server_lines());
        let options: &'static [&str] = if self.plan.server.is_ipv6() {
            &["-6"]
        } else {
            &[]
        };
        self.client
            .run(move || iproute::run("ip", options, &client))?;
        self.server
            .run(move || iproute::run("ip", options, &server))
    }

    /// Number of packets that the kernel dropped at devices before the emulator could read them.
    pub fn drops(&self) -> u64 {
        let at = |namespace: &Namespace| namespace.run(device_drops);
        at(&self.client) + at(&self.server)
    }

    /// Starts the emulator. The links use the random streams of this seed as in the simulator, and
    /// their time counts from `epoch`. Fails if the system has no thread for it.
    pub fn start(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        epoch: Instant,
        tap: Option<Tap>,
    ) -> Result<Emulator, Error> {
        let paths = scenario.paths.iter().map(|path| &path.hops[..]);
        let (network, routes) = Network::from_paths(&scenario.links, paths, seed);
        let paths = self.devices.drain(..).zip(routes);
        let setup = Setup {
            network,
            paths: paths
                .map(|(devices, routes)| PathDevices { devices, routes })
                .collect(),
            mtu: self.plan.mtu as usize,
            warmup: scenario.warmup,
        };
        Emulator::start(setup, epoch, tap).map_err(Error::Emulator)
    }
}

/// Packets that devices of the calling thread's namespace could not send (proc_pid_net(5), `dev`).
fn device_drops() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    transmit_drops(&text)
}

/// Columns: the name and eight columns of received packets, then bytes, packets, errors, drops.
fn transmit_drops(text: &str) -> u64 {
    let devices = text.lines().filter_map(|line| line.split_once(':'));
    let drops = devices.filter_map(|(_, columns)| columns.split_whitespace().nth(8 + 3));
    drops.filter_map(|drops| drops.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use super::*;
    use crate::testing::two_links;

    #[test]
    fn pairs_carry_packets_before_there_is_a_netem() {
        for version in ["ipv4", "ipv6"] {
            let scenario = two_links(&format!("[transport]\nip_version = {version:?}\n"));
            let testbed = match Testbed::prepare(&scenario) {
                Ok(testbed) => testbed,
                Err(error @ Error::NoNamespace(_)) => {
                    println!("skipped: {error}");
                    return;
                }
                Err(error) => panic!("{error}"),
            };
            testbed.pair().unwrap();
            let (to, from) = (testbed.plan.server, testbed.plan.paths[1].client[0]);
            let server = testbed
                .server
                .run(move || UdpSocket::bind((to, 0)).unwrap());
            let port = server.local_addr().unwrap().port();
            let client = testbed
                .client
                .run(move || UdpSocket::bind((from, 0)).unwrap());
            server
                .set_read_timeout(Some(Duration::from_millis(100)))
                .unwrap();
            // A device that has just come up may drop its first packets.
            let arrived = (0..100).find_map(|_| {
                client.send_to(b"word", (to, port)).unwrap();
                server.recv_from(&mut [0; 16]).ok()
            });
            let (length, sender) = arrived.expect("a datagram in ten seconds");
            assert_eq!((length, sender.ip()), (4, from));
        }
    }

    #[test]
    fn drops_of_all_devices_are_summed() {
        let text = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    1    0     0          0         0        0       0    0    0    0     0       0          0
 path0:    1000      10    0    2    0     0          0         0     2000      20    0    5    0     0       0          0
 path1:    1000      10    0    0    0     0          0         0     2000      20    0    7    0     0       0          0
";
        assert_eq!(transmit_drops(text), 12);
    }
}
