//! What holds of any bytes that a program says to the proxy; the fuzz target and the replay of its
//! corpus share it.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ropewalk_gateway::proxy::http_connect;
use ropewalk_gateway::proxy::socks5::{self, Command, emit_datagram, parse_datagram};
use ropewalk_gateway::request::Target;
use tokio::io::join;

/// SOCKS5 and HTTP CONNECT read a command or refuse; what is read is a target that is spelled and
/// written as it is read. So is a datagram.
///
/// Returns what was read, or why not.
pub fn hold(bytes: &[u8]) -> String {
    if let Ok((target, payload)) = parse_datagram(bytes) {
        let mut written = Vec::new();
        emit_datagram(&target, payload, &mut written);
        assert_eq!(parse_datagram(&written), Ok((target.clone(), payload)));
        check(&target);
    }
    let mut said = Vec::new();
    if bytes.first() == Some(&5) {
        return match now(socks5::negotiate(&mut join(bytes, &mut said), None)) {
            Ok(Command::Connect(target)) => {
                check(&target);
                format!("connect to {target}")
            }
            Ok(Command::Associate) => "datagrams".to_owned(),
            Err(error) => error.to_string(),
        };
    }
    match now(http_connect::negotiate(&mut join(bytes, &mut said), None)) {
        Ok((target, early)) => {
            check(&target);
            let head = bytes.windows(4).position(|window| window == b"\r\n\r\n");
            // What did not fit into the last read is still to be read.
            assert!(head.is_some_and(|end| bytes[end + 4..].starts_with(&early)));
            format!("connect to {target}, {} bytes early", early.len())
        }
        Err(error) => error.to_string(),
    }
}

fn check(target: &Target) {
    let mut written = Vec::new();
    target.emit(&mut written);
    let again = Target::parse(&written);
    assert_eq!(again, Ok(Some((target.clone(), written.len()))));
    assert_eq!(target.to_string().parse().as_ref(), Ok(target));
}

/// What is there needs no waiting.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("waits for what is there"),
    }
}
