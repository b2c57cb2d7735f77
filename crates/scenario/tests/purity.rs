//! Pure crates do not access the system, so that a run depends only on its arguments.

use std::fs;
use std::path::{Path, PathBuf};

/// Missing ones are skipped.
const PURE: &[&str] = &[
    "quantities",
    "scenario",
    "transport",
    "network",
    "simulator",
    "striping",
    "wire",
];
const DRIVERS: &[&str] = &[
    "capture",
    "testbed",
    "gateway",
    "preload",
    "preload-protocol",
    "python",
];
const IMPURE: &[&str] = &["fs", "net", "thread", "process", "env", "io"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn pure_crates_use_no_clock_socket_thread_or_file() {
    let mut checked = 0;
    for room in PURE {
        for file in sources(&crates().join(room).join("src")) {
            let text = fs::read_to_string(&file).unwrap();
            let found = impurities(&text);
            assert!(found.is_empty(), "{}: {found:?}", file.display());
            checked += 1;
        }
    }
    assert!(checked > 10, "only {checked} files found");
}

#[test]
fn pure_crates_depend_on_no_driver() {
    for room in PURE {
        let Ok(manifest) = fs::read_to_string(crates().join(room).join("Cargo.toml")) else {
            continue;
        };
        for driver in DRIVERS {
            let dependency = format!("ropewalk-{driver}");
            assert!(!manifest.contains(&dependency), "{room} uses {dependency}");
        }
    }
}

#[test]
fn purity_check_finds_impurities() {
    for (code, impure) in [
        ("use std::fs;", true),
        ("use std::{fmt, thread};", true),
        ("use std::{fmt, collections::{BTreeMap}, io::Read};", true),
        ("let now = std::time::Instant::now();", true),
        ("use std::time::{Duration, SystemTime};", true),
        ("use std::{\n    fmt,\n    net::Ipv4Addr,\n};", true),
        ("use std::fmt;", false),
        ("use std::time::Duration;", false),
        ("use std::collections::{BTreeMap, env_like};", false),
        ("// std::fs is not for us", false),
        ("use crate::io;", false),
    ] {
        assert_eq!(!impurities(code).is_empty(), impure, "{code}");
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.to_string_lossy().ends_with("tests.rs")
        {
            files.push(path);
        }
    }
    files
}

/// Paths after `std::` that pure code may not use.
fn impurities(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect::<Vec<_>>()
        .join(" ");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("std::") {
        for path in paths(&code[at + "std::".len()..]) {
            let first = path.split("::").next().unwrap_or("");
            let clock = path.starts_with("time")
                && (path.contains("Instant") || path.contains("SystemTime"));
            if IMPURE.contains(&first) || clock {
                found.push(path);
            }
        }
    }
    found
}

/// The paths after `std::`: one, or several in braces, without white space.
fn paths(after: &str) -> Vec<String> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    if !after.starts_with('{') {
        let end = after.find(|c| !is_path(c)).unwrap_or(after.len());
        let mut path = after[..end].to_owned();
        if path.ends_with("::") {
            // A group of a module's items: `time::{Duration, Instant}`.
            path.push_str(after[end..].split(';').next().unwrap_or(""));
        }
        return vec![path];
    }
    let mut paths = Vec::new();
    let mut path = String::new();
    let mut depth = 0;
    for c in after.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 || (depth == 1 && c == ',') {
            paths.push(std::mem::take(&mut path));
            if depth == 0 {
                break;
            }
        } else if !c.is_whitespace() && (depth > 1 || c != '{') {
            path.push(c);
        }
    }
    paths
}
