"""Mutation testing: a seeded sample of mutants that no test detects, as a table.

    python tests/mutants.py [--sample 60] [--seed 1] [--workers 2] [CRATE ...]

cargo-mutants lists the mutants. Each is tested by its crate's unit tests, survivors by the crate's
other tests, and remaining unexplained survivors by all tests of the workspace. Results are stored
in results/mutants, so that an interrupted run resumes, as long as the code outside of tests is
unchanged, and for survivors also the tests. The exit status is 1 if more than a twentieth of a
crate's viable mutants survive without an explanation in tests/mutants.toml. `make mutants` calls
this, and installs the requirements.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
EXPLAINED = ROOT / "tests" / "mutants.toml"
RESULTS = ROOT / "results" / "mutants"
CRATES = ("transport", "network", "striping", "simulator")
ALLOWED = 0.05
PLACE = re.compile(r":\d+:\d+: ")
"""Place of a mutant in its file, which other changes move."""
TESTS = "#[cfg(test)]\nmod tests {"
"""Start of the tests at the end of a file."""
UNVIABLE, SURVIVED, MISSED = "does not build", "not caught by its crate", "missed"


class Stage(NamedTuple):
    """Tests as cargo arguments, with the number of cases of property tests."""

    name: str
    tests: tuple[str, ...]
    cases: int

    def of(self, crate: str) -> tuple[str, ...]:
        return tuple(word.format(crate=crate) for word in self.tests)


OWN = (
    Stage("unit tests", ("-p", "ropewalk-{crate}", "--lib"), 32),
    Stage("other tests of the crate", ("-p", "ropewalk-{crate}", "--test", "*"), 32),
)
"""A crate's own tests for its mutants, in order."""
ALL = (Stage("the workspace's", ("--workspace", "--exclude", "ropewalk-binding"), 256),)
"""Tests for the survivors."""
STAGES = OWN + ALL
COLUMNS = ("crate", "mutants", "tried", UNVIABLE, *(f"caught by {stage.name}" for stage in STAGES))
COLUMNS += ("explained", MISSED, f"{MISSED} %", "minutes")
TIMES = 5
"""A mutant slower than the original by this factor counts as caught: it does not end."""
LEAST = 60.0
"""Shortest time limit of a mutant, in seconds."""
MEMORY = 8 << 30
"""Address space limit of a build or test program, in bytes."""
ENVIRONMENT = {
    "CARGO_PROFILE_DEV_DEBUG": "false",
    "RUSTFLAGS": "--cap-lints=warn",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
}
"""Traces are unused, unused names are no errors, and mutants store no failing cases."""


class Place(NamedTuple):
    line: int
    column: int


class Mutant(NamedTuple):
    """A change of the code: a place and its replacement."""

    crate: str
    name: str
    file: str
    begin: Place
    end: Place
    text: str

    def of(self, code: str) -> str:
        lines = code.splitlines(keepends=True)
        first, last = lines[self.begin.line - 1], lines[self.end.line - 1]
        before = "".join(lines[: self.begin.line - 1]) + first[: self.begin.column - 1]
        after = last[self.end.column - 1 :] + "".join(lines[self.end.line :])
        return before + self.text + after


def mutants(crate: str) -> list[Mutant]:
    """List all mutants of a crate, by a cargo-mutants built here or installed."""
    own = ROOT / "target" / "tools" / "bin"
    done = subprocess.run(
        ["cargo", "mutants", "--list", "--json", "-p", f"ropewalk-{crate}"],
        cwd=ROOT,
        env=os.environ | {"PATH": f"{own}{os.pathsep}{os.environ['PATH']}"},
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return sorted(
        Mutant(
            crate,
            each["name"],
            each["file"],
            Place(**each["span"]["start"]),
            Place(**each["span"]["end"]),
            each["replacement"],
        )
        for each in json.loads(done.stdout)
    )


def sources() -> list[Path]:
    """Return all files of the project, committed or not."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    files = (Path(name) for name in done.stdout.split("\0") if name)
    return sorted(file for file in files if (ROOT / file).is_file())


def digest(within: str = ".", *, with_tests: bool) -> str:
    """Return a hash of a folder's Rust code, with or without its tests."""
    text = hashlib.sha256()
    for file in sources():
        if not file.is_relative_to(within):
            continue
        code = (ROOT / file).read_text() if file.suffix in {".rs", ".lock"} else None
        if code is None or (not with_tests and "tests" in file.with_suffix("").parts):
            continue
        text.update(f"{file}\0".encode())
        text.update((code if with_tests else code.split(TESTS)[0].rstrip()).encode())
    return text.hexdigest()[:12]


class Kept:
    """Results of mutants with their times, one line each in a file."""

    def __init__(self) -> None:
        """Read stored results, up to an incomplete line."""
        self.path = RESULTS / f"{digest(with_tests=False)}.jsonl"
        self.tests = digest(with_tests=True)
        self.own_tests = {crate: digest(f"crates/{crate}", with_tests=True) for crate in CRATES}
        self.lock = threading.Lock()
        self.known: dict[str, tuple[str, float]] = {}
        RESULTS.mkdir(parents=True, exist_ok=True)
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            with contextlib.suppress(ValueError):
                crate, name, what, seconds, tests = json.loads(line)
                if tests == self._tests(crate, what):
                    self.known[name] = (what, seconds)

    def _tests(self, crate: str, what: str) -> str:
        """Return the hash of the tests that a result depends on."""
        return {SURVIVED: self.own_tests[crate], MISSED: self.tests}.get(what, "")

    def what(self, mutant: Mutant) -> str | None:
        """Return the result of a mutant, if known."""
        return self.known.get(mutant.name, (None, 0))[0]

    def keep(self, mutant: Mutant, what: str, seconds: float) -> None:
        """Store the result of a mutant, with additional seconds."""
        with self.lock:
            seconds = round(self.known.get(mutant.name, ("", 0.0))[1] + seconds, 1)
            self.known[mutant.name] = (what, seconds)
            crate = mutant.crate
            with self.path.open("a") as file:
                row = [crate, mutant.name, what, seconds, self._tests(crate, what)]
                print(json.dumps(row), file=file)


class Bench:
    """A copy of the project that builds and tests one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        """Copy changed files, and keep builds of other crates."""
        self.copy = folder / "copy"
        self.target = folder / "target"
        self.running: subprocess.Popen[bytes] | None = None
        self.is_stopped = False
        self.limits: dict[tuple[str, ...], float] = {}
        files = sources()
        for file in files:
            there = self.copy / file
            there.parent.mkdir(parents=True, exist_ok=True)
            if not there.exists() or there.read_bytes() != (ROOT / file).read_bytes():
                shutil.copy(ROOT / file, there)
        kept = set(files)
        for there in self.copy.rglob("*"):
            if there.is_file() and there.relative_to(self.copy) not in kept:
                there.unlink()
        # An interrupted build may have left a mutant's output, or part of one.
        for kept_of in (".fingerprint/ropewalk-*", "incremental/ropewalk_*"):
            for built in self.target.glob(f"debug/{kept_of}"):
                shutil.rmtree(built)

    def cargo(self, *arguments: str, cases: int = 0, limit: float | None = None) -> bool:
        """Run cargo; return whether it succeeded within `limit` seconds."""
        if self.is_stopped:
            return False
        own = {"CARGO_TARGET_DIR": str(self.target), "PROPTEST_CASES": str(cases)}
        self.running = subprocess.Popen(
            ["cargo", *arguments, "--locked"],
            cwd=self.copy,
            env=os.environ | ENVIRONMENT | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        resource.prlimit(self.running.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            return self.running.wait(limit) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def kill(self) -> None:
        """Kill the running process with its children."""
        if self.running and self.running.poll() is None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def stop(self) -> None:
        """Stop the running test; the mutant's result stays unknown."""
        self.is_stopped = True
        self.kill()

    def build(self, tests: tuple[str, ...]) -> bool:
        if "--workspace" in tests and not self.cargo("build", "-p", "ropewalk-preload"):
            return False
        return self.cargo("test", *tests, "--no-run")

    def limit(self, tests: tuple[str, ...], cases: int) -> float:
        """Return the time limit of tests, which must pass without a mutant."""
        if tests not in self.limits:
            is_built = self.build(tests)
            began = time.monotonic()
            if not is_built or not self.cargo("test", *tests, cases=cases):
                sys.exit(f"{' '.join(tests)}: they do not pass without a mutant")
            self.limits[tests] = max(LEAST, TIMES * (time.monotonic() - began))
        return self.limits[tests]

    def meet(self, mutant: Mutant, stages: Sequence[Stage]) -> str | None:
        """Return the result of a mutant."""
        for stage in stages:
            tests = stage.of(mutant.crate)
            limit = self.limit(tests, stage.cases)
            with self.changed(mutant):
                if not self.build(tests):
                    return UNVIABLE
                if not self.cargo("test", *tests, cases=stage.cases, limit=limit):
                    return stage.name
        return None

    @contextlib.contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Apply a mutant to the copy, temporarily."""
        file = self.copy / mutant.file
        code = file.read_text()
        file.write_text(mutant.of(code))
        try:
            yield
        finally:
            file.write_text(code)


def meet(left: list[Mutant], stages: Sequence[Stage], kept: Kept, workers: int) -> None:
    """Test mutants on several benches at once; store and print the results."""
    folder = ROOT / "target" / "mutants"
    benches = [Bench(folder / str(number)) for number in range(min(workers, len(left)))]
    idle: queue.SimpleQueue[Bench] = queue.SimpleQueue()
    for bench in benches:
        idle.put(bench)

    def one(mutant: Mutant) -> None:
        bench = idle.get()
        began = time.monotonic()
        try:
            caught = bench.meet(mutant, stages)
        finally:
            idle.put(bench)
        if not bench.is_stopped:
            what = caught or (MISSED if stages == ALL else SURVIVED)
            kept.keep(mutant, what, time.monotonic() - began)
            print(f"{mutant.name}: {what}", file=sys.stderr)

    pool = concurrent.futures.ThreadPoolExecutor(max(len(benches), 1))
    try:
        for done, _ in enumerate(pool.map(one, left), 1):
            print(f"{done} of {len(left)}", file=sys.stderr)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for bench in benches:
            bench.stop()


def main() -> int:
    """Test the samples; print a table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("crates", nargs="*", default=CRATES, metavar="CRATE")
    parser.add_argument("--sample", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    requested = parser.parse_args()
    if not set(requested.crates) <= set(CRATES):
        parser.error(f"CRATE: one of {', '.join(CRATES)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    explained = tomllib.loads(EXPLAINED.read_text())
    kept = Kept()

    def is_explained(name: str) -> bool:
        return PLACE.sub(": ", name) in explained

    all_of = {crate: mutants(crate) for crate in requested.crates or CRATES}
    samples = {
        crate: random.Random(f"{requested.seed}/{crate}").sample(
            all_, min(requested.sample, len(all_))
        )
        for crate, all_ in all_of.items()
    }
    tried = [mutant for sample in samples.values() for mutant in sample]
    meet([mutant for mutant in tried if not kept.what(mutant)], OWN, kept, requested.workers)
    # Tests of the workspace make devices and namespaces, so run one at a time.
    left = [mutant for mutant in tried if kept.what(mutant) == SURVIVED]
    meet([mutant for mutant in left if not is_explained(mutant.name)], ALL, kept, 1)
    print(f"| {' | '.join(COLUMNS)} |")
    print("| --- |" + " --: |" * (len(COLUMNS) - 1))
    missed: list[str] = []
    many = False
    for crate, sample in samples.items():
        became = {mutant.name: kept.known[mutant.name] for mutant in sample}
        counts = Counter(what for what, _ in became.values())
        survived = [name for name, (what, _) in became.items() if what in {SURVIVED, MISSED}]
        still = [name for name in survived if not is_explained(name)]
        share = len(still) / (len(sample) - counts[UNVIABLE])
        many |= share > ALLOWED
        missed += still
        cells = [
            len(all_of[crate]),
            len(sample),
            counts[UNVIABLE],
            *(counts[stage.name] for stage in STAGES),
            len(survived) - len(still),
            len(still),
            f"{100 * share:.1f}",
            f"{sum(seconds for _, seconds in became.values()) / 60:.0f}",
        ]
        print(f"| {crate} | {' | '.join(map(str, cells))} |")
    for name in missed:
        print(f"missed: {name}")
    return int(many)


if __name__ == "__main__":
    sys.exit(main())
