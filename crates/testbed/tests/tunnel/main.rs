//! The tunnel between two network namespaces, over emulated links; as root.

mod addresses;
mod contracts;
mod naive;
mod path_mtu;
mod refused;
mod router;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use ropewalk_scenario::Scenario;
use ropewalk_testbed::{Emulator, Namespace, Testbed};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use socket2::{Domain, SockRef, Socket, Type};

const LINKS: &str = r#"
duration = "60 s"
[[link]]
name = "fast"
rate = "20 Mbit/s"
delay = "5 ms"
queue = "1 bdp"
[[link]]
name = "slow"
rate = "10 Mbit/s"
delay = "30 ms"
queue = "1 bdp"
[transport]
protocol = "mptcp"
"#;
/// Arguments of a gateway process, one per line.
const ARGUMENTS: &str = "ROPEWALK_GATEWAY_ARGUMENTS";
const RELAY: &str = "10.199.0.1";
const CLIENT: &str = "10.199.0.2";

fn skipped() -> bool {
    let why = if !geteuid().is_root() {
        "it takes root"
    } else if !Path::new("/dev/net/tun").exists() {
        "there is no /dev/net/tun"
    } else {
        return false;
    };
    eprintln!("skipped: {why}");
    true
}

fn network() -> (Testbed, Emulator) {
    let mut no_traces = |_: &str| Err("no traces here".to_owned());
    let scenario = Scenario::parse(LINKS, "links", &[], &mut no_traces).unwrap();
    let mut testbed = Testbed::build(&scenario).unwrap();
    let emulator = testbed.start(&scenario, 1, Instant::now(), None).unwrap();
    (testbed, emulator)
}

/// The gateway in its own process: this program again, as [`be_a_gateway`].
fn gateway(arguments: &[String]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["be_a_gateway", "--exact", "--nocapture"])
        .env(ARGUMENTS, arguments.join("\n"));
    command
}

/// A gateway when started by another test, otherwise nothing.
#[test]
fn be_a_gateway() {
    if let Ok(arguments) = std::env::var(ARGUMENTS) {
        let arguments = std::iter::once("ropewalk-gateway").chain(arguments.lines());
        std::process::exit(ropewalk_gateway::main(arguments).into());
    }
}

fn keys(folder: &Path, names: &[&str]) {
    for name in names {
        let name = folder.join(name).display().to_string();
        let made = gateway(&["keygen".to_owned(), name]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    let key = std::fs::read_to_string(folder.join("van.pub")).unwrap();
    let line = format!("{} addresses={CLIENT}\n", key.trim_end());
    std::fs::write(folder.join("clients"), line).unwrap();
}

fn start(namespace: &Namespace, arguments: &[String]) -> Child {
    let verb = ["--log", "warn", "tunnel"].map(str::to_owned);
    let mut command = gateway(&[&verb, arguments].concat());
    namespace.run(move || command.spawn()).unwrap()
}

/// A relay that admits `van`, and a client with this key; `options` are of both ends.
fn tunnel(testbed: &Testbed, folder: &Path, client_key: &str, options: &[&str]) -> [Child; 2] {
    let file = |name: &str| folder.join(name).display().to_string();
    let address = format!("{}:4433", testbed.plan.server);
    let arguments = |text: String| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let relay = arguments(format!(
        "--listen {address} --key {} --clients {} --address {RELAY}/24 --control {}",
        file("relay.key"),
        file("clients"),
        file("relay.socket")
    ));
    let mut client = arguments(format!(
        "--relay {address} --relay-key {} --key {} --address {CLIENT}/24 \
         --control {}",
        file("relay.pub"),
        file(client_key),
        file("client.socket")
    ));
    for (number, path) in testbed.plan.paths.iter().enumerate() {
        client.push(format!("--link=link{number}={}", path.client[0]));
    }
    let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    let (relay, client) = (
        [relay, options.clone()].concat(),
        [client, options].concat(),
    );
    let relay = start(&testbed.server, &relay);
    [relay, start(&testbed.client, &client)]
}

/// Connects from the device's own address: without the device, the network would route the
/// connection to the relay over a bare link.
fn connect(limit: Duration) -> Option<TcpStream> {
    let end = Instant::now() + limit;
    let from: SocketAddr = format!("{CLIENT}:0").parse().unwrap();
    let to: SocketAddr = format!("{RELAY}:5001").parse().unwrap();
    let try_once = || -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.bind(&from.into())?;
        socket.connect_timeout(&to.into(), Duration::from_secs(1))?;
        Ok(socket.into())
    };
    while Instant::now() < end {
        if let Ok(stream) = try_once() {
            return Some(stream);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    None
}

/// Checks that both ends terminate on request and the devices disappear.
fn end(testbed: &Testbed, ends: [Child; 2]) {
    for (mut child, namespace) in ends.into_iter().zip([&testbed.server, &testbed.client]) {
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert!(child.wait().unwrap().success());
        let devices = namespace.run(|| Command::new("ip").arg("link").output().unwrap().stdout);
        assert!(!String::from_utf8_lossy(&devices).contains("ropewalk"));
    }
}

/// Sends 3 MB through the tunnel and back with this congestion control; returns the packets of each
/// link in its busier direction.
fn echoed(congestion: &'static str) -> Vec<u64> {
    let folder = tempfile::tempdir().unwrap();
    let (testbed, emulator) = network();
    keys(folder.path(), &["relay", "van"]);
    let ends = tunnel(&testbed, folder.path(), "van.key", &[]);
    let pattern: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(n) >> 7) as u8)
        .collect();
    let expected = pattern.clone();
    let echo = testbed.server.spawn(|| {
        // The device may not have its address yet.
        let listener = TcpListener::bind("0.0.0.0:5001").unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        use_congestion_control(&stream, congestion);
        let mut buffer = vec![0; 65_536];
        let mut reader = stream.try_clone().unwrap();
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return,
                count => stream.write_all(&buffer[..count]).unwrap(),
            }
        }
    });
    let client = testbed.client.spawn(move || {
        let mut stream = connect(Duration::from_secs(30)).expect("the tunnel carries a connection");
        use_congestion_control(&stream, congestion);
        let mut writer = stream.try_clone().unwrap();
        let writing = std::thread::spawn(move || {
            writer.write_all(&pattern).unwrap();
            writer.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        writing.join().unwrap();
        back
    });
    let back = client.join().unwrap();
    assert!(back == expected, "{} bytes came back", back.len());
    echo.join().unwrap();
    end(&testbed, ends);
    let carried = emulator.stop().unwrap();
    let busiest = |hops: &[ropewalk_testbed::DirectionResult; 2]| {
        let packets = hops.iter().map(|hop| hop.after.delivered_packets);
        packets.max().unwrap_or(0)
    };
    carried.links.iter().map(busiest).collect()
}

/// The system's default differs between machines.
fn use_congestion_control(stream: &TcpStream, name: &str) {
    let socket = SockRef::from(stream);
    socket.set_tcp_congestion(name.as_bytes()).unwrap();
}

#[test]
fn a_connection_through_the_tunnel_is_whole_both_ways_and_uses_both_links() {
    if skipped() {
        return;
    }
    let packets = echoed("cubic");
    assert!(packets.iter().all(|&packets| packets > 100), "{packets:?}");
}

/// BBR's data in flight follows its lowest RTT, possibly of the fast link alone.
#[test]
fn a_connection_of_bbr_through_the_tunnel_is_whole_both_ways() {
    let available = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = std::fs::read_to_string(available).unwrap_or_default();
    if !available.split_whitespace().any(|name| name == "bbr") {
        eprintln!("skipped: there is no bbr");
        return;
    }
    if !skipped() {
        echoed("bbr");
    }
}

#[test]
fn unlisted_client_gets_no_reply() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (testbed, _emulator) = network();
    keys(folder.path(), &["relay", "van", "stranger"]);
    let ends = tunnel(&testbed, folder.path(), "stranger.key", &[]);
    let listening = testbed
        .server
        .run(|| TcpListener::bind("0.0.0.0:5001").unwrap());
    let connected = testbed.client.run(|| connect(Duration::from_secs(3)));
    assert!(connected.is_none());
    drop(listening);
    end(&testbed, ends);
}
