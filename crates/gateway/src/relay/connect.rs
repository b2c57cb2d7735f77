//! Connects to a target, if the rules allow its address.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::own::is_own;
use super::rules::Rules;
use crate::request::{Host, Status, Target};

/// Most addresses of a name that are tried.
const MAX: usize = 8;

/// Time limit for all addresses together.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit for one address while there are others.
const TIMEOUT_EACH: Duration = Duration::from_secs(5);

/// Resolves a target to the addresses that the rules allow. Only these are connected to, so that a name
/// cannot resolve differently a moment later (DNS rebinding).
///
/// # Errors
/// [`Status::NotAllowed`] if all addresses are forbidden, [`Status::HostUnreachable`] if there is none.
pub(super) async fn resolve(target: &Target, rules: &Rules) -> Result<Vec<SocketAddr>, Status> {
    let addresses: Vec<SocketAddr> = match &target.host {
        Host::Address(ip) => vec![SocketAddr::new(*ip, target.port)],
        Host::Name(name) => {
            match timeout(TIMEOUT, lookup_host((name.as_str(), target.port))).await {
                Ok(Ok(addresses)) => addresses.take(MAX).collect(),
                Ok(Err(_)) => return Err(Status::HostUnreachable),
                Err(_) => return Err(Status::TimedOut),
            }
        }
    };
    let is_known = !addresses.is_empty();
    let allowed: Vec<SocketAddr> = addresses
        .into_iter()
        .filter(|address| rules.allow(address.ip(), address.port(), is_own))
        .collect();
    match (allowed.is_empty(), is_known) {
        (false, _) => Ok(allowed),
        (true, true) => Err(Status::NotAllowed),
        (true, false) => Err(Status::HostUnreachable),
    }
}

/// Connects to the first address that answers.
///
/// # Errors
/// That of the last address.
pub(super) async fn connect(target: &Target, rules: &Rules) -> Result<TcpStream, Status> {
    let addresses = resolve(target, rules).await?;
    let limit = match addresses.len() {
        1 => TIMEOUT,
        _ => TIMEOUT_EACH,
    };
    let mut status = Status::Failed;
    for address in addresses {
        status = match timeout(limit, TcpStream::connect(address)).await {
            Ok(Ok(socket)) => {
                // Data of the stream are sent in the pieces in which they were written.
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
            Ok(Err(error)) => Status::of_error(&error),
            Err(_) => Status::TimedOut,
        };
    }
    Err(status)
}

/// Whether the target is this machine.
pub(super) async fn is_here(target: &Target) -> bool {
    let addresses: Vec<IpAddr> = match &target.host {
        Host::Address(ip) => vec![*ip],
        Host::Name(name) => match timeout(TIMEOUT, lookup_host((name.as_str(), 0))).await {
            Ok(Ok(addresses)) => addresses.take(MAX).map(|address| address.ip()).collect(),
            _ => return false,
        },
    };
    addresses.into_iter().any(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    fn rules(allow: &str) -> Rules {
        Rules::new(vec![allow.parse().unwrap()], vec![])
    }

    #[tokio::test]
    async fn this_machine_is_known_by_its_addresses() {
        for (target, here) in [
            ("127.0.0.1:1", true),
            ("localhost:1", true),
            ("[::1]:1", true),
            ("0.0.0.0:1", false),
            ("192.0.2.1:1", false),
            ("[2001:db8::1]:1", false),
        ] {
            assert_eq!(is_here(&target.parse().unwrap()).await, here, "{target}");
        }
    }

    #[tokio::test]
    async fn what_a_name_stands_for_must_be_allowed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let target: Target = format!("localhost:{port}").parse().unwrap();
        let refused = connect(&target, &rules("public")).await;
        assert_eq!(refused.err(), Some(Status::NotAllowed));
        assert!(connect(&target, &rules("loopback")).await.is_ok());
        drop(listener);
        let refused = connect(&target, &rules("127.0.0.1")).await;
        assert_eq!(refused.err(), Some(Status::Refused));
    }
}
