"""Speed of the simulator, and its cost of a data packet (for radios, a data frame).

    python benches/simulator.py rates [--profiled] [--against COMMIT] [--runs N] [CASE ...]
    python benches/simulator.py instructions [--write | --set NAME=VALUE | --fail-above PERCENT]
        [CASE ...]

`rates` prints medians of runs on one processor. `--against` also builds another commit, runs the
two in turn, and prints the median of their ratios. `--profiled` builds this checkout with
profile-guided optimisation like a wheel (packaging/wheel.sh), trained on short parts of the cases
with other rates, delays and losses; it needs Rust's llvm-tools, which are installed if possible.
`instructions` uses valgrind, whose counts do not depend on other load, and compares them with
benches/instructions.csv. `--write` updates that table, `--set transport.reordering=eifel` measures
a change of a key, and `--fail-above 3` exits with 1 if a case costs over 3 % more than in the
table, or is missing there. `make bench` and `make instructions` call this.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "benches" / "instructions.csv"
COLUMNS = ("instructions", "first_level_misses", "last_level_misses")
# Part of a case for valgrind, which is fifty times slower: this, and twice as much.
SHARES = {"a": 0.2, "b": 0.2, "c": 0.1, "access": 0.1, "eight": 0.1, "striped": 0.1}
SHARES |= {"tunnel": 0.1, "tunnel64": 0.3, "bas": 0.1, "bas64": 0.2, "lia64": 0.2}
SHARES |= {"pair": 0.05, "cell": 0.05, "mesh": 0.05}
RATES = ("a10", "b10", "c", "flows10", "c10", "access", "links2", "links512", "eight", "striped")
RATES += ("tunnel", "tunnel64", "bas", "bas64", "lia64", "pair", "cell", "mesh")
NOTICED = 2.0  # per cent
# Training of the profile: a case, the part of it, and the keys that differ from the measured case.
TRAINING = (
    ("a", "0.1", "link.link.rate=30 Mbit/s", "link.link.delay=25 ms"),
    ("a", "0.05", "link.link.loss=0.5 %"),
    ("b", "0.1", "link.fast.rate=40 Mbit/s", "link.slow.delay=60 ms"),
    ("b", "0.05", "link.fast.loss=0.5 %", "transport.congestion=olia"),
    ("c", "0.2", "link.link.rate=2 Gbit/s"),
    ("access", "0.1", "link.access.rate=5 Mbit/s"),
    ("eight", "0.1", "link.0.delay=50 ms", "link.2.loss=0.5 %"),
    ("striped", "0.1", "link.0.delay=50 ms", "link.2.loss=0.5 %"),
    ("tunnel", "0.1", "link.0.delay=50 ms", "link.2.loss=0.5 %"),
    ("bas", "0.1", "link.0.delay=50 ms", "link.2.loss=0.5 %"),
    ("lia64", "0.1", "link.9.delay=90 ms"),
    ("pair", "0.02", "wifi.rate=2 Mbit/s"),
    ("cell", "0.02", "wifi.rate=2 Mbit/s"),
    ("mesh", "0.02", "wifi.rate=2 Mbit/s"),
)


def build(root: Path, folder: Path, target: str = "", flags: str = "") -> Path:
    """Build a checkout's measuring program in a folder; return its path."""
    package, kind, at = "ropewalk-speed", "--bin", folder / target / "release"
    if not (root / "benches" / "speed").exists():  # an older commit, run by this file
        package, kind, at = "ropewalk-simulator", "--example", at / "examples"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", package]
    command += [kind, "throughput", "--target-dir", str(folder)]
    environment = dict(os.environ)
    if flags:  # With a named target the flags do not apply to build scripts and macros.
        command += ["--target", target]
        environment["RUSTFLAGS"] = f"{environment.get('RUSTFLAGS', '')} {flags}"
    if subprocess.run(command, check=False, cwd=root, env=environment).returncode:
        sys.exit(f"{root}: not built")
    return at / "throughput"


def build_profiled(folder: Path) -> Path:
    """Build this checkout's program with a profile of training runs."""
    about = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    target = about.split("host: ")[1].split()[0]
    requested = ["rustc", "--print", "target-libdir"]
    libraries = subprocess.run(
        requested, check=True, capture_output=True, text=True
    ).stdout.strip()
    merge = Path(libraries).parent / "bin" / "llvm-profdata"
    if not merge.exists() and shutil.which("rustup"):
        subprocess.run(["rustup", "component", "add", "llvm-tools"], check=False)
    if not merge.exists():
        sys.exit(f"no {merge}: rustup component add llvm-tools")
    raw, profile = folder / "raw", folder / "speed.profdata"
    shutil.rmtree(raw, ignore_errors=True)
    counting = build(ROOT, folder / "counting", target, f"-Cprofile-generate={raw}")
    for case in TRAINING:
        subprocess.run([counting, "--one", *case], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([merge, "merge", "-o", profile, raw], check=True)
    return build(ROOT, folder, target, f"-Cprofile-use={profile}")


def own_folder() -> Path:
    """Return cargo's target folder of this checkout."""
    return (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve()


@contextlib.contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check a commit out in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", folder, commit], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run([*git, "remove", "--force", folder], check=True)


def run(program: Path, case: str) -> list[float]:
    """Run a case: data packets, events, CPU-seconds, peak memory in MB, goodput in Mbit/s."""
    # One processor for all, so that comparisons use the same.
    last = str(max(os.sched_getaffinity(0)))
    command = ["taskset", "-c", last, str(program), "--one", case]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def rates(cases: list[str], runs: int, against: str | None, *, profiled: bool) -> None:
    """Print medians, and the ratios to another commit."""
    folder = own_folder()
    program = build_profiled(folder / "profiled") if profiled else build(ROOT, folder)
    if against is None:
        print(f"{'case':<8} {'Mpackets/s':>10} {'Mevents/s':>10} {'peak MB':>8}")
        for case in cases:
            rows = [run(program, case) for _ in range(runs)]
            cpu = statistics.median(row[2] for row in rows)
            packets, events, _, peak, _ = rows[0]
            print(
                f"{case:<8} {packets / cpu / 1e6:>10.3f} {events / cpu / 1e6:>10.3f} {peak:>8.1f}"
            )
        return
    with checkout(against) as there:
        other = build(there, folder / "against")
        print(f"{'case':<8} {'Mpackets/s':>10} {'before':>10} {'times':>7}  quartiles")
        for case in cases:
            pairs = [pair(program, other, case, turn) for turn in range(runs)]
            ratios = sorted(before / now for now, before, _ in pairs)
            packets = pairs[0][2]
            now, before = (statistics.median(one[at] for one in pairs) for at in (0, 1))
            print(
                f"{case:<8} {packets / now / 1e6:>10.3f} {packets / before / 1e6:>10.3f} "
                f"{statistics.median(ratios):>7.3f}  "
                f"{ratios[runs // 4]:.3f} to {ratios[-1 - runs // 4]:.3f}",
                flush=True,
            )


def pair(program: Path, other: Path, case: str, turn: int) -> tuple[float, float, float]:
    """Return the CPU times of both, and the number of data packets; the first one alternates."""
    first = run(program, case) if turn % 2 else run(other, case)
    second = run(other, case) if turn % 2 else run(program, case)
    now, before = (first, second) if turn % 2 else (second, first)
    return now[2], before[2], now[0]


def find_valgrind() -> str:
    """Return valgrind, installed if possible."""
    if found := shutil.which("valgrind"):
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "valgrind"]
        for command in (["apt-get", "update", "-qq"], install):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if found := shutil.which("valgrind"):
            return found
    sys.exit("make: valgrind is missing: apt install valgrind")


def count(
    valgrind: str, program: Path, case: str, share: float, changes: list[str]
) -> tuple[float, list[float]]:
    """Return the data packets of part of a case, and its total instructions and misses."""
    command = [valgrind, "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"]
    command += [str(program), "--one", case, str(share), *changes]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    patterns = (r"I +refs: +([\d,]+)", r"D1 +misses: +([\d,]+)", r"LL misses: +([\d,]+)")
    found = [re.search(pattern, done.stderr) for pattern in patterns]
    numbers = [float(match[1].replace(",", "")) for match in found if match]
    return float(done.stdout.split()[0]), numbers


def instructions(
    cases: list[str], write: bool, changes: list[str], most: float | None
) -> list[str]:
    """Print the cost of a data packet next to the table's; return the cases above the threshold.

    With `write` the table is updated. `most` is the threshold in per cent.
    """
    above = []
    valgrind = find_valgrind()
    program = build(ROOT, own_folder())
    with TABLE.open(newline="") as file:
        before = {row["case"]: row for row in csv.DictReader(file)}
    print(f"{'case':<8} {'instructions':>12} {'change %':>9} {'D1 misses':>10} {'LL misses':>10}")
    for case in cases:
        # The difference of two runs cancels the program's start and end.
        share = SHARES[case]
        (less, fewer), (more, all_of_it) = (
            count(valgrind, program, case, part, changes) for part in (share, 2 * share)
        )
        # Adding zero avoids -0.00.
        costs = [
            round((b - a) / (more - less), 2) + 0.0 for a, b in zip(fewer, all_of_it, strict=True)
        ]
        change, percent = "", float("inf")
        if case in before:
            was = float(before[case]["instructions"])
            percent = 100 * (costs[0] / was - 1)
            change = f"{percent:+.1f}" + (" !" if abs(percent) > NOTICED else "  ")
        print(
            f"{case:<8} {costs[0]:>12.0f} {change:>9} {costs[1]:>10.2f} {costs[2]:>10.2f}",
            flush=True,
        )
        if most is not None and percent > most:
            above.append(case)
        rounded = [f"{costs[0]:.0f}", f"{costs[1]:.2f}", f"{costs[2]:.2f}"]
        before[case] = {"case": case, **dict(zip(COLUMNS, rounded, strict=True))}
    if write:
        with TABLE.open("w", newline="") as file:
            writer = csv.DictWriter(file, ("case", *COLUMNS), lineterminator="\n")
            writer.writeheader()
            writer.writerows(before[case] for case in SHARES if case in before)
    return above


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    by_time = verbs.add_parser("rates", help="data packets per CPU-second")
    by_time.add_argument("cases", nargs="*", metavar="CASE", choices=[*RATES, []])
    by_time.add_argument("--against", metavar="COMMIT", help="run in turn with another commit")
    by_time.add_argument("--profiled", action="store_true", help="build this one by a profile")
    by_time.add_argument("--runs", type=int, default=5, metavar="N")
    by_count = verbs.add_parser("instructions", help="instructions per data packet")
    by_count.add_argument("cases", nargs="*", metavar="CASE", choices=[*SHARES, []])
    either = by_count.add_mutually_exclusive_group()
    either.add_argument("--write", action="store_true", help="renew the table of before")
    either.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="changes")
    either.add_argument(
        "--fail-above", type=float, metavar="PERCENT", help="exit status 1 if a case costs more"
    )
    chosen = parser.parse_args()
    if chosen.verb == "rates":
        rates(chosen.cases or list(RATES), chosen.runs, chosen.against, profiled=chosen.profiled)
    else:
        cases, limit = chosen.cases or list(SHARES), chosen.fail_above
        above = instructions(cases, chosen.write, chosen.changes, limit)
        if above:
            sys.exit(f"over {limit:g} % more instructions than {TABLE.name}: {', '.join(above)}")


if __name__ == "__main__":
    main()
