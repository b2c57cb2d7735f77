//! Status of a running gateway: `status` as a table and as JSON, and over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Output};

use crate::gateways::{Gateways, echo, with_timeouts};

fn status(gateways: &Gateways, control: &str, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"))
        .arg("status")
        .arg("--control")
        .arg(gateways.folder.path().join(control))
        .args(options)
        .output()
        .unwrap()
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn both_ends_report_their_status() {
    let gateways = Gateways::new(&["--allow", "loopback", "--status", "127.0.0.1:0"]);
    gateways.proxy.wait_for("link l2: up");
    gateways.proxy.wait_for("link l3: up");
    let target = echo();
    let _open = gateways.connect(target).unwrap();

    let table = text(status(&gateways, "van.sock", &["--once"]));
    for part in ["l2", "l3", "up", &target.to_string()] {
        assert!(table.contains(part), "no {part} in:\n{table}");
    }
    let json = text(status(&gateways, "van.sock", &["--json"]));
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["role"], "proxy");
    let links = document["associations"][0]["links"].as_array().unwrap();
    assert!(links.iter().all(|link| link["state"] == "up"), "{json}");
    let json = text(status(&gateways, "relay.sock", &["--json"]));
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["role"], "relay");
    assert_eq!(document["associations"][0]["peer"], "van");

    let page = gateways.relay.wait_for("status at http://");
    let mut http = with_timeouts(TcpStream::connect(page.trim_end_matches('/')).unwrap());
    write!(http, "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
    let mut metrics = String::new();
    http.read_to_string(&mut metrics).unwrap();
    assert!(
        metrics.contains("ropewalk_link_sent_bytes_total"),
        "{metrics}"
    );
}

#[test]
fn status_without_gateway_is_one_line() {
    let gateways = Gateways::new(&[]);
    let output = status(&gateways, "nobody.sock", &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no gateway listens there"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}
