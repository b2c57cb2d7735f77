//! Exit status of each subcommand: 0 when done, 1 when the work failed, 2 when the input is wrong.

use std::fs::OpenOptions;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::BINARY;

fn status(words: &str, folder: &Path, stdout: Stdio) -> (Option<i32>, String) {
    let done = Command::new(BINARY)
        .args(words.split_whitespace())
        .current_dir(folder)
        .env_remove("CREDENTIALS_DIRECTORY")
        .stdin(Stdio::null())
        .stdout(stdout)
        .output()
        .unwrap();
    (
        done.status.code(),
        String::from_utf8_lossy(&done.stderr).into_owned(),
    )
}

#[test]
fn each_verb_ends_with_0_1_or_2() {
    let folder = tempfile::tempdir().unwrap();
    let (tcp_taken, udp_taken) = (
        TcpListener::bind("127.0.0.1:0").unwrap(),
        UdpSocket::bind("127.0.0.1:0").unwrap(),
    );
    let (tcp, udp) = (
        tcp_taken.local_addr().unwrap(),
        udp_taken.local_addr().unwrap(),
    );
    let keys = "--key van.key --relay-key relay.pub";
    let relay = "--key relay.key --clients van.pub";
    let link = "--link l=127.0.0.1";
    let address = "--address 10.9.0.2/24";
    let table = [
        ("keygen relay", 0),
        ("keygen van", 0),
        ("keygen van", 2),
        ("keygen nowhere/van", 2),
        ("completion bash", 0),
        ("completion csh", 2),
        ("--version", 0),
        ("relay --help", 0),
        ("", 2),
        ("fly", 2),
        (&format!("relay {relay} --check"), 0),
        (&format!("relay {relay} --listen {tcp} --control r"), 1),
        (&format!("relay {relay} --listen nowhere"), 2),
        (&format!("proxy {keys} {link} --relay {tcp} --check"), 0),
        (
            &format!("proxy {keys} {link} --relay {tcp} --listen {tcp} --control p"),
            1,
        ),
        (&format!("proxy {keys} {link}"), 2),
        (
            &format!("tunnel {keys} {link} {address} --relay {tcp} --check"),
            0,
        ),
        (&format!("tunnel {keys} {link} --relay {tcp}"), 2),
        (
            &format!("tunnel {keys} {link} {address} --relay {udp} --device lo --control t"),
            1,
        ),
        ("status --control nobody", 1),
        ("status --control van.key", 2),
        (&format!("measure {keys} {link} --relay {udp}"), 1),
        (&format!("measure {keys} {link} --relay {udp} -o ."), 2),
        ("setup relay 192.0.2.1 --client van --folder made", 0),
        ("setup relay 192.0.2.1 --client van --folder made", 2),
        ("exec -- no-such-program", 2),
    ];
    for (words, expected) in table {
        let (code, message) = status(words, folder.path(), Stdio::null());
        assert_eq!(code, Some(expected), "{words}: {message}");
        assert!(expected == 0 || !message.is_empty(), "{words} says nothing");
    }
    for words in ["completion bash", "keygen other", "relay --help"] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (code, message) = status(words, folder.path(), full.into());
        assert_eq!(code, Some(1), "{words}: {message}");
    }
}
