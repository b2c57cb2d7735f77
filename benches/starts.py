"""Duration of each verb for minimal work.

    python benches/starts.py [PROGRAM]... [--rounds N]

A program is the ``ropewalk`` of an environment, by default this one's. Several run in turn, with
the disk space of their environments.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SCENARIO = str(Path(__file__).parents[1] / "scenarios/start/two-links.toml")
SHORT = ("--set", "duration=1s")
CASES = [
    ["--version"],
    ["--help"],
    ["simulate", "--help"],
    ["simulate", SCENARIO, *SHORT],
    ["simulate", SCENARIO, *SHORT, "--json"],
    ["simulate", SCENARIO, *SHORT, "--runs", "3"],
    ["predict", "--help"],
    ["predict", SCENARIO],
    ["predict", SCENARIO, "--json"],
    ["explain", SCENARIO],
    ["compare", "--help"],
    ["advise", "--help"],
    ["testbed", "--help"],
    ["emulate", "--help"],
    ["reproduce", "--help"],
    ["mesh", "--help"],
    ["schema"],
    ["relay", "--help"],
    ["status", "--help"],
]


def took(program: str, case: list[str]) -> tuple[float, float]:
    """Run a verb; return elapsed and processor time in milliseconds."""
    start = time.perf_counter()
    running = subprocess.Popen([program, *case], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    clock = time.perf_counter() - start
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        sys.exit(f"{program} {' '.join(case)}: exit status {running.returncode}")
    return 1e3 * clock, 1e3 * (used.ru_utime + used.ru_stime)


def megabytes(program: str) -> int:
    """Return the disk space of the program's environment."""
    folder = Path(program).parents[1]
    done = subprocess.run(["du", "-sm", folder], stdout=subprocess.PIPE, check=True, text=True)
    return int(done.stdout.split()[0])


def main() -> None:
    """Measure, and print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=9)
    requested = parser.parse_args()
    programs = requested.programs or [str(Path(sys.executable).with_name("ropewalk"))]
    times: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for number in range(
        -1, requested.rounds
    ):  # the first one fills the caches, and does not count
        for row, case in enumerate(CASES):
            for column, program in enumerate(programs):
                both = took(program, case)
                if number >= 0:
                    times.setdefault((row, column), []).append(both)
    for column, program in enumerate(programs):
        print(f"{column + 1}: {program}, an environment of {megabytes(program)} MB")
    print(f"\nmedian of {requested.rounds}, in ms: on the clock, and of processors")
    print(f"{'':48}", *(f"{column + 1:>9} clock    cpu" for column in range(len(programs))))
    for row, case in enumerate(CASES):
        words = " ".join(Path(word).stem if word == SCENARIO else word for word in case)
        each = [zip(*times[row, column], strict=True) for column in range(len(programs))]
        medians = [map(statistics.median, of) for of in each]
        print(f"{words:48}", *(f"{clock:15.0f} {cpu:6.0f}" for clock, cpu in medians))


if __name__ == "__main__":
    main()
