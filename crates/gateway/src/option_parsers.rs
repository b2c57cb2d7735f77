//! Parsers of option values that several verbs have.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use ropewalk_quantities::{Bytes, Rate};
use rustix::io::Errno;
use socket2::{Domain, Socket, Type};
use tracing_subscriber::filter::LevelFilter;

use crate::request::{Host, Target};

const CONGESTION: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

const NO_PORT: &str = "port 0; allowed: a port from 1 to 65535";

pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    above_zero(text, Bytes::as_u64, "1B")
}

pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    above_zero(text, Rate::as_bps, "1bit/s")
}

fn above_zero<T: FromStr<Err: ToString> + Copy>(
    text: &str,
    number: impl Fn(T) -> u64,
    least: &str,
) -> Result<T, String> {
    let value: T = text.parse().map_err(|error: T::Err| error.to_string())?;
    match number(value) {
        0 => Err(format!("nothing could pass; allowed: at least {least}")),
        _ => Ok(value),
    }
}

/// Parses a log level; rejects an empty text, which the library accepts.
pub(crate) fn level(text: &str) -> Result<LevelFilter, String> {
    let level = (!text.is_empty()).then(|| text.parse().ok()).flatten();
    level.ok_or_else(|| "no level; allowed: off, error, warn, info, debug, trace".to_owned())
}

pub(crate) fn is_of_host(address: IpAddr) -> bool {
    let address = address.to_canonical();
    !address.is_unspecified() && !address.is_multicast() && address != Ipv4Addr::BROADCAST
}

pub(crate) fn host(text: &str) -> Result<IpAddr, String> {
    let address = text.parse().ok().filter(|address| is_of_host(*address));
    address.ok_or_else(|| "no address of a host; allowed: as 10.9.0.1 or fd00::1".to_owned())
}

/// Parses an address to listen at; with port 0 the system chooses one.
pub(crate) fn listening(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "no ADDRESS:PORT; allowed: as 127.0.0.1:4433 or [::1]:4433".to_owned())?;
    match address.ip().is_unspecified() || is_of_host(address.ip()) {
        true => Ok(address),
        false => Err("nobody can listen there; allowed: an address of this machine".to_owned()),
    }
}

/// Parses an address to listen at, with a port that others know.
pub(crate) fn listening_at_port(text: &str) -> Result<SocketAddr, String> {
    match listening(text)? {
        address if address.port() == 0 => Err(NO_PORT.to_owned()),
        address => Ok(address),
    }
}

/// Parses a loopback address, which only this machine's users can reach.
pub(crate) fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse().ok();
    let address = address.filter(|address: &SocketAddr| address.ip().is_loopback());
    let problem =
        || format!("{text} is not a loopback address; allowed: as 127.0.0.1:9090 or [::1]:9090");
    address.ok_or_else(problem)
}

pub(crate) fn relay(text: &str) -> Result<Target, String> {
    let target: Target = text.parse().map_err(|_| {
        "not HOST:PORT; allowed: a name or an address (IPv6 in brackets) and a port".to_owned()
    })?;
    match target.host {
        _ if target.port == 0 => Err(NO_PORT.to_owned()),
        Host::Address(ip) if !is_of_host(ip) => {
            Err(format!("{ip} is no host; allowed: the address of one"))
        }
        _ => Ok(target),
    }
}

/// Parses a congestion control that this kernel has, or loads on request.
pub(crate) fn congestion(text: &str) -> Result<String, String> {
    let tried = Socket::new(Domain::IPV4, Type::STREAM, None)
        .and_then(|socket| socket.set_tcp_congestion(text.as_bytes()));
    let Err(error) = tried else {
        return Ok(text.to_owned());
    };
    let known = std::fs::read_to_string(CONGESTION).unwrap_or_default();
    let known: Vec<&str> = known.split_whitespace().collect();
    let why = match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::INVAL) => "this kernel has none of that name".to_owned(),
        _ => error.to_string(),
    };
    Err(format!("{why}; allowed: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_size_or_rate_is_refused() {
        assert_eq!(size("1B"), Ok(Bytes::new(1)));
        assert!(size("0B").unwrap_err().contains("at least 1B"));
        assert!(size("x").is_err());
        assert!(rate("1mbit").is_ok());
        assert!(rate("0mbit").unwrap_err().contains("at least 1bit/s"));
    }

    #[test]
    fn addresses_are_of_hosts() {
        for text in ["10.9.0.1", "fd00::1", "127.0.0.1", "::ffff:10.9.0.1"] {
            assert!(host(text).is_ok(), "{text}");
        }
        for text in [
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
            "::ffff:224.0.0.1",
            "",
        ] {
            assert!(host(text).is_err(), "{text}");
        }
        assert!(listening("0.0.0.0:0").is_ok());
        assert!(listening("224.0.0.1:1").is_err());
        assert!(listening_at_port("127.0.0.1:1").is_ok());
        assert!(listening_at_port("127.0.0.1:0").is_err());
        assert!(loopback("[::1]:0").is_ok());
        assert!(loopback("10.9.0.1:1").is_err());
        assert!(relay("relay.example:1").is_ok());
        assert!(relay("relay.example:0").is_err());
        assert!(relay("[::]:1").is_err());
    }

    #[test]
    fn congestion_controls_are_those_of_the_kernel() {
        assert_eq!(congestion("reno"), Ok("reno".to_owned()));
        for name in ["", "none-such", "a-name-that-is-too-long-for-the-kernel"] {
            let error = congestion(name).unwrap_err();
            assert!(
                error.contains("this kernel has none") && error.contains("reno"),
                "{error}"
            );
        }
    }
}
