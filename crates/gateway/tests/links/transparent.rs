//! A machine behind a router that redirects its connections to a proxy, by REDIRECT or by TPROXY.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use crate::network::{Namespace, Network, RELAY, is, with_links};
use crate::process::{Gateway, TIMEOUT};

/// The router's address in the machine's network.
const ROUTER: &str = "192.168.77.1";

/// Rules of a router: connections to these ports are redirected to the proxy. Nothing is forwarded.
const RULES: &str = "\
add table ip rope
add chain ip rope nat { type nat hook prerouting priority -100; }
add rule ip rope nat iifname lan tcp dport 8080-8084 redirect to :1090
add chain ip rope mangle { type filter hook prerouting priority -150; }
add rule ip rope mangle iifname lan tcp dport 8085-8089 tproxy to 127.0.0.1:1091 meta mark set 1 accept
";

/// A machine with a default route to the client; `None` without support for such rules.
fn machine(network: &Network) -> Option<Namespace> {
    let machine = Namespace::new();
    network.client.sh(&format!(
        "ip link add lan type veth peer name lan netns {}; ip addr add {ROUTER}/24 dev lan; ip link set lan up; \
         ip rule add fwmark 1 lookup 100; ip route add local default dev lo table 100",
        machine.pid()
    ));
    machine.sh(&format!(
        "ip addr add 192.168.77.2/24 dev lan; ip link set lan up; ip route add default via {ROUTER}"
    ));
    let rules = network.folder.path().join("rules");
    std::fs::write(&rules, RULES).unwrap();
    let mut nft: Command = network.client.command("nft");
    let done = nft.arg("-f").arg(rules).output();
    if !done.is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: it takes nft, and REDIRECT and TPROXY in the kernel");
        return None;
    }
    Some(machine)
}

fn pair(network: &Network) -> [Gateway; 2] {
    let relay = network.relay.gateway(&format!(
        "relay --listen 0.0.0.0:4433 --key {} --clients {} --allow own --control {}",
        network.file("relay.key"),
        network.file("clients"),
        network.file("relay.sock")
    ));
    relay.wait_for("relay listens on ");
    let proxy = network.client.gateway(&format!(
        "proxy --relay {RELAY}:4433 --relay-key {} --key {} --link one=link1 --listen 127.0.0.1:1080 \
         --redirect 0.0.0.0:1090 --tproxy 127.0.0.1:1091 --control {}",
        network.file("relay.pub"),
        network.file("van.key"),
        network.file("client.sock")
    ));
    proxy.wait_for("proxy listens on ");
    network.until("the link is up", "one", is("up"));
    [relay, proxy]
}

/// A connection of the machine; one that is reset at once may fail.
fn connect(machine: &Namespace, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = machine.in_thread(move || TcpStream::connect_timeout(&to, TIMEOUT))?;
    socket.set_read_timeout(Some(TIMEOUT))?;
    Ok(socket)
}

/// Returns how a connection of the machine ends that sends nothing.
fn end(machine: &Namespace, to: SocketAddr) -> Result<usize, ErrorKind> {
    let read = connect(machine, to).and_then(|mut socket| socket.read(&mut [0; 16]));
    read.map_err(|error| error.kind())
}

#[test]
fn router_redirects_connections_to_the_proxy() {
    let Some(network) = with_links(1) else { return };
    let Some(machine) = machine(&network) else {
        return;
    };
    let _ends = pair(&network);
    for (way, port, nobody) in [("REDIRECT", 8080, 8081), ("TPROXY", 8085, 8086)] {
        let target: SocketAddr = format!("{RELAY}:{port}").parse().unwrap();
        let listener = network
            .relay
            .in_thread(move || TcpListener::bind(target).unwrap());
        thread::spawn(move || {
            for mut socket in listener.incoming().map_while(Result::ok) {
                let mut back = socket.try_clone().unwrap();
                thread::spawn(move || std::io::copy(&mut socket, &mut back));
            }
        });
        let mut socket = connect(&machine, target).unwrap();
        socket.write_all(b"hello").unwrap();
        let mut back = [0; 5];
        socket.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"hello", "{way}");
        let status = network.status();
        let streams = status["associations"][0]["streams"].as_array().unwrap();
        let target = target.to_string();
        assert!(
            streams
                .iter()
                .any(|stream| stream["target"] == target.as_str()),
            "{way}: {status:#}"
        );
        // The program does not know of the proxy: a failure is a reset.
        let nobody = format!("{RELAY}:{nobody}").parse().unwrap();
        let failed = end(&machine, nobody);
        assert_eq!(failed, Err(ErrorKind::ConnectionReset), "{way}");
    }
    // The proxy refuses connections to its own address.
    let itself = format!("{ROUTER}:1090").parse().unwrap();
    assert!(!matches!(end(&machine, itself), Ok(1..)));
}
