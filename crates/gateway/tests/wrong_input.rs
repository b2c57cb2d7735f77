//! Wrong input: each is refused at once with the error and the allowed values, and leaves nothing behind.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

const AT_ONCE: Duration = Duration::from_secs(10);

/// Meaning of the words in the tables.
const SHORT: [(&str, &str); 6] = [
    ("RELAY", "relay --check --key relay.key --clients clients"),
    ("PROXY", "proxy --check --relay 127.0.0.1:4433 KEYS"),
    (
        "TUNNEL",
        "tunnel --check --relay 127.0.0.1:4433 KEYS --address 10.9.0.2/24",
    ),
    ("MEASURE", "measure --relay 127.0.0.1:1 KEYS LINK"),
    ("KEYS", "--key van.key --relay-key relay.pub"),
    ("LINK", "--link a=127.0.0.1"),
];

/// Arguments, and parts of the error message: `ARGUMENTS -> PART | PART`.
const OPTIONS: &str = r#"
RELAY --rate 0 -> --rate | '0'
RELAY --rate 0mbit -> --rate | at least 1bit/s
RELAY --memory 0B -> --memory | '0B' | at least 1B
RELAY --buffer 0B -> --buffer | '0B' | at least 1B
RELAY --streams 0 -> --streams | '0' | 1..
RELAY --associations 0 -> --associations | '0' | 1..
PROXY LINK --memory 0B -> --memory | at least 1B
PROXY LINK --buffer 0B -> --buffer | at least 1B
TUNNEL LINK --buffer 0B -> --buffer | at least 1B
# More than a request can encode.
PROXY LINK --scheduler mp-dash --small 4GiB -> --small | '4GiB' | below 4GiB
MEASURE --bytes 0B -> --bytes | at least 1B
PROXY LINK,quota=0B -> quota=0B | at least 1B
PROXY LINK,daily=0B -> daily=0B | at least 1B
TUNNEL LINK,quota=0B -> quota=0B | at least 1B
# Addresses that nobody has.
RELAY --listen 224.0.0.1:4433 -> --listen | 224.0.0.1:4433 | allowed
RELAY --listen 255.255.255.255:1 -> --listen | allowed
RELAY --status 192.0.2.1:80 -> --status | loopback
PROXY LINK --listen [ff02::1]:1080 -> --listen | allowed
PROXY LINK --redirect 127.0.0.1:0 -> --redirect | port 0 | 1 to 65535
PROXY LINK --tproxy 127.0.0.1:0 -> --tproxy | port 0 | 1 to 65535
proxy --check KEYS LINK --relay 127.0.0.1:0 -> --relay | port 0 | 1 to 65535
proxy --check KEYS LINK --relay 224.0.0.1:4433 -> --relay | 224.0.0.1 is no host
proxy --check KEYS LINK --relay [::]:4433 -> --relay | :: is no host
tunnel --check KEYS LINK --address 10.9.0.2/24 --relay 0.0.0.0:1 -> --relay | is no host
tunnel --check KEYS LINK --address 10.9.0.2/24 --relay x -> --relay | HOST:PORT
measure KEYS LINK --relay 127.0.0.1:0 -> --relay | port 0
PROXY --link a=224.0.0.1 -> --link | 224.0.0.1 | NAME=ADDRESS
TUNNEL --link a=0.0.0.0 -> --link | 0.0.0.0 | NAME=ADDRESS
tunnel --check KEYS LINK --relay 127.0.0.1:1 --address 224.0.0.1/24 -> --address | of no host
TUNNEL LINK --peer 0.0.0.0 -> --peer | 0.0.0.0 | allowed
TUNNEL LINK --peer ff02::1 -> --peer | ff02::1 | allowed
TUNNEL LINK --hook /bin/true --dns 0.0.0.0 -> --dns | 0.0.0.0 | allowed
setup relay 224.0.0.1 --folder new --client van -> HOST | allowed: a name or an address
setup relay 192.0.2.1 --folder new --client van --dns :: -> --dns | allowed
setup relay 192.0.2.1 --folder new --client van --network 0.0.0.0/0 -> --network | allowed
PROXY LINK LINK -> --link a=127.0.0.1 | two links of one name
TUNNEL LINK LINK -> --link a=127.0.0.1 | two links of one name
MEASURE LINK -> --link a=127.0.0.1 | two links of one name
relay --key relay.key --clients names -> names:2:  | name "van" | twice
RELAY --congestion none-such -> --congestion | none-such | allowed:  | reno
PROXY LINK --congestion none-such -> --congestion | allowed:  | reno
MEASURE --congestion none-such -> --congestion | allowed:  | reno
RELAY --log= -> --log | allowed: off, error, warn
RELAY --log loud -> --log | loud | allowed: off, error, warn
TUNNEL LINK --device a/b -> --device | a/b | allowed: 1 to 15 bytes
TUNNEL LINK --device all -> --device | all | allowed: 1 to 15 bytes
TUNNEL LINK --device a-name-too-long-for-it -> --device | allowed: 1 to 15 bytes
# A public key instead of a secret one.
relay --check --key relay.pub --clients clients -> relay.pub:  | does not begin with "ropewalk-secret-key"
# Paths of another file type.
RELAY --control relay.key -> --control relay.key: not a socket | allowed
relay --key relay.key --clients clients --allow public --listen 127.0.0.1:0 --control relay.key/x -> --control relay.key/x | allowed
PROXY LINK --control . -> --control .: not a socket | allowed
TUNNEL LINK --control relay.key -> --control relay.key: not a socket | allowed
status --once --control relay.key -> --control relay.key: not a socket | allowed
keygen missing/van -> missing/van.key | allowed: a name in an existing folder
setup relay 192.0.2.1 --folder pipe --client van -> --folder pipe: not a folder | allowed
MEASURE -o missing/van.toml -> --output missing/van.toml: no such folder | allowed
MEASURE -o . -> --output .: not a regular file | allowed
MEASURE -o pipe -> --output pipe: not a regular file | allowed
"#;

/// Options whose value is the name of a file to read.
const FILES: [&str; 11] = [
    "relay --check --clients clients --key",
    "relay --check --key relay.key --clients",
    "relay --check --config",
    "proxy --check --config",
    "tunnel --check --config",
    "PROXY LINK --passwords",
    "PROXY LINK --quota-state",
    "TUNNEL LINK --quota-state",
    "proxy --check --relay 127.0.0.1:1 --key van.key LINK --relay-key",
    "tunnel --check --listen 127.0.0.1:1 --key relay.key --address 10.9.0.1/24 --clients",
    "measure --relay 127.0.0.1:1 --relay-key relay.pub LINK --key",
];

/// Limits of a client that let nothing pass.
const LIMITS: [(&str, &str); 3] = [
    ("streams=0", "not from 1"),
    ("memory=0B", "at least 1B"),
    ("rate=0mbit", "at least 1bit/s"),
];

fn gateway(words: &str, folder: &Path) -> Output {
    let long = SHORT.iter().fold(words.to_owned(), |words, (short, long)| {
        words.replace(short, long)
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"))
        .args(long.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > AT_ONCE {
            child.kill().unwrap();
            panic!("{words}: goes on after {AT_ONCE:?}");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for name in ["relay", "van", "train"] {
        assert!(gateway(&format!("keygen {name}"), at).status.success());
    }
    let public = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    let (van, train) = (public("van.pub"), public("train.pub"));
    fs::write(at.join("clients"), &van).unwrap();
    fs::write(
        at.join("names"),
        van.clone() + &train.replace("train", "van"),
    )
    .unwrap();
    for (limit, _) in LIMITS {
        fs::write(at.join(limit), format!("{} {limit}\n", van.trim_end())).unwrap();
    }
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, at.join("pipe"), mode).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    names
}

fn assert_refused(words: &str, parts: &[&str], folder: &Path) {
    let before = names(folder);
    let output = gateway(words, folder);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}: {message}");
    assert_eq!(output.stdout, b"", "{words}");
    assert_eq!(message.trim_end().lines().count(), 1, "{words}: {message}");
    for part in parts {
        assert!(
            message.contains(part),
            "{words}: {part:?} is not in {message}"
        );
    }
    assert_eq!(names(folder), before, "{words}");
}

#[test]
fn wrong_options_are_refused() {
    let folder = folder();
    for line in OPTIONS.lines().filter(|line| !line.starts_with('#')) {
        if let Some((words, parts)) = line.split_once(" -> ") {
            let parts: Vec<&str> = parts.split(" | ").collect();
            assert_refused(words, &parts, folder.path());
        }
    }
}

#[test]
fn endless_and_silent_files_are_refused() {
    let folder = folder();
    for words in FILES {
        for file in ["/dev/zero", "."] {
            let parts = format!("{file}: not a regular file; allowed: a regular file");
            assert_refused(&format!("{words} {file}"), &[&parts], folder.path());
        }
    }
    thread::scope(|scope| {
        let folder = folder.path();
        for words in FILES {
            let parts = match words.contains("--quota-state") {
                true => "pipe: not a regular file; allowed: a regular file",
                false => "pipe: a pipe that did not end within 8 s",
            };
            scope.spawn(move || assert_refused(&format!("{words} pipe"), &[parts], folder));
        }
    });
}

#[test]
fn key_is_read_from_a_pipe() {
    let folder = folder();
    let command = "cat relay.key | \"$0\" relay --check --key /dev/stdin --clients clients";
    let output = Command::new("sh")
        .args(["-c", command, env!("CARGO_BIN_EXE_ropewalk-gateway")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
}

#[test]
fn client_limits_of_zero_are_refused() {
    let folder = folder();
    for (limit, parts) in LIMITS {
        let words = format!("relay --check --key relay.key --clients {limit}");
        let line = format!("{limit}:1: ");
        assert_refused(&words, &[&line, limit, parts], folder.path());
    }
}

#[test]
fn valid_input_is_accepted() {
    let folder = folder();
    for words in [
        "RELAY --log info --congestion reno --status 127.0.0.1:0 --listen 0.0.0.0:4433",
        "PROXY LINK --link b=127.0.0.2,quota=5GB --quota-state missing",
        "TUNNEL LINK --peer 10.9.0.1 --device van%d",
    ] {
        let output = gateway(words, folder.path());
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {message}");
    }
}
