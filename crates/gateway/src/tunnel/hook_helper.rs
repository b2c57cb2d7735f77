//! Helper process that runs the hook of a tunnel after the tunnel has dropped its privileges.
//!
//! The tunnel starts it first, with the same command line and all privileges. The helper can only run the
//! hook with one of its verbs: the tunnel can change neither the program nor its environment. Before
//! `prepare` the helper reads the rules for targets again, from the configuration file.
//!
//! A killed tunnel cannot run the hook any more. Its helper then runs it with `down`, so that routes and DNS are
//! as before.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{env, fmt, fs, thread};

use rustix::fs::{FlockOperation, flock};
use tokio::signal::unix::{SignalKind, signal};

use crate::Failure;
use crate::lock::lock;
use crate::runtime::block_on;

/// Environment variable that makes a process the helper. Its value is the device's name.
pub(super) const VARIABLE: &str = "ROPEWALK_HOOK_HELPER";
const MAX_LINE_LEN: u64 = 8192;
const VERBS: [&str; 4] = ["up", "prepare", "down", "purge"];
/// File that is locked while a hook runs, so that two tunnels of one device do not run it at the same time.
const LOCK: &str = "/run/ropewalk-hook.lock";
/// How long the device of a killed tunnel may remain. After that it belongs to another one.
const DEVICE_REMOVED_WITHIN: Duration = Duration::from_secs(2);

/// The tunnel's end of its helper. Dropping it ends the helper.
pub(super) struct HookHelper(Mutex<(ChildStdin, BufReader<ChildStdout>)>);

impl HookHelper {
    /// Starts the helper by a command that runs this process's command line again.
    pub fn start(mut command: Command, device: &str) -> Result<HookHelper, Failure> {
        let failed = |error| {
            Failure::run(format!(
                "cannot start the process that runs the hook: {error}"
            ))
        };
        command.env(VARIABLE, device);
        // Ctrl-C is for the tunnel alone, which then runs the hook.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(replies)) => {
                let replies = BufReader::new(replies);
                Ok(HookHelper(Mutex::new((requests, replies))))
            }
            _ => Err(failed(io::ErrorKind::BrokenPipe.into())),
        }
    }

    pub fn run(&self, verb: &str) -> Result<(), Failure> {
        let mut pipes = lock(&self.0);
        let (requests, replies) = &mut *pipes;
        let mut request = || {
            writeln!(requests, "{verb}")?;
            read_line(replies)
        };
        match request() {
            Ok(reply) if reply.is_empty() => Ok(()),
            Ok(reply) => Err(Failure::run(reply)),
            Err(error) => Err(Failure::run(format!(
                "hook {verb}: the process that runs it has ended: {error}"
            ))),
        }
    }
}

impl fmt::Debug for HookHelper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookHelper")
    }
}

/// Returns the device's name if this process is a helper.
pub(super) fn device() -> Option<OsString> {
    env::var_os(VARIABLE)
}

/// Runs the hook by `run` for each request of the tunnel with this device, until the tunnel has ended.
pub(super) fn serve(
    device: &str,
    run: impl Fn(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let ended = block_on(async {
        // These signals end the tunnel, which still needs the hook.
        let ends = [
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::hangup(),
        ];
        let _ignored = ends.map(signal);
        answer(
            |verb| locked(|| run(verb)),
            io::stdin().lock(),
            io::stdout(),
        )
    })?;
    let ended =
        ended.map_err(|error| Failure::run(format!("requests to run the hook: {error}")))?;
    match ended {
        TunnelEnding::Orderly => Ok(()),
        TunnelEnding::Killed => locked(|| match is_removed(device) {
            true => run("down"),
            false => Ok(()),
        }),
    }
}

/// How a tunnel has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TunnelEnding {
    /// It has run the hook, or never did.
    Orderly,
    /// Its hook ran with `up` last.
    Killed,
}

/// Acts while no other helper runs a hook. Without a lock file it acts at once.
fn locked<T>(act: impl FnOnce() -> T) -> T {
    let file = fs::File::create(LOCK);
    let file = file
        .ok()
        .filter(|file| flock(file, FlockOperation::LockExclusive).is_ok());
    let done = act();
    drop(file);
    done
}

/// Waits until a device is removed. Returns false if it remains.
fn is_removed(device: &str) -> bool {
    let path = Path::new("/proc/sys/net/ipv4/conf").join(device);
    let begin = Instant::now();
    while path.exists() {
        if begin.elapsed() >= DEVICE_REMOVED_WITHIN {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
    true
}

fn answer(
    run: impl Fn(&str) -> Result<(), Failure>,
    mut requests: impl BufRead,
    mut replies: impl Write,
) -> io::Result<TunnelEnding> {
    let mut ending = TunnelEnding::Orderly;
    loop {
        let verb = match read_line(&mut requests) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(ending),
            verb => verb?,
        };
        let known = VERBS.into_iter().find(|known| *known == verb);
        let verb = known.ok_or(io::ErrorKind::InvalidData)?;
        ending = match verb {
            "up" => TunnelEnding::Killed,
            "down" | "purge" => TunnelEnding::Orderly,
            _ => ending,
        };
        let reply = match run(verb) {
            Ok(()) => String::new(),
            Err(failure) => failure.to_string().replace('\n', " "),
        };
        let replied = writeln!(replies, "{reply}").and_then(|()| replies.flush());
        if replied.is_err() {
            // Killed meanwhile.
            return Ok(ending);
        }
    }
}

fn read_line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    from.take(MAX_LINE_LEN).read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(line) => Ok(line.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn tunnel_without_down_after_up_was_killed() {
        for (requests, ending) in [
            ("", TunnelEnding::Orderly),
            ("up\n", TunnelEnding::Killed),
            ("up\nprepare\n", TunnelEnding::Killed),
            ("up\ndown\n", TunnelEnding::Orderly),
            ("up\npurge\n", TunnelEnding::Orderly),
        ] {
            let ran = RefCell::new(String::new());
            let run = |verb: &str| {
                *ran.borrow_mut() += &format!("{verb}\n");
                Ok(())
            };
            let ended = answer(run, requests.as_bytes(), io::sink());
            assert_eq!(ended.unwrap(), ending, "{requests:?}");
            assert_eq!(ran.into_inner(), requests);
        }
    }

    #[test]
    fn unknown_verb_is_refused() {
        let refused = answer(|_| Ok(()), &b"reboot\n"[..], io::sink());
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
