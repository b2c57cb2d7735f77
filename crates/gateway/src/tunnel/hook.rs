//! The hook of a tunnel: a program that routes the machine's traffic into the device once it is up, and
//! undoes that at the end. It gets its parameters in environment variables.

use std::fs;
use std::io::{self, Read};
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{self, PathBuf};
use std::pin::pin;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tokio::task::spawn_blocking;
use tracing::warn;

use crate::Failure;
use crate::given;
use crate::runtime::notify_ready;

/// Time limit of a hook.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the rest of its output once it has ended.
const FAREWELL: Duration = Duration::from_millis(200);
/// Execute permission of any class of users.
const EXECUTABLE: u32 = 0o111;
/// Most bytes of its output that are repeated in a message.
const MAX_OUTPUT_BYTES: u64 = 4096;

/// The hook, and what it is told beside the tunnel's own options.
#[derive(Clone, Debug, Args)]
pub(crate) struct HookOptions {
    /// A program that is run with `up` once the device is up, and with `down` at the end, to lay
    /// routes, DNS and NAT; packages have /usr/lib/ropewalk/tunnel-hook.
    #[arg(long, value_name = "FILE")]
    hook: Option<PathBuf>,
    /// For the hook of a client: lead everything into the device but the links' own traffic.
    #[arg(long, requires = "hook")]
    default_route: bool,
    /// For the hook of a client: name servers that this machine asks while the tunnel is up.
    #[arg(long, value_name = "ADDRESS", requires = "hook", value_parser = given::host)]
    dns: Vec<IpAddr>,
    /// For the hook of a relay: forward what clients send as from the relay's own address (NAT).
    #[arg(long, requires = "hook")]
    masquerade: bool,
    /// When the hook is run: by the tunnel itself, by another who runs it, or now and nothing else.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = RunHook::Always)]
    run_hook: RunHook,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RunHook {
    /// At the tunnel's beginning and end.
    Always,
    /// Not by this process.
    Never,
    /// Now, with `up`, and do nothing else.
    Up,
    /// Now, with `down`, and do nothing else.
    Down,
}

/// Parameters for the hook from the tunnel's own options.
#[derive(Debug)]
pub(super) struct HookVariables {
    pub is_relay: bool,
    pub addresses: String,
    pub links: String,
    pub relay: String,
}

impl HookOptions {
    /// The hook's argument, if running the hook is all that is asked for.
    pub fn alone(&self) -> Option<&'static str> {
        match self.run_hook {
            RunHook::Up => Some("up"),
            RunHook::Down => Some("down"),
            RunHook::Always | RunHook::Never => None,
        }
    }

    /// Checks that the hook can be run.
    ///
    /// # Errors
    /// It does not exist, or is not executable.
    pub fn check(&self) -> Result<(), Failure> {
        let Some(program) = &self.hook else {
            return Ok(());
        };
        let wrong = |what: &dyn std::fmt::Display| {
            let program = program.display();
            Failure::input(format!(
                "--hook {program}: {what}; allowed: an executable file"
            ))
        };
        let found = fs::metadata(program).map_err(|error| wrong(&error))?;
        match (found.is_file(), found.permissions().mode() & EXECUTABLE) {
            (false, _) => Err(wrong(&"not a file")),
            (true, 0) => Err(wrong(&"not executable")),
            _ => Ok(()),
        }
    }

    /// Whether another process runs the hook.
    pub fn is_left_to_another(&self) -> bool {
        matches!(self.run_hook, RunHook::Never)
    }

    /// The hook, if one is configured.
    pub fn hook(&self, variables: HookVariables) -> Option<Hook> {
        let flag = |is_set: bool| if is_set { "yes" } else { "no" }.to_owned();
        let role = if variables.is_relay {
            "relay"
        } else {
            "client"
        };
        Some(Hook {
            // A bare name is a file in the current folder, and is not searched in PATH.
            program: path::absolute(self.hook.as_ref()?).ok()?,
            environment: vec![
                ("ROPEWALK_ROLE", role.to_owned()),
                ("ROPEWALK_ADDRESSES", variables.addresses),
                ("ROPEWALK_LINKS", variables.links),
                ("ROPEWALK_RELAY", variables.relay),
                ("ROPEWALK_DEFAULT_ROUTE", flag(self.default_route)),
                ("ROPEWALK_DNS", words(&self.dns)),
                ("ROPEWALK_MASQUERADE", flag(self.masquerade)),
            ],
        })
    }
}

/// A program and its environment.
#[derive(Clone, Debug)]
pub(super) struct Hook {
    program: PathBuf,
    environment: Vec<(&'static str, String)>,
}

/// Waits for the end of `carried`, and runs the hook before and after, unless another process does.
pub(super) async fn between(
    hook: Option<Hook>,
    carried: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let mut carried = pin!(carried);
    let Some(hook) = hook.map(Arc::new) else {
        notify_ready();
        return carried.await;
    };
    let run = |verb: &'static str| {
        let hook = Arc::clone(&hook);
        async move {
            let run = spawn_blocking(move || hook.run(verb)).await;
            run.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
        }
    };
    let mut raised = pin!(run("up"));
    let ended = tokio::select! {
        biased;
        // The hook has to finish `up` before it is run with `down`.
        ended = &mut carried => raised.await.and(ended),
        raised = &mut raised => match raised {
            Ok(()) => {
                notify_ready();
                carried.await
            }
            Err(failure) => Err(failure),
        },
    };
    let lowered = run("down").await;
    if let Err(failure) = &lowered {
        warn!("{failure}");
    }
    ended
}

impl Hook {
    /// Adds the device's name.
    pub fn of_device(mut self, device: &str) -> Hook {
        let variable = ("ROPEWALK_DEVICE", device.to_owned());
        self.environment.push(variable);
        self
    }

    /// Runs it with `up` or `down`, and waits.
    pub fn run(&self, verb: &str) -> Result<(), Failure> {
        let failed = |what: &dyn std::fmt::Display| {
            Failure::run(format!("hook {} {verb}: {what}", self.program.display()))
        };
        let mut command = Command::new(&self.program);
        command.arg(verb).envs(self.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| failed(&error))?;
        let said = listen(&mut child);
        let status = wait(&mut child).map_err(|error| failed(&error))?;
        let said = said.recv_timeout(FAREWELL).unwrap_or_default();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        match (status.success(), said.is_empty()) {
            (true, true) => Ok(()),
            (true, false) => {
                warn!("hook {} {verb}: {said}", self.program.display());
                Ok(())
            }
            (false, true) => Err(failed(&status)),
            (false, false) => Err(failed(&said)),
        }
    }
}

/// A list as an environment variable.
pub(super) fn words<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = all.into_iter().map(|one| one.to_string()).collect();
    all.join(" ")
}

/// The beginning of the program's standard error; all of it is read.
fn listen(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut pipe) = child.stderr.take() {
        thread::spawn(move || {
            let mut said = Vec::new();
            let _ = pipe.by_ref().take(MAX_OUTPUT_BYTES).read_to_end(&mut said);
            let _ = io::copy(&mut pipe, &mut io::sink());
            let _ = sender.send(String::from_utf8_lossy(&said).into_owned());
        });
    }
    receiver
}

/// Waits for its end, up to the time limit.
fn wait(child: &mut Child) -> io::Result<ExitStatus> {
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
    use std::path::Path;

    use super::*;

    /// A hook that notes what it is run with, and does then what the text says.
    fn hook(folder: &Path, then: &str) -> Hook {
        let program = folder.join("hook");
        let text = format!("#!/bin/sh\necho \"$1 $ROPEWALK_DEVICE\" >>\"$NOTES\"\n{then}\n");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let notes = folder.join("notes").display().to_string();
        Hook {
            program,
            environment: vec![("ROPEWALK_DEVICE", "rope0".to_owned()), ("NOTES", notes)],
        }
    }

    fn notes(folder: &Path) -> String {
        fs::read_to_string(folder.join("notes")).unwrap_or_default()
    }

    #[tokio::test]
    async fn it_is_up_while_packets_are_carried_and_down_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let carried = async {
            while notes(path).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Err(Failure::run("the tunnel ends"))
        };
        let failure = between(Some(hook(path, "exit 0")), carried).await;
        assert_eq!(failure.unwrap_err().to_string(), "the tunnel ends");
        assert_eq!(notes(path), "up rope0\ndown rope0\n");
    }

    #[tokio::test]
    async fn one_that_fails_is_undone_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let failing = hook(path, "test $1 = down || { echo no nft here >&2; exit 3; }");
        let failure = between(Some(failing), std::future::pending()).await;
        let said = failure.unwrap_err().to_string();
        assert!(said.ends_with("up: no nft here"), "{said}");
        assert_eq!(notes(path), "up rope0\ndown rope0\n");
    }

    #[test]
    fn a_hook_that_cannot_be_run_is_refused_before_anything_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let program = hook(folder.path(), "").program;
        let options = |program: &Path| HookOptions {
            hook: Some(program.to_owned()),
            default_route: false,
            dns: Vec::new(),
            masquerade: false,
            run_hook: RunHook::Always,
        };
        options(&program).check().unwrap();
        let refused = |program: &Path| options(program).check().unwrap_err();
        let failure = refused(&folder.path().join("none"));
        assert_eq!(failure.exit_status(), 2);
        assert!(failure.to_string().contains("No such file"), "{failure}");
        let failure = refused(folder.path());
        assert!(failure.to_string().contains("not a file"), "{failure}");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
        let failure = refused(&program);
        assert!(failure.to_string().contains("not executable"), "{failure}");
    }

    #[test]
    fn what_is_no_program_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let mut hook = hook(folder.path(), "kill -TERM $$");
        assert!(
            hook.run("up")
                .unwrap_err()
                .to_string()
                .contains("signal: 15")
        );
        hook.program = folder.path().join("none");
        let said = hook.run("up").unwrap_err().to_string();
        assert!(said.contains("No such file"), "{said}");
    }
}
