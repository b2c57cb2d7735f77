//! Programs in a namespace, which end together with all their processes.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use rustix::termios::tcgetpgrp;
use tokio::signal::unix::{SignalKind, signal};

use super::missing_program;
use crate::error::Error;
use crate::namespace::Namespace;

const SIGNALS: [Signal; 6] = [
    Signal::TERM,
    Signal::INT,
    Signal::QUIT,
    Signal::HUP,
    Signal::USR1,
    Signal::USR2,
];

/// A command that runs a program in its own process namespace (pid_namespaces(7)). The namespace's
/// first process, a shell, ends with this process, and all others are killed with it. The program
/// is the shell's child, since a first process gets only the signals that it handles.
pub(super) fn wrapped(program: &[String]) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "--"])
        .args(["unshare", "--pid", "--fork", "--kill-child", "--"])
        .args(["sh", "-c", "\"$@\"; exit $?", "sh"])
        .args(program);
    command
}

pub(super) fn run(namespace: &Namespace, command: Command) -> Result<u8, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(missing_program("setpriv"))?;
    let status = runtime.block_on(async {
        // Must precede the program, which may receive a signal at once.
        let mut signals = Vec::new();
        for number in SIGNALS {
            signals.push((number, signal(SignalKind::from_raw(number.as_raw()))?));
        }
        let (child, wrapper) = spawn(namespace, command)?;
        let mut waiting = tokio::task::spawn_blocking(move || wait(child));
        loop {
            let next = std::future::poll_fn(|context| {
                let mut came = signals.iter_mut();
                let came = came.find_map(|(number, stream)| match stream.poll_recv(context) {
                    std::task::Poll::Ready(Some(())) => Some(*number),
                    _ => None,
                });
                came.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
            });
            tokio::select! {
                status = &mut waiting => return status.map_err(io::Error::other)?,
                number = next => pass_on(wrapper, number),
            }
        }
    });
    let status = status.map_err(missing_program("setpriv (of util-linux)"))?;
    let killed = status.signal().map_or(1, |number| 128 + number as u8);
    Ok(status.code().map_or(killed, |code| code as u8))
}

fn spawn(namespace: &Namespace, mut command: Command) -> io::Result<(Child, Pid)> {
    let child = namespace.run(move || command.spawn())?;
    let pid = Pid::from_child(&child);
    Ok((child, pid))
}

fn wait(mut child: Child) -> io::Result<ExitStatus> {
    child.wait()
}

/// Passes on a signal, except those of the terminal, which reach a foreground program directly.
fn pass_on(wrapper: Pid, number: Signal) {
    let is_terminal_s = matches!(number, Signal::INT | Signal::QUIT);
    let is_foreground = tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp());
    if is_terminal_s && is_foreground {
        return;
    }
    // The child of unshare is the shell, and the shell's child is the program.
    let program = only_child(wrapper).and_then(only_child);
    let _ = kill_process(program.unwrap_or(wrapper), number);
}

fn only_child(of: Pid) -> Option<Pid> {
    let pid = of.as_raw_nonzero();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    Pid::from_raw(children.split_whitespace().next()?.parse().ok()?)
}

#[derive(Debug)]
pub(super) struct BackgroundProcess(Child);

impl BackgroundProcess {
    pub(super) fn start(
        namespace: &Namespace,
        mut command: Command,
    ) -> Result<BackgroundProcess, Error> {
        command.stdin(Stdio::null());
        let (child, _) =
            spawn(namespace, command).map_err(missing_program("setpriv (of util-linux)"))?;
        Ok(BackgroundProcess(child))
    }
}

impl Drop for BackgroundProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
