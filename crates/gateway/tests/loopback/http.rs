//! Plain HTTP through the proxy: literal exchanges, and real HTTP clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use crate::gateways::{Gateways, pseudo_random, with_timeouts};

/// A host that sends these answers in turn on each connection, and reports the requests: heads, with the
/// bodies that they announce.
fn host(answers: &'static [&'static [u8]]) -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (recorded, received) = mpsc::channel();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let recorded = recorded.clone();
            thread::spawn(move || {
                let mut writer = socket.try_clone().unwrap();
                let mut reader = BufReader::new(socket);
                for answer in answers {
                    let Some(request) = read_request(&mut reader) else {
                        return;
                    };
                    recorded.send(request).unwrap();
                    writer.write_all(answer).unwrap();
                }
            });
        }
    });
    (address, received)
}

fn read_request(reader: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        if reader.read_line(&mut text).unwrap_or(0) == 0 {
            return None;
        }
    }
    let lower = text.to_lowercase();
    if let Some((_, rest)) = lower.split_once("content-length: ") {
        let len: usize = rest.split("\r\n").next().unwrap().parse().unwrap();
        let mut body = vec![0; len];
        reader.read_exact(&mut body).unwrap();
        text.push_str(&String::from_utf8(body).unwrap());
    } else if lower.contains("transfer-encoding: chunked") {
        while !text.ends_with("\r\n0\r\n\r\n") {
            reader.read_line(&mut text).unwrap();
        }
    }
    Some(text)
}

fn proxy(gateways: &Gateways) -> TcpStream {
    with_timeouts(TcpStream::connect(gateways.proxy_at).unwrap())
}

/// Sends text; returns everything received until the connection ends.
fn exchange(gateways: &Gateways, sent: &str) -> String {
    let mut socket = proxy(gateways);
    socket.write_all(sent.as_bytes()).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut received = String::new();
    socket.read_to_string(&mut received).unwrap();
    received
}

#[test]
fn requests_of_one_connection_reach_their_hosts() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let ok: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n",
    ];
    let [(one, heard_one), (other, heard_other)] = [host(ok), host(ok)];
    let get = |at: SocketAddr, path: &str| {
        format!(
            "GET http://{at}{path} HTTP/1.1\r\nHost: {at}\r\nProxy-Connection: keep-alive\r\n\r\n"
        )
    };
    // All at once, as apt does; the last one ends the connection.
    let sent = [
        get(one, "/a"),
        get(one, "/b"),
        get(other, ""),
        format!(
            "POST http://{other}/c HTTP/1.1\r\nHost: {other}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        ),
    ];
    let received = exchange(&gateways, &sent.concat());
    let first = "HTTP/1.1 200 OK\r\nVia: 1.1 ropewalk\r\nContent-Length: 3\r\n\r\none";
    let second = "HTTP/1.1 200 OK\r\nVia: 1.1 ropewalk\r\nTransfer-Encoding: chunked\r\n\r\n\
                  3\r\ntwo\r\n0\r\n\r\n";
    // A POST has a connection of its own, with this first answer.
    let last = "HTTP/1.1 200 OK\r\nVia: 1.1 ropewalk\r\nConnection: close\r\n\
                Content-Length: 3\r\n\r\none";
    assert_eq!(received, [first, second, first, last].concat());
    let recorded = |path: &str, at: SocketAddr| {
        format!("GET {path} HTTP/1.1\r\nHost: {at}\r\nVia: 1.1 ropewalk\r\n\r\n")
    };
    assert_eq!(heard_one.recv().unwrap(), recorded("/a", one));
    assert_eq!(heard_one.recv().unwrap(), recorded("/b", one));
    assert_eq!(heard_other.recv().unwrap(), recorded("/", other));
    assert_eq!(
        heard_other.recv().unwrap(),
        format!(
            "POST /c HTTP/1.1\r\nHost: {other}\r\nVia: 1.1 ropewalk\r\nContent-Length: 5\r\n\r\nhello"
        )
    );
}

#[test]
fn chunked_bodies_pass_in_both_directions() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let (at, recorded) = host(&[
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nok\r\n0\r\nT: r\r\n\r\n",
    ]);
    let sent = format!(
        "PUT http://{at}/ HTTP/1.1\r\nHost: {at}\r\nTransfer-Encoding: chunked\r\n\
         Expect: 100-continue\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"
    );
    assert_eq!(
        exchange(&gateways, &sent),
        "HTTP/1.1 100 Continue\r\nVia: 1.1 ropewalk\r\n\r\n\
         HTTP/1.1 200 OK\r\nVia: 1.1 ropewalk\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    );
    let recorded = recorded.recv().unwrap();
    assert!(
        recorded.ends_with("\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        "{recorded}"
    );
    // For HTTP/1.0 without chunks, to the connection's end.
    let sent = format!("GET http://{at}/ HTTP/1.0\r\n\r\n");
    assert_eq!(
        exchange(&gateways, &sent),
        "HTTP/1.1 200 OK\r\nVia: 1.1 ropewalk\r\nConnection: close\r\n\r\nok"
    );
}

#[test]
fn impossible_requests_get_an_error_status() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = nobody.local_addr().unwrap();
    drop(nobody);
    let (odd, _heard) = host(&[b"SSH-2.0\r\n\r\n"]);
    let (silent, _heard) = host(&[b""]);
    let get = |url: &str| format!("GET {url} HTTP/1.1\r\nHost: a\r\n\r\n");
    let smuggled = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET";
    for (sent, status) in [
        (get("http://192.0.2.1/"), "403 Forbidden"),
        (get(&format!("http://{closed}/")), "502 Bad Gateway"),
        (get(&format!("http://{odd}/")), "502 Bad Gateway"),
        (get(&format!("http://{silent}/")), "502 Bad Gateway"),
        (get("/"), "400 Bad Request"),
        (get("https://a/"), "501 Not Implemented"),
        (
            format!("POST http://{odd}/ HTTP/1.1\r\nHost: a\r\n{smuggled}"),
            "400 Bad Request",
        ),
        (
            format!(
                "POST http://{silent}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"
            ),
            "400 Bad Request",
        ),
        (
            format!("GET http://a/ HTTP/1.1\r\nX: {}", "y".repeat(20_000)),
            "431 Request Header Fields Too Large",
        ),
        ("CONNECT a HTTP/1.1\r\n\r\n".to_owned(), "400 Bad Request"),
        (
            format!("CONNECT {closed} HTTP/1.1\r\n\r\n"),
            "502 Bad Gateway",
        ),
        (
            "TRACE http://a/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(),
            "405 Method Not Allowed",
        ),
    ] {
        let received = exchange(&gateways, &sent);
        assert!(
            received.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{sent}: {received}"
        );
    }
}

#[test]
fn truncated_answer_is_not_complete() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    const ANSWERS: [&[&[u8]]; 2] = [
        &[b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"],
        &[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"],
    ];
    for answer in ANSWERS {
        let (at, _heard) = host(answer);
        let mut socket = proxy(&gateways);
        write!(socket, "GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\n\r\n").unwrap();
        let error = socket.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
}

/// A folder behind Python's web server, or why it is missing.
fn web_server(folder: &Path) -> Option<(std::process::Child, SocketAddr)> {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = free.local_addr().unwrap();
    drop(free);
    let server = Command::new("python3")
        .args([
            "-m",
            "http.server",
            &at.port().to_string(),
            "--bind",
            "127.0.0.1",
        ])
        .args(["--directory", folder.to_str().unwrap()])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    let Ok(server) = server else {
        eprintln!("skipped: there is no python3");
        return None;
    };
    let start = std::time::Instant::now();
    while TcpStream::connect(at).is_err() {
        assert!(start.elapsed() < crate::gateways::TIMEOUT, "no web server");
        thread::sleep(std::time::Duration::from_millis(20));
    }
    Some((server, at))
}

/// Runs a program if it is installed; returns its output.
fn program(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Option<Vec<u8>> {
    let done = Command::new(name)
        .args(arguments)
        .envs(environment.iter().copied())
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .output();
    let Ok(done) = done else {
        eprintln!("skipped: there is no {name}");
        return None;
    };
    assert!(done.status.success(), "{name}: {done:?}");
    Some(done.stdout)
}

#[test]
fn curl_python_and_apt_fetch_over_plain_http() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let bytes = pseudo_random(300_000, 7);
    std::fs::create_dir(folder.path().join("served")).unwrap();
    std::fs::write(folder.path().join("served/file"), &bytes).unwrap();
    let Some((mut server, at)) = web_server(&folder.path().join("served")) else {
        return;
    };
    let proxy = format!("http://{}", gateways.proxy_at);
    let url = format!("http://{at}/file");
    let by_proxy = [("http_proxy", proxy.as_str())];
    // Twice in one connection.
    let curl = ["-sS", "--fail", "--noproxy", "", &url, &url];
    if let Some(got) = program("curl", &curl, &by_proxy) {
        assert!(got == [&bytes[..], &bytes].concat());
    }
    if let Some(got) = program("wget", &["-q", "-O", "-", &url], &by_proxy) {
        assert!(got == bytes);
    }
    let repository = path("served/repository.git");
    let made = program("git", &["init", "-q", "--bare", &repository], &[]);
    if made.is_some() {
        let tree = path("tree");
        let git = |arguments: &[&str]| {
            let names = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", &tree];
            program("git", &[&names[..], arguments].concat(), &[])
        };
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(folder.path().join("tree/file"), &bytes).unwrap();
        git(&["init", "-q"]);
        git(&["add", "file"]);
        git(&["commit", "-q", "-m", "One"]);
        git(&["push", "-q", &repository, "HEAD:refs/heads/main"]);
        program(
            "git",
            &["-C", &repository, "symbolic-ref", "HEAD", "refs/heads/main"],
            &[],
        );
        program("git", &["-C", &repository, "update-server-info"], &[]);
        let clone = path("clone");
        let url = format!("http://{at}/repository.git");
        program("git", &["clone", "-q", &url, &clone], &by_proxy);
        let got = std::fs::read(folder.path().join("clone/file")).unwrap();
        assert!(got == bytes);
    }
    apt(folder.path(), at, &proxy);
    server.kill().unwrap();
    server.wait().unwrap();
}

/// A repository of one list of packages, and its update.
fn apt(folder: &Path, at: SocketAddr, proxy: &str) {
    let served = folder.join("served/apt");
    let state = folder.join("state");
    for part in ["lists/partial", "cache/archives/partial", "etc"] {
        std::fs::create_dir_all(state.join(part)).unwrap();
    }
    std::fs::create_dir(&served).unwrap();
    let packages = "Package: rope\nVersion: 1\nArchitecture: all\nFilename: ./rope.deb\nSize: 1\n";
    std::fs::write(served.join("Packages"), packages).unwrap();
    let list = state.join("sources.list");
    std::fs::write(&list, format!("deb [trusted=yes] http://{at}/apt ./\n")).unwrap();
    let settings = [
        format!("Acquire::http::Proxy={proxy}"),
        format!("Dir::Etc={}", state.join("etc").display()),
        format!("Dir::Etc::SourceList={}", list.display()),
        format!("Dir::State={}", state.display()),
        format!("Dir::State::Lists={}", state.join("lists").display()),
        format!("Dir::Cache={}", state.join("cache").display()),
        "APT::Sandbox::User=".to_owned(),
        "Acquire::Languages=none".to_owned(),
        "Acquire::GzipIndexes=false".to_owned(),
    ];
    let mut arguments = Vec::new();
    for setting in &settings {
        arguments.extend(["-o", setting.as_str()]);
    }
    arguments.push("update");
    if program("apt-get", &arguments, &[("LC_ALL", "C")]).is_some() {
        let lists = std::fs::read_dir(state.join("lists")).unwrap();
        let mut lists = lists.map(|entry| entry.unwrap().path());
        let list = lists.find(|path| path.to_string_lossy().ends_with("Packages"));
        let got = std::fs::read_to_string(list.unwrap()).unwrap();
        assert_eq!(got, packages);
    }
}
