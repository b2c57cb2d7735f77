//! A run: namespaces, links, traffic and results.

use std::net::IpAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ropewalk_capture::ObservationPoint;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Protocol, Scenario};

use crate::address_plan::AddressPlan;
use crate::capture::Tap;
use crate::competitors::Competitors;
use crate::counters::Counters;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::kernel;
use crate::machine::{Reading, Waits};
use crate::network::Testbed;
use crate::report::{PerEnd, Report, RunMeasurements};
use crate::request::{EmulatorKind, Request};
use crate::traffic::{self, Session, SocketProtocol};
use crate::tunnel::Tunnel;

/// Datagrams later than this beyond the links' delays are lost.
const TIMEOUT: Time = Time::from_secs(2);

const BEFORE_START: Duration = Duration::from_millis(50);

/// Runs a scenario on the kernel's TCP or MPTCP, over emulated links between new namespaces. These
/// are removed when it returns or the process ends in any way.
///
/// It takes the scenario's duration. Without root, call [`acquire`](crate::acquire) first. Fails if
/// the scenario is invalid or unsupported, the system reports an error, or the connection gives no
/// results.
pub fn run_scenario(request: &Request) -> Result<Report, Error> {
    let scenario = request.parse()?;
    let step = request.timeline_step(scenario.duration)?;
    kernel::check(&scenario)?;
    let congestion = congestion(&scenario, request)?;
    let named = congestion.as_deref();
    let tap = tap(request, &scenario)?;
    let (mut testbed, tc) = match request.emulator {
        EmulatorKind::Own => (Testbed::build(&scenario)?, None),
        EmulatorKind::Netem => {
            let (testbed, lines) = Testbed::build_netem(&scenario)?;
            (testbed, Some(lines))
        }
    };

    let before = counters(&testbed)?;
    let machine_before = Reading::now();
    let start = Instant::now() + BEFORE_START;
    let emulator = match request.emulator {
        EmulatorKind::Own => Some(testbed.start(&scenario, request.seed, start, tap)?),
        EmulatorKind::Netem => None,
    };
    let gateway = match scenario.measured_flow().protocol.aggregation() {
        Some(aggregation) => {
            let association = aggregation.association(&scenario.measured_flow().transport);
            let gateway = Gateway::start(association, &scenario, &testbed, named, start);
            Some(gateway?)
        }
        None => None,
    };
    let tunnel = match scenario.measured_flow().protocol.device() {
        Some(device) => Some(Tunnel::start(device, &scenario, &testbed, start)?),
        None => None,
    };
    let mut plan = traffic_plan(&scenario, request.seed, &testbed.plan, named, step);
    if let Some(gateway) = &gateway {
        plan.proxy = Some(gateway.proxy);
        without_path(&mut plan, gateway.proxy.ip());
    }
    if let Some(tunnel) = &tunnel {
        without_path(&mut plan, tunnel.client);
        plan.paths[0].server = tunnel.server;
    }
    let competitors = Competitors::start(&scenario, &testbed, start)?;
    if let Some(tunnel) = &tunnel {
        tunnel.wait(start, scenario.measured_flow().paths.len());
    }
    let session = Arc::new(Session::new(plan, start));
    let (at_client, at_server) = (Arc::clone(&session), Arc::clone(&session));
    let server = testbed
        .server
        .spawn(move || (traffic::run_server(&at_server), Waits::of_this_thread()));
    let client = testbed
        .client
        .spawn(move || (traffic::run_client(&at_client), Waits::of_this_thread()));
    let ((client, waits_of_client), (server, waits_of_server)) = (joined(client), joined(server));
    let ended = waits_of_client.zip(waits_of_server);
    let ended = ended.map(|(client, server)| client.and(server));
    let machine_after = Reading::now();
    let others = competitors.stop(&scenario);
    let carried = emulator.map(|emulator| emulator.stop()).transpose();
    let carried = carried.map_err(Error::Emulator)?;
    let waits = carried.as_ref().and_then(|carried| carried.waits);
    let machine = machine_after.since(&machine_before, waits, ended);
    let mut traffic = traffic::outcome(&session, client, server)?;
    if let Some(gateway) = gateway {
        let lasted = Time::from_secs_f64(traffic.duration_s);
        traffic.subflows = gateway.stop(&scenario, lasted.saturating_sub(scenario.warmup));
    }
    if let Some(tunnel) = tunnel {
        tunnel.stop()?;
    }
    let after = counters(&testbed)?;
    let measured = RunMeasurements {
        traffic,
        others,
        carried,
        tc,
        counters: PerEnd {
            client: after.client.since(&before.client),
            server: after.server.since(&before.server),
        },
        drops: testbed.drops(),
        machine,
        congestion,
        histogram: request.histogram,
    };
    Ok(Report::new(&scenario, request.seed, measured))
}

/// Congestion control by the kernel's name; none for datagrams.
fn congestion(scenario: &Scenario, request: &Request) -> Result<Option<String>, Error> {
    let flow = scenario.measured_flow();
    let asked = &request.kernel_congestion;
    let name = match (&flow.protocol, asked) {
        (Protocol::Udp, None) => return Ok(None),
        (Protocol::Udp, Some(name)) => {
            return Err(Error::Unsupported {
                key: "kernel_congestion".to_owned(),
                value: format!("{name:?}"),
                reason: "nothing controls datagrams".to_owned(),
                allowed: format!("a {} other than \"udp\"", flow.key("protocol")),
            });
        }
        (_, Some(name)) => name.clone(),
        (_, None) => kernel::congestion(flow)?.to_owned(),
    };
    kernel::check_congestion(asked.is_some(), &name)?;
    Ok(Some(name))
}

fn tap(request: &Request, scenario: &Scenario) -> Result<Option<Tap>, Error> {
    let Some(path) = &request.capture else {
        return Ok(None);
    };
    if request.emulator == EmulatorKind::Netem {
        return Err(Error::Unsupported {
            key: "capture".to_owned(),
            value: format!("{path:?}"),
            reason: "netem shows nobody its packets".to_owned(),
            allowed: "emulator = \"own\"".to_owned(),
        });
    }
    let place = request.capture_at.as_deref().unwrap_or("sender");
    let place = ObservationPoint::parse(place, scenario)?;
    let title = format!("{}, testbed, seed {}", scenario.title, request.seed);
    Ok(Some(Tap::create(path, place, scenario, &title)?))
}

fn traffic_plan(
    scenario: &Scenario,
    seed: u64,
    plan: &AddressPlan,
    congestion: Option<&str>,
    step: Option<Time>,
) -> traffic::ConnectionPlan {
    let flow = scenario.measured_flow();
    let first = (plan.paths[plan.default_path].client[0], plan.default_path);
    let ends = std::iter::once(&first).chain(&plan.endpoints);
    let paths = ends.map(|&(client, path)| traffic::PathEnds {
        name: scenario.paths[path].name.clone(),
        client,
        server: plan.server,
        device: None,
    });
    let protocol = match flow.protocol {
        Protocol::Mptcp | Protocol::MptcpNs3 => SocketProtocol::Mptcp,
        Protocol::Udp => SocketProtocol::Udp,
        _ => SocketProtocol::Tcp,
    };
    traffic::ConnectionPlan {
        name: flow.stream(0),
        seed,
        congestion: congestion.map(str::to_owned),
        segment: flow.transport.segment,
        warmup: scenario.warmup,
        step,
        nagle: flow.transport.nagle,
        datagrams: (flow.protocol == Protocol::Udp).then(|| datagram_settings(scenario)),
        // The namespaces' limits bound the buffers.
        ..traffic::ConnectionPlan::new(
            protocol,
            flow.traffic.clone(),
            scenario.duration,
            paths.collect(),
        )
    }
}

/// Link parameters for a sender of datagrams on the first flow's path.
fn datagram_settings(scenario: &Scenario) -> traffic::DatagramSettings {
    let flow = scenario.measured_flow();
    let hops = &scenario.paths[flow.paths[0]].hops;
    let links = hops.iter().map(|hop| &scenario.links[*hop]);
    let delays = links.map(|link| link.forward.delay);
    traffic::DatagramSettings {
        first: scenario.links[hops[0]].clone(),
        headers: flow.datagram_headers(),
        silence_timeout: delays.fold(TIMEOUT, |sum, delay| sum + delay),
    }
}

/// Makes the connection start from this address, without a path of its own.
fn without_path(plan: &mut traffic::ConnectionPlan, client: IpAddr) {
    plan.paths.truncate(1);
    plan.paths[0].client = client;
}

fn counters(testbed: &Testbed) -> Result<PerEnd<Counters>, Error> {
    Ok(PerEnd {
        client: testbed.client.run(Counters::read)?,
        server: testbed.server.run(Counters::read)?,
    })
}

fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
