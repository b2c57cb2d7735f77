//! Features of this machine, tested in temporary namespaces.

use std::io;
use std::process::Command;

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::Error;
use crate::namespace::Namespace;
use crate::syscalls::schedule_fifo;
use crate::user_namespace::{Privilege, right};
use crate::{iproute, kernel, netem, sysctl, tun};

/// Features of this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Machine {
    /// Kernel version.
    pub kernel: String,
    /// Tested features.
    pub checks: Vec<Check>,
    /// Congestion controls of the kernel, by its names.
    pub congestion: Vec<String>,
}

/// Test of a feature.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// Name of the feature.
    pub name: &'static str,
    /// Whether it works.
    pub works: bool,
    /// Whether the testbed needs it.
    pub needed: bool,
    /// How it works, or why not and what the testbed lacks without it.
    pub detail: String,
}

impl Machine {
    pub(super) fn examine() -> Machine {
        let mut checks = vec![
            check("root", true, as_root()),
            check("ip (iproute2)", true, ip()),
        ];
        match Namespace::create("doctor") {
            Err(error) => {
                checks.push(check("network namespaces", true, Err(error.to_string())));
            }
            Ok(namespace) => {
                checks.push(check("network namespaces", true, Ok(String::new())));
                checks.push(check("TUN devices", true, namespace.run(tun)));
                checks.push(check("MPTCP", false, namespace.run(mptcp)));
                checks.push(check("IPv6", false, namespace.run(ipv6)));
                checks.push(check("real-time priority", false, namespace.run(real_time)));
                checks.push(check("netem", false, namespace.run(netem)));
            }
        }
        let congestion = kernel::available_congestion();
        checks.push(check("cubic and reno", true, both(&congestion)));
        Machine {
            kernel: sysctl::get("kernel.osrelease").unwrap_or_default(),
            checks,
            congestion,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.checks.iter().all(|check| check.works || !check.needed)
    }
}

fn check(name: &'static str, needed: bool, tried: Result<String, String>) -> Check {
    Check {
        name,
        works: tried.is_ok(),
        needed,
        detail: tried.unwrap_or_else(|why| why),
    }
}

fn as_root() -> Result<String, String> {
    match right() {
        Some(Privilege::Root) => Ok(String::new()),
        Some(Privilege::UserNamespace) => Ok("in a user namespace of its own".to_owned()),
        None => Err(
            "not root, and in no user namespace: see user.max_user_namespaces and \
             kernel.apparmor_restrict_unprivileged_userns"
                .to_owned(),
        ),
    }
}

fn ip() -> Result<String, String> {
    let output = Command::new("ip").arg("-Version").output();
    let output = output.map_err(|error| format!("{error}: install iproute2"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn tun() -> Result<String, String> {
    match tun::create("doctor") {
        Ok(_) => Ok(String::new()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("{}: {error} (modprobe tun)", tun::CLONE_DEVICE))
        }
        Err(error) => Err(format!("{}: {error}", tun::CLONE_DEVICE)),
    }
}

fn mptcp() -> Result<String, String> {
    let Some(enabled) = sysctl::get("net.mptcp.enabled") else {
        return Err("the kernel was built without it: only protocol = \"tcp\"".to_owned());
    };
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP))
        .map_err(|error| format!("no socket of it ({error}): only protocol = \"tcp\""))?;
    iproute::run("ip", &[], &["mptcp limits set subflow 8".to_owned()])
        .map_err(|error| format!("{error}: iproute2 is too old for it"))?;
    let scheduler = sysctl::get("net.mptcp.scheduler").unwrap_or_default();
    let switched = if enabled == "0" {
        ", off by default"
    } else {
        ""
    };
    Ok(format!("up to 9 subflows, scheduler {scheduler}{switched}"))
}

fn ipv6() -> Result<String, String> {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP));
    let refuse = |why: String| format!("{why}: only ip_version = \"ipv4\"");
    socket.map_err(|error| refuse(error.to_string()))?;
    match sysctl::get("net.ipv6.conf.all.disable_ipv6") {
        Some(_) => Ok(String::new()),
        None => Err(refuse("the kernel was booted without it".to_owned())),
    }
}

fn real_time() -> Result<String, String> {
    let tried = std::thread::spawn(|| schedule_fifo(1)).join();
    match tried {
        Ok(Ok(())) => Ok("SCHED_FIFO".to_owned()),
        Ok(Err(error)) => Err(format!(
            "{error} (CAP_SYS_NICE): on a busy machine the links come late, and the result says so"
        )),
        Err(_) => Err("the thread that tried panicked".to_owned()),
    }
}

fn netem() -> Result<String, String> {
    let line = "qdisc add dev lo root netem delay 1ms".to_owned();
    match iproute::run("tc", &[], &[line]).map_err(netem::explain) {
        Ok(()) => Ok(String::new()),
        Err(Error::NoNetem) => {
            Err("this kernel has none (sch_netem): only emulator = \"own\"".to_owned())
        }
        Err(error) => Err(format!("{error}: only emulator = \"own\"")),
    }
}

fn both(congestion: &[String]) -> Result<String, String> {
    let all = congestion.join(", ");
    let missing = ["cubic", "reno"]
        .into_iter()
        .filter(|&name| !congestion.iter().any(|other| other == name));
    match missing.collect::<Vec<_>>()[..] {
        [] => Ok(format!("of {all}")),
        ref missing => Err(format!("no {} among {all}", missing.join(", "))),
    }
}
