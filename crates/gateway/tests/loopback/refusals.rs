//! Who and what is refused, and in which words.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use crate::world::{World, echo, patient, start_proxy};

#[test]
fn targets_outside_the_rules_are_refused() {
    let target = echo();
    let allowed = format!("127.0.0.1:{}", target.port());
    let world = World::new(&["--allow", &allowed]);
    assert!(world.connect(target).is_ok());
    // RFC 1928: not allowed by ruleset.
    let other: SocketAddr = "127.0.0.1:1".parse().unwrap();
    assert_eq!(world.connect(other).err(), Some(2));
    assert_eq!(world.connect(other).err(), Some(2));
    let log = world.relay.log();
    assert_eq!(
        log.matches("not allowed by the relay's rules").count(),
        1,
        "{log}"
    );

    let world = World::new(&["--allow", "loopback"]);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = nobody.local_addr().unwrap();
    drop(nobody);
    assert_eq!(world.connect(closed).err(), Some(5));
}

#[test]
fn strangers_are_refused_and_logged_once() {
    let world = World::new(&["--allow", "loopback"]);
    let folder = world.folder.path();
    let made = Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"))
        .arg("keygen")
        .arg(folder.join("stranger"))
        .output();
    assert!(made.unwrap().status.success());
    let stranger = start_proxy(folder, world.relay_at, "stranger");
    stranger.wait_for("link l2 (127.0.0.2): ");
    world.relay.wait_for("is none of an allowed client");
    // It dials every 250 ms.
    for _ in 0..20 {
        let mut socket = patient(TcpStream::connect(world.relay_at).unwrap());
        socket.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut nothing = Vec::new();
        // Closed or reset, and never a byte.
        let _ = socket.read_to_end(&mut nothing);
        assert_eq!(nothing, b"");
    }
    let log = world.relay.log();
    assert_eq!(
        log.matches("127.0.0.1 refused: not Ropewalk's protocol")
            .count(),
        1,
        "{log}"
    );
    assert_eq!(log.matches("127.0.0.2 refused: key").count(), 1, "{log}");
    // The client that it knows is not disturbed.
    assert!(world.connect(echo()).is_ok());
}

#[test]
fn a_flood_of_half_open_carriers_disturbs_nobody() {
    let world = World::new(&["--allow", "loopback"]);
    let target = echo();
    assert!(world.connect(target).is_ok());
    let flood: Vec<TcpStream> = (0..200)
        .map(|_| TcpStream::connect(world.relay_at).unwrap())
        .collect();
    world.relay.wait_for("too many handshakes under way");
    // Another source, and another link's carrier, are taken meanwhile.
    assert!(world.between.cut(0) > 0);
    world.proxy.wait_for("link l2: down");
    assert!(world.connect(target).is_ok());
    drop(flood);
}

#[test]
fn wrong_input_is_one_line_and_status_2() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"))
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    };
    let proxy = ["proxy", "--plaintext", "--relay", "127.0.0.1:1", "--link"];
    let with = |link| run(&[&proxy[..], &[link]].concat());
    assert!(with("eth0").contains("allowed: NAME=INTERFACE"));
    assert!(with("a=eth0").contains("allowed: a loopback address, or --plaintext-anywhere"));
    let relay = run(&["relay", "--plaintext", "--listen", "0.0.0.0:0"]);
    assert!(relay.contains("allowed: a loopback address, or --plaintext-anywhere"));
    assert!(run(&["relay", "--plaintext", "--allow", "all"]).contains("allowed: public"));
    assert!(run(&["relay"]).contains("--key"));
    assert!(run(&["relay", "--key", "no-such-file", "--clients", "x"]).contains("no-such-file"));
}

#[test]
fn sigterm_ends_both_in_order() {
    let world = World::new(&["--allow", "loopback"]);
    let mut open = world.connect(echo()).unwrap();
    world.relay.wait_for("van: connected");
    assert_eq!(world.proxy.terminate().code(), Some(0));
    world.relay.wait_for("van: ended with code 0x0");
    assert!(!matches!(open.read(&mut [0]), Ok(1..)));
    assert_eq!(world.relay.terminate().code(), Some(0));
}

#[test]
fn a_status_for_others_is_wrong_input() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("van");
    let gateway = |arguments: &[&str]| {
        let gateway = env!("CARGO_BIN_EXE_ropewalk-gateway");
        Command::new(gateway).args(arguments).output().unwrap()
    };
    assert!(gateway(&["keygen", key.to_str().unwrap()]).status.success());
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (secret, public) = (file("van.key"), file("van.pub"));
    let relay = ["--relay", "127.0.0.1:9", "--relay-key", &public];
    let proxy = ["proxy", "--key", &secret, "--link", "l=127.0.0.1"];
    let listen = ["--listen", "127.0.0.1:0", "--status", "0.0.0.0:0"];
    let output = gateway(&[&proxy[..], &relay[..], &listen[..]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("0.0.0.0:0 is not a loopback address"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(2), "{said}");
}

#[test]
fn shells_complete_its_command_line() {
    for shell in ["bash", "fish", "zsh"] {
        let gateway = env!("CARGO_BIN_EXE_ropewalk-gateway");
        let output = Command::new(gateway).args(["completion", shell]).output();
        let script = String::from_utf8(output.unwrap().stdout).unwrap();
        for word in ["ropewalk-gateway", "proxy", "relay-key"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}
