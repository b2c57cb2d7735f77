//! Well-known clients.

use std::process::Command;

use crate::gateway::{Gateway, Site, is_there, output, python, server};

#[test]
fn curl_downloads_by_name_and_tells_errors() {
    if !is_there("curl") {
        return;
    }
    let (gateway, site) = (Gateway::start(), Site::start(5_000_000));
    let file = tempfile::NamedTempFile::new().unwrap();
    let curl = |url: &str| {
        let mut command = gateway.command("curl");
        command
            .env_remove("http_proxy")
            .args(["-sS", "--noproxy", "*", "-o"]);
        command
            .arg(file.path())
            .args(["-w", "%{remote_ip}", url])
            .output()
            .unwrap()
    };
    let done = curl(&format!("http://some.example:{}/file", site.port));
    assert!(done.status.success(), "{done:?}");
    assert!(done.stdout.starts_with(b"198.18."), "{done:?}");
    assert!(site.is_like(file.path()));
    assert_eq!(gateway.requests(), [format!("some.example:{}", site.port)]);
    let refused = curl("http://some.example:1/");
    assert_eq!(refused.status.code(), Some(7), "{refused:?}");
}

#[test]
fn wget_downloads_by_address() {
    if !is_there("wget") {
        return;
    }
    let (gateway, site) = (Gateway::start(), Site::start(1_000_000));
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut command = gateway.command("wget");
    command.args(["--no-proxy", "-q", "-O"]).arg(file.path());
    output(command.arg(format!("http://192.0.2.1:{}/file", site.port)));
    assert!(site.is_like(file.path()));
}

#[test]
fn git_clones_over_http() {
    if !is_there("git") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
        output(
            command
                .current_dir(folder.path())
                .args(identity)
                .args(arguments),
        )
    };
    git(&["init", "-q", "there"]);
    std::fs::write(folder.path().join("there/text"), "words").unwrap();
    git(&["-C", "there", "add", "text"]);
    git(&["-C", "there", "commit", "-q", "-m", "Begin"]);
    git(&["clone", "-q", "--bare", "there", "bare"]);
    git(&["-C", "bare", "update-server-info"]);
    let mut command = Command::new(python());
    command.args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]);
    let (mut child, port) = server(command.current_dir(folder.path()));
    let gateway = Gateway::start();
    let mut clone = gateway.command("git");
    clone
        .args(["-c", "http.proxy=", "clone", "-q"])
        .current_dir(folder.path());
    clone
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .env_remove("all_proxy");
    let cloned = clone
        .args([&format!("http://git.example:{port}/bare"), "here"])
        .output();
    child.kill().unwrap();
    child.wait().unwrap();
    let cloned = cloned.unwrap();
    assert!(cloned.status.success(), "{cloned:?}");
    let text = std::fs::read_to_string(folder.path().join("here/text")).unwrap();
    assert_eq!(text, "words");
}

#[test]
fn iperf3_runs_at_both_ends() {
    if !is_there("iperf3") {
        return;
    }
    let gateway = Gateway::start();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let port = port.to_string();
    let mut server = gateway
        .command("iperf3")
        .args(["-s", "-1", "-p", &port])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let client = || {
        let mut command = gateway.command("iperf3");
        command.args([
            "-c",
            "server.example",
            "-p",
            &port,
            "-n",
            "20M",
            "-P",
            "2",
            "-J",
        ]);
        command.output().unwrap()
    };
    let mut done = client();
    for _ in 0..50 {
        if done.status.success() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        done = client();
    }
    let _ = server.kill();
    let _ = server.wait();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn five_hundred_connections_at_once() {
    let gateway = Gateway::start();
    let script = "
import asyncio
async def serve(reader, writer):
    line = await reader.readline()
    writer.write(line * 1000)
    writer.close()
async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', 0, backlog=1000)
    print('port', server.sockets[0].getsockname()[1])
    await server.serve_forever()
asyncio.run(main())
";
    let mut command = Command::new(python());
    let (mut child, port) = server(command.args(["-u", "-c", script]));
    gateway.python(
        "
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (2000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
async def one(number):
    reader, writer = await asyncio.open_connection(f'host{number}.example', int(sys.argv[1]))
    line = b'%d\\n' % number
    writer.write(line)
    assert await reader.read() == line * 1000
    writer.close()
async def main():
    await asyncio.gather(*map(one, range(500)))
asyncio.run(main())
",
        &[&port.to_string()],
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(gateway.requests().len(), 500);
}

#[test]
fn sftp_fetches_from_sshd() {
    let sshd = "/usr/sbin/sshd";
    if !is_there("sftp") || !is_there("ssh-keygen") || !std::path::Path::new(sshd).is_file() {
        eprintln!("skipped: OpenSSH's client and server are not both installed");
        return;
    }
    let (gateway, folder) = (Gateway::start(), tempfile::tempdir().unwrap());
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for key in ["host", "user"] {
        output(Command::new("ssh-keygen").args([
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-f",
            &path(key),
        ]));
    }
    std::fs::write(path("there"), vec![9; 3_000_000]).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let config = format!(
        "Port {port}\nListenAddress 0.0.0.0\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
         StrictModes no\nUsePAM no\nSubsystem sftp internal-sftp\nLogLevel VERBOSE\n",
        path("host"),
        path("user.pub"),
    );
    std::fs::write(path("config"), config).unwrap();
    let mut server = gateway.command(sshd);
    let log = std::fs::File::create(path("log")).unwrap();
    let mut server = server
        .args(["-D", "-e", "-f", &path("config")])
        .stderr(log)
        .spawn()
        .unwrap();
    let log = || std::fs::read_to_string(path("log")).unwrap();
    while !log().contains("Server listening") {
        if server.try_wait().unwrap().is_some() {
            eprintln!("skipped: sshd does not run here: {}", log().trim());
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut sftp = gateway.command("sftp");
    sftp.args([
        "-q",
        "-F",
        "none",
        "-P",
        &port.to_string(),
        "-i",
        &path("user"),
    ]);
    for option in [
        "StrictHostKeyChecking=no",
        "UserKnownHostsFile=/dev/null",
        "BatchMode=yes",
    ] {
        sftp.args(["-o", option]);
    }
    let fetched = sftp
        .args([&format!("server.example:{}", path("there")), &path("here")])
        .output();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(
        fetched.as_ref().unwrap().status.success(),
        "{fetched:?} {}",
        log()
    );
    assert_eq!(std::fs::read(path("here")).unwrap(), vec![9; 3_000_000]);
    assert!(log().contains("from 192.0.2.7 port 5555"), "{}", log());
}
