//! Connection to a target whose address the rules allow.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::local_address::is_local_address;
use crate::names::{LookupLimit, NameError, Names};
use crate::request::{Host, Status, Target};
use crate::target_rules::Rules;

const TIMEOUT: Duration = Duration::from_secs(30);

const TIMEOUT_EACH: Duration = Duration::from_secs(5);

/// Resolves a target to the addresses that the rules allow. Only these are connected to, so that a name
/// cannot resolve differently a moment later (DNS rebinding). Errors: [`Status::NotAllowed`] if all addresses
/// are forbidden, [`Status::HostUnreachable`] if there is none, [`Status::Limit`] if the client has too many
/// look-ups.
pub(super) async fn resolve(
    target: &Target,
    rules: &Rules,
    names: &Names,
    limit: &LookupLimit,
) -> Result<Vec<SocketAddr>, Status> {
    let found = addresses(target, names, limit)
        .await
        .map_err(|error| match error {
            NameError::Absent | NameError::Failed(_) => Status::HostUnreachable,
            NameError::TimedOut => Status::TimedOut,
            NameError::Busy => Status::Limit,
        })?;
    match allowed(&found, target.port, rules) {
        allowed if allowed.is_empty() => Err(Status::NotAllowed),
        allowed => Ok(allowed),
    }
}

pub(super) fn allowed(found: &[IpAddr], port: u16, rules: &Rules) -> Vec<SocketAddr> {
    let found = found
        .iter()
        .filter(|ip| rules.allow(**ip, port, is_local_address));
    found.map(|ip| SocketAddr::new(*ip, port)).collect()
}

/// Returns the addresses of a target that needs no look-up: an empty list if the name has none.
pub(super) fn known(target: &Target, names: &Names) -> Option<Arc<[IpAddr]>> {
    match &target.host {
        Host::Address(ip) => Some([*ip].into()),
        Host::Name(name) => names.known(name).map(Result::unwrap_or_default),
    }
}

async fn addresses(
    target: &Target,
    names: &Names,
    limit: &LookupLimit,
) -> Result<Arc<[IpAddr]>, NameError> {
    match &target.host {
        Host::Address(ip) => Ok([*ip].into()),
        Host::Name(name) => names.resolve(name, limit).await,
    }
}

/// Connects to the first address that answers. Errors: the error of the last address.
pub(super) async fn connect(
    target: &Target,
    rules: &Rules,
    names: &Names,
    limit: &LookupLimit,
) -> Result<TcpStream, Status> {
    let addresses = resolve(target, rules, names, limit).await?;
    let limit = match addresses.len() {
        1 => TIMEOUT,
        _ => TIMEOUT_EACH,
    };
    let mut status = Status::Failed;
    for address in addresses {
        status = match timeout(limit, TcpStream::connect(address)).await {
            Ok(Ok(socket)) => {
                // Stream data keep the pieces in which they were written.
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
            Ok(Err(error)) => Status::of_error(&error),
            Err(_) => Status::TimedOut,
        };
    }
    Err(status)
}

pub(super) async fn is_here(target: &Target, names: &Names, limit: &LookupLimit) -> bool {
    let found = addresses(target, names, limit).await.unwrap_or_default();
    found.iter().any(|ip| is_local_address(*ip))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    fn resolver() -> (Names, LookupLimit) {
        (Names::system(), LookupLimit::new(8))
    }

    fn rules(allow: &str) -> Rules {
        Rules::new(vec![allow.parse().unwrap()], vec![])
    }

    #[tokio::test]
    async fn this_machine_is_known_by_its_addresses() {
        let (names, limit) = resolver();
        for (target, here) in [
            ("127.0.0.1:1", true),
            ("localhost:1", true),
            ("[::1]:1", true),
            ("0.0.0.0:1", false),
            ("192.0.2.1:1", false),
            ("[2001:db8::1]:1", false),
        ] {
            let is_here = is_here(&target.parse().unwrap(), &names, &limit).await;
            assert_eq!(is_here, here, "{target}");
        }
    }

    #[tokio::test]
    async fn resolved_address_must_be_allowed() {
        let (names, limit) = resolver();
        let connect =
            async |target: &Target, rules: &Rules| connect(target, rules, &names, &limit).await;
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
