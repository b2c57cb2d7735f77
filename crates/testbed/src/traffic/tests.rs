//! Failures of one end of a connection.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Traffic;

use super::*;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

const LONG: Time = Time::from_secs(600);

fn session(protocol: SocketProtocol, duration: Time) -> Session {
    Session::new(plan(protocol, duration), Instant::now())
}

fn plan(protocol: SocketProtocol, duration: Time) -> ConnectionPlan {
    let path = PathEnds {
        name: "loopback".to_owned(),
        client: LOOPBACK,
        server: LOOPBACK,
        device: None,
    };
    let traffic = Traffic::Bulk {
        size: Some(Bytes::from_mib(64)),
    };
    ConnectionPlan {
        seed: 7,
        congestion: Some("reno".to_owned()),
        ..ConnectionPlan::new(protocol, traffic, duration, vec![path])
    }
}

fn client_against(
    session: &Session,
    serve: impl FnOnce(TcpListener) + Send,
) -> Result<ClientReport, TrafficError> {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    session.listening(listener.local_addr().unwrap().port());
    thread::scope(|scope| {
        scope.spawn(|| serve(listener));
        run_client(session)
    })
}

fn server_against(
    session: &Session,
    write: impl FnOnce(TcpStream) + Send,
) -> Result<ServerReport, TrafficError> {
    thread::scope(|scope| {
        scope.spawn(|| {
            let port = session.wait_for_start().unwrap();
            write(TcpStream::connect(SocketAddr::new(LOOPBACK, port)).unwrap());
        });
        run_server(session)
    })
}

#[test]
fn a_server_of_tcp_is_a_fallback() {
    let session = session(SocketProtocol::Mptcp, LONG);
    let client = client_against(&session, |listener| {
        let (mut accepted, _) = listener.accept().unwrap();
        let _ = accepted.read_to_end(&mut Vec::new());
    });
    match client {
        Err(TrafficError::Socket { source, .. }) => {
            println!("skipped: this kernel makes no socket of MPTCP: {source}");
        }
        client => assert!(matches!(client, Err(TrafficError::Fallback)), "{client:?}"),
    }
}

#[test]
fn a_client_of_tcp_is_a_fallback() {
    let session = session(SocketProtocol::Mptcp, LONG);
    if let Err(TrafficError::Socket { source, .. }) = socket::server(session.plan()) {
        println!("skipped: this kernel makes no socket of MPTCP: {source}");
        return;
    }
    let server = server_against(&session, |mut stream| {
        let _ = stream.read(&mut [0]);
    });
    assert!(matches!(server, Err(TrafficError::Fallback)), "{server:?}");
}

/// A client whose proxy sends this reply (RFC 1928, section 6).
fn client_behind_a_proxy(reply: u8) -> Result<ClientReport, TrafficError> {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let plan = ConnectionPlan {
        proxy: Some(listener.local_addr().unwrap()),
        ..plan(SocketProtocol::Tcp, LONG)
    };
    let session = Session::new(plan, Instant::now());
    session.listening(443);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut accepted, _) = listener.accept().unwrap();
            let mut greeting = [0; 3];
            accepted.read_exact(&mut greeting).unwrap();
            assert_eq!(greeting, [5, 1, 0]);
            accepted.write_all(&[5, 0]).unwrap();
            let mut request = [0; 10];
            accepted.read_exact(&mut request).unwrap();
            assert_eq!(request, [5, 1, 0, 1, 127, 0, 0, 1, 1, 187]);
            accepted
                .write_all(&[5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
                .unwrap();
            // Waits for the stream's beginning, then ends the connection.
            let _ = accepted.read_exact(&mut [0; 1000]);
        });
        run_client(&session)
    })
}

#[test]
fn proxy_refusal_is_error() {
    let client = client_behind_a_proxy(0);
    let seen = matches!(
        client,
        Err(TrafficError::Lost { .. } | TrafficError::Ended { .. })
    );
    assert!(seen, "{client:?}");
    match client_behind_a_proxy(5) {
        Err(error @ TrafficError::Connect { .. }) => assert_eq!(
            error.to_string(),
            "cannot connect to 127.0.0.1:443: the proxy's reply is 5"
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_dies_is_seen() {
    let session = session(SocketProtocol::Tcp, LONG);
    let client = client_against(&session, |listener| {
        let (mut accepted, _) = listener.accept().unwrap();
        accepted.read_exact(&mut [0; 100_000]).unwrap();
    });
    let side = match &client {
        Err(TrafficError::Lost { side, .. } | TrafficError::Ended { side, .. }) => *side,
        other => panic!("{other:?}"),
    };
    assert_eq!(side, Side::Client);
}

#[test]
fn a_client_that_dies_is_seen() {
    let session = session(SocketProtocol::Tcp, LONG);
    let pattern = session.plan().pattern();
    let server = server_against(&session, |mut stream| {
        let mut bytes = [0; 10_000];
        pattern.fill(0, &mut bytes);
        stream.write_all(&bytes).unwrap();
    });
    let ended = matches!(
        server,
        Err(TrafficError::Ended {
            side: Side::Server,
            ..
        })
    );
    assert!(ended, "{server:?}");
}

#[test]
fn wrong_byte_error_has_offset() {
    let session = session(SocketProtocol::Tcp, LONG);
    let pattern = session.plan().pattern();
    let server = server_against(&session, |mut stream| {
        let mut bytes = [0; 10_000];
        pattern.fill(0, &mut bytes);
        bytes[7_777] ^= 0x40;
        // The server may have closed before it has all of them.
        let _ = stream.write_all(&bytes);
        let _ = stream.read(&mut [0]);
    });
    match server {
        Err(TrafficError::Corrupt(corruption)) => assert_eq!(corruption.offset, 7_777),
        other => panic!("{other:?}"),
    }
}

#[test]
fn connection_refused_fails_at_once() {
    let session = session(SocketProtocol::Tcp, LONG);
    let client = client_against(&session, drop);
    // The listener may have closed after the handshake.
    let refused = matches!(
        client,
        Err(TrafficError::Connect { .. } | TrafficError::Lost { .. } | TrafficError::Ended { .. })
    );
    assert!(refused, "{client:?}");
}

#[test]
fn a_server_that_reads_nothing_ends_with_the_duration() {
    let duration = Time::from_millis(300);
    let session = session(SocketProtocol::Tcp, duration);
    let begun = Instant::now();
    let client = client_against(&session, |listener| {
        let (accepted, _) = listener.accept().unwrap();
        thread::sleep(Duration::from_millis(600));
        drop(accepted);
    });
    let report = client.unwrap();
    assert!(report.connected.is_some());
    assert_eq!(report.measured.end.due, duration);
    assert!(begun.elapsed() >= Duration::from_millis(300));
}

#[test]
fn a_client_that_writes_nothing_ends_with_the_duration() {
    let session = session(SocketProtocol::Tcp, Time::from_millis(300));
    let server = server_against(&session, |mut stream| {
        let _ = stream.read(&mut [0]);
    });
    let report = server.unwrap();
    assert_eq!(report.bytes, [0, 0]);
    assert_eq!(report.complete, None);
    assert_eq!(report.longest_gap, None);
}

#[test]
fn unopened_connection_has_no_results() {
    let session = session(SocketProtocol::Tcp, Time::from_millis(200));
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    // Fills the backlog: the kernel drops further connections.
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    let socket = || socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let fillers = [(); 4].map(|()| {
        let socket = socket().unwrap();
        socket.set_nonblocking(true).unwrap();
        let _ = socket.connect(&address.into());
        socket
    });
    thread::sleep(Duration::from_millis(50));
    session.listening(address.port());
    let client = run_client(&session);
    drop(fillers);
    let server = server_report_of_nothing();
    let outcome = outcome(&session, client, Ok(server)).unwrap();
    assert_eq!(outcome.goodput_mbps, 0.0);
    assert_eq!(outcome.delivered_bytes, 0);
    assert_eq!(outcome.duration_s, 0.2);
    assert_eq!((outcome.completion_s, outcome.delay_ms), (None, None));
    let told = |warning: &String| warning.starts_with("the connection was never open");
    assert!(outcome.warnings.iter().any(told), "{:?}", outcome.warnings);
}

fn server_report_of_nothing() -> ServerReport {
    let quick = session(SocketProtocol::Tcp, Time::from_millis(1));
    run_server(&quick).unwrap()
}

#[test]
fn missing_peer_ends_wait() {
    let alone = session(SocketProtocol::Tcp, LONG);
    drop(alone.enter(Side::Server));
    let client = run_client(&alone);
    assert!(
        matches!(client, Err(TrafficError::Gone(Side::Server))),
        "{client:?}"
    );
    let alone = session(SocketProtocol::Tcp, LONG);
    drop(alone.enter(Side::Client));
    let server = run_server(&alone);
    assert!(
        matches!(server, Err(TrafficError::Gone(Side::Client))),
        "{server:?}"
    );
}

#[test]
fn both_ends_stop_when_told() {
    let session = session(SocketProtocol::Tcp, LONG);
    let (client, server) = thread::scope(|scope| {
        let server = scope.spawn(|| run_server(&session));
        session.stop();
        (run_client(&session), server.join().unwrap())
    });
    assert!(matches!(client, Err(TrafficError::Stopped)), "{client:?}");
    assert!(matches!(server, Err(TrafficError::Stopped)), "{server:?}");
}

#[test]
fn first_failure_is_reported() {
    let session = session(SocketProtocol::Tcp, LONG);
    let lost = || TrafficError::Lost {
        side: Side::Client,
        at: Time::ZERO,
        source: std::io::ErrorKind::ConnectionReset.into(),
    };
    let corrupt = Corruption {
        offset: 1,
        expected: 2,
        found: 3,
    };
    let told = outcome(&session, Err(lost()), Err(corrupt.into()));
    assert!(matches!(told, Err(TrafficError::Corrupt(_))));
    let told = outcome(
        &session,
        Err(TrafficError::Fallback),
        Err(TrafficError::Gone(Side::Client)),
    );
    assert!(matches!(told, Err(TrafficError::Fallback)));
}
