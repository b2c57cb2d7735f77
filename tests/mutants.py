"""Which changes of the code no test would notice: a seeded sample of cargo-mutants, as a table.

    python tests/mutants.py [--sample 60] [--seed 1] [CRATE ...]

A mutant is met by its crate's own tests first; those that survive by all tests of the workspace.
The exit status is 1 where more than a twentieth of a crate's viable mutants are missed and not
explained in tests/mutants.toml. `make mutants` calls this, and installs what it needs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXPLAINED = ROOT / "tests" / "mutants.toml"
CRATES = ("transport", "network", "striping", "simulator")
ALLOWED = 0.05
COLUMNS = (
    "crate",
    "mutants",
    "tried",
    "do not build",
    "caught by own tests",
    "by the workspace's",
    "explained",
    "missed",
    "missed %",
    "minutes",
)
PLACE = re.compile(r":\d+:\d+: ")
"""Where a mutant is within its file, which other changes move."""


def mutants(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run cargo-mutants; it is found beside what this checkout has built, or on the path."""
    own = ROOT / "target" / "tools" / "bin"
    path = f"{own}{os.pathsep}{os.environ['PATH']}"
    command = ["cargo", "mutants", "--colors", "never", *arguments]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PATH": path},
        text=True,
        capture_output=True,
        check=False,
    )


def listed(crate: str) -> list[str]:
    """Return the names of all mutants of a crate."""
    done = mutants("--list", "--json", "-p", f"ropewalk-{crate}")
    if done.returncode:
        sys.exit(done.stderr)
    return sorted(each["name"] for each in json.loads(done.stdout))


def survivors(crate: str, names: Sequence[str], *, workspace: bool) -> dict[str, str]:
    """Try mutants; return what became of each that was not caught."""
    tests = ["--test-workspace=true"] if workspace else [f"--test-package=ropewalk-{crate}"]
    chosen = [f"--re=^{re.escape(name)}$" for name in names]
    # Fields that are left out of a struct come whatever is chosen: of these files alone, then.
    chosen += [f"--file={file}" for file in sorted({name.split(":")[0] for name in names})]
    with tempfile.TemporaryDirectory() as folder:
        done = mutants(
            "-p", f"ropewalk-{crate}", *tests, *chosen, "--jobs=1", "--output", folder,
            "--minimum-test-timeout=120", "--no-shuffle", "--cargo-arg=--locked",
        )  # fmt: skip
        # 2: missed some; 3: some took too long, which tests notice, too.
        if done.returncode not in {0, 2, 3}:
            sys.exit(done.stdout + done.stderr)
        outcomes = json.loads((Path(folder) / "mutants.out" / "outcomes.json").read_text())
    found = {
        each["scenario"]["Mutant"]["name"]: each["summary"]
        for each in outcomes["outcomes"]
        if each["scenario"] != "Baseline"
    }
    return {name: found[name] for name in names if found[name] in {"MissedMutant", "Unviable"}}


def main() -> int:
    """Try the samples; print a table, and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("crates", nargs="*", default=CRATES, choices=[*CRATES], metavar="CRATE")
    parser.add_argument("--sample", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    asked = parser.parse_args()
    explained = tomllib.loads(EXPLAINED.read_text())
    print(f"| {' | '.join(COLUMNS)} |")
    print("| --- |" + " --: |" * (len(COLUMNS) - 1))
    missed: list[str] = []
    many = False
    for crate in asked.crates:
        began = time.monotonic()
        known = listed(crate)
        sample = random.Random(f"{asked.seed}/{crate}").sample(
            known, min(asked.sample, len(known))
        )
        by_own = survivors(crate, sample, workspace=False)
        unviable = [name for name, what in by_own.items() if what == "Unviable"]
        left = [name for name in by_own if name not in unviable]
        by_all = list(survivors(crate, left, workspace=True)) if left else []
        said = [name for name in by_all if PLACE.sub(": ", name) in explained]
        still = [name for name in by_all if name not in said]
        viable = len(sample) - len(unviable)
        share = len(still) / viable
        many |= share > ALLOWED
        missed += still
        minutes = (time.monotonic() - began) / 60
        cells = [
            len(known),
            len(sample),
            len(unviable),
            viable - len(left),
            len(left) - len(by_all),
            len(said),
            len(still),
            f"{100 * share:.1f}",
            f"{minutes:.0f}",
        ]
        print(f"| {crate} | {' | '.join(map(str, cells))} |", flush=True)
    for name in missed:
        print(f"missed: {name}")
    return int(many)


if __name__ == "__main__":
    sys.exit(main())
