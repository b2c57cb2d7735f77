//! Properties of arbitrary bytes from a program to the proxy, for the fuzz target and the replay of
//! its corpus.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ropewalk_gateway::proxy::http;
use ropewalk_gateway::proxy::socks5::{self, SocksCommand, emit_datagram, parse_datagram};
use ropewalk_gateway::request::Target;
use tokio::io::join;

/// SOCKS5 and HTTP parse a command or reject it. A parsed target or datagram is equal after writing
/// and parsing again.
///
/// Returns the command or the error.
pub fn check(bytes: &[u8]) -> String {
    if let Ok((target, payload)) = parse_datagram(bytes) {
        let mut written = Vec::new();
        emit_datagram(&target, payload, &mut written);
        assert_eq!(parse_datagram(&written), Ok((target.clone(), payload)));
        check_target(&target);
    }
    let mut said = Vec::new();
    if bytes.first() == Some(&5) {
        return match now(socks5::negotiate(&mut join(bytes, &mut said), None)) {
            Ok(SocksCommand::Connect(target)) => {
                check_target(&target);
                format!("connect to {target}")
            }
            Ok(SocksCommand::Associate) => "datagrams".to_owned(),
            Err(error) => error.to_string(),
        };
    }
    match http::parse(bytes, None) {
        Ok(Some((request, len))) => {
            check_target(&request.target);
            let early = bytes.len() - len;
            if request.is_connect() {
                return format!("connect to {}, {early} bytes early", request.target);
            }
            check_head(&request.head());
            format!(
                "{} for {}, {early} bytes behind",
                request.method, request.target
            )
        }
        Ok(None) => "a part of a request".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Checks that the next hop can parse the head in only one sense.
fn check_head(head: &[u8]) {
    let text = head.to_ascii_lowercase();
    let count = |what: &[u8]| {
        text.windows(what.len())
            .filter(|window| *window == what)
            .count()
    };
    assert_eq!(count(b"\r\nhost:"), 1);
    assert!(count(b"\r\ncontent-length:") + count(b"\r\ntransfer-encoding:") <= 1);
    assert!(text.ends_with(b"\r\n\r\n") && count(b"\r\n\r\n") == 1);
}

fn check_target(target: &Target) {
    let mut written = Vec::new();
    target.emit(&mut written);
    let again = Target::parse(&written);
    assert_eq!(again, Ok(Some((target.clone(), written.len()))));
    assert_eq!(target.to_string().parse().as_ref(), Ok(target));
}

/// Polls a future that is ready at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("waits for what is there"),
    }
}
