"""Which changes of the code no test would notice: a seeded sample of mutants, as a table.

    python tests/mutants.py [--sample 60] [--seed 1] [--workers 2] [CRATE ...]

cargo-mutants lists the mutants and tells what each puts in which place. Each is met by its crate's
unit tests, and those that survive by the crate's other tests; at the end, those that have survived
both, and are not explained, by all tests of the workspace. What became of a mutant is kept in
results/mutants, so that a run that was stopped goes on where it was: as long as the code outside
of tests is the same, and for those that survived the tests that they met. The exit status is 1
where more than a twentieth of a crate's viable mutants are missed and not explained in
tests/mutants.toml. `make mutants` calls this, and installs what it needs.
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
"""Where a mutant is within its file, which other changes move."""
TESTS = "#[cfg(test)]\nmod tests {"
"""What stands before the tests of a file, with which it ends."""
UNVIABLE, SURVIVED, MISSED = "does not build", "not caught by its crate", "missed"


class Stage(NamedTuple):
    """Tests, as cargo is asked for them, and how many cases those of properties have."""

    name: str
    tests: tuple[str, ...]
    cases: int

    def of(self, crate: str) -> tuple[str, ...]:
        """Return the tests for a crate."""
        return tuple(word.format(crate=crate) for word in self.tests)


OWN = (
    Stage("unit tests", ("-p", "ropewalk-{crate}", "--lib"), 32),
    Stage("other tests of the crate", ("-p", "ropewalk-{crate}", "--test", "*"), 32),
)
"""Which tests of its crate a mutant meets, in this order."""
ALL = (Stage("the workspace's", ("--workspace", "--exclude", "ropewalk-binding"), 256),)
"""Which tests a mutant meets that has survived those."""
STAGES = OWN + ALL
COLUMNS = ("crate", "mutants", "tried", UNVIABLE, *(f"caught by {stage.name}" for stage in STAGES))
COLUMNS += ("explained", MISSED, f"{MISSED} %", "minutes")
TIMES = 5
"""A mutant that takes longer than the code by this factor is caught: it does not end."""
LEAST = 60.0
"""No mutant is stopped earlier, in seconds."""
MEMORY = 8 << 30
"""What a build, or one program of tests, may take at most, in bytes of addresses."""
ENVIRONMENT = {
    "CARGO_PROFILE_DEV_DEBUG": "false",
    "RUSTFLAGS": "--cap-lints=warn",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
}
"""Nobody reads the traces, an unused name is no error, and no mutant leaves cases to the next."""


class Place(NamedTuple):
    """Where something is in a file, both counted from one."""

    line: int
    column: int


class Mutant(NamedTuple):
    """A change of the code: what is put in the place of what stands there."""

    crate: str
    name: str
    file: str
    begin: Place
    end: Place
    text: str

    def of(self, code: str) -> str:
        """Return the changed code of its file."""
        lines = code.splitlines(keepends=True)
        first, last = lines[self.begin.line - 1], lines[self.end.line - 1]
        before = "".join(lines[: self.begin.line - 1]) + first[: self.begin.column - 1]
        after = last[self.end.column - 1 :] + "".join(lines[self.end.line :])
        return before + self.text + after


def mutants(crate: str) -> list[Mutant]:
    """List all mutants of a crate; cargo-mutants is one built here, or on the path."""
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
    """Return all files of the project, whether or not they are committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    files = (Path(name) for name in done.stdout.split("\0") if name)
    return sorted(file for file in files if (ROOT / file).is_file())


def digest(within: str = ".", *, with_tests: bool) -> str:
    """Return a name of the Rust code of a folder, with or without its tests."""
    told = hashlib.sha256()
    for file in sources():
        if not file.is_relative_to(within):
            continue
        code = (ROOT / file).read_text() if file.suffix in {".rs", ".lock"} else None
        if code is None or (not with_tests and "tests" in file.with_suffix("").parts):
            continue
        told.update(f"{file}\0".encode())
        told.update((code if with_tests else code.split(TESTS)[0].rstrip()).encode())
    return told.hexdigest()[:12]


class Kept:
    """What became of mutants, and how many seconds that took: one line each in a file."""

    def __init__(self) -> None:
        """Read what a run of before has kept, up to a line that it did not finish."""
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
        """Return the name of the tests that may say something else when they are others."""
        return {SURVIVED: self.own_tests[crate], MISSED: self.tests}.get(what, "")

    def what(self, mutant: Mutant) -> str | None:
        """Return what became of a mutant, where that is known."""
        return self.known.get(mutant.name, (None, 0))[0]

    def keep(self, mutant: Mutant, what: str, seconds: float) -> None:
        """Keep what became of a mutant, in so many seconds more than are known."""
        with self.lock:
            seconds = round(self.known.get(mutant.name, ("", 0.0))[1] + seconds, 1)
            self.known[mutant.name] = (what, seconds)
            crate = mutant.crate
            with self.path.open("a") as file:
                row = [crate, mutant.name, what, seconds, self._tests(crate, what)]
                print(json.dumps(row), file=file)


class Bench:
    """A copy of the project, in which one mutant at a time is built and tested."""

    def __init__(self, folder: Path) -> None:
        """Copy what is new, and leave there what was built of others' crates."""
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
        # A build that was stopped may have left a mutant's, or half of one.
        for kept_of in (".fingerprint/ropewalk-*", "incremental/ropewalk_*"):
            for built in self.target.glob(f"debug/{kept_of}"):
                shutil.rmtree(built)

    def cargo(self, *arguments: str, cases: int = 0, limit: float | None = None) -> bool:
        """Run cargo; return whether it ended well, and within `limit` seconds."""
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
        """End what runs, and all that it has started."""
        if self.running and self.running.poll() is None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def stop(self) -> None:
        """End what runs; what becomes of the mutant is not known then."""
        self.is_stopped = True
        self.kill()

    def build(self, tests: tuple[str, ...]) -> bool:
        """Build tests; return whether they build."""
        if "--workspace" in tests and not self.cargo("build", "-p", "ropewalk-preload"):
            return False
        return self.cargo("test", *tests, "--no-run")

    def limit(self, tests: tuple[str, ...], cases: int) -> float:
        """Return how long tests may take; of the code as it is they must pass."""
        if tests not in self.limits:
            is_built = self.build(tests)
            began = time.monotonic()
            if not is_built or not self.cargo("test", *tests, cases=cases):
                sys.exit(f"{' '.join(tests)}: they do not pass without a mutant")
            self.limits[tests] = max(LEAST, TIMES * (time.monotonic() - began))
        return self.limits[tests]

    def meet(self, mutant: Mutant, stages: Sequence[Stage]) -> str | None:
        """Return what a mutant does not survive."""
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
        """Change the copy as a mutant does, for as long as it is needed."""
        file = self.copy / mutant.file
        code = file.read_text()
        file.write_text(mutant.of(code))
        try:
            yield
        finally:
            file.write_text(code)


def meet(left: list[Mutant], stages: Sequence[Stage], kept: Kept, workers: int) -> None:
    """Find out what mutants do not survive, each on one bench of several; keep it, and say so."""
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
    """Try the samples; print a table, and what was missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("crates", nargs="*", default=CRATES, metavar="CRATE")
    parser.add_argument("--sample", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N")
    asked = parser.parse_args()
    if not set(asked.crates) <= set(CRATES):
        parser.error(f"CRATE: one of {', '.join(CRATES)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    explained = tomllib.loads(EXPLAINED.read_text())
    kept = Kept()

    def is_explained(name: str) -> bool:
        return PLACE.sub(": ", name) in explained

    all_of = {crate: mutants(crate) for crate in asked.crates or CRATES}
    samples = {
        crate: random.Random(f"{asked.seed}/{crate}").sample(all_, min(asked.sample, len(all_)))
        for crate, all_ in all_of.items()
    }
    tried = [mutant for sample in samples.values() for mutant in sample]
    meet([mutant for mutant in tried if not kept.what(mutant)], OWN, kept, asked.workers)
    # Tests of the whole workspace make devices and namespaces: one at a time.
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
