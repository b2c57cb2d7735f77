//! Privileges of each running subcommand that was started by hand as root.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::network::{Network, RELAY, is, with_links};
use crate::process::Gateway;

/// Bits of capabilities (linux/capability.h).
const NET_BIND_SERVICE: u64 = 1 << 10;
const NET_ADMIN: u64 = 1 << 12;

/// Checks each thread of a gateway: only these capabilities, no new privileges, a filter of system calls, and
/// all IDs those of the user.
fn check(gateway: &Gateway, capabilities: u64, uid: u32) {
    let tasks = fs::read_dir(format!("/proc/{}/task", gateway.pid())).unwrap();
    let mut kept = 0;
    for task in tasks {
        let text = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let lines = text.lines().filter_map(|line| line.split_once(":\t"));
        let fields: HashMap<&str, &str> = lines.collect();
        let set = |name| u64::from_str_radix(fields[name], 16).unwrap();
        for name in ["CapEff", "CapPrm"] {
            assert_eq!(set(name) & !capabilities, 0, "{text}");
        }
        for name in ["CapInh", "CapBnd", "CapAmb"] {
            assert_eq!(set(name), 0, "{text}");
        }
        kept |= set("CapEff");
        assert_eq!(fields["NoNewPrivs"], "1", "{text}");
        assert_eq!(fields["Seccomp"], "2", "{text}");
        assert_eq!(
            fields["Uid"],
            [uid.to_string().as_str(); 4].join("\t"),
            "{text}"
        );
    }
    assert_eq!(kept, capabilities);
    let limits = fs::read_to_string(format!("/proc/{}/limits", gateway.pid())).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    assert!(core.unwrap().contains(" 0  "), "{limits}");
}

fn nobody() -> u32 {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let line = users
        .lines()
        .find(|line| line.starts_with("nobody:"))
        .unwrap();
    line.split(':').nth(2).unwrap().parse().unwrap()
}

/// Makes all files but the keys readable for every user.
fn publish(network: &Network) {
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(network.folder.path(), everybody).unwrap();
}

fn relay(network: &Network, more: &str) -> Gateway {
    let relay = network.relay.gateway(&format!(
        "relay --listen {RELAY}:443 --key {} --clients {} --allow loopback --control {} {more}",
        network.file("relay.key"),
        network.file("clients"),
        network.file("relay.sock")
    ));
    relay.wait_for("relay listens on");
    relay
}

fn proxy(network: &Network, more: &str) -> Gateway {
    let proxy = network.client.gateway(&format!(
        "proxy --listen 127.0.0.1:1080 --relay {RELAY}:443 --relay-key {} --key {} --control {} \
         --link one=link1,quota=1GB --link two=link2 --quota-state {} {more}",
        network.file("relay.pub"),
        network.file("van.key"),
        network.file("client.sock"),
        network.file("state/proxy.json")
    ));
    proxy.wait_for("proxy listens on");
    proxy
}

fn reload_clients(network: &Network, end: &Gateway) {
    let clients = fs::read_to_string(network.file("clients")).unwrap();
    let another = fs::read_to_string(network.file("relay.pub")).unwrap();
    // As editors do: a new file replaces the old one.
    let text = format!("{clients}{} addresses=10.9.0.9\n", another.trim());
    fs::write(network.file("clients.new"), text).unwrap();
    fs::rename(network.file("clients.new"), network.file("clients")).unwrap();
    end.reload();
    end.wait_for("reloaded: 2 clients");
}

#[test]
fn relay_and_proxy_keep_only_cap_net_bind_service() {
    let Some(network) = with_links(1) else { return };
    let (relay, proxy) = (relay(&network, ""), proxy(&network, ""));
    network.until("the first link", "one", is("up"));
    check(&relay, NET_BIND_SERVICE, 0);
    check(&proxy, 0, 0);
    network.add_link(2);
    network.until("a link that comes later", "two", is("up"));
    reload_clients(&network, &relay);
    proxy.reload();
    proxy.wait_for("reloaded: the same links");
}

#[test]
fn relay_and_proxy_of_another_user_follow_links_and_files() {
    let Some(network) = with_links(0) else { return };
    publish(&network);
    network.add_link(1);
    let (relay, proxy) = (
        relay(&network, "--user nobody"),
        proxy(&network, "--user nobody"),
    );
    network.until("the first link", "one", is("up"));
    check(&relay, NET_BIND_SERVICE, nobody());
    check(&proxy, 0, nobody());
    network.add_link(2);
    network.until("a link that comes later", "two", is("up"));
    reload_clients(&network, &relay);
    proxy.reload();
    proxy.wait_for("reloaded: the same links");
    assert!(proxy.terminate().success());
    let state = fs::read_to_string(network.file("state/proxy.json")).unwrap();
    assert!(state.contains("\"one\""), "{state}");
}

#[test]
fn tunnel_keeps_only_cap_net_admin() {
    let Some(network) = with_links(1) else { return };
    publish(&network);
    let hook = network.file("hook");
    let notes = network.file("notes");
    let text = format!(
        "#!/bin/sh\necho $1 $ROPEWALK_DEVICE $(id -u) $(grep CapEff /proc/self/status) >>{notes}\n"
    );
    fs::write(&hook, text).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let relay = network.start_relay();
    let words = format!(
        "--link one=link1,quota=1GB --link two=link2 --quota-state {} --hook {hook} --user nobody",
        network.file("state/tunnel.json")
    );
    let client = network.start_client(RELAY, &words);
    client.wait_for("is up");
    network.start_echo();
    network.until_echo();
    check(&relay, NET_ADMIN, 0);
    check(&client, NET_ADMIN, nobody());
    network.add_link(2);
    network.until("a link that comes later", "two", is("up"));
    reload_clients(&network, &relay);
    client.reload();
    client.wait_for("reloaded: links one, two");
    network.until_echo();
    assert!(client.terminate().success());
    let state = fs::read_to_string(network.file("state/tunnel.json")).unwrap();
    assert!(state.contains("\"one\""), "{state}");
    // The hook has all privileges of the tunnel's start.
    let own = fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find(|line| line.starts_with("CapEff"));
    let own = own.unwrap().replace('\t', " ");
    let log = fs::read_to_string(notes).unwrap();
    for verb in ["up", "down"] {
        let line = log.lines().find(|line| line.starts_with(verb));
        assert!(
            line.is_some_and(|line| line.ends_with(&format!(" 0 {own}"))),
            "{log}"
        );
    }
}

#[test]
fn resolver_thread_has_no_extra_privileges() {
    let Some(network) = with_links(1) else { return };
    let client = network.start_client("relay.invalid", "--link one=link1");
    client.wait_for("is up");
    network.until("the control socket answers", "one", |_| true);
    check(&client, NET_ADMIN, 0);
}
