//! Tests of name resolution against a name server on loopback.

use std::process::Command;
use std::sync::atomic::AtomicU32;

use hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts};
use rustix::thread::UnshareFlags;

use super::system::{build, described_by};
use super::*;
use crate::name_servers::interface;

impl Names {
    /// Returns a resolver with a name server on loopback, and without files.
    fn asking(server: SocketAddr) -> Names {
        let mut of_server = NameServerConfig::udp(server.ip());
        for connection in &mut of_server.connections {
            connection.port = server.port();
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![of_server]);
        let mut options = ResolverOpts::default();
        options.attempts = 2;
        Names::of(System::fixed(build(
            config,
            options,
            NameServerSockets::new(""),
        )))
    }
}

/// Starts a name server that ignores names that begin with `slow`, has no `absent`, and answers all others
/// with an address. Counts the queries for IPv4 addresses.
async fn server() -> (Names, Arc<AtomicU32>) {
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let names = Names::asking(socket.local_addr().unwrap());
    (names, answer(socket))
}

fn answer(socket: tokio::net::UdpSocket) -> Arc<AtomicU32> {
    let queries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&queries);
    tokio::spawn(async move {
        let mut packet = [0; 1024];
        while let Ok((len, from)) = socket.recv_from(&mut packet).await {
            let query = &packet[..len];
            let name_end = 12 + query[12..].iter().position(|byte| *byte == 0).unwrap();
            let question = &query[12..name_end + 5];
            let is_four = question[question.len() - 4..] == [0, 1, 0, 1];
            counted.fetch_add(u32::from(is_four), Ordering::Relaxed);
            if question[1..].starts_with(b"slow") {
                continue;
            }
            let is_absent = question[1..].starts_with(b"absent");
            let has_answer = is_four && !is_absent;
            let mut answer = query[..2].to_vec();
            answer.extend([0x81, if is_absent { 0x83 } else { 0x80 }]);
            answer.extend([0, 1, 0, u8::from(has_answer), 0, 0, 0, 0]);
            answer.extend(question);
            if has_answer {
                // The question's name, type A, class IN, a TTL of a minute.
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
            }
            let _ = socket.send_to(&answer, from).await;
        }
    });
    queries
}

#[test]
fn link_local_name_server_is_asked_over_its_interface() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root has a network namespace");
        return;
    }
    // A namespace belongs to a thread.
    let asking = std::thread::spawn(|| {
        // SAFETY: the thread shares no file descriptors table or memory layout that this changes.
        #[allow(unsafe_code)]
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
        for words in [
            "link set lo up",
            "link add d-0 type veth peer name d-1",
            "link set d-0 up",
            "link set d-1 up",
            "address add fe80::1/64 dev d-0 nodad",
        ] {
            let done = Command::new("ip").args(words.split(' ')).status().unwrap();
            assert!(done.success(), "ip {words}");
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let at: SocketAddr = format!("[fe80::1%{}]:53", interface("d-0").unwrap())
                .parse()
                .unwrap();
            let queries = answer(tokio::net::UdpSocket::bind(at).await.unwrap());
            let names = Names::of(System::fixed(described_by("nameserver fe80::1%d-0\n")));
            let found = names.resolve("fast.example", &LookupLimit::new(8)).await;
            assert_eq!(found.unwrap()[..], ["192.0.2.7".parse::<IpAddr>().unwrap()]);
            assert_eq!(queries.load(Ordering::Relaxed), 1);
        });
    });
    asking.join().unwrap();
}

#[tokio::test]
async fn slow_names_of_one_client_do_not_stop_another() {
    let (names, _) = server().await;
    let hostile = Arc::new(LookupLimit::new(64));
    for number in 0..3000 {
        let (names, hostile) = (names.clone(), Arc::clone(&hostile));
        tokio::spawn(async move {
            names
                .resolve(&format!("slow{number}.example"), &hostile)
                .await
        });
    }
    while hostile.waiting.load(Ordering::Relaxed) < WAITING {
        tokio::task::yield_now().await;
    }
    let refused = names.resolve("slow.example", &hostile).await;
    assert_eq!(refused, Err(NameError::Busy));
    let found = names.resolve("fast.example", &LookupLimit::new(64)).await;
    assert_eq!(found.unwrap()[..], ["192.0.2.7".parse::<IpAddr>().unwrap()]);
    assert_eq!(hostile.room().available_permits(), 0);
    assert!(names.0.room.available_permits() >= ALL - 65);
}

#[tokio::test]
async fn names_are_asked_for_once() {
    let (names, queries) = server().await;
    let limit = LookupLimit::new(8);
    for _ in 0..100 {
        assert!(names.resolve("Fast.example", &limit).await.is_ok());
        let absent = names.resolve("absent.example", &limit).await;
        assert_eq!(absent, Err(NameError::Absent));
    }
    assert!(queries.load(Ordering::Relaxed) <= 2 + 2, "{queries:?}");
    assert!(names.known("FAST.example").is_some());
    assert!(names.known("other.example").is_none());
}

#[tokio::test]
async fn cached_names_are_bounded() {
    let (names, _) = server().await;
    for number in 0..3 * CACHED {
        let found = Err(NameError::Absent);
        names.keep(&format!("n{number}"), found, Duration::from_secs(60));
    }
    assert!(names.cache().len() <= CACHED);
}

#[tokio::test]
async fn limit_of_look_ups_follows_a_change() {
    let limit = LookupLimit::new(2);
    limit.set(5);
    assert_eq!(limit.room().available_permits(), 5);
}

#[tokio::test]
async fn host_file_names_need_no_server() {
    let names = Names::system();
    let found = names
        .resolve("localhost", &LookupLimit::new(1))
        .await
        .unwrap();
    assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
    let address = names.resolve("127.0.0.1", &LookupLimit::new(1)).await;
    assert!(address.is_ok_and(|found| found.iter().all(IpAddr::is_loopback)));
}
