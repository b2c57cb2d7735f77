use super::super::examples;
use super::*;

async fn port() -> SocketAddr {
    let meter = Meter::new(Arc::new(examples::proxy));
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    tokio::spawn(serve(listener, meter));
    address
}

async fn ask(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    // If more was sent than is read, the kernel resets the connection after the answer.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

async fn get(address: SocketAddr, path: &str, headers: &str) -> String {
    ask(
        address,
        format!("GET {path} HTTP/1.1\r\n{headers}\r\n").as_bytes(),
    )
    .await
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").expect("headers end").1
}

#[tokio::test]
async fn the_document_comes_as_json() {
    let address = port().await;
    let answer = get(address, "/status.json", "Host: localhost\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let read: super::super::Document = serde_json::from_str(body(&answer)).unwrap();
    assert_eq!(
        read.associations[0].streams,
        examples::proxy().associations[0].streams
    );
}

#[tokio::test]
async fn every_page_is_served_with_strict_headers() {
    let address = port().await;
    for path in [
        "/",
        "/page.js",
        "/page.css",
        "/status.json",
        "/history.json",
        "/metrics",
        "/x",
    ] {
        let answer = get(address, path, "Host: 127.0.0.1:9090\r\n").await;
        assert!(
            answer.contains("Content-Security-Policy: default-src 'none';"),
            "{path}"
        );
        assert!(!answer.contains("Access-Control"), "{path}");
        let length: usize = answer
            .split_once("Content-Length: ")
            .and_then(|(_, rest)| rest.split("\r\n").next())
            .and_then(|length| length.parse().ok())
            .expect("a length");
        assert_eq!(body(&answer).len(), length, "{path}");
        assert_eq!(answer.starts_with("HTTP/1.1 200"), path != "/x", "{path}");
    }
}

#[tokio::test]
async fn dns_rebinding_is_refused() {
    let address = port().await;
    for host in [
        "",
        "Host: rebound.example\r\n",
        "Host: 127.0.0.1.rebound.example\r\n",
        "Host: localhost.example:9090\r\n",
        "Host: 192.0.2.1\r\n",
        "Host: localhost:port\r\n",
    ] {
        let answer = get(address, "/status.json", host).await;
        assert!(answer.starts_with("HTTP/1.1 421 "), "{host}: {answer}");
    }
    let two = get(address, "/", "Host: localhost\r\nHost: localhost\r\n").await;
    assert!(two.starts_with("HTTP/1.1 400 "), "{two}");
    for host in [
        "localhost",
        "LOCALHOST:80",
        "127.0.0.1:9090",
        "127.8.0.1",
        "[::1]",
        "[::1]:9",
    ] {
        let answer = get(address, "/status.json", &format!("Host: {host}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{host}: {answer}");
    }
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let address = port().await;
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("same-origin", 200),
        ("none", 200),
    ] {
        let headers = format!("Host: localhost\r\nSec-Fetch-Site: {site}\r\n");
        let answer = get(address, "/status.json", &headers).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{site}: {answer}"
        );
    }
}

#[tokio::test]
async fn invalid_request_is_refused() {
    let address = port().await;
    for request in [
        &b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"[..],
        b"GET /\r\n\r\n",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
    ] {
        let answer = ask(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    let post = ask(address, b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
    let head = ask(address, b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(
        head.starts_with("HTTP/1.1 200 ") && body(&head).is_empty(),
        "{head}"
    );
}

#[tokio::test]
async fn an_endless_request_is_cut_off() {
    let address = port().await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let sent = async {
        // 64 MiB, far above the server's limit.
        for _ in 0..1024 {
            stream.write_all(&[b'a'; 65536]).await?;
        }
        io::Result::Ok(())
    }
    .await;
    assert!(sent.is_err(), "the server read all of it");
}

#[tokio::test]
async fn addresses_that_others_reach_are_refused() {
    let error = listen("0.0.0.0:0".parse().unwrap()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}
