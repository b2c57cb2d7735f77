//! BackgroundProcess a user's program over the links of a scenario.
//!
//! The program has a network namespace with one interface per path of the scenario. The other ends
//! of the links are in a second namespace, for servers and, if requested, access to the machine's
//! own network ([`internet`]).

mod internet;
mod process;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::process::Command;
use std::time::Instant;

use crate::address_plan::AddressPlan;
use crate::error::Error;
use crate::kernel::check_size;
use crate::network::Testbed;
use crate::request::parse;

use internet::Internet;
use process::BackgroundProcess;

/// A program, and the links for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emulation {
    /// Text of the scenario file; only its links and paths are used.
    pub scenario: String,
    /// File name in error messages.
    pub name: String,
    /// Overrides of keys, as for `--set`.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// Text of each trace file, by its name in the scenario.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Seed of the links' random streams, as in the simulator.
    pub seed: u64,
    /// Program and arguments.
    pub program: Vec<String>,
    /// Shell command to run at the other end.
    #[serde(default)]
    pub far: Option<String>,
    /// MPTCP connections get a subflow for each path.
    #[serde(default)]
    pub mptcp: bool,
    /// The other end has access to the machine's own network.
    #[serde(default)]
    pub internet: bool,
}

/// Runs a program over emulated links until it ends. Returns its exit status, or 128 plus the
/// number of the signal that ended it.
///
/// Signals to this process are passed on to the program. All its processes end with it, and the
/// namespaces with their links are removed, however this process ends. Without root, call
/// [`acquire`](crate::acquire) first. Fails if the scenario is wrong, or the system reports an
/// error.
pub fn emulate(emulation: &Emulation) -> Result<u8, Error> {
    if emulation.program.is_empty() {
        return Err(Error::Unsupported {
            key: "PROGRAM".to_owned(),
            value: "\"\"".to_owned(),
            reason: "there is nothing to run".to_owned(),
            allowed: "a program behind --".to_owned(),
        });
    }
    let scenario = parse(
        &emulation.scenario,
        &emulation.name,
        &emulation.overrides,
        &emulation.files,
    )?;
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
        BackgroundProcess::start(&testbed.server, command)
    });
    let far = far.transpose()?;
    let mut command = process::wrapped(&emulation.program);
    command.envs(environment.clone());
    let status = process::run(&testbed.client, command)?;
    drop(far);
    emulator.stop().map_err(Error::Emulator)?;
    Ok(status)
}

/// Environment variables of the programs: the other end's address, and each interface with its
/// address.
fn environment(plan: &AddressPlan) -> [(&'static str, String); 2] {
    let links = plan.paths.iter();
    let links = links.map(|path| format!("{}={}", path.device, path.client[0]));
    [
        ("ROPEWALK_FAR", plan.server.to_string()),
        ("ROPEWALK_LINKS", links.collect::<Vec<_>>().join(" ")),
    ]
}

fn is_translated(address: IpAddr) -> bool {
    address.is_ipv4()
}

fn missing_program(program: &'static str) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::NoProgram { program, source }
}

/// Runs a system program with this text on standard input.
fn run_with_input(mut command: Command, program: &'static str, text: &str) -> Result<(), Error> {
    use std::io::Write;
    use std::process::Stdio;

    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(missing_program(program))?;
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(missing_program(program))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::Refused {
            program,
            line: text.to_owned(),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        }),
    }
}
