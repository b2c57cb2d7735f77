"""How long each verb takes from nothing to its end, where the work itself takes next to nothing.

    python benches/starts.py [PROGRAM]... [--rounds N]

A program is the ``ropewalk`` of an environment, this one's if none is named; several run in turn,
side by side. The time is the median over the rounds, on the clock; below it stands what the
environments take on disk.
"""

from __future__ import annotations

import argparse
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


def took(program: str, case: list[str]) -> float:
    """Run a verb; return how long it took, in milliseconds."""
    start = time.perf_counter()
    subprocess.run([program, *case], stdout=subprocess.DEVNULL, check=True)
    return 1e3 * (time.perf_counter() - start)


def megabytes(program: str) -> int:
    """Return what the program's environment takes on disk."""
    folder = Path(program).parents[1]
    done = subprocess.run(["du", "-sm", folder], stdout=subprocess.PIPE, check=True, text=True)
    return int(done.stdout.split()[0])


def main() -> None:
    """Measure, and print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    programs = asked.programs or [str(Path(sys.executable).with_name("ropewalk"))]
    times: dict[tuple[int, int], list[float]] = {}
    for number in range(-1, asked.rounds):  # the first one fills the caches, and does not count
        for row, case in enumerate(CASES):
            for column, program in enumerate(programs):
                ms = took(program, case)
                if number >= 0:
                    times.setdefault((row, column), []).append(ms)
    print(
        f"{'median of ' + str(asked.rounds) + ', in ms':48}", *(f"{p[-28:]:>30}" for p in programs)
    )
    for row, case in enumerate(CASES):
        words = " ".join(Path(word).stem if word == SCENARIO else word for word in case)
        medians = (statistics.median(times[row, column]) for column in range(len(programs)))
        print(f"{words:48}", *(f"{median:30.0f}" for median in medians))
    print(f"{'the environment, in MB':48}", *(f"{megabytes(each):30}" for each in programs))


if __name__ == "__main__":
    main()
