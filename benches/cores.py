"""Speed-up of many seeds of a scenario on all processors.

Run it with `make bench` on an idle machine, because it measures elapsed time. The two variants
take turns, and the median of their ratios is printed. CPU time shows the runs' mutual cost in
caches and memory: they share only the immutable scenario.
"""

from __future__ import annotations

import os
import statistics
import time

from ropewalk import _core

LINK = """
[[link]]
name = "one"
rate = "100 Mbit/s"
delay = "10 ms"
queue = "100 packets"
"""
OTHER = """
[[link]]
name = "other"
rate = "50 Mbit/s"
delay = "30 ms"
queue = "100 packets"
"""
WIDE = """
[[link]]
name = "one"
rate = "10 Gbit/s"
delay = "10 ms"

[[competitor]]
path = "one"
count = 999
"""
CASES = [
    ("one TCP", LINK + '[transport]\nprotocol = "tcp"\n', "25 s"),
    ("MPTCP, two links", LINK + OTHER + '[transport]\nprotocol = "mptcp"\n', "15 s"),
    ("1000 TCP flows", WIDE + '[transport]\nprotocol = "tcp"\n', "0.2 s"),
]
# With few seeds, one thread would wait for the other's last run.
SEEDS_EACH = 24
TURNS = 5


def seconds(scenario: _core.Scenario, seeds: list[int], threads: int) -> tuple[float, float]:
    """Return the elapsed time of all seeds' runs, and their CPU time."""
    begun, used = time.perf_counter(), time.process_time()
    _core.simulate(scenario, seeds, threads=threads)
    return time.perf_counter() - begun, time.process_time() - used


def no_files(name: str) -> str:
    """Reject a scenario's request for a file: these have none."""
    raise FileNotFoundError(name)


def main() -> None:
    """Print a line for each case."""
    cores = len(os.sched_getaffinity(0))
    seeds = list(range(1, 1 + SEEDS_EACH * cores))
    print(f"{len(seeds)} seeds on {cores} processors, beside one")
    for name, text, duration in CASES:
        scenario = _core.Scenario(text, name, [("duration", duration)], no_files)
        seconds(scenario, seeds, cores)
        faster, dearer = [], []
        for turn in range(TURNS):
            order = (1, cores) if turn % 2 else (cores, 1)
            measured = {threads: seconds(scenario, seeds, threads) for threads in order}
            (alone, alone_used), (together, used) = measured[1], measured[cores]
            faster.append(alone / together)
            dearer.append(used / alone_used)
        print(
            f"{name:<18} {statistics.median(faster):.2f} times as fast "
            f"({min(faster):.2f} to {max(faster):.2f}), "
            f"CPU time {statistics.median(dearer):.2f} times",
            flush=True,
        )


if __name__ == "__main__":
    main()
