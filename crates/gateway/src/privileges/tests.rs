//! Tests in a separate process, which drops its privileges and tries forbidden actions.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Uid, chdir, getrlimit};
use rustix::thread::{UnshareFlags, capabilities, no_new_privs, set_thread_uid};
use socket2::{Domain, Socket, Type};

use super::*;

/// Variable with a folder, set in the process to be confined.
const FOLDER: &str = "ROPEWALK_TEST_FOLDER";

/// Runs a test again in a process of its own, with a folder.
fn in_a_process(name: &str, confined: impl FnOnce(PathBuf)) {
    if let Some(folder) = env::var_os(FOLDER) {
        return confined(folder.into());
    }
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("privileges::tests::{name}"),
            "--nocapture",
        ])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn confined_process_cannot_run_programs_or_leave_its_folders() {
    in_a_process(
        "confined_process_cannot_run_programs_or_leave_its_folders",
        |folder| {
            let kept = folder.join("kept");
            let other = folder.join("other");
            for made in [&kept, &other] {
                fs::create_dir(made).unwrap();
                fs::write(made.join("file"), "words").unwrap();
            }
            let confinement = Confinement::new(None).reading([kept.join("file")]);
            confinement.writing([kept.join("file")]).apply().unwrap();

            assert_eq!(getrlimit(Resource::Core).current, Some(0));
            assert!(no_new_privs().unwrap());
            let left = capabilities(None).unwrap();
            assert!((left.effective | left.permitted | left.inheritable).is_empty());

            let denied = Some(ErrorKind::PermissionDenied);
            let run = Command::new("true").status();
            assert_eq!(run.err().map(|error| error.kind()), denied);
            let flags = UnshareFlags::NEWUSER;
            // SAFETY: the call is refused.
            #[allow(unsafe_code)]
            let unshared = unsafe { rustix::thread::unshare_unsafe(flags) };
            assert_eq!(unshared, Err(Errno::PERM));
            let raw = Socket::new(Domain::PACKET, Type::RAW, None);
            assert_eq!(raw.err().map(|error| error.kind()), denied);

            // The filter comes first, whether or not the kernel has the x32 interface (ENOSYS).
            #[cfg(target_arch = "x86_64")]
            for call in [libc::SYS_socket, libc::SYS_mprotect, libc::SYS_getpid] {
                // SAFETY: the calls are refused, and have no valid arguments but the last one's.
                #[allow(unsafe_code)]
                let done = unsafe { libc::syscall(0x4000_0000 | call, libc::AF_PACKET, 0, 0) };
                let error = std::io::Error::last_os_error();
                assert_eq!((done, error.kind()), (-1, ErrorKind::PermissionDenied));
            }

            // A replaced file of the folder is another file.
            fs::write(kept.join("new"), "more").unwrap();
            fs::rename(kept.join("new"), kept.join("file")).unwrap();
            assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "more");
            assert!(fs::read_to_string("/etc/resolv.conf").is_ok());
            for file in [other.join("file"), other.join("new")] {
                let written = fs::write(&file, "words");
                assert_eq!(written.err().map(|error| error.kind()), denied);
            }
            let read = fs::read_to_string(other.join("file"));
            assert_eq!(read.err().map(|error| error.kind()), denied);
            chdir(&other).unwrap();

            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            UdpSocket::bind("[::1]:0")
                .or_else(|_| UdpSocket::bind("127.0.0.1:0"))
                .unwrap();
            let at = listener.local_addr().unwrap();
            let thread = std::thread::spawn(move || std::net::TcpStream::connect(at).is_ok());
            assert!(thread.join().unwrap());
        },
    );
}

#[test]
fn user_changes_every_identifier_and_keeps_the_named_capability() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    in_a_process(
        "user_changes_every_identifier_and_keeps_the_named_capability",
        |_| {
            let user = user::find("nobody").unwrap();
            let (uid, gid) = (user.uid.as_raw(), user.gid.as_raw());
            Confinement::new(Some(user))
                .with_capabilities(CapabilitySet::NET_BIND_SERVICE)
                .apply()
                .unwrap();
            let status = fs::read_to_string("/proc/thread-self/status").unwrap();
            let has = |line: String| status.lines().any(|one| one == line);
            assert!(has(format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}")), "{status}");
            assert!(has(format!("Gid:\t{gid}\t{gid}\t{gid}\t{gid}")), "{status}");
            assert!(has(format!("Groups:\t{gid} ")), "{status}");
            let left = capabilities(None).unwrap();
            assert_eq!(left.effective, CapabilitySet::NET_BIND_SERVICE);
            assert_eq!(left.permitted, CapabilitySet::NET_BIND_SERVICE);
            assert_eq!(set_thread_uid(Uid::ROOT), Err(Errno::PERM));
        },
    );
}

#[test]
fn user_that_is_unknown_or_root_is_refused() {
    for (name, says) in [
        ("no-such-user", "no such user"),
        ("root", "an unprivileged user"),
    ] {
        let failure = user::find(name).unwrap_err();
        assert_eq!(failure.exit_status(), 2);
        let text = failure.to_string();
        assert!(text.contains(name) && text.contains(says), "{text}");
    }
}

#[test]
fn capabilities_are_kept_only_for_low_ports_and_restricted_congestion_controls() {
    let addresses = ["0.0.0.0:443", "[::]:4433", "127.0.0.1:0"].map(|at| at.parse().unwrap());
    assert_eq!(for_ports(&addresses), CapabilitySet::NET_BIND_SERVICE);
    assert_eq!(for_ports(&addresses[1..]), CapabilitySet::empty());
    assert_eq!(for_congestion(Some("reno")), CapabilitySet::empty());
    assert_eq!(
        for_congestion(Some("no-such-one")),
        CapabilitySet::NET_ADMIN
    );
}
