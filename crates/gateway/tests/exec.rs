//! `exec`: accepted programs, and the exit status.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A library that is always available and changes nothing: the C library's own file.
fn harmless_library() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps
        .lines()
        .find(|line| line.ends_with("/libc.so.6"))
        .unwrap();
    line[line.find('/').unwrap()..].into()
}

struct Setup {
    folder: tempfile::TempDir,
    _control: UnixListener,
}

impl Setup {
    fn new() -> Setup {
        let folder = tempfile::tempdir().unwrap();
        let control = UnixListener::bind(folder.path().join("control")).unwrap();
        Setup {
            folder,
            _control: control,
        }
    }

    fn exec(&self, options: &[&str], program: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"));
        command.env_remove("LD_PRELOAD").arg("exec");
        command
            .arg("--control")
            .arg(self.folder.path().join("control"));
        command
            .arg("--library")
            .arg(harmless_library())
            .args(options);
        command.arg("--").args(program).output().unwrap()
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn exec_passes_environment_exit_status_and_signals() {
    let setup = Setup::new();
    let script = "echo $0 $1; echo $LD_PRELOAD; echo $ROPEWALK_EXEC_CONTROL; \
                  echo $ROPEWALK_EXEC_DIRECT; echo $ROPEWALK_EXEC_UDP; echo $HERE; exit 7";
    let options = [
        "--direct",
        "10.0.0.0/8",
        "--direct",
        "2001:db8::1",
        "--udp",
        "refuse",
    ];
    let done = setup.exec(
        &options,
        &["env", "HERE=yes", "sh", "-c", script, "name", "one word"],
    );
    assert_eq!(done.status.code(), Some(7), "{done:?}");
    let library = harmless_library().canonicalize().unwrap();
    let control = setup.folder.path().join("control");
    assert_eq!(
        text(&done.stdout),
        format!(
            "name one word\n{}\n{}\n10.0.0.0/8,2001:db8::1\nrefuse\nyes\n",
            library.display(),
            control.display(),
        )
    );
    let killed = setup.exec(&[], &["sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.status.signal(), Some(9), "{killed:?}");
    // The program does not inherit signals that the test runner ignores.
    let piped = setup.exec(&[], &["sh", "-c", "kill -PIPE $$"]);
    assert_eq!(piped.status.signal(), Some(13), "{piped:?}");
}

#[test]
fn exec_error_is_one_line() {
    let setup = Setup::new();
    let text_file = setup.folder.path().join("text");
    fs::write(&text_file, "no program\n").unwrap();
    fs::set_permissions(&text_file, fs::Permissions::from_mode(0o755)).unwrap();
    let cases: [(&[&str], &[&str], &str); 6] = [
        (&[], &["no-such-program"], "is not in PATH"),
        (&[], &["/"], "cannot be executed"),
        (
            &[],
            &[text_file.to_str().unwrap()],
            "neither a program nor a script",
        ),
        (&["--direct", "10.0.0.0/33"], &["sh"], "bits from 0 to 32"),
        (
            &["--library", "/nonexistent.so"],
            &["sh"],
            "cannot be used multiple times",
        ),
        (&[], &[], "required"),
    ];
    for (options, program, expected) in cases {
        let done = setup.exec(options, program);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(text(&done.stderr).contains(expected), "{done:?}");
        assert_eq!(text(&done.stderr).lines().count(), 1, "{done:?}");
    }
}

#[test]
fn static_program_is_refused_with_advice() {
    // A static program wherever the GNU C library is packaged.
    let program = "/sbin/ldconfig";
    if !Path::new(program).is_file() {
        eprintln!("skipped: {program} is not there");
        return;
    }
    let done = Setup::new().exec(&[], &[program, "-p"]);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    for word in [
        "static program",
        "SOCKS5",
        "HTTP CONNECT",
        "transparent",
        "tunnel",
    ] {
        assert!(text(&done.stderr).contains(word), "{done:?}");
    }
}

#[test]
fn exec_without_gateway_runs_nothing() {
    let setup = Setup::new();
    fs::remove_file(setup.folder.path().join("control")).unwrap();
    let done = setup.exec(&[], &["echo", "run"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        text(&done.stderr).starts_with("no gateway answers at "),
        "{done:?}"
    );
    assert!(done.stdout.is_empty(), "{done:?}");
}

#[test]
fn udp_option_sets_the_treatment_and_its_older_name_warns() {
    let setup = Setup::new();
    let treatment = |options: &[&str]| {
        let done = setup.exec(options, &["sh", "-c", "echo $ROPEWALK_EXEC_UDP"]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        (
            text(&done.stdout).trim().to_owned(),
            text(&done.stderr).to_owned(),
        )
    };
    for (options, expected) in [
        (&[][..], "carry"),
        (&["--udp", "direct"], "direct"),
        (&["--udp", "refuse"], "refuse"),
    ] {
        assert_eq!(treatment(options), (expected.to_owned(), String::new()));
    }
    let (word, warning) = treatment(&["--refuse-udp"]);
    assert_eq!(word, "refuse");
    assert!(warning.contains("--udp refuse"), "{warning}");
    let both = setup.exec(&["--udp", "carry", "--refuse-udp"], &["true"]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");
}
