//! Simulates scenario files, without what `ropewalk simulate` needs to be installed:
//!
//!     cargo run -p ropewalk-simulator --example simulate -- FILE...
//!
//! Prints the goodput of each. Files that a scenario names, such as traces, are relative to its folder.

use std::path::Path;
use std::process::ExitCode;

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, simulate};

fn main() -> ExitCode {
    for name in std::env::args().skip(1) {
        match goodput(&name) {
            Ok(mbps) => println!("{name}: {mbps:.2} Mbit/s"),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}

fn goodput(name: &str) -> Result<f64, String> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let text = |file: &Path| {
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let read = &mut |file: &str| text(&folder.join(file));
    let scenario = Scenario::parse(&text(Path::new(name))?, name, &[], read)
        .map_err(|errors| errors.to_string())?;
    let outcome = simulate(&scenario, 1, &Options::default()).map_err(|error| error.to_string())?;
    Ok(outcome.summary.goodput_mbps)
}
