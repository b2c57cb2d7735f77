"""The files and lines of docs/extending.md build and run in a copy of the project."""

import os
import re
import shutil
import subprocess

from places import ROOT

PAGE = ROOT / "docs/extending.md"
BLOCK = re.compile(
    r"^(?:`(?P<path>[^`\n]+)`\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)
CRATES = ("quantities", "wire", "transport", "network", "striping", "scenario", "simulator")


def blocks():
    """Yield the page's files, diffs and scenarios; a diff without a path continues the previous
    one.
    """
    path = None
    for block in BLOCK.finditer(PAGE.read_text()):
        path = block["path"] or path
        yield path, block["kind"], block["text"]


def patched(text, diff):
    """Apply a diff whose context occurs exactly once."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] != "+")
    new = "".join(line[1:] for line in lines if line[0] != "-")
    assert text.count(old) == 1, f"not there, or more than once:\n{old}"
    return text.replace(old, new)


def test_the_page_is_built_and_its_scenarios_run(tmp_path):
    # The testbed's lines are not built, to avoid a build of the gateway.
    for crate in (*CRATES, "testbed"):
        shutil.copytree(ROOT / "crates" / crate, tmp_path / "crates" / crate)
    shutil.copytree(ROOT / "tests/reference", tmp_path / "tests/reference")
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, tmp_path)
    manifest = tmp_path / "Cargo.toml"
    members = "members = [" + ", ".join(f'"crates/{crate}"' for crate in CRATES) + "]"
    manifest.write_text(re.sub(r"^members = .*$", members, manifest.read_text(), flags=re.M))
    touched, scenarios = [], []
    for path, kind, text in blocks():
        if kind == "toml":
            scenarios.append(tmp_path / f"{len(scenarios)}.toml")
            scenarios[-1].write_text(text)
        elif kind == "rust":
            assert not (tmp_path / path).exists(), path
            (tmp_path / path).write_text(text)
            touched.append(path)
        elif kind == "diff":
            (tmp_path / path).write_text(patched((tmp_path / path).read_text(), text))
            touched.append(path)
    assert len(scenarios) == 5
    # A declared algorithm needs one new file and lines in its folder's.
    of_transport = {path for path in touched if path.startswith("crates/transport/")}
    assert len(of_transport) == 6
    target = ROOT / "target/extending"
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "RUSTFLAGS": "-D warnings"}

    def cargo(verb, *arguments):
        done = subprocess.run(
            ["cargo", verb, "-q", "--offline", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    simulated = cargo("run", "-p", "ropewalk-simulator", "--example", "simulate", "--", *scenarios)
    goodputs = [float(line.split()[-2]) for line in simulated.splitlines()]
    assert len(goodputs) == len(scenarios)
    assert min(goodputs) > 0.5
    # Its own tests, and the ones common to all algorithms.
    tests = ("test", "-p", "ropewalk-transport", "--lib", "--")
    assert "2 passed" in cargo(*tests, "aimd::", "sticky::")
    cargo(*tests, "congestion::", "scheduling::", "reordering::")
