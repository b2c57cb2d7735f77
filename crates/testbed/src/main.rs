//! `ropewalk-testbed`: runs of scenarios on the kernel, each in a process of its own.
//!
//!     ropewalk-testbed run SCENARIO [--seed N] [--set KEY=VALUE]... [--step TIME] [--histogram]
//!                      [--emulator own|netem] [--congestion NAME] [--capture FILE] [--at PLACE]
//!     ropewalk-testbed emulate SCENARIO [--seed N] [--set KEY=VALUE]... [--far COMMAND] [--mptcp]
//!                      [--internet] -- PROGRAM [ARGUMENT]...
//!     ropewalk-testbed doctor [SCENARIO] [--set KEY=VALUE]... [--json]
//!
//! The Python package uses three verbs with a request in JSON:
//!
//! - `world PARENT < REQUEST` prints the report of a run.
//! - `examine PARENT < REQUEST` prints the features of this machine; `null` names no scenario.
//! - `emulate --request FILE` removes the file, then runs the request's program.
//!
//! PARENT is the parent process. After its end, the first two run nothing.
//!
//! Exit statuses: 0 done, 1 the run failed, 2 invalid input, 3 the machine lacks a requirement of `world`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::parent_id;
use std::path::Path;
use std::process::ExitCode;

use ropewalk_scenario::Scenario;
use ropewalk_testbed::{
    Diagnosis, Emulation, EmulatorKind, Error, Report, Request, acquire, die_with_parent, doctor,
    emulate, run_scenario,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

const USAGE: &str = "usage: ropewalk-testbed run SCENARIO [--seed N] [--set KEY=VALUE]... \
[--step TIME] [--histogram] [--emulator own|netem] [--congestion NAME] [--capture FILE] \
[--at PLACE]; ropewalk-testbed emulate SCENARIO [--seed N] \
[--set KEY=VALUE]... [--far COMMAND] [--mptcp] [--internet] -- PROGRAM [ARGUMENT]...; ropewalk-testbed doctor [SCENARIO] \
[--set KEY=VALUE]... [--json]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.text.is_empty() {
                eprintln!("{}", failure.text);
            }
            ExitCode::from(failure.status)
        }
    }
}

/// Exit status if the machine lacks a requirement of the run.
const UNAVAILABLE: u8 = 3;

struct Failure {
    text: String,
    status: u8,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure {
            status: if error.is_input() { 2 } else { 1 },
            text: error.to_string(),
        }
    }
}

fn wrong(text: impl ToString) -> Failure {
    Failure {
        text: text.to_string(),
        status: 2,
    }
}

fn command(arguments: &[String]) -> Result<(), Failure> {
    let Some((verb, rest)) = arguments.split_first() else {
        return Err(wrong(USAGE));
    };
    match verb.as_str() {
        "run" => print_json(&run(&request(rest)?)?),
        "world" => {
            let request = read_request(rest)?;
            print_json(&run(&request).map_err(|error| of_run(error, &request))?)
        }
        "examine" => {
            let request: Option<Request> = read_request(rest)?;
            print_json(&diagnose(request.as_ref())?)
        }
        "emulate" => match rest {
            [option, file] if option == "--request" => run_program(&take_request(file)?),
            _ => run_program(&emulation(rest)?),
        },
        "doctor" => {
            let json = rest.iter().any(|argument| argument == "--json");
            let rest: Vec<String> = rest
                .iter()
                .filter(|&argument| argument != "--json")
                .cloned()
                .collect();
            let request = if rest.is_empty() {
                None
            } else {
                Some(request(&rest)?)
            };
            examine(request.as_ref(), json)
        }
        _ => Err(wrong(USAGE)),
    }
}

fn examine(request: Option<&Request>, json: bool) -> Result<(), Failure> {
    let diagnosis = diagnose(request)?;
    match json {
        true => print_json(&diagnosis)?,
        false => print!("{diagnosis}"),
    }
    match diagnosis.ready {
        true => Ok(()),
        false => Err(Failure {
            text: String::new(),
            status: 1,
        }),
    }
}

fn diagnose(request: Option<&Request>) -> Result<Diagnosis, Error> {
    // Without the right to create namespaces, the diagnosis reports it.
    let _ = acquire();
    doctor(request)
}

fn run(request: &Request) -> Result<Report, Error> {
    // Must precede the second thread.
    acquire()?;
    die_with_parent().map_err(Error::NoParent)?;
    run_scenario(request)
}

/// Failure of a run, whose exit status shows whether the machine is the reason.
fn of_run(error: Error, request: &Request) -> Failure {
    let is_input = error.is_input();
    let mut failure = Failure::from(error);
    if !is_input && !diagnose(Some(request)).is_ok_and(|found| found.can_run()) {
        failure.status = UNAVAILABLE;
    }
    failure
}

fn run_program(emulation: &Emulation) -> Result<(), Failure> {
    // Must precede the second thread.
    acquire()?;
    match emulate(emulation)? {
        0 => Ok(()),
        status => Err(Failure {
            text: String::new(),
            status,
        }),
    }
}

/// Reads a request of the process PARENT from standard input.
///
/// If PARENT has ended, nothing is run.
fn read_request<T: DeserializeOwned>(arguments: &[String]) -> Result<T, Failure> {
    let [parent] = arguments else {
        return Err(wrong(USAGE));
    };
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(wrong)?;
    let request = serde_json::from_str(&text).map_err(wrong)?;
    if parent_id().to_string() != *parent {
        return Err(wrong("the process that started this one has ended"));
    }
    Ok(request)
}

/// Reads a request file written for this process, and removes it.
fn take_request(path: &str) -> Result<Emulation, Failure> {
    let failed = |error: io::Error| wrong(format!("{path}: {error}"));
    let text = fs::read_to_string(path).map_err(failed)?;
    fs::remove_file(path).map_err(failed)?;
    serde_json::from_str(&text).map_err(wrong)
}

fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    println!("{}", serde_json::to_string(value).map_err(wrong)?);
    Ok(())
}

fn emulation(arguments: &[String]) -> Result<Emulation, Failure> {
    let dashes = arguments.iter().position(|argument| argument == "--");
    let (own, program) = arguments.split_at(dashes.ok_or_else(|| wrong(USAGE))?);
    let mut emulation = Emulation {
        program: program[1..].to_vec(),
        ..Emulation::default()
    };
    let mut others = Vec::new();
    let mut own = own.iter();
    while let Some(argument) = own.next() {
        match argument.as_str() {
            "--mptcp" => emulation.mptcp = true,
            "--internet" => emulation.internet = true,
            "--far" => emulation.far = own.next().cloned(),
            _ => others.push(argument.clone()),
        }
    }
    let request = request(&others)?;
    emulation.scenario = request.scenario;
    emulation.name = request.name;
    emulation.overrides = request.overrides;
    emulation.files = request.files;
    emulation.seed = request.seed;
    Ok(emulation)
}

fn request(arguments: &[String]) -> Result<Request, Failure> {
    let mut request = Request {
        seed: 1,
        ..Request::default()
    };
    let mut arguments = arguments.iter();
    let mut scenario = None;
    while let Some(argument) = arguments.next() {
        if argument == "--histogram" {
            request.histogram = true;
            continue;
        }
        if !argument.starts_with("--") {
            if scenario.replace(argument).is_some() {
                return Err(wrong(USAGE));
            }
            continue;
        }
        let Some(value) = arguments.next() else {
            return Err(wrong(format!("{argument} needs a value")));
        };
        match argument.as_str() {
            "--seed" => {
                request.seed = value
                    .parse()
                    .map_err(|error| wrong(format!("--seed {value}: {error}")))?
            }
            "--set" => {
                let (key, value) = value
                    .split_once('=')
                    .ok_or_else(|| wrong(format!("--set {value}: not KEY=VALUE")))?;
                request.overrides.push((key.to_owned(), value.to_owned()));
            }
            "--step" => request.step = Some(value.clone()),
            "--emulator" => {
                request.emulator = match value.as_str() {
                    "own" => EmulatorKind::Own,
                    "netem" => EmulatorKind::Netem,
                    _ => return Err(wrong(format!("--emulator {value}: allowed: own, netem"))),
                }
            }
            "--congestion" => request.kernel_congestion = Some(value.clone()),
            "--capture" => request.capture = Some(value.into()),
            "--at" => request.capture_at = Some(value.clone()),
            _ => return Err(wrong(format!("unknown option {argument}; {USAGE}"))),
        }
    }
    let scenario = scenario.ok_or_else(|| wrong(USAGE))?;
    load(scenario, &mut request)?;
    Ok(request)
}

fn load(path: &str, request: &mut Request) -> Result<(), Failure> {
    let content = fs::read(path).map_err(|error| wrong(format!("{path}: {error}")))?;
    let text = ropewalk_scenario::decode(&content, path).map_err(wrong)?;
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    let mut read = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).map_err(|error| error.to_string())?;
        files.insert(name.to_owned(), text.clone());
        Ok(text)
    };
    Scenario::parse(text, path, &request.overrides, &mut read).map_err(wrong)?;
    request.scenario = text.to_owned();
    request.name = path.to_owned();
    request.files = files;
    Ok(())
}
