//! `setup` at both ends: the services accept its files, and existing files stay.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn gateway(words: &str, folder: &Path, input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ropewalk-gateway"))
        .args(words.split_whitespace())
        .current_dir(folder)
        .env_remove("CREDENTIALS_DIRECTORY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn done(words: &str, folder: &Path, input: &str) -> String {
    let output = gateway(words, folder, input);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(words: &str, folder: &Path, input: &str) -> String {
    let output = gateway(words, folder, input);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}: {message}");
    assert_eq!(output.stdout, b"", "{words}");
    message
}

/// The hook before its installation, for `--check`.
const HOOK: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../packaging/hooks/tunnel-hook"
);
const RELAY: &str = "setup relay 192.0.2.1 --folder relay --dns 9.9.9.9 --network 10.9.0.1/24 \
                     --network fd00:9::1/64 --client";
const CLIENT: &str = "setup client --folder van --link wifi=wlan0 --link lte=wwan0,cost=5";

#[test]
fn setup_configures_each_end_by_one_command() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let token = done(&format!("{RELAY} van"), at, "");
    done(CLIENT, at, &token);
    let checked = |verb: &str, file: &str| format!("{verb} --config {file} --hook {HOOK} --check");
    let relay = done(&checked("relay", "relay/relay.toml"), at, "");
    assert!(
        relay.contains("address = [\"10.9.0.1/24\", \"fd"),
        "{relay}"
    );
    let tunnel = |file: &str| checked("tunnel", file);
    let client = done(&checked("client", "van/client.toml"), at, "");
    assert!(client.contains("relay = [\"192.0.2.1:4433\"]"), "{client}");
    let checked = done("proxy --config van/proxy.toml --check", at, "");
    assert!(checked.contains("link = [\"wifi=wlan0\", \"lte=wwan0,cost=5\"]"));
    for (file, line) in [
        ("van/tunnel.toml", "leak = \"block\""),
        ("van/client.toml", "leak = \"block\""),
        ("relay/relay.toml", "allow = [\"public\"]"),
    ] {
        let text = fs::read_to_string(at.join(file)).unwrap();
        assert!(text.lines().any(|known| known == line), "{text}");
    }
    let checked = done(&tunnel("van/tunnel.toml"), at, "");
    assert!(checked.contains("relay = \"192.0.2.1:4433\""), "{checked}");
    assert!(
        checked.contains("address = [\"10.9.0.2/24\", \"fd"),
        "{checked}"
    );
    assert!(checked.contains("dns = [\"9.9.9.9\"]"), "{checked}");
    for secret in ["relay/relay.key", "van/client.key"] {
        let mode = fs::metadata(at.join(secret)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    // The relay knows the client by its key, and does not store the secret key.
    let client = done(&tunnel("van/tunnel.toml"), at, "");
    let key = client
        .lines()
        .find_map(|line| line.strip_prefix("# its public key: "));
    let clients = fs::read_to_string(at.join("relay/clients")).unwrap();
    assert!(clients.contains(&format!("{} van addresses=10.9.0.2,fd", key.unwrap())));
    let secret = fs::read_to_string(at.join("van/client.key")).unwrap();
    let secret = secret.split_whitespace().nth(1).unwrap();
    for file in fs::read_dir(at.join("relay")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(secret));
    }
}

#[test]
fn setup_of_a_second_client_changes_only_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(&format!("{RELAY} van"), at, "");
    let files = ["relay.key", "relay.pub", "relay.toml"];
    let read = || files.map(|file| fs::read(at.join("relay").join(file)).unwrap());
    let before = read();
    done(&format!("{RELAY} train"), at, "");
    assert!(before == read());
    let clients = fs::read_to_string(at.join("relay/clients")).unwrap();
    assert!(
        clients.contains(" van addresses=10.9.0.2,")
            && clients.contains(" train addresses=10.9.0.3,")
    );
    let message = refused(&format!("{RELAY} van"), at, "");
    assert!(
        message.contains("relay/clients has one of that name"),
        "{message}"
    );
    assert_eq!(
        fs::read_to_string(at.join("relay/clients")).unwrap(),
        clients
    );
}

#[test]
fn setup_refuses_existing_or_partial_folders() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let token = done(&format!("{RELAY} van"), at, "");
    let message = refused(CLIENT, at, &token[..token.len() / 2]);
    let missing = format!("{CLIENT} --token-file {}", at.join("missing").display());
    let no_file = refused(&missing, at, "");
    assert!(
        no_file.contains("--token-file") && no_file.contains("No such file"),
        "{no_file}"
    );
    assert!(message.contains("token is incomplete"), "{message}");
    assert!(!at.join("van").exists());
    fs::create_dir(at.join("van")).unwrap();
    fs::write(at.join("van/tunnel.toml"), "").unwrap();
    let message = refused(CLIENT, at, &token);
    assert!(
        message.contains("van/tunnel.toml: exists already"),
        "{message}"
    );
    assert_eq!(fs::read_dir(at.join("van")).unwrap().count(), 1);

    let clients = fs::read_to_string(at.join("relay/clients")).unwrap();
    for (file, text, says) in [
        ("relay.toml", "listen = [\"[::]:44", "relay.toml:1:"),
        ("clients", "ropewalk-public-key AAA", "clients:1: "),
        ("relay.key", "", "relay.key: does not begin with"),
    ] {
        let path = at.join("relay").join(file);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, text).unwrap();
        let message = refused(&format!("{RELAY} train"), at, "");
        assert!(message.contains(says), "{message}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(
        fs::read_to_string(at.join("relay/clients")).unwrap(),
        clients
    );
}
