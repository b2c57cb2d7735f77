//! Files as a user writes them.

use std::fs;

use super::*;
use clap::{CommandFactory, FromArgMatches, Parser};

/// What a service does.
#[derive(Debug, Parser)]
#[command(name = "service")]
struct Service {
    /// Log level.
    #[arg(long, global = true, default_value = "info", value_name = "LEVEL")]
    log: String,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Serve.
    Serve(Serve),
    /// Has no file.
    Other,
}

#[derive(Debug, Args)]
struct Serve {
    #[command(flatten)]
    file: ConfigurationFile,
    /// Where.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1")]
    listen: Vec<std::net::SocketAddr>,
    /// A key.
    #[arg(long, value_name = "FILE", required_unless_present = "open")]
    key: Option<PathBuf>,
    /// How many.
    #[arg(long, value_name = "NUMBER", default_value_t = 7)]
    relay_streams: u16,
    /// No key.
    #[arg(long, conflicts_with = "key")]
    open: bool,
}

/// Parses a file and a command line, in which `FILE` is replaced by the file's path.
fn read(file: &str, line: &str) -> Result<(Serve, String, String), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serve.toml");
    fs::write(&path, file).unwrap();
    let named = path.to_str().unwrap();
    let line = line.replace("FILE", named);
    let plain = |text: String| text.replace(folder.path().to_str().unwrap(), "");
    let mut command = Service::command();
    let arguments = line.split_whitespace().map(OsString::from).collect();
    let merged = Merged::read(&command, arguments).map_err(|failure| {
        assert_eq!(failure.exit_status(), 2);
        plain(failure.to_string())
    })?;
    let matches = match command.try_get_matches_from_mut(&merged.arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let refusal = merged.refusal(&error).map(|failure| failure.to_string());
            return Err(plain(refusal.unwrap_or_else(|| error.to_string())));
        }
    };
    let service = Service::from_arg_matches(&matches).unwrap();
    let Verb::Serve(mut serve) = service.verb else {
        panic!("it was not asked for");
    };
    serve.key = serve.key.map(|key| plain(key.display().to_string()).into());
    let (name, options) = matches.subcommand().unwrap();
    let verb = command.find_subcommand(name).unwrap();
    let effective = plain(merged.effective(verb, options).to_string());
    Ok((serve, service.log, effective))
}

#[test]
fn command_line_overrides_file() {
    let file = "log = 'debug'\nlisten = ['[::1]:2', '[::1]:3']\n\
        key = 'my.key'\nrelay-streams = 9\nopen = false\n";
    let (serve, log, effective) = read(file, "service serve --config FILE").unwrap();
    assert_eq!(serve.listen.len(), 2);
    assert_eq!(serve.key.unwrap(), Path::new("/my.key"));
    assert_eq!((serve.relay_streams, serve.open), (9, false));
    assert_eq!(log, "debug");
    assert!(
        effective.contains("relay-streams = 9  # /serve.toml:4:1\n"),
        "{effective}"
    );

    let line = "service --log warn serve --listen 127.0.0.1:9 --config FILE --relay-streams=1";
    let (serve, log, effective) = read(file, line).unwrap();
    assert_eq!(serve.listen, ["127.0.0.1:9".parse().unwrap()]);
    assert_eq!(serve.relay_streams, 1);
    assert_eq!(log, "warn");
    assert!(
        effective.contains("listen = [\"127.0.0.1:9\"]  # command line\n"),
        "{effective}"
    );
}

#[test]
fn effective_options_print_as_equivalent_file() {
    let (_, _, effective) = read("open = true\n", "service serve --config FILE").unwrap();
    assert!(effective.contains("open = true  # /serve.toml:1:1\n"));
    assert!(effective.contains("listen = [\"127.0.0.1:1\"]  # default\n"));
    let (_, _, again) = read(&effective, "service serve --config FILE").unwrap();
    let settings = |text: &str| -> Vec<String> {
        let line = |line: &str| line.split("  #").next().unwrap().to_owned();
        text.lines().map(line).collect()
    };
    assert_eq!(settings(&effective), settings(&again));
}

#[test]
fn error_names_file_line_key_value_and_allowed_values() {
    for (file, says) in [
        (
            "\nlisen = '[::]:1'\n",
            "/serve.toml:2:1: lisen = '[::]:1': unknown key; \
             allowed: listen, key, relay-streams, open, log; did you mean \"listen\"?",
        ),
        ("relay_streams = 1\n", "did you mean \"relay-streams\"?"),
        ("help = true\n", "unknown key"),
        ("config = 'other.toml'\n", "unknown key"),
        (
            "open = true\nlisten = '::1'\n",
            "/serve.toml:2:1: listen = '::1': invalid socket address syntax; \
             allowed: ADDRESS:PORT, or a list of such",
        ),
        ("relay-streams = -1\n", "relay-streams = -1: "),
        ("relay-streams = 1e9\n", "allowed: NUMBER"),
        (
            "relay-streams = [1]\n",
            "must not be a list; allowed: NUMBER",
        ),
        (
            "open = 'yes'\n",
            "must not be a string; allowed: true, false",
        ),
        ("listen = [['a']]\n", "must not be a list"),
        ("key = ''\n", "key = '': must not be empty; allowed: FILE"),
        ("[link]\nname = 'x'\n", "/serve.toml:1:2: link: unknown key"),
        ("key = 1979-05-27\n", "must not be a date or time of day"),
        ("key = \n", "/serve.toml:1:7: not TOML: "),
        (
            "key = 'k'\n key = 'l'\n",
            "/serve.toml:2:2: key: duplicate key; allowed: each key once",
        ),
        ("", "/serve.toml: missing: key"),
        (
            "key = 'k'\nopen = true\n",
            "key = 'k': cannot be given together with \"open\"",
        ),
    ] {
        let error = read(file, "service serve --config FILE").unwrap_err();
        assert!(error.contains(says), "{file}: {error}");
        assert!(!error.contains('\n'), "{file}: {error}");
    }
    let error = read("a-b = 1\nlisten = 'x'\n", "service serve --config FILE").unwrap_err();
    assert_eq!(error.lines().count(), 2, "{error}");
}

#[test]
fn without_a_file_the_command_line_is_as_it_was() {
    for line in [
        "service serve --key x",
        "service serve --nonsense",
        "service other",
        "service --help",
        "service",
    ] {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let merged = Merged::read(&Service::command(), arguments.clone()).unwrap();
        assert_eq!(merged.arguments, arguments);
    }
    let error = read("", "service serve --config /does/not/exist").unwrap_err();
    assert!(
        error.starts_with("/does/not/exist: No such file"),
        "{error}"
    );
}

#[test]
fn effective_paths_are_absolute() {
    let line = "service serve --config FILE --key van.key";
    let (_, _, effective) = read("relay-streams = 9\n", line).unwrap();
    let key = std::path::absolute("van.key").unwrap();
    let expected = format!("key = \"{}\"  # command line\n", key.display());
    assert!(effective.contains(&expected), "{effective}");
}
