//! Files appear only when they are finished.

use std::fs;
use std::io;
use std::path::Path;

use ropewalk_capture::{FileError, Header, PacketFile, QlogFile, Settings};

enum Unfinished {
    Packets(PacketFile),
    Qlog(QlogFile),
}

impl Unfinished {
    fn finish(self) -> Result<(), FileError> {
        match self {
            Unfinished::Packets(file) => file.finish(&[]).map(|_| ()),
            Unfinished::Qlog(file) => file.finish(),
        }
    }
}

fn begin(path: &Path) -> Result<Unfinished, FileError> {
    if path.extension().is_some_and(|ending| ending == "sqlog") {
        let header = Header {
            title: "none".to_owned(),
            protocol: "TCP".to_owned(),
            paths: Vec::new(),
        };
        QlogFile::create(path, &header).map(Unfinished::Qlog)
    } else {
        PacketFile::create(path, &[], &Settings::default()).map(Unfinished::Packets)
    }
}

const NAMES: [&str; 3] = ["run.pcapng", "run.pcap", "run.sqlog"];

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let file = begin(&folder.path().join(name)).unwrap();
        let [hidden] = names_in(folder.path()).try_into().unwrap();
        assert!(hidden.starts_with('.'), "{hidden}");
        drop(file);
        assert!(names_in(folder.path()).is_empty());
    }
}

#[test]
fn an_older_file_stays_until_the_new_one_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        fs::write(&path, "old").unwrap();
        drop(begin(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"old");

        let file = begin(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.finish().unwrap();
        assert_ne!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()), [name]);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn last_finished_file_wins() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.pcap");
    let first = begin(&path).unwrap();
    let second = begin(&path).unwrap();
    second.finish().unwrap();
    first.finish().unwrap();
    assert_eq!(names_in(folder.path()), ["run.pcap"]);
}

/// A killed process leaves its file, without a lock.
#[test]
fn leftover_of_killed_process_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let others = [
        ".ropewalk-17-0.partial.txt",
        ".ropewalk-17.partial",
        ".ropewalk-17-.partial",
        ".ropewalk-17-x.partial",
        "ropewalk-17-0.partial",
    ];
    for name in others {
        fs::write(folder.path().join(name), "somebody's").unwrap();
    }
    let subfolder = ".ropewalk-17-2.partial";
    fs::create_dir(folder.path().join(subfolder)).unwrap();
    let living = begin(&folder.path().join("living.pcap")).unwrap();
    for name in [".ropewalk-17-0.partial", ".ropewalk-4194304-12.partial"] {
        fs::write(folder.path().join(name), "half a run").unwrap();
    }

    begin(&folder.path().join("run.pcap"))
        .unwrap()
        .finish()
        .unwrap();
    living.finish().unwrap();
    let mut left = names_in(folder.path());
    left.sort();
    let mut expected = [&others[..], &[subfolder, "living.pcap", "run.pcap"]].concat();
    expected.sort();
    assert_eq!(left, expected);
}

#[test]
fn a_missing_folder_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let path = folder.path().join("missing").join(name);
        let error = begin(&path).map(Unfinished::finish).unwrap_err();
        let FileError::Io { source, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(source.kind(), io::ErrorKind::NotFound);
        let begins = format!("cannot write {}: ", path.display());
        assert!(error.to_string().starts_with(&begins), "{error}");
    }
}

#[test]
fn directory_at_destination_is_error() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        let file = begin(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = file.finish().unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(begin(&path).is_err());
        assert_eq!(names_in(folder.path()), [name]);
        fs::remove_dir(&path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("target");
    fs::write(&target, "old").unwrap();
    let path = folder.path().join("run.pcap");
    std::os::unix::fs::symlink(&target, &path).unwrap();
    begin(&path).unwrap().finish().unwrap();
    assert!(path.is_symlink());
    assert_eq!(fs::read(&target).unwrap().len(), 24);
    assert_eq!(names_in(elsewhere.path()), ["target"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let full = Path::new("/dev/full");
    let error = begin(full).unwrap().finish().unwrap_err();
    let FileError::Io { path, source } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(path, full);
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    assert!(error.to_string().starts_with("cannot write /dev/full: "));
}

/// A reader listens at the other end; the format is pcapng unless the name ends in `.pcap`.
#[cfg(unix)]
#[test]
fn fifo_is_written_directly() {
    let folder = tempfile::tempdir().unwrap();
    for (name, magic) in [("listen", 0x0a), ("listen.pcap", 0xd4), ("run.sqlog", 0x1e)] {
        let path = folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let listener = {
            let path = path.clone();
            std::thread::spawn(move || fs::read(path).unwrap())
        };
        begin(&path).unwrap().finish().unwrap();
        assert_eq!(listener.join().unwrap()[0], magic);
        assert_eq!(names_in(folder.path()), [name]);
        fs::remove_file(&path).unwrap();
    }
}
