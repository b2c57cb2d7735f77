//! A relay that has public addresses, in a network namespace of its own.

use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::thread;

use crate::gateways::Gateways;

/// Set in the namespace.
const INSIDE: &str = "ROPEWALK_TEST_INSIDE";

/// Public addresses whose packets never leave the namespace.
const PUBLIC: [&str; 2] = ["5.6.7.8", "5.6.7.9"];

fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).output();
    assert!(done.unwrap().status.success(), "ip {arguments}");
}

#[test]
fn rule_public_excludes_the_relays_own_addresses() {
    if std::env::var_os(INSIDE).is_none() {
        let can = Command::new("unshare").args(["-n", "ip", "link"]).output();
        if !can.is_ok_and(|done| done.status.success()) {
            eprintln!("skipped: a network namespace takes root, unshare and ip");
            return;
        }
        let name = "public_relay::rule_public_excludes_the_relays_own_addresses";
        let inside = Command::new("unshare")
            .arg("-n")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&inside.stdout);
        assert!(inside.status.success(), "{message}");
        return;
    }
    ip("link set lo up");
    for address in PUBLIC {
        ip(&format!("address add {address}/24 dev lo"));
    }
    let targets = PUBLIC.map(|address| {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let at: SocketAddr = listener.local_addr().unwrap();
        thread::spawn(move || listener.incoming().count());
        at
    });
    let not_allowed = 2;
    let gateways = Gateways::new(&["--allow", "public", "--allow", "private"]);
    for target in targets {
        assert_eq!(
            gateways.connect(target).err(),
            Some(not_allowed),
            "{target}"
        );
    }
    // The relay detects later addresses as well.
    ip("address add 5.6.8.1/32 dev lo");
    let later = TcpListener::bind("5.6.8.1:0").unwrap();
    let later = later.local_addr().unwrap();
    assert_eq!(gateways.connect(later).err(), Some(not_allowed));

    let gateways = Gateways::new(&["--allow", "own"]);
    for target in targets {
        assert!(gateways.connect(target).is_ok(), "{target}");
    }
}
