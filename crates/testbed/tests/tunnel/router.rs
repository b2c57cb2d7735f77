//! A network namespace that forwards packets.

use std::process::Command;

use ropewalk_testbed::Namespace;

/// Joins a namespace to the router by its device, in 10.NET.NUMBER.0/24: it is .1 there, the router
/// .254, and all of 10.NET.0.0/16 is behind the router.
pub fn join(router: &Namespace, end: &Namespace, device: &str, net: u8, number: u8) {
    let pid = end.thread_id();
    let (own, far) = (format!("10.{net}.{number}"), format!("to{number}"));
    ip(
        router,
        format!("link add {far} type veth peer name {device} netns {pid}"),
    );
    ip(router, format!("addr add {own}.254/24 dev {far}"));
    ip(router, format!("link set {far} up"));
    ip(end, format!("addr add {own}.1/24 dev {device}"));
    ip(end, "link set lo up");
    ip(end, format!("link set {device} up"));
    // The lower number first, where there are several.
    let route = format!("10.{net}.0.0/16 via {own}.254 dev {device} metric {number}");
    ip(end, format!("route add {route}"));
    sysctl(router, "ip_forward", "1");
}

pub fn ip(namespace: &Namespace, arguments: impl Into<String>) {
    let arguments = arguments.into();
    namespace.run(move || {
        let done = Command::new("ip")
            .args(arguments.split(' '))
            .output()
            .unwrap();
        assert!(done.status.success(), "ip {arguments}: {done:?}");
    });
}

pub fn sysctl(namespace: &Namespace, name: &str, value: &'static str) {
    let path = format!("/proc/sys/net/ipv4/{name}");
    namespace.run(move || std::fs::write(path, value).unwrap());
}
