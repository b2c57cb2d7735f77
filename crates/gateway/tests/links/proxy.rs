//! A proxy whose links change their addresses, go down and up, or are all absent.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::network::{Network, RELAY, is, with_links};
use crate::process::{Gateway, TIMEOUT, until};

fn pair(network: &Network, links: &str) -> [Gateway; 2] {
    let relay = network.relay.gateway(&format!(
        "relay --listen 0.0.0.0:4433 --key {} --clients {} --allow private --allow own --control {}",
        network.file("relay.key"),
        network.file("clients"),
        network.file("relay.sock")
    ));
    relay.wait_for("relay listens on ");
    let proxy = network.client.gateway(&format!(
        "proxy --relay {RELAY}:4433 --relay-key {} --key {} {links} --quota-state {} \
         --listen 127.0.0.1:1080 --control {}",
        network.file("relay.pub"),
        network.file("van.key"),
        network.file("quota.json"),
        network.file("client.sock")
    ));
    proxy.wait_for("proxy listens on ");
    [relay, proxy]
}

#[test]
fn carriers_reconnect_when_links_return() {
    let Some(network) = with_links(0) else { return };
    network.add_link(2);
    let _ends = pair(&network, "--link one=link1 --link two=link2");
    network.until("the link that is there", "two", is("up"));
    network.add_link(1);
    network.until("an interface that was missing", "one", is("up"));
    network.remove_address(1, 2);
    network.add_address(1, 3);
    network.client.sh("ip link del link2");
    network.add_link(2);
    network.until("a new address", "one", is("up"));
    network.until("an interface made anew", "two", is("up"));
}

/// Returns the bytes that an interface has carried in both directions (/proc/net/dev, proc_net(5)).
fn carried(network: &Network, interface: &str) -> u64 {
    // The reader's own thread, and therefore its namespace.
    let path = "/proc/thread-self/net/dev";
    let table = network.client.command("cat").arg(path).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    let mut lines = table.lines();
    let line = lines.find_map(|line| line.trim().strip_prefix(&format!("{interface}:")));
    let columns = line.unwrap().split_whitespace();
    let columns: Vec<u64> = columns.map(|column| column.parse().unwrap()).collect();
    columns[0] + columns[8]
}

/// Starts an endless download through the proxy, 20 kB at a time with a pause after each; returns the received bytes.
fn download(network: &Network, pause: Duration) -> Arc<AtomicU64> {
    let listener = network
        .relay
        .in_thread(|| TcpListener::bind((RELAY, 8080)).unwrap());
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                while socket.write_all(&[7; 20_000]).is_ok() {
                    thread::sleep(pause);
                }
            });
        }
    });
    let mut socket = network
        .client
        .in_thread(|| TcpStream::connect("127.0.0.1:1080").unwrap());
    socket
        .write_all(b"\x05\x01\x00\x05\x01\x00\x01\x0a\x63\x00\x01\x1f\x90")
        .unwrap();
    let received = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&received);
    thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(len @ 1..) = socket.read(&mut buffer) {
            counter.fetch_add(len as u64, Ordering::SeqCst);
        }
    });
    received
}

#[test]
fn backup_carries_data_only_while_the_primary_is_down() {
    let Some(network) = with_links(2) else { return };
    let links = "--link one=link1 --link two=link2,quota=1GB,rank=backup";
    let [_relay, proxy] = pair(&network, links);
    proxy.wait_for("link one: up");
    // 2 MB/s. The other interface carries only neighbour discovery and group queries.
    let received = download(&network, Duration::from_millis(10));
    let received_bytes = || received.load(Ordering::SeqCst);
    until("4 MB", || received_bytes() > 4_000_000);
    let idle = carried(&network, "link2");
    println!("backup's interface while the primary lives: {idle} bytes");
    assert!(idle < 5_000, "{idle}");
    assert!(!proxy.log().contains("link two: up"));
    // Drops everything silently: frames have an unused destination address.
    let set_blocked = |is_blocked: bool| {
        for (end, other) in [
            (&network.client, "10.71.1.1"),
            (&network.relay, "10.71.1.2"),
        ] {
            end.sh(&match is_blocked {
                true => format!(
                    "ip neigh replace {other} lladdr 02:00:00:00:00:99 nud permanent dev link1"
                ),
                false => format!("ip neigh del {other} dev link1"),
            });
        }
    };
    set_blocked(true);
    until("the backup is used", || {
        carried(&network, "link2") > idle + 20_000
    });
    let before = received_bytes();
    until("1 MB by the backup", || {
        received_bytes() > before + 1_000_000
    });
    set_blocked(false);
    until("the backup is left", || {
        proxy.log().contains("link two: left")
    });
    network.until("its state", "two", is("down"));
    let used = carried(&network, "link2");
    let before = received_bytes();
    until("1 MB by the primary", || {
        received_bytes() > before + 1_000_000
    });
    let more = carried(&network, "link2") - used;
    assert!(more < 5_000, "{more}");
    // The proxy counts all bytes of the interface except neighbour discovery and Ethernet headers.
    let status = network.status();
    let links = status["associations"][0]["links"].as_array().unwrap();
    let two = links.iter().find(|link| link["name"] == "two").unwrap();
    let counted = two["used_bytes"].as_u64().unwrap();
    println!("interface {used}, counted {counted}");
    let difference = used.abs_diff(counted) as f64 / used as f64;
    assert!(difference < 0.05, "{used} {counted}");
}

#[test]
fn quota_with_even_pace_lasts_its_period() {
    let Some(network) = with_links(2) else { return };
    for link in ["link1", "link2"] {
        let rule = format!("qdisc add dev {link} root tbf rate 20mbit burst 20kb latency 30ms");
        let made = network.relay.command("tc").args(rule.split(' ')).status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: tc makes no tbf here, and one link alone has room for everything");
            return;
        }
    }
    const QUOTA: u64 = 10_000_000;
    const PERIOD: Duration = Duration::from_secs(10);
    let links = "--link one=link1 --link two=link2,quota=10MB,period=10s,pace=even";
    let [_relay, proxy] = pair(&network, links);
    proxy.wait_for("link one: up");
    let _received = download(&network, Duration::ZERO);
    let used = || {
        let status = network.status();
        let links = status["associations"][0]["links"].as_array()?;
        let two = links.iter().find(|link| link["name"] == "two")?;
        two["used_bytes"].as_u64()
    };
    // Until a period is over, and then through the next, whose beginning is known.
    let until_over = || {
        let (mut most, mut nearly_used) = (0, None);
        let begin = Instant::now();
        loop {
            assert!(
                begin.elapsed() < TIMEOUT,
                "no period ends: {most} bytes used"
            );
            let now = used().unwrap_or(0);
            if now + QUOTA / 2 < most {
                return (most, nearly_used, Instant::now());
            }
            most = most.max(now);
            if most >= QUOTA / 100 * 97 {
                nearly_used.get_or_insert_with(Instant::now);
            }
            thread::sleep(Duration::from_millis(50));
        }
    };
    let (_, _, began) = until_over();
    let (most, nearly_used, over) = until_over();
    println!("{most} of {QUOTA} bytes in {:?}", over - began);
    assert!(
        (QUOTA / 100 * 97..=QUOTA / 100 * 103).contains(&most),
        "{most}"
    );
    let nearly_used = nearly_used.expect("97 % were used") - began;
    println!("97 % after {nearly_used:?}");
    assert!(nearly_used > PERIOD * 9 / 10, "{nearly_used:?}");
}
