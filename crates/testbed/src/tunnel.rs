//! The tunnel between client and server, in their namespaces.
//!
//! The measured connection is the kernel's TCP between the tunnel's two addresses; its packets are
//! striped in UDP over one socket per path. The scenario's device decides whether the tunnel keeps
//! order and rates, or is the naive one of song-2018.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::panic::resume_unwind;
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::{Clients, SecretKey};
use ropewalk_gateway::tunnel::{Config, Control, Prefix, Role, Tunnel as End, TunnelError};
use ropewalk_scenario::{Device, Flow, Scenario, VirtualDevice};

use crate::error::Error;
use crate::links::links;
use crate::namespace::Namespace;
use crate::network::Testbed;

/// Time to wait for a link's first reply, as in the simulator.
const TIMEOUT: Duration = Duration::from_secs(1);
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
const PORT: u16 = 4434;

#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(crate) client: IpAddr,
    pub(crate) server: IpAddr,
    ends: [(Control, JoinHandle<io::Result<()>>); 2],
}

impl Tunnel {
    /// Opens both ends; the client connects at `start`. Fails if a namespace accepts no further
    /// device, or the tunnel does not support this packet size.
    pub(crate) fn start(
        device: VirtualDevice,
        scenario: &Scenario,
        testbed: &Testbed,
        start: Instant,
    ) -> Result<Tunnel, Error> {
        let [client, server] = addresses(testbed.plan.server);
        let keys = [SecretKey::generate(), SecretKey::generate()];
        let [near, far] = &keys;
        let at = SocketAddr::new(testbed.plan.server, PORT);
        let listen = Role::Listen {
            at,
            clients: Clients::of_one("testbed", near.public(), vec![client.address]),
        };
        let dial = Role::Dial {
            relays: vec![at],
            key: far.public(),
            links: links(scenario, testbed).collect(),
        };
        let flow = scenario.measured_flow();
        let far = config((device, flow), testbed, far, listen, server);
        let near = config((device, flow), testbed, near, dial, client);
        let far = open(&testbed.server, far)?;
        let near = open(&testbed.client, near)?;
        Ok(Tunnel {
            client: client.address,
            server: server.address,
            ends: [run(near, start), run(far, Instant::now())],
        })
    }

    /// Waits until both ends know the delay of each link, so that the tunnel is up before its
    /// traffic. Ignores links without a reply for `TIMEOUT` after `start`.
    pub(crate) fn wait(&self, start: Instant, links: usize) {
        let knows_all = |control: &Control| {
            let status = control.status();
            let known = status.peers.iter().flat_map(|peer| &peer.links);
            let known = known.filter(|link| link.sent.smoothed_round_trip.is_some());
            known.count() == links
        };
        while !self.ends.iter().all(|(control, _)| knows_all(control)) {
            let left = (start + TIMEOUT).saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            sleep(left.min(CHECK_INTERVAL));
        }
    }

    /// Stops both ends. Fails if one of them failed.
    pub(crate) fn stop(self) -> Result<(), Error> {
        for (control, thread) in self.ends {
            control.stop();
            let ended = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            ended.map_err(Error::TunnelEnded)?;
        }
        Ok(())
    }
}

/// Client and server address, of the paths' IP version.
fn addresses(outside: IpAddr) -> [Prefix; 2] {
    let texts = match outside {
        IpAddr::V4(_) => ["10.199.0.2/24", "10.199.0.1/24"],
        IpAddr::V6(_) => ["fd00:199::2/64", "fd00:199::1/64"],
    };
    texts.map(|text| text.parse().expect("an address with its prefix"))
}

fn config(
    (device, flow): (VirtualDevice, &Flow),
    testbed: &Testbed,
    secret: &SecretKey,
    role: Role,
    address: Prefix,
) -> Config {
    let mut config = Config::new(secret.clone(), role, vec![address]);
    let inside = flow.full_packet() - u64::from(flow.packet_overhead());
    config.interface.mtu = inside.try_into().ok();
    Config {
        scheduler: device.scheduler,
        naive: device.kind == Device::Naive,
        link_mtu: testbed.plan.mtu.try_into().unwrap_or(u16::MAX),
        ..config
    }
}

fn open(namespace: &Namespace, config: Config) -> Result<End, TunnelError> {
    namespace.run(|| End::open(config))
}

fn run(end: End, at: Instant) -> (Control, JoinHandle<io::Result<()>>) {
    let control = end.control();
    let carry = move || {
        sleep(at.saturating_duration_since(Instant::now()));
        end.run()
    };
    (control, thread::spawn(carry))
}
