//! Runs a program at one end of emulated links.
//!
//!     between SCENARIO PROGRAM [ARGUMENT]...
//!
//! PROGRAM starts in the client's network namespace, with these environment variables:
//!
//! - `SERVER`: the server's address;
//! - `LINKS`: the links as gateway options, `--link NAME=ADDRESS` each;
//! - `AT_SERVER`: prefix of a command that runs it in the server's namespace.
//!
//! Returns the program's exit status. When the program or `between` ends, all started processes end and
//! the namespaces with their links disappear: they have no names, and the program is the first of its own
//! process namespace (pid_namespaces(7)).

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use ropewalk_scenario::Scenario;
use ropewalk_testbed::{Testbed, acquire};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scenario, program, rest @ ..] = &arguments[..] else {
        return complain(2, "usage: between SCENARIO PROGRAM [ARGUMENT]...");
    };
    // Must precede the second thread.
    if let Err(error) = acquire() {
        return complain(1, &error.to_string());
    }
    let scenario = match parse(scenario) {
        Ok(scenario) => scenario,
        Err(text) => return complain(2, &text),
    };
    match run(&scenario, program, rest) {
        Ok(status) => ExitCode::from(status),
        Err(failure) => complain(1, &failure.to_string()),
    }
}

fn complain(status: u8, text: &str) -> ExitCode {
    eprintln!("{text}");
    ExitCode::from(status)
}

fn parse(path: &str) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut read =
        |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    Scenario::parse(&text, path, &[], &mut read).map_err(|error| error.to_string())
}

fn run(scenario: &Scenario, program: &str, arguments: &[String]) -> Result<u8, Box<dyn Error>> {
    let mut testbed = Testbed::build(scenario)?;
    let emulator = testbed.start(scenario, 1, Instant::now(), None)?;
    let paths = testbed.plan.paths.iter().zip(&scenario.paths);
    let links: Vec<String> = paths
        .map(|(ends, path)| format!("--link {}={}", path.name, ends.client[0]))
        .collect();
    let namespace = format!(
        "/proc/{}/task/{}/ns/net",
        std::process::id(),
        testbed.server.thread_id()
    );
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL", "--"])
        .args(["unshare", "--pid", "--fork", "--kill-child", "--"])
        .arg(program)
        .args(arguments)
        .env("SERVER", testbed.plan.server.to_string())
        .env("LINKS", links.join(" "))
        .env("AT_SERVER", format!("nsenter --net={namespace} --"));
    let status = testbed.client.run(move || command.status())?;
    emulator.stop()?;
    Ok(status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1))
}
