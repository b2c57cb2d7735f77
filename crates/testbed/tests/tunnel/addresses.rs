//! Addresses within the tunnel.

use std::net::{IpAddr, UdpSocket};
use std::process::Command;
use std::thread::JoinHandle;

use ropewalk_gateway::keys::{Clients, PublicKey, SecretKey};
use ropewalk_gateway::tunnel::{Config, Control, Refusal, Role, Tunnel};
use ropewalk_testbed::Namespace;

use super::refused::until;
use super::skipped;

const RELAY: &str = "10.55.1.1:4434";
const OWN: [&str; 2] = ["10.199.0.2", "fd00:199::2"];

/// Two namespaces with a veth pair, the relay's first.
fn network() -> [Namespace; 2] {
    let [relay, client] = ["relay", "client"].map(|name| Namespace::create(name).unwrap());
    let peer = client.thread_id().to_string();
    let cable = "link add near type veth peer name near netns";
    let arguments: Vec<String> = cable.split(' ').map(str::to_owned).chain([peer]).collect();
    relay.run(move || ip(arguments));
    for (namespace, address) in [(&relay, "10.55.1.1/24"), (&client, "10.55.1.2/24")] {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for arguments in [
            words("link set lo up"),
            words(&format!("address add {address} dev near")),
            words("link set near up"),
        ] {
            namespace.run(move || ip(arguments));
        }
    }
    [relay, client]
}

fn ip(arguments: Vec<String>) {
    let done = Command::new("ip").args(&arguments).output().unwrap();
    assert!(done.status.success(), "ip {arguments:?}: {done:?}");
}

fn run(namespace: &Namespace, config: Config) -> (Control, JoinHandle<()>) {
    let tunnel = namespace.run(|| Tunnel::open(config)).unwrap();
    let control = tunnel.control();
    (control, std::thread::spawn(|| tunnel.run().unwrap()))
}

fn dial(secret: &SecretKey, relay: PublicKey, addresses: &[&str]) -> Config {
    let role = Role::Dial {
        relays: vec![RELAY.parse().unwrap()],
        key: relay,
        links: vec!["near=near".parse().unwrap()],
    };
    let prefix = |ip: &&str| match ip.contains(':') {
        true => format!("{ip}/64"),
        false => format!("{ip}/24"),
    };
    let addresses = addresses.iter().map(|ip| prefix(ip).parse().unwrap());
    Config::new(secret.clone(), role, addresses.collect())
}

#[test]
fn a_client_has_its_own_addresses_and_nobody_else_s() {
    if skipped() {
        return;
    }
    let [relay_side, client_side] = network();
    let [relay, van, thief] = [(); 3].map(|()| SecretKey::generate());
    let list = format!(
        "ropewalk-public-key {} van addresses={}\nropewalk-public-key {} thief addresses=10.199.0.3\n",
        van.public(),
        OWN.join(","),
        thief.public(),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clients");
    std::fs::write(&path, list).unwrap();
    let clients = Clients::read(&path).unwrap();
    let listen = |addresses: &[&str]| {
        let at = RELAY.parse().unwrap();
        let clients = clients.clone();
        let addresses = addresses.iter().map(|ip| ip.parse().unwrap()).collect();
        Config::new(relay.clone(), Role::Listen { at, clients }, addresses)
    };
    let taken = listen(&["10.199.0.1/24", "10.199.0.3/24"]);
    let error = relay_side.run(|| Tunnel::open(taken)).err().unwrap();
    let said = error.to_string();
    assert!(
        said.contains("thief") && said.contains("10.199.0.3"),
        "{said}"
    );

    let config = listen(&["10.199.0.1/24", "fd00:199::1/64"]);
    let (relay_control, relay_runs) = run(&relay_side, config);
    let is_open = |control: &Control| control.status().peers.iter().any(|peer| peer.open);

    for (times, foreign) in (1..).zip([OWN[0], "10.199.0.1", "8.8.8.8"]) {
        let config = dial(&thief, relay.public(), &["10.199.0.3", foreign]);
        let (control, runs) = run(&client_side, config);
        let refused = |control: &Control, why| control.status().refused.of(why);
        until("it is told", || {
            refused(&control, Refusal::RefusedByRelay) > 0
        });
        assert!(refused(&relay_control, Refusal::ForeignAddress) >= times);
        assert!(!is_open(&control) && !is_open(&relay_control), "{foreign}");
        control.stop();
        runs.join().unwrap();
    }

    for _ in 0..2 {
        let (control, runs) = run(&client_side, dial(&van, relay.public(), &OWN));
        until("the client comes in", || {
            is_open(&control) && is_open(&relay_control)
        });
        for (own, far) in OWN.into_iter().zip(["10.199.0.1", "fd00:199::1"]) {
            let echo = relay_side.run(move || UdpSocket::bind((far, 7)).unwrap());
            let near = client_side.run(move || UdpSocket::bind((own, 0)).unwrap());
            near.connect((far, 7)).unwrap();
            let limit = Some(std::time::Duration::from_secs(20));
            echo.set_read_timeout(limit).unwrap();
            near.set_read_timeout(limit).unwrap();
            near.send(b"hello").unwrap();
            let mut buffer = [0; 16];
            let (len, from) = echo.recv_from(&mut buffer).unwrap();
            assert_eq!(from.ip(), own.parse::<IpAddr>().unwrap());
            echo.send_to(&buffer[..len], from).unwrap();
            assert_eq!(near.recv(&mut buffer).unwrap(), 5);
        }
        control.stop();
        runs.join().unwrap();
        until("the relay lets it out", || !is_open(&relay_control));
    }
    relay_control.stop();
    relay_runs.join().unwrap();
}
