//! Batches of iproute2's `ip` or `tc` commands.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

use crate::error::Error;

/// Runs commands of `ip` or `tc` in the network namespace of the calling thread. Fails if the
/// program is missing, or rejects a command; earlier ones have been executed.
pub(crate) fn run(program: &'static str, options: &[&str], lines: &[String]) -> Result<(), Error> {
    let mut text = lines.join("\n");
    text.push('\n');
    let missing = |source| Error::NoProgram { program, source };
    let output = feed(program, options, &text).map_err(missing)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // "Command failed -:3" is its last line.
    let number = said.trim_end().rsplit(':').next();
    let line = number.and_then(|number| number.parse::<usize>().ok());
    let message: Vec<&str> = said
        .lines()
        .filter(|line| !line.starts_with("Command failed"))
        .collect();
    Err(Error::Refused {
        program,
        line: line
            .and_then(|number| lines.get(number.wrapping_sub(1)))
            .cloned()
            .unwrap_or_default(),
        message: message.join("; "),
    })
}

fn feed(program: &str, options: &[&str], text: &str) -> io::Result<Output> {
    let mut child = Command::new(program)
        .args(options)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    child.wait_with_output()
}
