//! Traffic between two existing network namespaces, with results as JSON.
//!
//! ```text
//! ip netns add c; ip netns add s
//! ip link add v0 netns c type veth peer name v0 netns s
//! ip -n c addr add 10.0.0.1/24 dev v0; ip -n c link set v0 up
//! ip -n s addr add 10.0.0.2/24 dev v0; ip -n s link set v0 up
//! cargo run --release -p ropewalk-testbed --example traffic -- \
//!     client=c server=s path=v0,10.0.0.1,10.0.0.2 size=4GB congestion=cubic
//! ```

use std::error::Error;
use std::fs::File;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_scenario::{Spacing, Traffic};
use ropewalk_testbed::counters::Counters;
use ropewalk_testbed::traffic::{
    ConnectionPlan, PathEnds, Session, SocketProtocol, outcome, run_client, run_server,
};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use rustix::time::{ClockId, clock_gettime};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let Some((plan, [client, server])) = arguments(std::env::args().skip(1))? else {
        println!("{USAGE}");
        return Ok(());
    };
    let session = Session::new(plan, Instant::now() + Duration::from_millis(100));
    let (client, server) = thread::scope(|scope| {
        let server = scope.spawn(|| inside(server.as_deref(), || run_server(&session)));
        let client = scope.spawn(|| inside(client.as_deref(), || run_client(&session)));
        (client.join(), server.join())
    });
    let client = client.map_err(|_| "the client panicked")??;
    let server = server.map_err(|_| "the server panicked")??;
    let result = outcome(&session, client, server)?;
    println!("{}", serde_json::to_string_pretty(&result)?);
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    let spent = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
    let gigabytes = result.delivered_bytes as f64 / 1e9;
    eprintln!("{:.3} CPU-s, {:.3} a GB", spent, spent / gigabytes);
    Ok(())
}

const USAGE: &str = "arguments, each key=value:
  path=NAME,CLIENT-ADDRESS,SERVER-ADDRESS   as often as there are paths
  client=NAMESPACE server=NAMESPACE         of ip-netns(8); default: this one
  protocol=tcp|mptcp congestion=NAME        default: tcp, cubic
  size=BYTES                                bulk; without it until the duration ends
  cbr=RATE poisson=RATE message=BYTES       instead of bulk
  duration=TIME warmup=TIME step=TIME       default: 10s, 0s, none
  send_buffer=BYTES receive_buffer=BYTES unsent=BYTES device=NAME";

/// Runs in the namespace of that name, and prints its counters to standard error.
fn inside<T>(namespace: Option<&str>, run: impl FnOnce() -> T) -> Result<T, Failure> {
    if let Some(name) = namespace {
        let namespace = File::open(format!("/run/netns/{name}"))?;
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    }
    let before = Counters::read()?;
    let result = run();
    eprintln!(
        "{}: {:?}",
        namespace.unwrap_or("here"),
        Counters::read()?.since(&before)
    );
    Ok(result)
}

type Namespaces = [Option<String>; 2];

fn arguments(
    given: impl Iterator<Item = String>,
) -> Result<Option<(ConnectionPlan, Namespaces)>, Failure> {
    let mut namespaces: Namespaces = [None, None];
    let (mut size, mut rate, mut poisson) = (None, None, false);
    let (mut message, mut device) = (Bytes::new(200), None);
    let mut plan = ConnectionPlan {
        congestion: Some("cubic".to_owned()),
        ..ConnectionPlan::new(
            SocketProtocol::Tcp,
            Traffic::Bulk { size: None },
            Time::from_secs(10),
            Vec::new(),
        )
    };
    for argument in given {
        let (key, value) = argument.split_once('=').ok_or(USAGE)?;
        match key {
            "path" => {
                let parts: Vec<&str> = value.split(',').collect();
                let &[name, client, server] = &parts[..] else {
                    return Err(USAGE.into());
                };
                plan.paths.push(PathEnds {
                    name: name.to_owned(),
                    client: client.parse()?,
                    server: server.parse()?,
                    device: None,
                });
            }
            "client" => namespaces[0] = Some(value.to_owned()),
            "server" => namespaces[1] = Some(value.to_owned()),
            "protocol" if value == "tcp" => plan.protocol = SocketProtocol::Tcp,
            "protocol" if value == "mptcp" => plan.protocol = SocketProtocol::Mptcp,
            "congestion" => plan.congestion = Some(value.to_owned()),
            "size" => size = Some(value.parse::<Bytes>()?),
            "cbr" | "poisson" => {
                rate = Some(value.parse::<Rate>()?);
                poisson = key == "poisson";
            }
            "message" => message = value.parse()?,
            "duration" => plan.duration = value.parse()?,
            "warmup" => plan.warmup = value.parse()?,
            "step" => plan.step = Some(value.parse()?),
            "send_buffer" => plan.send_buffer = Some(value.parse()?),
            "receive_buffer" => plan.receive_buffer = Some(value.parse()?),
            "unsent" => plan.unsent = Some(value.parse::<Bytes>()?.as_u64() as u32),
            "device" => device = Some(value.to_owned()),
            _ => return Err(USAGE.into()),
        }
    }
    let Some(first) = plan.paths.first_mut() else {
        return Ok(None);
    };
    first.device = device;
    plan.traffic = match rate {
        None => Traffic::Bulk { size },
        Some(rate) => Traffic::Messages {
            spacing: match poisson {
                true => Spacing::Exponential,
                false => Spacing::Constant,
            },
            rate,
            deadline: None,
            message,
        },
    };
    Ok(Some((plan, namespaces)))
}
