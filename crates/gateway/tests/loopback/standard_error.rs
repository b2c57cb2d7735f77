//! Standard error and standard output without a reader, full, or closed.

use std::fs::OpenOptions;
use std::io::{PipeReader, Read, Write, pipe};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::gateways::{BINARY, TIMEOUT, assert_echo, connect, echo};

/// More lines than the log queue holds, and more bytes than a pipe does.
const REFUSALS: usize = 2000;

/// A process that is killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    FullDisk,
    Closed,
    /// Its reader has gone.
    DeadPipe,
    /// Its reader does not read, and it is full already.
    FullPipe,
}

/// Starts a subcommand; the returned reader must live as long as its pipe.
fn start(kind: Kind, arguments: &[String]) -> (Process, Option<PipeReader>) {
    let mut command = Command::new("sh");
    let script = match kind {
        Kind::Closed => "exec \"$0\" \"$@\" 2>&-",
        _ => "exec \"$0\" \"$@\"",
    };
    command.args(["-c", script, BINARY]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut kept = None;
    match kind {
        Kind::FullDisk => {
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            command.stderr(full);
        }
        Kind::Closed => {}
        Kind::DeadPipe => {
            command.stderr(pipe().unwrap().1);
        }
        Kind::FullPipe => {
            let (reader, mut writer) = pipe().unwrap();
            rustix::io::ioctl_fionbio(&writer, true).unwrap();
            while writer.write(&[b'x'; 4096]).is_ok() {}
            rustix::io::ioctl_fionbio(&writer, false).unwrap();
            command.stderr(writer);
            kept = Some(reader);
        }
    }
    (Process(command.spawn().unwrap()), kept)
}

/// An address at which nobody listens.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, 4), 0)).unwrap();
    listener.local_addr().unwrap()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Sends a greeting through the proxy as soon as that listens, and waits for the answer.
fn wait_for_echo(proxy: SocketAddr, target: SocketAddr) {
    let begin = Instant::now();
    let mut socket = loop {
        match connect(proxy, target) {
            Ok(socket) => break socket,
            Err(error) => assert!(begin.elapsed() < TIMEOUT, "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    };
    assert_echo(&mut socket);
}

fn read_on(mut reader: PipeReader) -> Arc<Mutex<String>> {
    let log = Arc::new(Mutex::new(String::new()));
    let copy = Arc::clone(&log);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(len @ 1..) = reader.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..len]);
            copy.lock().unwrap().push_str(&text);
        }
    });
    log
}

fn serves_with(kind: Kind) {
    let folder = tempfile::tempdir().unwrap();
    let target = echo();
    let (relay_at, proxy_at) = (free_address(), free_address());
    let control = |verb: &str| folder.path().join(verb).display().to_string();
    // Each connection that is refused is logged.
    let relay = words(&format!(
        "--log trace relay --plaintext --listen {relay_at} --allow loopback --control {}",
        control("relay")
    ));
    let proxy = words(&format!(
        "--log trace proxy --plaintext --relay {relay_at} --link l=127.0.0.1 --listen {proxy_at} \
         --control {}",
        control("proxy")
    ));
    let _relay = start(kind, &relay);
    let (mut proxy, reader) = start(kind, &proxy);
    wait_for_echo(proxy_at, target);
    for _ in 0..REFUSALS {
        assert!(connect(proxy_at, "10.0.0.1:9".parse().unwrap()).is_err());
    }
    wait_for_echo(proxy_at, target);
    if let Some(reader) = reader {
        let log = read_on(reader);
        let begin = Instant::now();
        while !log.lock().unwrap().contains("lines were lost here") {
            assert!(begin.elapsed() < TIMEOUT);
            let _ = connect(proxy_at, "10.0.0.1:9".parse().unwrap());
        }
    }
    assert!(proxy.0.try_wait().unwrap().is_none(), "{kind:?}");
    let id = rustix::process::Pid::from_child(&proxy.0);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let begin = Instant::now();
    assert_eq!(proxy.0.wait().unwrap().code(), Some(0), "{kind:?}");
    assert!(begin.elapsed() < TIMEOUT / 4, "{kind:?}");
}

#[test]
fn gateways_serve_with_a_full_disk_behind_standard_error() {
    serves_with(Kind::FullDisk);
}

#[test]
fn gateways_serve_without_a_standard_error() {
    serves_with(Kind::Closed);
}

#[test]
fn gateways_serve_with_a_dead_pipe_behind_standard_error() {
    serves_with(Kind::DeadPipe);
}

#[test]
fn gateways_serve_with_a_full_pipe_behind_standard_error() {
    serves_with(Kind::FullPipe);
}

fn run(arguments: &[&str], stdout: Stdio, stderr: Stdio) -> Output {
    let command = &mut Command::new(BINARY);
    let command = command.args(arguments).stdin(Stdio::null());
    command.stdout(stdout).stderr(stderr).output().unwrap()
}

#[test]
fn wrong_input_with_unwritable_stderr_exits_with_2() {
    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap());
    for verb in ["exec", "keygen", "measure", "proxy", "relay", "tunnel"] {
        let done = run(&[verb, "--no-such-option"], Stdio::null(), full());
        assert_eq!(done.status.code(), Some(2), "{verb}: {done:?}");
    }
    let exec = ["exec", "--control", "/nonexistent", "--", "no-such-program"];
    assert_eq!(run(&exec, Stdio::null(), full()).status.code(), Some(2));
    let status = ["status", "--control", "/nonexistent"];
    assert_eq!(run(&status, Stdio::null(), full()).status.code(), Some(1));
}

#[test]
fn help_with_closed_stdout_exits_with_0() {
    for arguments in [
        &["relay", "--help"][..],
        &["--version"],
        &["completion", "bash"],
    ] {
        let dead = Stdio::from(pipe().unwrap().1);
        let done = run(arguments, dead, Stdio::piped());
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    }
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let done = run(&["relay", "--help"], full.into(), Stdio::piped());
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(
        message.starts_with("standard output: No space left"),
        "{message}"
    );
}

#[test]
fn keygen_on_a_full_disk_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let keygen = |script: &str| {
        let command = &mut Command::new("sh");
        let command = command.args(["-c", script, BINARY]).current_dir(&folder);
        command.output().unwrap()
    };
    // A limit of the file size replaces a full disk: EFBIG instead of ENOSPC.
    let failed = keygen("trap '' XFSZ; ulimit -f 0; exec \"$0\" keygen van 2>/dev/null");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert_eq!(names_in(folder.path()), [""; 0]);
    let done = keygen("exec \"$0\" keygen van");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(names_in(folder.path()), ["van.key", "van.pub"]);
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap().map(Result::unwrap);
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}
