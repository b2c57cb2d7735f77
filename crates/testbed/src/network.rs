//! Two namespaces with a network between them: everything but the traffic.

use std::fs::File;
use std::io;
use std::time::Instant;

use ropewalk_scenario::Scenario;
use ropewalk_simulator::directions;

use crate::capture::Tap;
use crate::emulator::{Emulator, Network, Path};
use crate::error::Error;
use crate::namespace::Namespace;
use crate::plan::Plan;
use crate::{iproute, kernel, sysctl, tun};

/// A client's and a server's namespace, joined by the links of a scenario.
#[derive(Debug)]
pub struct Testbed {
    /// Sends.
    pub client: Namespace,
    /// Receives.
    pub server: Namespace,
    /// Who has which address.
    pub plan: Plan,
    /// Ends of the paths, until an emulator takes them.
    devices: Vec<[File; 2]>,
}

impl Testbed {
    /// Makes both namespaces, with devices, addresses and routes; nothing is carried yet.
    ///
    /// # Errors
    /// The scenario asks for what the kernel cannot do, or the machine does not let us.
    pub fn build(scenario: &Scenario) -> Result<Testbed, Error> {
        kernel::check(scenario)?;
        let transport = &scenario.transport;
        let plan = Plan::new(
            scenario,
            kernel::mtu(transport)?,
            kernel::route_metrics(transport),
        );
        let client = Namespace::create("client").map_err(Error::NoNamespace)?;
        let server = Namespace::create("server").map_err(Error::NoNamespace)?;
        let settings = kernel::settings(transport);
        let names: Vec<String> = plan.paths.iter().map(|path| path.device.clone()).collect();
        let set_up = |namespace: &Namespace, lines: Vec<String>| {
            let (settings, names) = (settings.clone(), names.clone());
            namespace.run(move || {
                sysctl::set(&settings)?;
                let devices: io::Result<Vec<File>> =
                    names.iter().map(|name| tun::create(name)).collect();
                let devices = devices.map_err(Error::NoTun)?;
                iproute::run("ip", &lines)?;
                Ok::<_, Error>(devices)
            })
        };
        let at_client = set_up(&client, plan.client_lines())?;
        let at_server = set_up(&server, plan.server_lines())?;
        let devices = at_client.into_iter().zip(at_server);
        Ok(Testbed {
            client,
            server,
            plan,
            devices: devices.map(|(client, server)| [client, server]).collect(),
        })
    }

    /// Starts carrying packets, over links that draw their losses as the simulator's do in the run
    /// of this seed, and whose time counts from `epoch`.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub fn start(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        epoch: Instant,
        tap: Option<Tap>,
    ) -> Result<Emulator, Error> {
        let links = scenario.links.iter();
        let paths = self.devices.drain(..).zip(&scenario.paths);
        let network = Network {
            hops: links.flat_map(|link| directions(link, seed)).collect(),
            paths: paths
                .map(|(devices, path)| {
                    let there: Vec<u16> = path.hops.iter().map(|&link| 2 * link as u16).collect();
                    let back = there.iter().rev().map(|&hop| hop + 1).collect();
                    Path {
                        devices,
                        routes: [there, back],
                    }
                })
                .collect(),
            mtu: self.plan.mtu as usize,
            warmup: scenario.warmup,
        };
        Emulator::start(network, epoch, tap).map_err(Error::Emulator)
    }
}
