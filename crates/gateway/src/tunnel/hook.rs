//! Hook of a tunnel: a program that sets up routes, DNS, NAT and packet filters for the device, and removes
//! them. It gets its parameters in environment variables.

use std::io::{self, Read};
use std::path::PathBuf;
use std::pin::pin;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;
use tracing::{info, warn};

use super::firewall::{Firewall, table_of};
use super::hook_helper::{self, HookHelper};
use crate::Failure;
use crate::prefix::Prefix;
use crate::runtime::{EndSignal, notify_ready};

mod link_interface;
mod options;

pub(super) use self::options::HookVariables;
pub(crate) use self::options::{ClientRouting, HookOptions, HookProgram, RelayForwarding};

const TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the rest of its output once it has ended.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);
/// Largest part of its output, in bytes, that a message repeats.
const MAX_OUTPUT_BYTES: u64 = 4096;

#[derive(Clone, Debug)]
pub(super) struct Hook {
    program: PathBuf,
    environment: Vec<(&'static str, String)>,
    firewall: Option<Firewall>,
    addresses: Vec<Prefix>,
    /// The process that runs it instead of this one.
    helper: Option<Arc<HookHelper>>,
}

/// Runs the hook before and after `running`, unless another process does.
///
/// Only a user who ends the tunnel (SIGINT) has everything removed. Any other end may precede a restart, so
/// NAT and packet filters stay: connections continue, and a kill switch stays active.
pub(super) async fn run_around(
    hook: Option<Hook>,
    running: impl Future<Output = Result<EndSignal, Failure>>,
) -> Result<(), Failure> {
    let mut running = pin!(running);
    let Some(hook) = hook.map(Arc::new) else {
        notify_ready();
        return running.await.map(|_| ());
    };
    let run = |verb: &'static str| {
        let hook = Arc::clone(&hook);
        async move {
            let run = spawn_blocking(move || hook.run(verb)).await;
            run.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
        }
    };
    let mut starting = pin!(run("up"));
    let ended = tokio::select! {
        biased;
        // The hook must finish `up` before it runs with another verb.
        ended = &mut running => starting.await.and(ended),
        starting = &mut starting => match starting {
            Ok(()) => {
                notify_ready();
                running.await
            }
            Err(failure) => Err(failure),
        },
    };
    let verb = match ended {
        Ok(EndSignal::Interrupted) => "purge",
        _ => "down",
    };
    match run(verb).await {
        Err(failure) => warn!("{failure}"),
        Ok(()) if verb == "down" => info!(
            "NAT and packet filters stay for a restart. To remove them, run the same command with \
             --device {} --run-hook purge",
            hook.device()
        ),
        Ok(()) => {}
    }
    ended.map(|_| ())
}

impl Hook {
    /// Runs the hook by a helper process.
    pub fn with_helper(mut self, helper: HookHelper) -> Hook {
        self.helper = Some(Arc::new(helper));
        self
    }

    pub fn for_device(mut self, device: &str) -> Hook {
        let firewall = self.firewall.as_ref();
        let ruleset = firewall.map(|firewall| firewall.ruleset(device, &self.addresses));
        self.environment.extend([
            ("ROPEWALK_DEVICE", device.to_owned()),
            ("ROPEWALK_NFT_TABLE", table_of(device)),
            ("ROPEWALK_NFT", ruleset.unwrap_or_default()),
        ]);
        self
    }

    fn device(&self) -> &str {
        let mut variables = self.environment.iter();
        let device = variables.find(|(name, _)| *name == "ROPEWALK_DEVICE");
        device.map_or("", |(_, device)| device)
    }

    pub fn run(&self, verb: &str) -> Result<(), Failure> {
        if let Some(helper) = &self.helper {
            return helper.run(verb);
        }
        let failed = |what: &dyn std::fmt::Display| {
            Failure::run(format!("hook {} {verb}: {what}", self.program.display()))
        };
        let mut command = Command::new(&self.program);
        command.arg(verb).envs(self.environment.iter().cloned());
        command.env_remove(hook_helper::VARIABLE);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| failed(&error))?;
        let output = read_stderr(&mut child);
        let status = wait_for_exit(&mut child).map_err(|error| failed(&error))?;
        let output = output.recv_timeout(OUTPUT_TIMEOUT).unwrap_or_default();
        let output = output.split_whitespace().collect::<Vec<_>>().join(" ");
        match (status.success(), output.is_empty()) {
            (true, true) => Ok(()),
            (true, false) => {
                warn!("hook {} {verb}: {output}", self.program.display());
                Ok(())
            }
            (false, true) => Err(failed(&status)),
            (false, false) => Err(failed(&output)),
        }
    }
}

/// Returns the beginning of the program's standard error; all of it is read.
fn read_stderr(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut pipe) = child.stderr.take() {
        thread::spawn(move || {
            let mut output = Vec::new();
            let _ = pipe
                .by_ref()
                .take(MAX_OUTPUT_BYTES)
                .read_to_end(&mut output);
            let _ = io::copy(&mut pipe, &mut io::sink());
            let _ = sender.send(String::from_utf8_lossy(&output).into_owned());
        });
    }
    receiver
}

fn wait_for_exit(child: &mut Child) -> io::Result<ExitStatus> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            let text = format!("not done in {} s", TIMEOUT.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::*;

    /// A hook that records its arguments and environment, and then runs the script `then`.
    fn hook(folder: &Path, then: &str) -> Hook {
        let program = folder.join("hook");
        let text = format!("#!/bin/sh\necho \"$1 $ROPEWALK_DEVICE\" >>\"$NOTES\"\n{then}\n");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let notes = folder.join("notes").display().to_string();
        Hook {
            program,
            environment: vec![("ROPEWALK_DEVICE", "rope0".to_owned()), ("NOTES", notes)],
            firewall: None,
            addresses: Vec::new(),
            helper: None,
        }
    }

    fn notes(folder: &Path) -> String {
        fs::read_to_string(folder.join("notes")).unwrap_or_default()
    }

    #[tokio::test]
    async fn run_around_runs_up_then_down_or_purge() {
        for (ending, last) in [
            (Ok(EndSignal::Terminated), "down"),
            (Ok(EndSignal::Interrupted), "purge"),
            (Err(Failure::run("the tunnel ends")), "down"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            let expected = ending.as_ref().err().map(ToString::to_string);
            let running = async {
                while notes(path).is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                ending
            };
            let ended = run_around(Some(hook(path, "exit 0")), running).await;
            assert_eq!(ended.err().map(|error| error.to_string()), expected);
            assert_eq!(notes(path), format!("up rope0\n{last} rope0\n"));
        }
    }

    #[tokio::test]
    async fn failed_up_is_undone_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let failing = hook(path, "test $1 = down || { echo no nft here >&2; exit 3; }");
        let failure = run_around(Some(failing), std::future::pending()).await;
        let output = failure.unwrap_err().to_string();
        assert!(output.ends_with("up: no nft here"), "{output}");
        assert_eq!(notes(path), "up rope0\ndown rope0\n");
    }

    #[test]
    fn missing_program_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut hook = hook(folder.path(), "kill -TERM $$");
        assert!(
            hook.run("up")
                .unwrap_err()
                .to_string()
                .contains("signal: 15")
        );
        hook.program = folder.path().join("none");
        let output = hook.run("up").unwrap_err().to_string();
        assert!(output.contains("No such file"), "{output}");
    }
}
