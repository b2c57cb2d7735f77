//! The gateway between client and server: a relay in one namespace and a proxy in the other.
//!
//! The client's program connects to the proxy on its loopback device, and the relay connects to the
//! server. The association has one TCP connection per path.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ropewalk_gateway::Link;
use ropewalk_gateway::classes::{Class, Classes, LONGEST};
use ropewalk_gateway::handshake::{AcceptSecurity, DialSecurity};
use ropewalk_gateway::keys::{Clients, SecretKey};
use ropewalk_gateway::programs::Programs;
use ropewalk_gateway::proxy;
use ropewalk_gateway::relay::{DefaultLimits, Relay, RelayConfig};
use ropewalk_gateway::target_rules::{Rule, Rules};
use ropewalk_gateway::uplink::{Uplink, UplinkConfig, link_number};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Scenario;
use ropewalk_striping::{CarrierId, Config};
use tokio::sync::oneshot;

use crate::error::Error;
use crate::links::links;
use crate::network::Testbed;
use crate::traffic::{Subflow, increase, mbps};

const PORT: u16 = 4433;
/// Sampling interval of the carriers, and so the longest unmeasured time of a replaced carrier.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A relay and a proxy, running until stopped.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) proxy: SocketAddr,
    relay: RuntimeThread<()>,
    near: RuntimeThread<Vec<CarrierCounts>>,
}

/// A thread with a Tokio runtime, which ends on request.
#[derive(Debug)]
struct RuntimeThread<T> {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<T>,
}

/// Counters of a path's carriers after the warm-up, and before.
#[derive(Clone, Debug, Default)]
struct CarrierCounts {
    before: Count,
    all: Count,
    srtt: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Bytes acknowledged by the other end of the association, headers included.
    acknowledged: u64,
    /// Payload retransmitted on another carrier.
    resent: u64,
    retransmissions: u64,
}

impl Gateway {
    /// Starts both; the carriers are dialled at `start`, when the client begins. Fails if no socket
    /// can listen in the namespaces, or there are no threads.
    pub(crate) fn start(
        association: Config,
        scenario: &Scenario,
        testbed: &Testbed,
        congestion: Option<&str>,
        start: Instant,
    ) -> Result<Gateway, Error> {
        let server = testbed.plan.server;
        let keys = Keys::new();
        let relay = RelayConfig {
            security: AcceptSecurity::Sealed {
                secret: keys.relay.clone(),
            },
            clients: keys.clients(),
            rules: Rules::new(vec![only(server)], Vec::new()),
            association: association.clone(),
            limits: DefaultLimits {
                associations: 4,
                streams: 64,
                memory: Bytes::from_mib(1024),
                ..DefaultLimits::default()
            },
            congestion: congestion.map(str::to_owned),
            tunnel: None,
        };
        let programs = Arc::new(Programs::new(false).map_err(Error::Gateway)?);
        let listener = listen(testbed, true, SocketAddr::new(server, PORT))?;
        let relay = run(testbed, true, async move |stop| {
            let listener = tokio::net::TcpListener::from_std(listener);
            let listener = listener.expect("in a runtime, and not blocking");
            let relay = Relay::new(relay, programs);
            tokio::select! {
                () = relay.serve(listener) => {}
                _ = stop => {}
            }
        })?;

        let near = UplinkConfig {
            relay: SocketAddr::new(server, PORT).into(),
            security: DialSecurity::Sealed {
                secret: keys.proxy,
                relay: keys.relay.public(),
            },
            association,
            congestion: congestion.map(str::to_owned),
            classes: match scenario.measured_flow().traffic.deadline() {
                Some(deadline) => Classes::all(Class::Streaming, deadline.min(LONGEST)),
                None => Classes::default(),
            },
        };
        let loopback = match server {
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::LOCALHOST),
        };
        let listener = listen(testbed, false, SocketAddr::new(loopback, 0))?;
        let proxy = listener.local_addr().map_err(Error::Gateway)?;
        let links: Vec<Link> = links(scenario, testbed).collect();
        let warmup = start + Duration::from_nanos(scenario.warmup.as_nanos());
        let near = run(testbed, false, async move |stop| {
            let listener = tokio::net::TcpListener::from_std(listener);
            let listener = listener.expect("in a runtime, and not blocking");
            tokio::time::sleep_until(start.into()).await;
            let uplink = Uplink::new(near);
            let numbers: Vec<u32> = links.iter().map(|link| link_number(&link.name)).collect();
            for link in links {
                uplink
                    .add_link(link)
                    .expect("paths have names of their own");
            }
            let counting = count(&uplink, &numbers, warmup, stop);
            tokio::select! {
                () = proxy::serve(uplink.clone(), listener) => Vec::new(),
                counted = counting => counted,
            }
        })?;
        Ok(Gateway { proxy, relay, near })
    }

    pub(crate) fn stop(self, scenario: &Scenario, measured: Time) -> Vec<Subflow> {
        let counted = self.near.end();
        self.relay.end();
        let span = measured.as_secs_f64();
        let paths = scenario.measured_flow().paths.iter().zip(counted);
        let subflows = paths.map(|(&path, counted)| {
            let (all, before) = (counted.all, counted.before);
            Subflow {
                link: scenario.paths[path].name.clone(),
                share: None,
                goodput_mbps: Some(mbps(all.acknowledged - before.acknowledged, span)),
                segments_sent: None,
                retransmissions: increase(Some(all.retransmissions), Some(before.retransmissions)),
                timeouts: None,
                spurious_retransmissions: None,
                resent_bytes: Some(all.resent - before.resent),
                srtt_ms: counted.srtt.map(Time::as_millis_f64),
            }
        });
        subflows.collect()
    }
}

impl<T> RuntimeThread<T> {
    fn end(self) -> T {
        let _ = self.stop.send(());
        let ended = self.thread.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

struct Keys {
    relay: SecretKey,
    proxy: SecretKey,
}

impl Keys {
    fn new() -> Keys {
        Keys {
            relay: SecretKey::generate(),
            proxy: SecretKey::generate(),
        }
    }

    fn clients(&self) -> Clients {
        Clients::of_one("testbed", self.proxy.public(), Vec::new())
    }
}

fn only(server: IpAddr) -> Rule {
    let text = match server {
        IpAddr::V4(server) => server.to_string(),
        IpAddr::V6(server) => format!("[{server}]"),
    };
    text.parse().expect("an address is a rule")
}

fn listen(testbed: &Testbed, at_server: bool, at: SocketAddr) -> Result<TcpListener, Error> {
    let namespace = if at_server {
        &testbed.server
    } else {
        &testbed.client
    };
    let listener = namespace.run(move || {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(Error::Gateway)
}

/// Runs a single-threaded runtime on a thread of the namespace, where all its threads must be.
fn run<T, F>(
    testbed: &Testbed,
    at_server: bool,
    task: impl FnOnce(oneshot::Receiver<()>) -> F + Send + 'static,
) -> Result<RuntimeThread<T>, Error>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let namespace = if at_server {
        &testbed.server
    } else {
        &testbed.client
    };
    let (stop, stopped) = oneshot::channel();
    let (ready, is_ready) = mpsc::channel();
    let thread = namespace.spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => {
                let _ = ready.send(Err(error));
                return None;
            }
        };
        let _ = ready.send(Ok(()));
        Some(runtime.block_on(task(stopped)))
    });
    let started: io::Result<()> = is_ready.recv().unwrap_or(Ok(()));
    started.map_err(Error::Gateway)?;
    let thread = std::thread::spawn(move || {
        let ended = thread.join();
        let ended = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        ended.expect("it said that it runs")
    });
    Ok(RuntimeThread { stop, thread })
}

async fn count(
    uplink: &Uplink,
    links: &[u32],
    warmup: Instant,
    mut stop: oneshot::Receiver<()>,
) -> Vec<CarrierCounts> {
    let mut carriers: BTreeMap<CarrierId, (u32, Count, Option<Time>)> = BTreeMap::new();
    let mut before = vec![Count::default(); links.len()];
    let mut is_warm = false;
    loop {
        let next = Instant::now() + CHECK_INTERVAL;
        let next = if is_warm { next } else { next.min(warmup) };
        let stopped = tokio::select! {
            () = tokio::time::sleep_until(next.into()) => false,
            _ = &mut stop => true,
        };
        for (id, statistics, tcp) in uplink.association().carriers() {
            let count = Count {
                acknowledged: statistics.acknowledged.as_u64(),
                resent: statistics.resent.as_u64(),
                retransmissions: tcp.map_or(0, |tcp| tcp.retransmissions),
            };
            carriers.insert(id, (statistics.link, count, statistics.srtt));
        }
        let sums = links.iter().map(|link| sum(&carriers, *link));
        if !is_warm && Instant::now() >= warmup {
            before = sums.clone().map(|(count, _)| count).collect();
            is_warm = true;
        }
        if stopped {
            let counted =
                sums.zip(before)
                    .map(|((all, srtt), before)| CarrierCounts { before, all, srtt });
            return counted.collect();
        }
    }
}

fn sum(
    carriers: &BTreeMap<CarrierId, (u32, Count, Option<Time>)>,
    link: u32,
) -> (Count, Option<Time>) {
    let of_link = carriers.values().filter(|(of, ..)| *of == link);
    of_link.fold((Count::default(), None), |(sum, _), (_, count, srtt)| {
        let sum = Count {
            acknowledged: sum.acknowledged + count.acknowledged,
            resent: sum.resent + count.resent,
            retransmissions: sum.retransmissions + count.retransmissions,
        };
        (sum, *srtt)
    })
}
