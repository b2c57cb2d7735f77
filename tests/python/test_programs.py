"""Gateway and testbed as separate programs: how they are found, and uses without them."""

import os
import signal
import subprocess
import sys

import pytest

from places import ROOT
from ropewalk.support import programs

# Crates for Linux only, or for programs only.
NOT_IN_THE_EXTENSION = {
    "clap",
    "landlock",
    "nix",
    "ring",
    "seccompiler",
    "snow",
    "socket2",
    "tokio",
}
SYSTEMS = ("x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return the folder of an installed environment without a clone."""
    monkeypatch.delenv(programs.FOLDER, raising=False)
    monkeypatch.setattr(programs, "CLONE", tmp_path)
    monkeypatch.setattr(programs, "PACKAGE", tmp_path / "site/ropewalk")
    monkeypatch.setattr(programs.sysconfig, "get_path", lambda *_: str(tmp_path / "scripts"))
    return tmp_path


@pytest.fixture
def clone(monkeypatch, tmp_path):
    """Return the folder of a clone without builds."""
    monkeypatch.delenv(programs.FOLDER, raising=False)
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    monkeypatch.setattr(programs, "CLONE", tmp_path)
    (tmp_path / "crates").mkdir()
    return tmp_path


def cargo(monkeypatch, folder, script):
    file = folder / "cargo"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("CARGO", str(file))


@pytest.mark.parametrize("folder", ["scripts", "site/bin"])
def test_an_installed_program_is_found_among_the_scripts(installed, folder):
    file = installed / folder / programs.GATEWAY
    file.parent.mkdir(parents=True)
    file.touch()
    assert programs.find(programs.GATEWAY) == file


def test_missing_program_is_reported_with_folders(installed):
    with pytest.raises(
        programs.UnavailableError, match=r"ropewalk-testbed: no such program in .*scripts"
    ):
        programs.find(programs.TESTBED)


def test_another_system_than_linux_has_none(monkeypatch):
    monkeypatch.setattr(programs.sys, "platform", "darwin")
    with pytest.raises(programs.UnavailableError, match="needs Linux; this system is darwin"):
        programs.find(programs.TESTBED)


def test_a_clone_builds_them_once(monkeypatch, clone, capfd):
    built = clone / "target/setup"
    cargo(monkeypatch, clone, f"echo $@; mkdir -p {built}; touch {built}/ropewalk-gateway")
    for _ in range(2):
        assert programs.find(programs.GATEWAY) == built / "ropewalk-gateway"
    printed, text = capfd.readouterr()
    assert printed == ""
    assert text.count("--profile setup") == 1
    assert text.startswith("ropewalk: builds gateway and testbed")


def test_failed_build_is_reported(monkeypatch, clone):
    cargo(monkeypatch, clone, "exit 1")
    with pytest.raises(programs.UnavailableError, match=r"not be built: .*cargo build .* failed"):
        programs.find(programs.GATEWAY)
    monkeypatch.setenv("CARGO", str(clone / "none"))
    with pytest.raises(programs.UnavailableError, match="none is missing"):
        programs.find(programs.GATEWAY)


@pytest.mark.parametrize("verb", ["relay", "emulate", "testbed"])
def test_verb_without_its_program_reports_it(verb, tmp_path):
    arguments = {"emulate": ["start/two-links", "--", "true"], "testbed": ["start/two-links"]}
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", verb, *arguments.get(verb, [])],
        env=os.environ | {programs.FOLDER: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no such program in {tmp_path}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_program_gets_the_signals_that_python_ignores(tmp_path):
    file = tmp_path / programs.GATEWAY
    file.write_text('#!/bin/sh\necho "$@"; grep SigIgn /proc/self/status\n')
    file.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk", "relay", "--listen", "a b"],
        env=os.environ | {programs.FOLDER: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    words, ignored = done.stdout.split("SigIgn:")
    assert words == "relay --listen a b\n"
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        assert not int(ignored, 16) & 1 << number - 1


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_extension_has_no_code_of_linux_alone(system):
    requested = "--package ropewalk-binding --edges normal --prefix none --format {p} --target"
    tree = subprocess.run(
        ["cargo", "tree", "--locked", *requested.split(), system],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    crates = {line.split()[0] for line in tree.splitlines() if line}
    assert "ropewalk-simulator" in crates
    assert crates & NOT_IN_THE_EXTENSION == set()
    assert not crates & {"ropewalk-gateway", "ropewalk-testbed", "ropewalk-preload"}
    assert ("rustix" in crates) == ("windows" not in system)
