//! Control sockets at their default paths.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};

use crate::process::{BINARY, Gateway};

#[test]
fn control_socket_is_in_the_runtime_folder_and_its_users_alone() {
    let folder = tempfile::tempdir().unwrap();
    let command = |words: &str| {
        let mut command = Command::new(BINARY);
        command.args(words.split_whitespace());
        command.env("XDG_RUNTIME_DIR", folder.path());
        command
    };
    let status = || {
        let done = command("status --json").output().unwrap();
        let role = serde_json::from_slice::<serde_json::Value>(&done.stdout);
        let role = role
            .ok()
            .and_then(|document| document["role"].as_str().map(str::to_owned));
        (done.status.code(), role)
    };
    assert_eq!(status(), (Some(1), None));
    let relay = Gateway::run_with(
        &mut command("relay --plaintext --listen 127.0.0.1:0"),
        Stdio::null(),
    );
    let at = relay.wait_for("relay listens on ");
    assert_eq!(status(), (Some(0), Some("relay".to_owned())));
    // A proxy's control socket has precedence.
    let proxy = Gateway::run_with(
        &mut command(&format!(
            "proxy --plaintext --relay {at} --link l2=127.0.0.2 --listen 127.0.0.1:0"
        )),
        Stdio::null(),
    );
    proxy.wait_for("proxy listens on ");
    assert_eq!(status(), (Some(0), Some("proxy".to_owned())));
    let own = fs::metadata(folder.path()).unwrap().uid();
    for verb in ["relay", "proxy"] {
        let socket = fs::metadata(folder.path().join("ropewalk").join(verb)).unwrap();
        assert_eq!(socket.permissions().mode() & 0o077, 0, "{verb}");
        assert_eq!(socket.uid(), own, "{verb}");
    }
    // They are removed with their gateways.
    assert_eq!(proxy.terminate().code(), Some(0));
    assert_eq!(relay.terminate().code(), Some(0));
    assert_eq!(
        fs::read_dir(folder.path().join("ropewalk"))
            .unwrap()
            .count(),
        0
    );
}
