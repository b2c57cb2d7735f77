//! SOCKS5 client (RFC 1928), without authentication.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr};

use socket2::Socket;

use super::error::TrafficError;
use super::session::Session;
use super::socket;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const IPV6: u8 = 4;
const SUCCEEDED: u8 = 0;

/// Connects to `to` through the proxy at the other end of `socket` (RFC 1928, sections 3, 4 and 6);
/// false if the duration ends before the reply.
pub(crate) fn connect(
    session: &Session,
    socket: &Socket,
    to: SocketAddr,
) -> Result<bool, TrafficError> {
    let refused = |reason: String| TrafficError::Connect {
        to: to.to_string(),
        source: io::Error::other(reason),
    };
    let mut stream = socket;
    let greeting = [VERSION, 1, NO_AUTHENTICATION];
    stream.write_all(&greeting).map_err(system)?;
    let mut method = [0; 2];
    if !read(session, socket, &mut method)? {
        return Ok(false);
    }
    if method != [VERSION, NO_AUTHENTICATION] {
        return Err(refused(format!("the proxy wants method {}", method[1])));
    }
    stream.write_all(&request(to)).map_err(system)?;
    let mut reply = [0; 4];
    if !read(session, socket, &mut reply)? {
        return Ok(false);
    }
    if reply[1] != SUCCEEDED {
        return Err(refused(format!("the proxy's reply is {}", reply[1])));
    }
    let mut bound = [0; 16 + 2];
    let bound = match reply[3] {
        IPV4 => &mut bound[..4 + 2],
        IPV6 => &mut bound[..],
        other => return Err(refused(format!("the proxy's address is of type {other}"))),
    };
    read(session, socket, bound)
}

fn request(to: SocketAddr) -> Vec<u8> {
    let mut request = vec![VERSION, CONNECT, 0];
    match to.ip() {
        IpAddr::V4(address) => {
            request.push(IPV4);
            request.extend(address.octets());
        }
        IpAddr::V6(address) => {
            request.push(IPV6);
            request.extend(address.octets());
        }
    }
    request.extend(to.port().to_be_bytes());
    request
}

fn read(session: &Session, socket: &Socket, bytes: &mut [u8]) -> Result<bool, TrafficError> {
    let mut filled = 0;
    let mut stream = socket;
    while filled < bytes.len() {
        let now = session.now();
        let duration = session.plan().duration;
        if now >= duration {
            return Ok(false);
        }
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err(system(ErrorKind::UnexpectedEof.into())),
            Ok(len) => filled += len,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                socket::wait(socket, false, duration - now)?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(system(error)),
        }
    }
    Ok(true)
}

fn system(source: io::Error) -> TrafficError {
    TrafficError::System {
        call: "the proxy's connection",
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_in_section_4() {
        assert_eq!(
            request(SocketAddr::from(([192, 0, 2, 1], 443))),
            [5, 1, 0, 1, 192, 0, 2, 1, 1, 187]
        );
        let request = request(SocketAddr::from(([0xfd00, 0, 0, 0, 0, 0, 0, 1], 80)));
        assert_eq!(request[..4], [5, 1, 0, 4]);
        assert_eq!(
            (request.len(), &request[19..]),
            (4 + 16 + 2, &[1, 0, 80][..])
        );
    }
}
