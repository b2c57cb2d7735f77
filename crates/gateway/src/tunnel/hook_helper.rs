//! Helper process that runs the hook of a tunnel after the tunnel has dropped its privileges.
//!
//! The tunnel starts it first, with the same command line and all privileges. The helper can only run the
//! hook with one of its verbs: the tunnel can change neither the program nor its environment. Before
//! `prepare` the helper reads the rules for targets again, from the configuration file.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::{env, fmt};

use tokio::signal::unix::{SignalKind, signal};

use crate::Failure;
use crate::lock::lock;
use crate::runtime::block_on;

/// Environment variable that makes a process the helper. Its value is the device's name.
pub(super) const VARIABLE: &str = "ROPEWALK_HOOK_HELPER";
const MAX_LINE_LEN: u64 = 8192;
const VERBS: [&str; 4] = ["up", "prepare", "down", "purge"];

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

/// Runs the hook by `run` for each request of the tunnel, until the tunnel has ended.
pub(super) fn serve(run: impl Fn(&str) -> Result<(), Failure>) -> Result<(), Failure> {
    block_on(async {
        // These signals end the tunnel, which still needs the hook.
        let ends = [
            SignalKind::terminate(),
            SignalKind::interrupt(),
            SignalKind::hangup(),
        ];
        let _ignored = ends.map(signal);
        answer(run, io::stdin().lock(), io::stdout())
    })?
    .map_err(|error| Failure::run(format!("requests to run the hook: {error}")))
}

fn answer(
    run: impl Fn(&str) -> Result<(), Failure>,
    mut requests: impl BufRead,
    mut replies: impl Write,
) -> io::Result<()> {
    loop {
        let verb = match read_line(&mut requests) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            verb => verb?,
        };
        let known = VERBS.into_iter().find(|known| *known == verb);
        let verb = known.ok_or(io::ErrorKind::InvalidData)?;
        let reply = match run(verb) {
            Ok(()) => String::new(),
            Err(failure) => failure.to_string().replace('\n', " "),
        };
        writeln!(replies, "{reply}")?;
        replies.flush()?;
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
