//! Status of a running gateway: `status` as a table and as JSON, and over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output};

use crate::world::{World, echo, patient};

fn status(world: &World, control: &str, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"))
        .arg("status")
        .arg("--control")
        .arg(world.folder.path().join(control))
        .args(options)
        .output()
        .unwrap()
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn both_ends_tell_their_status() {
    let world = World::new(&["--allow", "loopback", "--status", "127.0.0.1:0"]);
    world.proxy.wait_for("link l2: up");
    world.proxy.wait_for("link l3: up");
    let target = echo();
    let _open = world.connect(target).unwrap();

    let table = text(status(&world, "van.sock", &["--once"]));
    for part in ["l2", "l3", "up", &target.to_string()] {
        assert!(table.contains(part), "no {part} in:\n{table}");
    }
    let json = text(status(&world, "van.sock", &["--json"]));
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["role"], "proxy");
    let links = document["associations"][0]["links"].as_array().unwrap();
    assert!(links.iter().all(|link| link["state"] == "up"), "{json}");
    let json = text(status(&world, "relay.sock", &["--json"]));
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["role"], "relay");
    assert_eq!(document["associations"][0]["peer"], "van");

    let page = world.relay.wait_for("status at http://");
    let mut http = patient(TcpStream::connect(page.trim_end_matches('/')).unwrap());
    write!(http, "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    let mut metrics = String::new();
    http.read_to_string(&mut metrics).unwrap();
    assert!(
        metrics.contains("ropewalk_link_sent_bytes_total"),
        "{metrics}"
    );
}

#[test]
fn nobody_there_is_said_in_one_line() {
    let world = World::new(&[]);
    let output = status(&world, "nobody.sock", &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no gateway listens there"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}
