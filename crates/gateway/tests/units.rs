//! The units of packaging/systemd: their programs, options and files exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = "/usr/bin/ropewalk-gateway";
const FOLDER: &str = "/etc/ropewalk";

/// Services, and the end for which `setup` writes their files.
const UNITS: [(&str, &str); 7] = [
    ("relay", "relay"),
    ("firewall@relay", "relay"),
    ("client", "client"),
    ("firewall@client", "client"),
    ("tunnel", "client"),
    ("tunnel-firewall", "client"),
    ("proxy", "client"),
];

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

/// Returns a unit; `firewall@VERB` is an instance of a template.
fn unit(name: &str) -> String {
    let (file, instance) = match name.split_once('@') {
        Some((template, instance)) => (format!("{template}@"), instance),
        None => (name.to_owned(), ""),
    };
    let path = packaging().join(format!("systemd/ropewalk-{file}.service"));
    let text = fs::read_to_string(path).unwrap();
    text.replace("%i", instance)
}

/// Returns the values of a setting, in the order of the unit.
fn settings<'a>(unit: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    unit.lines()
        .filter(move |line| line.starts_with(prefix))
        .filter_map(|line| line.split_once('=').map(|(_, value)| value))
}

fn gateway(words: &[&str], credentials: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"))
        .args(words)
        .env("CREDENTIALS_DIRECTORY", credentials)
        .output()
        .unwrap()
}

fn set_up(at: &Path) {
    let run = |words: &str| {
        let made = gateway(&words.split_whitespace().collect::<Vec<_>>(), at);
        assert!(made.status.success(), "{made:?}");
        String::from_utf8(made.stdout).unwrap()
    };
    let at = at.display();
    let token = run(&format!(
        "setup relay 192.0.2.1 --client van --dns 9.9.9.9 --folder {at}/relay"
    ));
    run(&format!(
        "setup client {} --folder {at}/client --link a=lo",
        token.trim()
    ));
}

/// Provides the credentials of a unit as systemd does: the files that exist, or else the unit's default.
fn hand_over(unit: &str, folder: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for set in settings(unit, "SetCredential=") {
        let (name, content) = set.split_once(':').unwrap();
        fs::write(to.join(name), content).unwrap();
    }
    for load in settings(unit, "LoadCredential=") {
        let (name, from) = load.split_once(':').unwrap();
        let from = folder.join(Path::new(from).strip_prefix(FOLDER).unwrap());
        if from.exists() {
            fs::copy(from, to.join(name)).unwrap();
        }
        assert!(to.join(name).exists(), "{load}: the unit would not start");
    }
}

#[test]
fn unit_commands_accept_the_files_of_setup() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    set_up(at);
    for (verb, end) in UNITS {
        let unit = unit(verb);
        let (files, credentials) = (at.join(end), at.join(format!("{verb}-of-{end}")));
        hand_over(&unit, &files, &credentials);
        // The service's user cannot read them in their folder.
        let hidden = at.join("hidden.key");
        let key = files.join(format!("{end}.key"));
        let is_hidden = unit.contains("DynamicUser=yes");
        if is_hidden {
            fs::rename(&key, &hidden).unwrap();
        }
        let commands: Vec<&str> = settings(&unit, "Exec").collect();
        assert!(!commands.is_empty());
        for command in commands {
            if command == "/bin/kill -HUP $MAINPID" {
                continue;
            }
            let mut words = command.trim_start_matches(['-', '+']).split_whitespace();
            assert_eq!(words.next(), Some(PROGRAM), "{command}");
            let own = files.to_str().unwrap();
            let mut words: Vec<String> = words.map(|word| word.replace(FOLDER, own)).collect();
            words.push("--check".to_owned());
            if verb != "proxy" {
                // The hook in the unit's file is not installed.
                let hook = packaging().join("hooks/tunnel-hook");
                words.extend(["--hook".to_owned(), hook.display().to_string()]);
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let done = gateway(&words, &credentials);
            let message = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{command}: {message}");
            assert_eq!(message, "", "{command}");
        }
        if is_hidden {
            fs::rename(&hidden, &key).unwrap();
        }
    }
}

fn options(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'))
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .collect()
}

#[test]
fn unit_options_exist() {
    let nowhere = Path::new("/nonexistent");
    for (verb, _) in UNITS {
        let verb_of = |name: &'static str| name.rsplit('@').next()?.split('-').next();
        let word = verb_of(verb).unwrap();
        let help = gateway(&[word, "--help"], nowhere).stdout;
        let help = String::from_utf8(help).unwrap();
        let known = options(&help);
        for option in options(&unit(verb)) {
            assert!(known.contains(option), "ropewalk-{verb}.service: {option}");
        }
    }
}

/// Largest exposure of each unit, in tenths of the points of `systemd-analyze security`.
const EXPOSURE: [(&str, u32); 4] = [("client", 18), ("proxy", 12), ("relay", 18), ("tunnel", 18)];

#[test]
fn exposure_of_each_unit_is_below_its_bound() {
    for (verb, bound) in EXPOSURE {
        let unit = packaging().join(format!("systemd/ropewalk-{verb}.service"));
        let threshold = format!("--threshold={bound}");
        let mut analysis = Command::new("systemd-analyze");
        analysis.args(["security", "--offline=true", "--no-pager", &threshold]);
        match analysis.arg(unit).output() {
            Ok(done) => assert!(done.status.success(), "{verb}: {done:?}"),
            Err(_) => eprintln!("skipped: systemd-analyze is not here (Debian: systemd)"),
        }
    }
}

#[test]
fn systemd_analyze_accepts_the_units() {
    if Command::new("systemd-analyze")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("skipped: systemd-analyze is not here (Debian: systemd)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(packaging().join("systemd")).unwrap() {
        let file = file.unwrap();
        let path = folder.path().join(file.file_name());
        let program = env!("CARGO_BIN_EXE_ropewalk-gateway");
        let text = fs::read_to_string(file.path()).unwrap();
        fs::write(&path, text.replace(PROGRAM, program)).unwrap();
    }
    for file in fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let verified = Command::new("systemd-analyze")
            .args(["verify", "--man=no"])
            .arg(&path)
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&verified.stderr);
        // The output covers all required units, and may name others.
        let about_it = message.lines().filter(|line| line.contains("ropewalk-"));
        let about_it: Vec<&str> = about_it.collect();
        assert!(about_it.is_empty(), "{}: {about_it:?}", path.display());
    }
}
