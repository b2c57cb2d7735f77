//! A user's programs over emulated links.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_testbed::Namespace;
use rustix::process::{Pid, Signal, kill_process};

const LINKS: &str = r#"
[[link]]
name = "wifi"
rate = "20 Mbit/s"
delay = "20 ms"
[[link]]
name = "lte"
rate = "10 Mbit/s"
delay = "50 ms"
"#;

struct Scenario(tempfile::TempDir);

impl Scenario {
    /// `None`, with the reason printed, without permission of the machine.
    fn new() -> Option<Scenario> {
        Scenario::of(LINKS)
    }

    fn of(links: &str) -> Option<Scenario> {
        if let Err(error) = Namespace::create("probe") {
            println!("skipped: no network namespaces ({error})");
            return None;
        }
        if !std::path::Path::new("/dev/net/tun").exists() {
            println!("skipped: there is no /dev/net/tun");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("links.toml"), links).unwrap();
        Some(Scenario(folder))
    }

    fn command(&self, options: &[&str], program: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ropewalk-testbed"));
        command
            .arg("emulate")
            .arg(self.0.path().join("links.toml"))
            .args(options)
            .arg("--")
            .args(program)
            .stdin(Stdio::null());
        command
    }

    fn run(&self, options: &[&str], script: &str) -> Output {
        self.command(options, &["sh", "-c", script])
            .output()
            .unwrap()
    }
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

#[test]
fn a_program_has_an_interface_for_each_link_and_its_own_end() {
    let Some(scenario) = Scenario::new() else {
        return;
    };
    let script = "ip -o -4 addr; ip route; env | grep ROPEWALK_; ip mptcp endpoint; exit 7";
    let output = scenario.run(&[], script);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(7), "{said}");
    for line in [
        "wifi    inet 10.0.0.1/32",
        "lte    inet 10.0.1.1/32",
        "default dev wifi ",
        "ROPEWALK_FAR=192.168.0.1",
        "ROPEWALK_LINKS=wifi=10.0.0.1 lte=10.0.1.1",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("subflow"), "{said}");
    let said = text(&scenario.run(&["--mptcp"], script));
    if !said.contains("Unknown") {
        assert!(said.contains("10.0.1.1 id 1 subflow dev lte"), "{said}");
    }
    let output = scenario
        .command(&[], &["no-such-program"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output).contains("no-such-program"));
    let output = scenario
        .command(&["--set", "link.lte.delay=1"], &["true"])
        .output();
    assert_eq!(output.unwrap().status.code(), Some(2));
}

#[test]
fn links_may_have_the_names_of_keywords_of_ip() {
    let names = [
        "a", "b", "d", "h", "l", "m", "n", "t", "up", "down", "dev", "mtu", "name", "type", "-x",
    ];
    let link = |name| format!("[[link]]\nname = {name:?}\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n");
    // MPTCP in the kernel has at most eight additional subflows.
    for names in names.chunks(8) {
        let links: String = names.iter().map(link).collect();
        let Some(scenario) = Scenario::of(&links) else {
            return;
        };
        let has_mptcp = std::path::Path::new("/proc/sys/net/mptcp").exists();
        let options: &[&str] = if has_mptcp { &["--mptcp"] } else { &[] };
        let output = scenario.run(options, "ip -br link; echo $ROPEWALK_LINKS");
        let said = text(&output);
        assert!(output.status.success(), "{said}");
        for (number, name) in names.iter().enumerate() {
            assert!(said.contains(&format!("\n{name} ")), "{name}: {said}");
            assert!(
                said.contains(&format!("{name}=10.0.{number}.1")),
                "{name}: {said}"
            );
        }
    }
}

#[test]
fn server_end_is_one_rtt_away() {
    let Some(scenario) = Scenario::new() else {
        return;
    };
    let serve = "exec python3 -c \"
import socket
listener = socket.create_server(('', 7000))
while True:
    listener.accept()[0].close()
\"";
    let connect = "exec python3 -c \"
import os, socket, time
far = (os.environ['ROPEWALK_FAR'], 7000)
end = time.monotonic() + 60
while True:
    start = time.monotonic()
    try:
        socket.create_connection(far, source_address=('10.0.1.1', 0)).close()
        break
    except OSError:
        assert time.monotonic() < end
        time.sleep(.1)
print(time.monotonic() - start)
\"";
    let output = scenario.run(&["--far", serve], connect);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    // Over the second link: a round trip of at least 50 ms.
    let took: f64 = said.lines().last().unwrap().parse().unwrap();
    assert!(took >= 0.1, "{said}");
}

/// Starts a program that prints a line when ready.
fn begun(mut command: Command) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "here\n");
    (child, lines)
}

#[test]
fn signals_go_on_to_the_program() {
    let Some(scenario) = Scenario::new() else {
        return;
    };
    for (signal, name) in [
        (Signal::TERM, "TERM"),
        (Signal::INT, "INT"),
        (Signal::USR1, "USR1"),
    ] {
        let script = format!(
            "trap 'echo got {name}; exit 5' {name}; echo here; while :; do sleep 0.05; done"
        );
        let (mut child, mut lines) = begun(scenario.command(&[], &["sh", "-c", &script]));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut said = String::new();
        lines.read_to_string(&mut said).unwrap();
        assert_eq!(said, format!("got {name}\n"));
        assert_eq!(child.wait().unwrap().code(), Some(5));
    }
    // Without a handler the signal ends the program.
    let (mut child, _lines) =
        begun(scenario.command(&[], &["sh", "-c", "echo here; exec sleep 600"]));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
}

fn processes(word: &str) -> usize {
    let all = std::fs::read_dir("/proc").unwrap().map_while(Result::ok);
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let has = |line: &Vec<u8>| {
        line.split(|byte| *byte == 0)
            .any(|one| one == word.as_bytes())
    };
    lines.filter(has).count()
}

#[test]
fn run_leaves_no_namespaces() {
    let Some(scenario) = Scenario::new() else {
        return;
    };
    let id = std::process::id();
    let words = [1, 2, 3].map(|number| format!("6{number}{id}"));
    let [far, apart, own] = &words;
    let far = format!("exec sleep {far}");
    for signal in [Signal::TERM, Signal::KILL] {
        let script = format!("setsid sleep {apart} & echo here; exec sleep {own}");
        let (mut child, _lines) = begun(scenario.command(&["--far", &far], &["sh", "-c", &script]));
        let start = Instant::now();
        let all = || words.iter().map(|word| processes(word)).sum::<usize>();
        while all() < 3 {
            assert!(start.elapsed() < Duration::from_secs(60), "{} run", all());
            thread::sleep(Duration::from_millis(20));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.wait().unwrap();
        while all() > 0 {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "{} are left",
                all()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn the_machine_s_network_is_behind_the_links() {
    let Some(scenario) = Scenario::new() else {
        return;
    };
    let has_nft = Command::new("nft").arg("list").arg("tables").output();
    if !has_nft.is_ok_and(|done| done.status.success()) {
        println!("skipped: there is no nft, or it may not");
        return;
    }
    let addresses = Command::new("ip")
        .args(["-o", "-4", "addr", "show", "scope", "global"])
        .output();
    let addresses = String::from_utf8(addresses.unwrap().stdout).unwrap();
    let Some(own) = addresses.split_whitespace().nth(3) else {
        println!("skipped: this machine has no address");
        return;
    };
    let own = own.split('/').next().unwrap();
    let listener = TcpListener::bind((own, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let greeter = thread::spawn(move || {
        let (mut socket, from) = listener.accept().unwrap();
        socket.write_all(b"hello").unwrap();
        from.ip()
    });
    let script = format!(
        "exec python3 -c \"
import socket
connection = socket.create_connection(('{own}', {port}), timeout=60)
print(connection.recv(5).decode())
\""
    );
    let said = text(&scenario.run(&["--internet"], &script));
    assert_eq!(said, "hello\n");
    let from = greeter.join().unwrap().to_string();
    assert!(
        from.starts_with("198.18.") || from.starts_with("198.19."),
        "{from}"
    );
    let tables = Command::new("nft")
        .args(["list", "tables"])
        .output()
        .unwrap();
    assert!(
        !text(&tables).contains("ropewalk_emulate"),
        "{}",
        text(&tables)
    );
}
