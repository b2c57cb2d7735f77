//! A program of the user's behind the links of a scenario.
//!
//! It starts in a network namespace with one interface for each path of the scenario. At the other end
//! of the links is another namespace, where programs may serve, and behind that the machine's own
//! network if it is asked for ([`internet`]).

mod internet;
mod process;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::process::Command;
use std::time::Instant;

use ropewalk_scenario::Scenario;

use crate::error::Error;
use crate::kernel::check_size;
use crate::network::Testbed;
use crate::plan::Plan;

use internet::Internet;
use process::Running;

/// What a program is to be run behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emulation {
    /// The scenario file's text: of it, the links and their paths count.
    pub scenario: String,
    /// What errors call the file.
    pub name: String,
    /// Keys set to other values, as `--set` has them.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// Texts of the trace files, by the names that the scenario has for them.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Links draw from streams of this seed, as the simulator's do.
    pub seed: u64,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// A command of the shell that runs at the other end meanwhile.
    #[serde(default)]
    pub far: Option<String>,
    /// Whether connections of MPTCP get a subflow for each path.
    #[serde(default)]
    pub mptcp: bool,
    /// Whether the machine's own network is behind the other end.
    #[serde(default)]
    pub internet: bool,
}

/// Runs a program behind emulated links until it ends; its exit status, 128 and the signal's number if
/// a signal ended it.
///
/// Signals that come to this process meanwhile go on to the program. With it ends all that it started,
/// and the namespaces with their links are gone, however this process ends. Who is not root calls
/// [`acquire`](crate::acquire) first.
///
/// # Errors
/// The scenario is wrong, or the machine does not let us.
pub fn emulate(emulation: &Emulation) -> Result<u8, Error> {
    if emulation.program.is_empty() {
        return Err(Error::Unsupported {
            key: "PROGRAM".to_owned(),
            value: "\"\"".to_owned(),
            reason: "there is nothing to run".to_owned(),
            allowed: "a program behind --".to_owned(),
        });
    }
    let scenario = parse(emulation)?;
    check_size(&scenario)?;
    let mut testbed = Testbed::for_programs(&scenario, emulation.mptcp)?;
    let _internet = match emulation.internet {
        true => Some(Internet::open(&testbed)?),
        false => None,
    };
    let emulator = testbed.start(&scenario, emulation.seed, Instant::now(), None);
    let emulator = emulator?;
    let environment = environment(&testbed.plan);
    let far = emulation.far.as_ref().map(|line| {
        let mut command = process::wrapped(&["sh".to_owned(), "-c".to_owned(), line.clone()]);
        command.envs(environment.clone());
        Running::start(&testbed.server, command)
    });
    let far = far.transpose()?;
    let mut command = process::wrapped(&emulation.program);
    command.envs(environment.clone());
    let status = process::run(&testbed.client, command)?;
    drop(far);
    emulator.stop().map_err(Error::Emulator)?;
    Ok(status)
}

fn parse(emulation: &Emulation) -> Result<Scenario, Error> {
    let mut read = |name: &str| {
        let text = emulation.files.get(name).cloned();
        text.ok_or_else(|| "its text was not handed over".to_owned())
    };
    Ok(Scenario::parse(
        &emulation.scenario,
        &emulation.name,
        &emulation.overrides,
        &mut read,
    )?)
}

/// What programs are told: the other end's address, and each interface with the address on it.
fn environment(plan: &Plan) -> [(&'static str, String); 2] {
    let links = plan.paths.iter();
    let links = links.map(|path| format!("{}={}", path.device, path.client[0]));
    [
        ("ROPEWALK_FAR", plan.server.to_string()),
        ("ROPEWALK_LINKS", links.collect::<Vec<_>>().join(" ")),
    ]
}

/// IPv4 alone is translated.
fn is_translated(address: IpAddr) -> bool {
    address.is_ipv4()
}

fn nothing_there(program: &'static str) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::NoProgram { program, source }
}

/// Runs a program of the system with this on its standard input.
fn tell(mut command: Command, program: &'static str, text: &str) -> Result<(), Error> {
    use std::io::Write;
    use std::process::Stdio;

    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(nothing_there(program))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that refuses its input says so itself.
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(nothing_there(program))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::Refused {
            program,
            line: text.to_owned(),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }),
    }
}
