//! packaging/hooks/tunnel-hook on a machine of its own: it sets everything up, and removes all of it.

use std::path::Path;
use std::process::Command;

/// Returns a missing requirement.
fn lacking() -> Option<&'static str> {
    let can = |script: &str| {
        let mut command = Command::new("unshare");
        let done = command
            .args(["--net", "--mount", "sh", "-c", script])
            .output();
        done.is_ok_and(|done| done.status.success())
    };
    if !can("mount -t tmpfs none /run") {
        return Some("root, for namespaces (unshare)");
    }
    if !can(
        "ip link add name a type veth peer name b && ip rule add pref 9 lookup main suppress_prefixlength 0",
    ) {
        return Some("iproute2, or veth devices in the kernel");
    }
    let nat = "add table inet a; add chain inet a b { type nat hook postrouting priority 100; }; \
               add rule inet a b masquerade; list ruleset";
    if !can(&format!("nft '{nat}'")) {
        return Some("nft, or NAT in the kernel");
    }
    None
}

#[test]
fn the_hook_undoes_all_that_it_has_done() {
    if let Some(what) = lacking() {
        eprintln!("skipped: it takes {what}");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new("unshare")
        .args(["--net", "--mount", "sh"])
        .arg(here.join("tests/tunnel_hook/world.sh"))
        .env("HOOK", here.join("../../packaging/hooks/tunnel-hook"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&run.stdout), "", "{said}");
}
