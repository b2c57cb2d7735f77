//! Bulk TCP flows in addition to the first flow: competitors, and bulk flows of `[[flow]]`.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use ropewalk_quantities::Time;
use ropewalk_scenario::{Scenario, Traffic};
use socket2::{Domain, Protocol, Socket, Type};

use crate::error::Error;
use crate::kernel;
use crate::network::Testbed;

/// Longest blocking call, so that the end of the run is noticed.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
const CHUNK: usize = 128 << 10;

#[derive(Debug)]
pub(crate) struct Competitors {
    flows: Vec<Flow>,
    stop: Arc<AtomicBool>,
    start: Instant,
}

#[derive(Debug)]
struct Flow {
    entry: usize,
    counts: Arc<Counts>,
    ends: [JoinHandle<()>; 2],
}

/// Result of one flow, defined as in the simulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlowResult {
    pub(crate) entry: usize,
    pub(crate) bytes: u64,
    /// 10^6 bit/s from its start or the end of the warm-up, the later of both, to the end of the
    /// run.
    pub(crate) goodput_mbps: f64,
}

#[derive(Debug, Default)]
struct Counts {
    before: AtomicU64,
    all: AtomicU64,
}

impl Competitors {
    /// Starts all flows; each begins to send at its own time after `start`. Fails if the kernel has
    /// no socket for them.
    pub(crate) fn start(
        scenario: &Scenario,
        testbed: &Testbed,
        start: Instant,
    ) -> Result<Competitors, Error> {
        let mut competitors = Competitors {
            flows: Vec::new(),
            stop: Arc::default(),
            start,
        };
        for (entry, flow) in scenario.flows.iter().enumerate().skip(1) {
            for number in 0..flow.count {
                let alone = flow.instance(number);
                let flow = competitors.flow(entry, &alone, scenario.warmup, testbed)?;
                competitors.flows.push(flow);
            }
        }
        Ok(competitors)
    }

    pub(crate) fn stop(self, scenario: &Scenario) -> Vec<FlowResult> {
        self.stop.store(true, Ordering::Relaxed);
        let now = Time::from_nanos(self.start.elapsed().as_nanos() as u64);
        let mut delivered = Vec::new();
        for flow in self.flows {
            let counts = &flow.counts;
            let bytes = counts.all.load(Ordering::Relaxed) - counts.before.load(Ordering::Relaxed);
            for end in flow.ends {
                if let Err(panic) = end.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            let from = scenario.flows[flow.entry].start.max(scenario.warmup);
            let seconds = now.saturating_sub(from).as_secs_f64();
            delivered.push(FlowResult {
                entry: flow.entry,
                bytes,
                goodput_mbps: if seconds > 0.0 {
                    bytes as f64 * 8.0 / seconds / 1e6
                } else {
                    0.0
                },
            });
        }
        delivered
    }

    fn flow(
        &self,
        entry: usize,
        competitor: &ropewalk_scenario::Flow,
        warmup: Time,
        testbed: &Testbed,
    ) -> Result<Flow, Error> {
        let congestion = kernel::congestion(competitor)?;
        let local = testbed.plan.paths[competitor.paths[0]].client[0];
        let remote = testbed.plan.server;
        let opened = testbed.server.run(move || {
            let socket = open(remote, congestion)?;
            socket.listen(1)?;
            Ok((socket.local_addr()?, socket))
        });
        let (to, listener) = opened.map_err(Error::Competitor)?;
        let client = testbed.client.run(move || open(local, congestion));
        let client = client.map_err(Error::Competitor)?;
        let counts = Arc::new(Counts::default());
        let until = |time: Time| self.start + Duration::from_nanos(time.as_nanos());
        let (begin, measured) = (until(competitor.start), until(warmup));
        let size = match competitor.traffic {
            Traffic::Bulk { size: Some(size) } => size.as_u64(),
            _ => u64::MAX,
        };
        let (at_client, at_server) = (Arc::clone(&self.stop), Arc::clone(&self.stop));
        let at_server_counts = Arc::clone(&counts);
        Ok(Flow {
            entry,
            ends: [
                testbed
                    .server
                    .spawn(move || receive(&listener, &at_server, measured, &at_server_counts)),
                testbed
                    .client
                    .spawn(move || send(client, &to.as_socket(), &at_client, begin, size)),
            ],
            counts,
        })
    }
}

fn open(address: IpAddr, congestion: &str) -> std::io::Result<Socket> {
    let domain = match address {
        IpAddr::V4(_) => Domain::IPV4,
        IpAddr::V6(_) => Domain::IPV6,
    };
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_tcp_congestion(congestion.as_bytes())?;
    socket.set_read_timeout(Some(CHECK_INTERVAL))?;
    socket.set_write_timeout(Some(CHECK_INTERVAL))?;
    // A reset, so that no connection outlives the run.
    socket.set_linger(Some(Duration::ZERO))?;
    socket.bind(&SocketAddr::new(address, 0).into())?;
    Ok(socket)
}

/// Sends `size` bytes from the given time, unless stopped.
fn send(mut socket: Socket, to: &Option<SocketAddr>, stop: &AtomicBool, begin: Instant, size: u64) {
    let Some(to) = *to else {
        return;
    };
    while !stop.load(Ordering::Relaxed) && Instant::now() < begin {
        sleep(CHECK_INTERVAL.min(begin.saturating_duration_since(Instant::now())));
    }
    while !stop.load(Ordering::Relaxed) {
        match socket.connect(&to.into()) {
            Err(error) if is_pause(&error) => {}
            Err(error) if error.raw_os_error() == Some(libc::EISCONN) => break,
            Ok(()) => break,
            Err(_) => return,
        }
    }
    let chunk = vec![0; CHUNK];
    let mut left = size;
    while left > 0 && !stop.load(Ordering::Relaxed) {
        match socket.write(&chunk[..CHUNK.min(left as usize)]) {
            Ok(taken) => left -= taken as u64,
            Err(error) if is_pause(&error) => {}
            Err(_) => return,
        }
    }
    // Written data have yet to arrive; a reset would discard them.
    while !stop.load(Ordering::Relaxed) {
        sleep(CHECK_INTERVAL);
    }
}

fn receive(listener: &Socket, stop: &AtomicBool, measured: Instant, counts: &Counts) {
    let mut accepted = None;
    let mut chunk = vec![0; CHUNK];
    while !stop.load(Ordering::Relaxed) {
        let Some(socket) = &mut accepted else {
            if let Ok((socket, _)) = listener.accept()
                && socket.set_read_timeout(Some(CHECK_INTERVAL)).is_ok()
            {
                accepted = Some(socket);
            }
            continue;
        };
        match Read::read(socket, &mut chunk) {
            Ok(0) => return,
            Ok(len) => {
                let all = counts.all.fetch_add(len as u64, Ordering::Relaxed) + len as u64;
                if Instant::now() < measured {
                    counts.before.store(all, Ordering::Relaxed);
                }
            }
            Err(error) if is_pause(&error) => {}
            Err(_) => return,
        }
    }
}

fn is_pause(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
        || matches!(
            error.raw_os_error(),
            Some(libc::EINPROGRESS | libc::EALREADY)
        )
}
