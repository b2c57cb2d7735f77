//! A gateway as a process, and its log.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

pub const BINARY: &str = env!("CARGO_BIN_EXE_ropewalk-gateway");

/// A time limit that is generous even on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// Waits until `is_so` returns true; returns how long that took.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
    begin.elapsed()
}

pub struct Gateway {
    child: Child,
    log: Arc<Mutex<String>>,
}

impl Gateway {
    pub fn start(arguments: &[&str]) -> Gateway {
        Gateway::run(Command::new(BINARY).args(arguments))
    }

    /// Starts it with arguments that have no spaces.
    #[allow(dead_code, reason = "some of the tests that share this use it")]
    pub fn start_words(words: &str) -> Gateway {
        Gateway::start(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// Starts it by a command that executes the gateway.
    pub fn run(command: &mut Command) -> Gateway {
        Gateway::run_with(command, Stdio::null())
    }

    pub fn run_with(command: &mut Command, stdin: Stdio) -> Gateway {
        let mut child = command
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let copy = Arc::clone(&log);
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                copy.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Gateway { child, log }
    }

    #[allow(dead_code, reason = "some of the tests that share this use it")]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until it has logged `text`; returns the rest of the line.
    pub fn wait_for(&self, text: &str) -> String {
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            let log = self.log();
            let line = log.lines().find_map(|line| line.split_once(text));
            if let Some((_, rest)) = line {
                return rest.trim().to_owned();
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("no {text:?} in:\n{}", self.log());
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its resident memory in bytes: now, and the maximum.
    pub fn memory(&self) -> [usize; 2] {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        ["VmRSS:", "VmHWM:"].map(|name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next());
            kib.and_then(|kib| kib.parse::<usize>().ok()).unwrap() << 10
        })
    }

    /// Makes it read its files again (SIGHUP).
    pub fn reload(&self) {
        self.signal(Signal::HUP);
    }

    /// Ends it as a service manager does (SIGTERM).
    pub fn terminate(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.child.wait().unwrap()
    }

    /// Ends it as a user at a terminal does (SIGINT).
    pub fn interrupt(mut self) -> ExitStatus {
        self.signal(Signal::INT);
        self.child.wait().unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // A process that has ended cannot be killed again.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
